"""Views and quantities of traces from the command line."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "cache"))


@pytest.mark.slow
def test_a_view_of_a_trace_is_exported(call: Any, root: Path, tmp_path: Path) -> None:
    code, _, err = call(
        "export",
        root / "traces/ring.trf",
        "--view",
        "spacetime",
        "-o",
        tmp_path / "a.png",
        "--set",
        "colour=region",
        "--size",
        "12x6",
    )
    assert (code, err) == (0, "")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    code, _, err = call(
        "export",
        root / "traces/pipeline.json",
        "--view",
        "spacetime",
        "-o",
        tmp_path / "a.csv",
        "--set",
        "begin=0.001",
        "--set",
        "end=0.002",
        "--option",
        "locations=1-2",
    )
    assert (code, err) == (0, "")
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert {row["lane"] for row in rows if row["kind"] == "activity"} == {"rank 1", "rank 2"}
    assert all(
        0.001 <= float(row["from (s)"]) <= float(row["to (s)"]) <= 0.002 for row in rows if row["kind"] == "activity"
    )


@pytest.mark.slow
def test_two_traces_are_compared(call: Any, root: Path, tmp_path: Path) -> None:
    code, _, err = call(
        "export",
        root / "traces/ring.trf",
        root / "traces/pipeline.prv",
        "--view",
        "trace-compare",
        "-o",
        tmp_path / "a.json",
        "--set",
        "align=relative",
    )
    assert (code, err) == (0, "")
    data = json.loads((tmp_path / "a.json").read_text())
    assert len(data["panels"][0]["tracks"]) == 2
    assert data["sentence"].startswith("The time of 2 processors over that of 4 is 700 µs/3.00 ms = 0.233")


def test_views_are_listed_by_what_they_show(call: Any) -> None:
    code, out, _ = call("export", "--list")
    assert code == 0
    studies, traces = out.split("Views of a trace:\n")
    assert "speedup: " in studies
    assert "spacetime: " in traces
    assert "speedup: " not in traces


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["traces/ring.trf", "--view", "speedup"], "'speedup' is a view of studies, not of a trace; those of a"),
        (["runs.csv", "--view", "spacetime"], "'spacetime' is a view of traces, not of a study; those of a study: "),
        (["traces/ring.trf", "--view", "spacetim"], "unknown view 'spacetim'; did you mean 'spacetime'"),
        (["traces/ring.trf", "traces/ring.trf", "--view", "spacetime"], "'spacetime' shows one trace; 2 were given"),
        (["traces/ring.trf", "runs.csv", "--view", "trace-compare"], "traces can only be compared with traces"),
        (["traces/ring.trf", "missing.trf", "--view", "trace-compare"], "missing.trf: no such file"),
        (["traces/ring.trf", "--view", "spacetime", "--set", "begin=1"], "begin: expected a time between begin"),
        (["traces/ring.trf", "--view", "spacetime", "--set", "colour=red"], "expected one of activity"),
        (["missing.trf", "--view", "utilisation"], "missing.trf: no such file"),
    ],
)
def test_what_does_not_fit_is_told_in_a_sentence(
    arguments: list[str], said: str, call: Any, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "runs.csv").write_text("processors,time_s\n1,2\n2,1\n")
    words = [str(root / word) if word.startswith("traces/") else word for word in arguments]
    words = [str(tmp_path / word) if word in ("runs.csv", "missing.trf") else word for word in words]
    code, _, err = call("export", *words, "-o", tmp_path / "a.png")
    assert code == 2
    assert said.replace("begin: expected", "expected") in err
    assert not (tmp_path / "a.png").exists()


def test_a_quantity_of_a_trace_is_computed(call: Any, root: Path, tmp_path: Path) -> None:
    code, out, _ = call("analyze", root / "traces/pipeline.sgtrace", "--what", "events", "--json")
    assert code == 0
    rows = {row["kind"]: row["count"] for row in json.loads(out)["rows"]}
    assert rows["calls"] == 56
    code, out, _ = call(
        "analyze",
        root / "traces/pipeline.sgtrace",
        "--what",
        "locations",
        "--set",
        "locations=1",
        "-o",
        tmp_path / "a.csv",
    )
    assert code == 0
    assert (tmp_path / "a.csv").read_text().splitlines()[1].startswith("1,rank 1,")
    code, out, _ = call("analyze", "--list")
    assert "Of a trace:\n" in out
    rows = [line for line in out.splitlines() if line and not line.startswith("Of a ")]
    assert len({len(name) + len(gap) for name, gap in (re.findall(r"^(\S+)( +)", row)[0] for row in rows)}) == 1


def test_options_of_studies_are_refused_for_a_trace_and_the_other_way_round(
    call: Any, root: Path, tmp_path: Path
) -> None:
    code, _, err = call("analyze", root / "traces/ring.trf", "--what", "events", "-p", "4")
    assert code == 2
    assert "--assert and -p are for studies" in err
    table = tmp_path / "runs.csv"
    table.write_text("processors,time_s\n1,2\n2,1\n")
    code, _, err = call("analyze", table, "--what", "speedup", "--set", "begin=1")
    assert code == 2
    assert "--option is for traces, and this is not one" in err
    code, _, err = call("analyze", root / "traces/ring.trf", "--what", "speedup")
    assert code == 2
    assert "unknown quantity 'speedup' of a trace" in err


@pytest.mark.slow
def test_a_damaged_trace_is_shown_in_part_if_wanted(call: Any, root: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.trf"
    path.write_text((root / "traces" / "ring.trf").read_text()[:-10])
    assert call("export", path, "--view", "spacetime", "-o", tmp_path / "a.json")[0] == 2
    code, _, err = call("export", path, "--partial", "--view", "spacetime", "-o", tmp_path / "a.json")
    assert code == 0
    assert "damaged: " in err
    assert any("Only a part" in note for note in json.loads((tmp_path / "a.json").read_text())["notes"])


def test_call_stacks_of_a_trace_are_written_for_other_tools(call: Any, root: Path, tmp_path: Path) -> None:
    trace = root / "traces/pipeline.sgtrace"
    code, _, err = call("export", trace, "--view", "trace-flame", "-o", tmp_path / "a.folded")
    assert (code, err) == (0, "")
    lines = (tmp_path / "a.folded").read_text().splitlines()
    assert lines
    assert all(line.rpartition(" ")[2].isdecimal() and line.rpartition(" ")[0] for line in lines)
    code, _, err = call("export", trace, "--view", "spacetime", "-o", tmp_path / "b.folded")
    assert code == 2
    assert "only flame graphs have stacks" in err
    assert not (tmp_path / "b.folded").exists()
