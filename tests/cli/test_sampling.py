"""``simulate --sample``: estimates are marked wherever runs are shown, and are never taken for whole runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.runtime.compiler import find_compiler
from scalegraph.store import Study
from scalegraph.toolchain.inlining import may_inline

pytestmark = [
    pytest.mark.compiler,
    pytest.mark.skipif(not may_inline(find_compiler()), reason="hooks are put in line by gcc for x86-64 only"),
]

PROGRAM = """
    static volatile int x[1000];
    int main(void)
    {
        for (int step = 0; step < 60; step++)
    #pragma omp parallel for
            for (int i = 0; i < 1000; i++)
                x[i] += step;
        return 0;
    }"""


@pytest.fixture
def simulate(tmp_path: Path, call: Any) -> Any:
    """Return a function that simulates the program with more words of a command line."""
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    return lambda *more: call("simulate", source, "-p", "4", "--machine", "ksr1", "--no-reference", *more)


def test_estimates_are_marked(simulate: Any, tmp_path: Path) -> None:
    code, table, _ = simulate("--sample")
    assert code == 0
    assert "~ " in table
    assert "! N = 4: sampled: " in table
    assert "(95 %)" in table
    code, text, _ = simulate("--sample", "--json")
    assert code == 0
    (run,) = json.loads(text)["runs"]
    assert run["sampled"]["skipped"] > 0
    assert run["sampled"]["why"] == ""
    assert run["sampled"]["intervals"]["time_cycles"] >= 0
    assert {"misses", "idle_barrier"} <= set(run["sampled"]["intervals"])
    assert sum(run["leaves"].values()) == 4 * run["time_cycles"]
    code, text, _ = simulate("--json")
    assert json.loads(text)["runs"][0]["sampled"] is None


def test_an_estimate_in_a_study_gives_way_to_a_whole_run_and_not_the_reverse(simulate: Any, tmp_path: Path) -> None:
    study = tmp_path / "runs.sgstudy"
    found = []
    for more in (["--sample"], [], ["--sample"]):
        assert simulate("-o", study, *more)[0] == 0
        with Study.open(study) as kept:
            (record,) = kept.runs()
            found.append(record.estimated)
    assert found == [True, False, False]


@pytest.mark.parametrize("more", [("--collect", "classes"), ("--trace",)])
def test_what_needs_the_whole_run_is_refused(simulate: Any, tmp_path: Path, more: tuple[str, ...]) -> None:
    words = (*more, "--trace-output", tmp_path / "traces") if more == ("--trace",) else more
    code, _, err = simulate("--sample", *words)
    assert code == 2
    assert f"{more[0]}: needs the whole run" in err
