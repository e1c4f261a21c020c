"""Tables as people write them: units in cells, German numbers, totals, broken lines; none is read wrong in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.mapping import Unanswered
from scalegraph.request.imports.sets import understood
from tests.measurements.test_outputs import assert_read

FOUR = [(1, 8.1), (2, 4.25), (4, 2.3), (8, 1.25)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("threads,time\n1,8.1 s\n2,4.25 s\n4,2300 ms\n8,1.25 s\n", FOUR),
        ("Kerne;Laufzeit [s]\n1;8,10\n2;4,25\n4;2,30\n8;1,250\n", FOUR),
        ("Kerne;Laufzeit [ms]\n1;8.100,0\n2;4.250,0\n4;2.300,0\n8;1.250,0\n", FOUR),
        ('cores,n,time_ms\n1,"1,000,000","8,100"\n2,"1,000,000","4,250"\n4,"1,000,000","2,300"\n8,"1,000,000","1,250"\n',
         FOUR),
        ("p,time_s\n1,8.1D+00\n2,4.25D+00\n4,2.3D+00\n8,1.25d0\n", FOUR),
        ("nodes,walltime\n1,1:02:03\n2,0:31:10\n4,8:10\n", [(1, 3723), (2, 1870), (4, 490)]),
        ("threads,efficiency,time_s\n1,100 %,8\n2,97.5 %,4.1\n4,91%,2.2\n", [(1, 8), (2, 4.1), (4, 2.2)]),
        ("threads;time [s]\n1;1'234.5\n2;617.9\n4;310.1\n", [(1, 1234.5), (2, 617.9), (4, 310.1)]),
        ("threads,time_s\n1,8\n2,n.a.\n4,N/A\n8,1.1\n", [(1, 8), (8, 1.1)]),
        ("| Threads | Time (s) | Speedup |\n|---|---:|---:|\n| 1 | 12.0 | 1.0x |\n| 2 | 6.3 | 1.9x |\n",
         [(1, 12), (2, 6.3)]),
        (",,Time [s],,Gain,\nthreads,n,mean,std,mean,std\n1,9,8.0,0.1,1,0.0\n2,9,4.1,0.1,2,0.1\n4,9,2.2,0.1,3.6,0.1\n",
         [(1, 8), (2, 4.1), (4, 2.2)]),
        ("threads,time [ms],time [s]\n1,8100,8.1\n2,4250,4.25\n4,2300,2.3\n8,1250,1.25\n", FOUR),
        ('threads,time_s,note\n1,8,"first\nsecond"\n2,4.1,""\n4,2.2,"a ""b"""\n', [(1, 8), (2, 4.1), (4, 2.2)]),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(tmp_path: Path, text: str, expected: list[tuple[int, float]]) -> None:
    assert_read(tmp_path / "t.csv", text, expected)


@pytest.mark.parametrize(
    ("text", "runs", "left_out"),
    [
        ("threads,time_s\n1,8.0\n2,4.0\n4,2.0\nTotal,14.0\n", 3, 1),
        ("run,threads,time_s\n1,4,8.0\n2,4,8.2\nmean,4,8.1\n1,8,4.0\n2,8,4.1\nmean:,8,4.05\n", 4, 2),
        ("threads,stat,time_s\n1,mean,8.0\n1,max,9.0\n2,mean,4.0\n2,max,4.5\n", 4, 0),  # a parameter of its own
    ],
)
def test_rows_that_sum_up_others_are_no_runs(tmp_path: Path, text: str, runs: int, left_out: int) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    measured = understood([path]).measured
    assert len(measured.values) == runs
    counts = [one.count for one in measured.skipped if one.reason == "sum up other rows, as total or mean"]
    assert sum(counts) == left_out


@pytest.mark.parametrize(
    ("text", "key", "guess"),
    [
        ("cores;time_ms\n1;2.300\n2;1.250\n4;640\n", "decimal", ","),  # 2300 and 640, or 2.3 and 640?
        ("p;time_s\n1;2.300\n2;1.150\n4;640\n8;330\n", "decimal", ","),  # times would rise from 2.3 to 640
        ("p;time_s\n1;4.300\n2;2.150\n4;1.075\n8;1\n", "decimal", "."),
        ("n,1,2,3\n10,8,4.2,2.1\n20,16,8.3,4.4\n", "across", "processors"),
        ("n,1,2,3\n10,8,6.2,7.1\n20,16,18.3,14.4\n", "across", "repetition"),
        ("p,n,time_s\n1,1K,1.0\n2,2K,1.0\n4,4K,1.1\n1,1M,1000\n2,1M,510\n", "sizes", "n"),
    ],
)
def test_what_two_readings_fit_is_asked(tmp_path: Path, text: str, key: str, guess: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(Unanswered) as error:
        understood([path])
    assert (error.value.questions[0].key, error.value.questions[0].guess) == (key, guess)


@pytest.mark.parametrize(
    "text",
    [
        "threads,time_s\n1,8\n2,timeout\n4,2\n",
        "threads,time_s\n1,8\n2,4.1\n4 (HT),2.0\n",
        "threads,time (s)\nserial,8.5\n1,8.9\n2,4.6\n",
        'threads,time_s,note\n1,8,"open\n2,4.1,x\n4,2.2,y\n',
        'threads,time_s,rack\n1,8,19" a\n2,4.1,b\n4,2.2,19" c\n',  # inch marks do not open a quotation
    ],
)
def test_a_cell_that_is_no_number_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        understood([path])
    assert error.value.faults[0].line


def test_numbered_times_in_different_units_are_no_repetitions(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p,run1 [ms],run2 [s]\n1,10000,10\n2,5500,5.5\n4,3000,3\n")
    with pytest.raises(Unanswered, match="run1, run2 are all times"):
        understood([path])
