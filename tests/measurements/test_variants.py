"""Columns of times: variants of a program side by side, parts of one time, or two clocks that contradict each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.measurements.mapping import Unanswered
from scalegraph.measurements.runs import make_runs
from scalegraph.measurements.table import TableChoices
from scalegraph.request.imports.sets import understood
from tests.measurements.test_outputs import times

ROWS = "\n1,10.1,9.8,9.1\n2,5.2,5.1,4.8\n4,2.9,2.7,2.5\n"


@pytest.mark.parametrize(
    "head",
    [
        "procs,gcc [s],clang [s],icc [s]",
        "procs,time_gcc [s],time_clang [s],time_icc [s]",
        "procs,gcc-12 (s),gcc-13 (s),clang-17 (s)",
    ],
)
def test_times_of_known_variants_are_one_measurement(tmp_path: Path, head: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(head + ROWS)
    guess = understood([path])
    assert guess.measured.parameters == ("variant", "procs")
    runs = make_runs(guess.measured, guess.mapping)[0]
    assert {str(run.point.parameters["variant"])[:3] for run in runs} <= {"gcc", "cla", "icc"}
    assert sorted(run.time_s for run in runs if run.point.processors == 4) == [2.5, 2.7, 2.9]


def test_one_of_the_variants_can_be_the_time(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("procs,gcc [s],clang [s],icc [s]" + ROWS)
    assert times(understood([path], said={"time": "clang"})) == [(1, 9.8), (2, 5.1), (4, 2.7)]


def test_unknown_times_that_fall_alike_are_one_question(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("procs,alice [s],bob [s],carol [s]" + ROWS)
    with pytest.raises(Unanswered) as error:
        understood([path])
    (question,) = error.value.questions
    assert (question.key, question.choices) == ("across", ("variant", "none"))
    assert len(times(understood([path], choices=TableChoices(across="variant")))) == 9
    assert times(understood([path], said={"time": "bob"})) == [(1, 9.8), (2, 5.1), (4, 2.7)]
    with pytest.raises(Unanswered, match="are all times; say --time"):
        understood([path], choices=TableChoices(across="none"))


@pytest.mark.parametrize(
    "text",
    [
        "procs,total [s],solve [s],io [s]\n1,10,8,2\n2,5.5,4,1.5\n4,3.4,2.2,1.2\n",
        "procs,a [s],b [s],c [s]\n1,10,8,2\n2,5.5,4,1.5\n4,3.4,2.2,1.2\n",  # a = b + c
    ],
)
def test_parts_of_a_time_are_no_variants(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert times(understood([path])) == [(1, 10.0), (2, 5.5), (4, 3.4)]


def test_two_clocks_that_contradict_each_other_are_a_question(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("cores,elapsed_s,wall_ms\n1,10,10000\n2,5,5000\n4,3,9000\n")
    with pytest.raises(Unanswered, match=r"contradict each other: 3.00 s and 9.00 s in one row"):
        understood([path])
    path.write_text("cores,elapsed_s,wall_ms\n1,10,10000\n2,5,5000\n4,3,3000\n")
    assert times(understood([path])) == [(1, 10.0), (2, 5.0), (4, 3.0)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cores,time_s\n128,100\n512,27\n1k,15\n2k,8\n", [(128, 100.0), (512, 27.0), (1024, 15.0), (2048, 8.0)]),
        ("cores,time_s\n100,100\n500,22\n1k,12\n1.5k,9\n", [(100, 100.0), (500, 22.0), (1000, 12.0), (1500, 9.0)]),
    ],
)
def test_processors_in_thousands_are_what_the_others_say(
    tmp_path: Path, text: str, expected: list[tuple[int, float]]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert times(understood([path])) == expected


def test_rates_in_binary_and_decimal_units_are_converted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("cores,bw\n1,1024 MiB/s\n2,2 GiB/s\n4,4.294967296 GB/s\n")
    found = times(understood([path]))
    assert [count for count, _ in found] == [1, 2, 4]
    assert [found[0][1] / time for _, time in found] == pytest.approx([1.0, 2.0, 4.0])


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("threads,time_s,Bemerkung\n1,10,ok\n1,11,noisy\n2,5,ok\n2,6,noisy\n", 2),  # by its name
        ("threads,time_s,kind\n1,10,ok\n1,11,bad\n2,5,ok\n2,6,ok\n4,3,ok\n4,3,ok\n", 3),  # now and then
        ("threads,time_s,kind\n1,10,a\n1,11,b\n2,5,a\n2,6,b\n", 4),  # each at every point
        ("threads,time_s,kind\n1,10,a\n1,11,b\n2,5,a\n2,6,b\n4,3,a\n", 5),
        ("threads,time_s,compiler\n1,10,a\n1,11,b\n2,5,a\n2,6,a\n4,3,a\n4,3,a\n", 4),  # an axis by its name
        ("threads,time_s,kind\n1,10,ok\n1,11,bad\n2,5,ok\n4,3,ok\n", None),
    ],
)
def test_remarks_on_runs_are_told_from_axes(tmp_path: Path, text: str, points: int | None) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    if points is None:
        with pytest.raises(Unanswered) as error:
            understood([path])
        (question,) = error.value.questions
        assert question.choices == ("skip", "parameter")
        return
    guess = understood([path])
    assert len(guess.measured.points) == points
    assert len(times(guess)) == text.count("\n") - 1
    if points < text.count("\n") - 2 and "compiler" not in text:
        assert "left out" in str(guess.measured.skipped[0])
        kept = understood([path], choices=TableChoices(columns={text.split("\n")[0].split(",")[2]: "parameter"}))
        assert len(kept.measured.points) > points
