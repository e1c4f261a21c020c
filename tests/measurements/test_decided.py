"""What arithmetic and names decide together is not asked: processors, the time, its unit."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.measurements.guessing import Guess
from scalegraph.measurements.mapping import Unanswered
from scalegraph.request.imports.sets import notes, study_of, understood
from tests.measurements.test_outputs import times


def meant(tmp_path: Path, text: str) -> Guess:
    path = tmp_path / "t.csv"
    path.write_text(text)
    return understood([path])


def said(guess: Guess) -> str:
    return "\n".join(notes(study_of(guess.measured, guess.mapping)))


def test_processes_and_threads_that_both_speed_a_run_up_are_multiplied(tmp_path: Path) -> None:
    guess = meant(tmp_path, "n_procs,n_threads,time_s\n1,1,8\n1,2,4.1\n2,1,4.2\n2,2,2.2\n4,2,1.2\n")
    assert times(guess)[-1] == (8, 1.2)
    assert "processors are n_procs*n_threads: times fall with each of them; --processors says another" in said(guess)
    with pytest.raises(Unanswered):  # cores that bind threads are not multiplied
        meant(tmp_path, "cores,threads,time_s\n1,1,8\n1,2,4.1\n2,1,4.2\n2,2,2.2\n4,2,1.2\n")


def test_a_size_that_grows_with_the_product_decides(tmp_path: Path) -> None:
    guess = meant(tmp_path, "ranks,threads,n,time_s\n1,1,10,8\n1,2,20,8.1\n2,2,40,8.2\n4,2,80,8.4\n")
    assert [count for count, _ in times(guess)] == [1, 2, 4, 8]


def test_ranks_and_cores_in_one_ratio_are_counted_by_the_more(tmp_path: Path) -> None:
    guess = meant(tmp_path, "ranks,cores,time_s\n2048,512,80\n4096,1024,41\n8192,2048,21\n")
    assert times(guess) == [(2048, 80.0), (4096, 41.0), (8192, 21.0)]
    assert "'ranks' is 4 times 'cores' in every row" in said(guess)
    with pytest.raises(Unanswered):
        meant(tmp_path, "ranks,cores,time_s\n256,256,80\n512,256,70\n1024,512,41\n2048,512,38\n")


def test_a_time_that_is_zero_in_a_row_is_a_part(tmp_path: Path) -> None:
    guess = meant(tmp_path, "p,taken_time [s],mpi_time [s]\n1,8,0.00\n2,4.5,0.4\n4,2.9,0.7\n")
    assert times(guess) == [(1, 8.0), (2, 4.5), (4, 2.9)]
    assert "'mpi_time' is 0 where other times are not: a part of the time" in said(guess)


def test_the_time_is_the_one_that_a_speedup_was_computed_of(tmp_path: Path) -> None:
    text = "p,avg_compute_s,avg_io_s,speedup\n1,8,0.5,1\n2,4.5,0.4,1.78\n4,2.9,0.3,2.76\n"
    guess = meant(tmp_path, text)
    assert times(guess) == [(1, 8.0), (2, 4.5), (4, 2.9)]
    assert "'avg_compute' was taken as the time, of which 'speedup' is the speedup" in said(guess)
    with pytest.raises(Unanswered):
        meant(tmp_path, text.replace("1.78", "1.28").replace("2.76", "3.76"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("p,elapsed_time,real,user,sys\n1,8,8.01,7.9,0.1\n2,4.5,4.51,8.8,0.1\n", "real, user and sys are what the"),
        (
            "ranks,cpu time used,zone-cycles/cpu_second\n1,100,5e6\n2,101,9.9e6\n4,102,1.96e7\n",
            "'zone-cycles/cpu_second' is per second of it",
        ),
    ],
)
def test_the_unit_is_decided_by_what_else_is_there(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    guess = understood([path], said={"scaling": "weak"} if "ranks" in text else {})
    assert guess.mapping.unit == "s"
    assert why in said(guess)


def test_a_rate_that_is_not_of_the_time_decides_no_unit(tmp_path: Path) -> None:
    with pytest.raises(Unanswered, match="'cpu time used' has no unit"):
        meant(tmp_path, "ranks,cpu time used,zone-cycles/cpu_second\n1,100,5e6\n2,51,8.1e6\n4,27,1.1e7\n")
