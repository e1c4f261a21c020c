"""Unusual content of tables: serial runs, rates, clocks, integer results."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.guessing import Guess
from scalegraph.measurements.mapping import Unanswered
from scalegraph.measurements.model import check
from scalegraph.measurements.table import TableChoices, read_table
from scalegraph.measurements.table.durations import seconds
from scalegraph.request.imports.sets import answered, notes, opened, read_set
from scalegraph.request.results.data import study_data
from scalegraph.store import Study
from scalegraph.subjects.series import measured_notes
from scalegraph.views import registry

ITERATIONS = "threads,iters,time [s]\n1,101,8.0\n2,103,4.2\n4,99,2.5\n8,110,1.6\n"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(text)
    return path


def meant(tmp_path: Path, text: str, **said: object) -> Guess:
    return answered(read_set([written(tmp_path, text)]), said)


def scaled(tmp_path: Path, text: str, **said: object) -> pd.DataFrame:
    with opened([written(tmp_path, text)], said=said) as study:
        return study_data(study).scaling


def efficiencies(tmp_path: Path, text: str, **said: object) -> list[float]:
    return [float(value) for value in scaled(tmp_path, text, **said)["efficiency"]]


# a number that every run yields anew


def test_a_count_of_every_run_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(Unanswered, match="--sizes none if it is a result, or --sizes iters if it is a size") as caught:
        meant(tmp_path, ITERATIONS)
    (question,) = caught.value.questions
    assert (question.key, question.choices) == ("sizes", ("none", "iters"))


@pytest.mark.slow
def test_a_result_tells_no_problems_apart_and_a_size_does(tmp_path: Path) -> None:
    guess = meant(tmp_path, ITERATIONS, sizes="none")
    assert (guess.mapping.follow, guess.mapping.sizes, guess.mapping.scaling) == (("iters",), (), "strong")
    assert efficiencies(tmp_path, ITERATIONS, sizes="none") == pytest.approx([1, 8 / 8.4, 0.8, 0.625])
    rows = scaled(tmp_path, ITERATIONS, sizes="iters")
    assert sorted(rows["label"]) == ["iters = 101", "iters = 103", "iters = 110", "iters = 99"]
    with pytest.raises(InputError, match="'itters' is not a parameter of the set"):
        meant(tmp_path, ITERATIONS, sizes="itters")


@pytest.mark.slow
def test_sizes_stay_and_results_beside_them_are_found(tmp_path: Path) -> None:
    rows = [f"{p},{n},{n + 7 * p % 5},{n / 100 / p}" for n in (100, 200) for p in (1, 2, 4, 8)]
    text = "p,n,iters,time [s]\n" + "\n".join(rows) + "\n"
    with pytest.raises(Unanswered, match="--sizes n if it is a result, or --sizes n,iters if it is a size"):
        meant(tmp_path, text)
    assert efficiencies(tmp_path, text, sizes="n") == pytest.approx([1] * 8)
    two = "p,iters,steps,time [s]\n" + "".join(f"{p},{90 - p},{70 - 3 * p},{8 / p}\n" for p in (1, 2, 4, 8))
    with pytest.raises(Unanswered, match="'iters' and 'steps' differ"):
        meant(tmp_path, two)


@pytest.mark.parametrize("edge", [(100, 126, 159, 200), (1000, 2000, 4000, 8000)])
def test_a_size_that_grows_with_the_processors_is_not_asked_for(tmp_path: Path, edge: tuple[int, ...]) -> None:
    text = "p,n,time [s]\n" + "".join(f"{p},{n},10.{p}\n" for p, n in zip((1, 2, 4, 8), edge, strict=True))
    assert meant(tmp_path, text).mapping.scaling == "weak"


@pytest.mark.slow
def test_the_answer_stays_in_the_study(tmp_path: Path) -> None:
    target = tmp_path / "s.sgstudy"
    with opened([written(tmp_path, ITERATIONS)], said={"sizes": "none"}) as study:
        study.save_as(target)
    with opened([target], said={"scaling": "strong"}) as study:
        assert list(study_data(study).scaling["efficiency"]) == pytest.approx([1, 8 / 8.4, 0.8, 0.625])


# the serial program


@pytest.mark.slow
def test_no_threads_are_the_serial_program(tmp_path: Path) -> None:
    text = "threads,time [s]\n0,7.5\n0,7.7\n1,8.0\n2,4.2\n4,2.5\n"
    rows = scaled(tmp_path, text)
    assert list(rows["processors"]) == [1, 2, 4]
    assert list(rows["efficiency"]) == pytest.approx([7.6 / 8, 7.6 / 8.4, 7.6 / 10])
    assert set(rows["reference"]) == {0}
    target = tmp_path / "s.sgstudy"
    with opened([written(tmp_path, text)]) as study:
        assert any("threads = 0 is taken as the serial program" in note for note in notes(study))
        assert any("relative to the serial program" in note for note in measured_notes(study_data(study)))
        figure = registry()["speedup"].build(study_data(study))
        assert "times as fast as the serial program" in figure.sentence
        study.save_as(target)
    with Study.open(target) as kept:
        assert list(study_data(kept).scaling["efficiency"]) == pytest.approx(list(rows["efficiency"]))


def test_the_serial_program_stands_for_one_processor_where_no_run_does(tmp_path: Path) -> None:
    rows = scaled(tmp_path, "threads,n,time [s]\n0,1,8\n2,1,4.2\n4,1,2.5\n0,2,16\n1,2,17\n2,2,9\n")
    assert list(rows["processors"]) == [1, 2, 4, 1, 2]
    assert list(rows["efficiency"]) == pytest.approx([1, 8 / 8.4, 0.8, 16 / 17, 16 / 18])


# rates


@pytest.mark.slow
@pytest.mark.parametrize(
    "title", ["GFlop/s", "GFLOPS", "performance [MFlop/s]", "cells/s", "MB/s", "it/s", "throughput", "ns/day", "MLUPS"]
)
def test_speedups_of_rates_are_their_ratios(tmp_path: Path, title: str) -> None:
    rows = scaled(tmp_path, f"threads,{title}\n1,2.0\n2,3.9\n4,7.5\n8,13\n")
    assert list(rows["speedup"]) == pytest.approx([1, 3.9 / 2, 7.5 / 2, 13 / 2])
    with opened([tmp_path / "t.csv"]) as study:
        (note,) = measured_notes(study_data(study))
    assert note.startswith("Times are the work over the rate")
    assert "ratios of rates" in note


@pytest.mark.slow
def test_work_that_is_known_gives_seconds(tmp_path: Path) -> None:
    rows = scaled(tmp_path, "threads,cells,cells/s\n1,1000,100\n2,1000,180\n1,2000,100\n2,2000,190\n")
    assert list(rows["time_s"]) == pytest.approx([10, 1000 / 180, 20, 2000 / 190])
    counted = scaled(tmp_path, "threads,flops,GFlop/s\n1,8e9,2\n2,8e9,4\n")
    assert list(counted["time_s"]) == pytest.approx([4, 2])


@pytest.mark.slow
def test_rates_of_a_growing_problem_are_shared_out(tmp_path: Path) -> None:
    guess = meant(tmp_path, "ranks,n,GFlop/s\n1,100,2\n2,200,3.8\n4,400,7\n")
    check(guess.measured)
    assert guess.mapping.scaling == "weak"
    rows = scaled(tmp_path, "ranks,n,GFlop/s\n1,100,2\n2,200,3.8\n4,400,7\n")
    assert list(rows["time_s"]) == pytest.approx([0.5, 2 / 3.8, 4 / 7])


@pytest.mark.slow
def test_a_time_goes_before_rates_and_several_rates_are_asked_for(tmp_path: Path) -> None:
    both = "threads,time [s],GFlop/s\n1,8,2\n2,5,4\n"
    assert list(scaled(tmp_path, both)["time_s"]) == [8, 5]
    assert list(scaled(tmp_path, both, time="GFlop/s")["speedup"]) == pytest.approx([1, 2])
    with pytest.raises(Unanswered, match="--time GFlop/s"):
        meant(tmp_path, "threads,GFlop/s,MB/s\n1,2,3\n2,4,5\n")
    found = meant(tmp_path, "threads,it/s\n1,2\n2,0\n4,8\n").measured
    assert [(each.what, each.count) for each in found.skipped] == [("rates", 1)]
    assert meant(tmp_path, "threads,misses/s\n1,2.5\n2,3.5\n").mapping.time == ""


# clocks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("00:08:01", 481),
        ("8:01", 481),
        ("8:01.5", 481.5),
        ("1-02:03:04", 93784),
        ("2-01", 176400),
        ("8m1.5s", 481.5),
        ("1h 2m 3s", 3723),
        ("2 min", 120),
        ("481.2 s", 481.2),
        ("250ms", 0.25),
        ("12us", 12e-6),
        ("PT8M1.5S", 481.5),
        ("P1DT2H", 93600),
        ("481", None),
        ("8m", None),
        ("00:75", None),
        ("10:61:00", None),
        ("P", None),
        ("PT", None),
        ("", None),
        ("-8:01", None),
        ("noon", None),
    ],
)
def test_durations(text: str, expected: float | None) -> None:
    assert seconds(text) == (None if expected is None else pytest.approx(expected))


@pytest.mark.slow
@pytest.mark.parametrize(
    "cells", [("00:08:01", "00:04:11"), ("8m1s", "4m11s"), ("PT8M1S", "PT251S"), ("481s", "251 s")]
)
def test_times_of_clocks_are_seconds(tmp_path: Path, cells: tuple[str, str]) -> None:
    text = f"threads,start,elapsed\n1,09:00:01,{cells[0]}\n2,09:10:00,{cells[1]}\n2,09:20:00,\n"
    assert list(scaled(tmp_path, text, scaling="strong")["time_s"]) == [481, 251]
    with opened([tmp_path / "t.csv"], said={"scaling": "strong"}) as study:
        assert any("times in elapsed were turned into seconds" in note for note in notes(study))


def test_a_wide_table_of_clocks(tmp_path: Path) -> None:
    assert efficiencies(tmp_path, "n,1,2,4\n10,0:08:00,0:04:00,0:02:30\n") == pytest.approx([1, 1, 0.8])


def test_a_cell_that_is_no_time_is_named(tmp_path: Path) -> None:
    rows = "".join(f"{n},00:{59 - n % 50}:00\n" for n in range(1, 200)) + "200,soon\n"
    with pytest.raises(InputError, match=r"t.csv:201: .*'elapsed'.* a time such as 00:08:01.*got 'soon'"):
        read_set([written(tmp_path, "threads,elapsed\n" + rows)])


def test_long_cells_cost_no_time() -> None:
    for text in ("1" * 100_000, "1 " * 50_000, "1:" * 50_000, "1d" * 50_000):
        assert seconds(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "result:\n| ntasks | time[s] |\n|--------|---------|\n|      1 |    8.02 |\n|      2 |    4.11 |\n",
        "result:\nntasks | time[s]\n-------+--------\n     1 |    8.02\n     2 |    4.11\n",
        "ntasks,time[s]\n1,8.02\n2,4.11\n",
    ],
)
def test_result_tables_of_jube(tmp_path: Path, text: str) -> None:
    assert list(scaled(tmp_path, text)["speedup"]) == pytest.approx([1, 8.02 / 4.11])


def test_a_cell_without_a_value_and_a_row_that_is_left_out_are_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("# head\np,time_s\n1,8\n2,4.1\n4,crashed\n8,1.2\nrest,15\n")
    with pytest.raises(InputError, match="got 'rest'; --cell 7=skip leaves its row out"):
        read_table(path)
    choices = TableChoices(cells={"5:time_s": "none", "7": "skip"})
    measured = read_table(path, choices)
    assert measured.points["p"].tolist() == [1, 2, 4, 8]
    assert list(measured.values["value"]) == [8, 4.1, 1.2]
    assert [str(one) for one in measured.skipped] == [
        f"rows (1): left out, as said, first at {path}:7",
        f"cells (1): empty, first at {path}:5",
    ]


@pytest.mark.parametrize(
    ("cell", "role", "why"),
    [
        ("9", "skip", "holds no row of the table"),
        ("1:p", "none", "holds no row of the table"),
        ("2:q", "none", "has no cell of a column 'q'"),
        ("3:time_s", "none", "is empty already"),
        ("2", "none", "expected LINE:COLUMN=none or LINE=skip"),
        ("x", "skip", "expected LINE:COLUMN=none or LINE=skip"),
    ],
)
def test_a_mark_of_a_cell_that_changes_nothing_is_refused(tmp_path: Path, cell: str, role: str, why: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p,time_s\n1,8\n2,\n4,2\n")
    with pytest.raises(InputError, match=why):
        read_table(path, TableChoices(cells={cell: role}))
