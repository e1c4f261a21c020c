"""``simulate --trace`` and ``[trace]``: where traces go, that they are consistent, and that nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.store import Study

pytestmark = pytest.mark.slow

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
static double work(int n)
{
    double sum = 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += 1.0 / (i + 1);
    return sum;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000, odd = 0;
    double sum = work(n);
#pragma omp parallel for
    for (int i = 0; i < 40; i++)
#pragma omp critical
        odd += i & 1;
    printf("%g %d\n", sum, odd);
    return 0;
}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(PROGRAM)
    return tmp_path


def without_host(path: Path) -> list[dict[str, Any]]:
    with Study.open(path) as study:
        records = sorted(study.runs(output=True), key=lambda record: record.point.processors)  # they end in any order
        return [record.model_dump(exclude={"host_s", "host_cpu_s", "trace"}) for record in records]


@pytest.mark.compiler
def test_traces_lie_beside_the_study_and_hold(call: Any, place: Path) -> None:
    code, out, err = call("simulate", "p.c", "-p", "1,4", "--trace", "-o", "a.sgstudy")
    assert code == 0, err
    assert "2 traces in a.traces: " in out
    files = sorted((place / "a.traces").iterdir())
    assert [file.name.split("-")[0] for file in files] == ["1", "4"]
    for file in files:
        code, out, err = call("trace", "check", file)
        assert (code, "no contradiction" in out) == (0, True), out + err
    code, out, _ = call("trace", "info", "--json", files[1])
    found = json.loads(out)
    assert found["program"] == "p"
    assert found["definitions"]["locations"] == 4
    assert {kind for kind, count in found["counts"].items() if count} >= {"calls", "waits", "locks", "shares"}
    assert "accounting" in found["properties"]
    code, out, _ = call("simulate", "p.c", "-p", "1,4", "-o", "b.sgstudy", "--json")
    assert [run["trace"] for run in json.loads(out)["runs"]] == [None, None]
    assert without_host(place / "a.sgstudy") == without_host(place / "b.sgstudy")


@pytest.mark.compiler
def test_without_a_study_traces_go_into_a_directory(call: Any, place: Path) -> None:
    given = ("simulate", "p.c", "-p", "2", "--json", "--trace-output", "t", "--trace-to", "1e5 cycles")
    code, out, err = call(*given, "--trace=waits,chunks")
    assert code == 0, err
    (run,) = json.loads(out)["runs"]
    assert Path(run["trace"]).parent == place / "t"
    _, out, _ = call("trace", "info", "--json", run["trace"])
    counts = {kind for kind, count in json.loads(out)["counts"].items() if count}
    assert counts
    assert "shares" not in counts
    assert call("trace", "check", run["trace"])[0] == 0
    code, out, err = call(*given, "--trace=waits,chunks")
    assert json.loads(out)["runs"][0]["trace"] == run["trace"], "the same run has the same trace"
    code, out, err = call(*given, "--trace=waits,chunks", "--", "100")
    assert json.loads(out)["runs"][0]["trace"] != run["trace"], "another run has another"
    assert len(list((place / "t").iterdir())) == 2


@pytest.mark.compiler
def test_a_request_is_traced_and_shown_in_the_plan(call: Any, place: Path) -> None:
    (place / "r.toml").write_text(
        'processors = [1, 2, 4]\n[program]\nsources = ["p.c"]\n[trace]\nprocessors = [4]\nregion = "work"\n'
    )
    _, out, _ = call("run", "r.toml", "--plan")
    assert "1 run writes a trace of at most 1 GiB" in out
    code, out, err = call("run", "r.toml", "--quiet")
    assert code == 0, err
    assert "1 trace in r.traces: " in out
    _, out, _ = call("run", "r.toml", "--quiet", "--json")
    traces = {run["processors"]: run["trace"] for run in json.loads(out)["runs"]}
    assert traces[1] is traces[2] is None
    assert call("trace", "check", traces[4])[0] == 0


@pytest.mark.compiler
def test_runs_that_work_elsewhere_leave_their_traces_beside_the_study(call: Any, place: Path) -> None:
    (place / "work").mkdir()
    (place / "s").mkdir()
    code, _, err = call("simulate", "p.c", "-p", "2", "--cwd", "work", "--trace", "-o", "s/a.sgstudy", "--no-reference")
    assert (code, "warning" in err) == (0, False), err
    assert len(list((place / "s" / "a.traces").iterdir())) == 1
    assert list((place / "work").iterdir()) == []


WRONG = {
    ("--trace",): "--trace: a place for the traces was expected: -o STUDY puts them next to the study",
    ("--trace=wait", "--trace-output", "t"): "--trace: input should be 'regions', 'waits'",
    ("--trace-from", "soon", "--trace-output", "t"): "--trace-from: a time, like 0.5 s, 20 ms or 2e6 cycles",
    ("--trace-from", "2s", "--trace-to", "1s", "--trace-output", "t"): "--trace-to: '1s': a time after '2s'",
    ("--trace-limit", "huge", "--trace-output", "t"): "--trace-limit: a size in bytes",
    ("--trace-output", "p.c"): "--trace-output: 'p.c' is not a directory",
}


@pytest.mark.parametrize("options", WRONG, ids=lambda given: " ".join(given))
def test_wrong_options_are_told_by_their_names(call: Any, place: Path, options: tuple[str, ...]) -> None:
    code, _, err = call("simulate", *options, "p.c", "-p", "2")
    assert (code, WRONG[options] in err) == (2, True), err
    assert sorted(path.name for path in place.iterdir()) == ["p.c"]


@pytest.mark.compiler
def test_a_region_that_is_not_there_is_told(call: Any, place: Path) -> None:
    code, _, err = call("simulate", "p.c", "-p", "2", "--trace-region", "wrok", "--trace-output", "t")
    assert (code, "--trace-region: no region is called 'wrok'; did you mean 'work'" in err) == (2, True), err
    assert not (place / "t").exists()
