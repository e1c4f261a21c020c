"""Small helpers shared by several commands."""

import pytest

from scalegraph.base.errors import InputError
from scalegraph.base.events import Building, Done, Note, Planned, RunFailed, RunFinished, RunSkipped
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.cli.output import print_rows
from scalegraph.cli.processors import parse_processors
from scalegraph.cli.progress import progress
from scalegraph.cli.run_table import document

POINT = RunPoint(processors=4)
RECORD = RunRecord(
    source="simulated", program="p", machine="m", point=POINT, time_s=0.5, host_s=2.0, warnings=("output truncated",)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4", [4]),
        ("8,1, 2", [1, 2, 8]),
        ("2-5", [2, 3, 4, 5]),
        ("1..64", [1, 2, 4, 8, 16, 32, 64]),
        ("3..20", [3, 6, 12]),
        ("1,1-3,2..4", [1, 2, 3, 4]),
    ],
)
def test_processor_counts_are_read(text: str, expected: list[int]) -> None:
    assert parse_processors(text, 64, "m") == expected


def test_every_wrong_count_is_told() -> None:
    with pytest.raises(InputError) as caught:
        parse_processors("0,5,x,65", 64, "m")
    assert len(caught.value.faults) == 3


def test_progress_off_a_terminal_is_one_line_an_event(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as emit:
        emit(Planned((POINT,), 12.0))
        emit(Building("p"))
        emit(RunFinished(POINT, RECORD, 1, 3, 65.0))
        emit(RunFailed(RunPoint(processors=8), "it crashed", None, 2, 3, 0.2))
        emit(RunSkipped(RunPoint(processors=1), 3, 3))
        emit(Note("a remark"))
        emit(Done(2, 1))
    assert capsys.readouterr().err.splitlines() == [
        "1 run planned, about 12 s",
        "building p",
        "[1/3] N = 4: 500 ms simulated, 2.0 s here (1 min 5 s left)",
        "N = 4: output truncated",
        "[2/3] N = 8: failed: it crashed",
        "[3/3] N = 1: already in the study",
        "a remark",
        "1 run failed",
    ]


def test_runs_that_are_added_are_told_with_the_whole(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as emit:
        emit(Planned((POINT,)))
        emit(Planned((POINT, RunPoint(processors=8))))
        emit(Planned((POINT, RunPoint(processors=8)), runs=4))  # both again, for their traces
        emit(Planned((POINT, RunPoint(processors=8)), runs=4))
    assert capsys.readouterr().err.splitlines() == [
        "1 run planned",
        "1 more run, 2 in all",
        "2 more runs, 4 in all",
    ]


def test_quiet_progress_tells_failures_and_remarks_only(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=True) as emit:
        emit(Building("p"))
        emit(Note("a remark"))
        emit(RunFailed(POINT, "it crashed", None, 1, 1))
    assert capsys.readouterr().err.splitlines() == ["a remark", "[1/1] N = 4: failed: it crashed"]


def test_rows_are_aligned_and_may_be_short(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(("N", "time", "note"), [("1", "10 s", "a"), ("100", "failed")], title="T", left=(2,))
    assert capsys.readouterr().out.splitlines() == ["T", "  N  time  note", "  1  10 s  a", "100  failed"]


def test_document_without_a_one_processor_run_has_no_derived_values() -> None:
    (row,) = document("p", "m", [RECORD], [POINT.key])["runs"]
    assert row["speedup"] is None
    assert row["time_s"] == 0.5
    assert row["warnings"] == ["output truncated"]
