"""Hostile tables, which invite a misreading: they are read right, asked about or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.mapping import Unanswered
from scalegraph.measurements.table import TableChoices
from scalegraph.request.imports.sets import understood
from tests.measurements.test_outputs import times


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Threads;Time(ms)\n1;1.234.567\n2;617.283\n4;310.000\n", [(1, 1234.567), (2, 617.283), (4, 310)]),
        ("p,time\n1,8e3 ms\n2,4.1e3 ms\n4,2.2e3 ms\n", [(1, 8), (2, 4.1), (4, 2.2)]),
        ("p,time [10^-3 s]\n1,8000\n2,4100\n", [(1, 8), (2, 4.1)]),
        ("p,Zeit (Sekunden)\n1,8\n2,4.1\n", [(1, 8), (2, 4.1)]),
        ("p,time_s,\n1,8,\n2,4.1,\n4,2.2,again\n", [(1, 8), (2, 4.1), (4, 2.2)]),  # a remark without a name
        ("threads/size,100,200\n1,8s,16s\n2,4.1s,8.2s\n", [(1, 8), (2, 4.1), (1, 16), (2, 8.2)]),
        ("p;n;t(s)\n1;1.000;8,5\n2;1.000;4,25\n", [(1, 8.5), (2, 4.25)]),
        ("Anzahl Kerne;Laufzeit (s)\n1;8,5\n2;4,25\n", [(1, 8.5), (2, 4.25)]),
        ("n,unit,1,4\n100,ms,8000,4100\n200,s,16,8.3\n", [(1, 8), (1, 16), (4, 4.1), (4, 8.3)]),
    ],
)  # fmt: skip
def test_units_and_numbers_of_other_places(tmp_path: Path, text: str, expected: list[tuple[int, float]]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    found = times(understood([path]))
    assert [count for count, _ in sorted(found)] == [count for count, _ in sorted(expected)]
    assert [time for _, time in sorted(found)] == pytest.approx([time for _, time in sorted(expected)])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("p,time_s,speedup\n1,8.0 ± 0.1,1\n2,4.1 ± 0.1,2\n", ":2: column 2 'time_s': a number was expected, got '8.0"),
        ("p,time_s\n1,8.0 +/- 0.1\n2,4.1 +/- 0.1\n", "a value and its deviation need a column each"),
        ("p,time_s\n1,8.0(1)\n2,4.1(1)\n", "a value and its deviation need a column each"),
        (",1,2,4\ntime,8,4.1,2.2\nspeedup,1,1.95,3.6\n", "has a row for each metric (time, speedup): exchange rows"),
        ("p,time_s,time_s\n1,8,0.1\n2,4,0.1\n4,2,0.2\n", "columns 2 and 3 have one name, 'time_s', but their"),
        ("p,time_s\n1,8\n2,-1\n", "-1 is not a time; 0 or more was expected; --cell 3:time_s=none"),
    ],
)  # fmt: skip
def test_what_would_be_misread_is_refused_with_the_way(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        understood([path])
    assert fault in str(error.value)


def test_columns_of_one_name_are_repetitions_if_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p,time_s,time_s\n1,8,0.1\n2,4,0.1\n")
    assert times(understood([path], choices=TableChoices(columns={"3": "skip"}))) == [(1, 8), (2, 4)]
    assert len(times(understood([path], choices=TableChoices(across="repetition")))) == 4


@pytest.mark.parametrize("text", ["procs,t(1000),t(2000)\n1,8,16\n2,4.1,8.3\n", "procs,1000,2000\n1,8,16\n2,4.1,8.3\n"])
def test_columns_beside_processors_that_differ_are_guessed_to_be_sizes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(Unanswered) as error:
        understood([path])
    assert [(one.key, one.guess) for one in error.value.questions] == [("across", "n"), ("unit", "s")]
    guess = understood([path], choices=TableChoices(across="n"), said={"unit": "s"})
    assert sorted(times(guess)) == [(1, 8), (1, 16), (2, 4.1), (2, 8.3)]


def test_a_unit_with_an_unknown_factor_has_no_guess(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p,time (x1000 s)\n1,8\n2,4.1\n")
    with pytest.raises(Unanswered) as error:
        understood([path])
    assert [(one.key, one.guess) for one in error.value.questions] == [("unit", "")]


def test_time_for_a_piece_of_work_is_no_rate(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p,hours/ns\n1,10\n2,5.2\n4,2.8\n")
    guess = understood([path])
    assert times(guess) == []  # hours per nanosecond: a time, of which less is better
    assert guess.no_runs


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("version,p,time_s\n1.0,1,8\n1.0,2,4\n1.10,1,7\n1.10,2,3.6\n1.1,1,6.9\n1.1,2,3.5\n", 6),  # 1.10 is not 1.1
        ("p,alpha,time_s\n1,0.5,8\n2,0.5,4\n1,1.5,7\n2,1.5,3.6\n", 4),  # no repetitions
        ("p,load,time_s\n1,0.5,8\n1,0.6,8.1\n2,0.9,4\n2,0.7,4.1\n", 2),  # measured
        ("p,size,time_s\n1,1 KB,8\n2,1 KB,4\n1,1 MB,80\n2,1 MB,41\n", 4),
        ("p,tolerance,time_s\n1,1e-3,8\n2,1e-3,4\n1,1e-6,16\n2,1e-6,8.3\n", 4),
        ("p,tasks,time_s\n1,2,8\n1,2,8.1\n", 1),
    ],
)  # fmt: skip
def test_what_was_set_tells_runs_apart(tmp_path: Path, text: str, points: int) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert len(understood([path], said={"processors": "p"}).measured.points) == points


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("p;n;t(s)\n1;1.000;8\n2;1.000;4\n1;10.000;80\n2;10.000;41\n", ","),
        ('p,n,time_s\n1,"1,000",8\n2,"1,000",4\n1,"10,000",80\n2,"10,000",41\n', "."),
    ],
)
def test_sizes_are_guessed_to_have_groups_of_digits(tmp_path: Path, text: str, guess: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(Unanswered) as error:
        understood([path])
    assert [(one.key, one.guess) for one in error.value.questions] == [("decimal", guess)]
    found = understood([path], choices=TableChoices.model_validate({"decimal": guess}))
    assert sorted(found.measured.points["n"]) == [1000, 1000, 10000, 10000]


def test_a_small_fraction_is_no_share_of_a_size(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p,tolerance,time_s\n1,1e-3,8\n2,1e-3,4\n1,1e-6,16\n2,1e-6,8.3\n")
    assert not understood([path]).mapping.follow


@pytest.mark.parametrize(
    "column",
    ["ok;1;0;1", "verified;yes;no;yes", "result;PASS;FAIL;PASS", "passed;true;false;true", "status;ok;failed;ok"],
)
def test_runs_that_were_wrong_are_no_runs(tmp_path: Path, column: str) -> None:
    name, *cells = column.split(";")
    rows = "".join(f"{p},{time},{cell}\n" for p, time, cell in zip((1, 2, 4), (8, 0.1, 2), cells, strict=True))
    path = tmp_path / "t.csv"
    path.write_text(f"p,time_s,{name}\n{rows}")
    guess = understood([path])
    assert times(guess) == [(1, 8), (4, 2)]
    assert [one.count for one in guess.measured.skipped if "did not complete" in one.reason] == [1]


def test_a_unit_belongs_to_the_column_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p,time_s,memory_unit,memory\n1,8,MB,100\n2,4,MB,110\n")
    guess = understood([path])
    assert [(metric.name, metric.unit) for metric in guess.measured.metrics] == [("time", "s"), ("memory", "MB")]


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("p,phase,time_s\n1,init,3\n1,solve,4\n1,write,3\n2,init,3\n2,solve,2\n2,write,3\n", "*"),
        ("p,phase,time_s\n1,init,1\n1,solve,8\n1,all in all,9\n2,init,1\n2,solve,4\n2,all in all,5\n", "all in all"),
    ],
)
def test_the_whole_program_is_guessed_by_its_time(tmp_path: Path, text: str, guess: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(Unanswered) as error:
        understood([path])
    assert (error.value.questions[0].key, error.value.questions[0].guess) == ("total", guess)
