"""Tables that are easily misread: none is read wrongly in silence, and no remedy mixes two tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.mapping import Unanswered
from scalegraph.request.imports.sets import notes, opened, understood
from tests.measurements.test_outputs import assert_read, times

RUNS = [(1, 10.0), (2, 5.2), (4, 2.9)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ranks,walltime [hh:mm]\n1,10:00\n2,05:12\n4,02:54\n", [(1, 36000.0), (2, 18720.0), (4, 10440.0)]),
        ("ranks,elapsed (mm:ss)\n1,60:10\n2,30:20\n", [(1, 3610.0), (2, 1820.0)]),
        ("ranks,elapsed\n1,1-00:00:00\n2,12:00:00\n", [(1, 86400.0), (2, 43200.0)]),
        ("threads,time [d]\n1,10\n2,5.5\n", [(1, 864000.0), (2, 475200.0)]),
        ("threads,time [10^3 s]\n1,0.010\n2,0.0052\n4,0.0029\n", RUNS),
        ("threads,time,time\n1,10 s,10000 ms\n2,5.2 s,5200 ms\n4,2.9 s,2900 ms\n", RUNS),
        ("threads,time [s],time [s]\n1,10,10\n2,5.2,5.2\n4,2.9,2.9\n", RUNS),
        ("threads,cpu time [s],speedup\n1,10,1\n2,10.4,1.92\n4,11.6,3.45\n", RUNS),
        ("threads,time [s]\n1,10\n2,5.2\n4,2.9\n8,n.v.\n16,k.A.\n32,<NA>\n", RUNS),
        ("threads;time [s]\n1;10\n2;5.2\n4;2.9\nTotal;18.1\n", RUNS),
        ("threads,time [s],\n1,10,\n2,5.2,first run was slow\n4,2.9,\n", RUNS),
        (",strong,strong\nthreads,time [s],eff\n1,10,100 %\n2,5.2,96 %\n4,2.9,86 %\n", RUNS),
    ],
)
def test_what_is_easily_misread_is_read(tmp_path: Path, text: str, expected: list[tuple[int, float]]) -> None:
    assert_read(tmp_path / "t.csv", text, expected)


@pytest.mark.parametrize(
    "text",
    [
        "threads,time [s]\n1,10\n2,5.2\n4,2.9\n\nthreads,memory [MB]\n1,100\n2,110\n4,130\n",
        "threads,time [s]\n1,10\n2,5.2\n\nthreads,time [s]\n1,20\n2,11\n",
        "Strong\nthreads,time_s\n1,10\n2,5.2\n\nWeak\nthreads,time_s\n1,10\n2,10.3\n",
    ],
)
def test_two_tables_in_a_file_are_refused_without_a_remedy_that_mixes_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        understood([path])
    again = [fault for fault in error.value.faults if "holds names of columns again" in fault.message]
    assert len(again) == 1
    assert "leaves out all" not in str(error.value)
    assert "--cell" not in again[0].message


def test_a_time_of_nines_alone_is_doubted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("threads,time [s]\n1,10\n2,5.2\n4,2.9\n8,9999\n")
    with opened([path]) as study:
        assert "'time' is 9999 in 1 of 4 values: no time, perhaps" in notes(study)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("log2(threads),time [s]\n0,10\n1,5.2\n2,2.9\n", "how many processors ran"),
        ("config,time [s]\np1,10\np2,5.2\np1,10.2\n", "no parameter is known to count processors: models"),
        ("time [s]\trun\n10\t1\n10.1\t2\n", "how many processors ran"),
    ],
)
def test_what_counts_no_processors_has_no_runs_and_says_why(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    guess = understood([path])
    assert not times(guess)
    assert words in guess.no_runs[0]


def test_a_mean_without_the_word_time_is_offered_as_the_time(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("threads,mean,std\n1,10,.1\n2,5.2,.1\n4,2.9,.1\n")
    with pytest.raises(Unanswered) as error:
        understood([path])
    assert error.value.together == "--time mean --unit s"
