"""Programs' outputs, in one file, in several, and in a directory whose names give the rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.guessing import Guess
from scalegraph.measurements.model import check
from scalegraph.measurements.runs import make_runs
from scalegraph.request.imports.sets import answered, read_set, understood
from tests.measurements.samples import write

NPB = """ CG Benchmark Completed.
 Class           =                        C
 Size            =                   150000
 Time in seconds =                    {time}
 Total threads   =                        {p}
 Mop/s total     =                  2000.1
 Verification    =               {verified}
"""
LULESH = """Running problem size 30^3 per domain until completion
Num processors: {p}
Run completed:
   Problem size        =  30
   MPI tasks           =  {p}
Elapsed time         = {time} (s)
Grind time (us/z/c)  = 0.2 (per dom)  (0.02 overall)
FOM                  = 4000.5 (z/s)
"""
HPCG = """Machine Summary::Distributed Processes={p}
Machine Summary::Threads per processes=1
Global Problem Dimensions::Global nx=104
Benchmark Time Summary::Total={time}
Final Summary::HPCG result is VALID with a GFLOP/s rating of=12.5
"""


def times(guess: Guess) -> list[tuple[int, float]]:
    check(guess.measured)
    return [(run.point.processors, run.time_s or 0.0) for run in make_runs(guess.measured, guess.mapping)[0]]


def assert_read(path: Path, text: str, expected: Sequence[tuple[int, float]]) -> None:
    """Write the table *text* to *path*, and assert that the *expected* counts and times are read without a question."""
    path.write_text(text)
    found = times(understood([path]))
    assert [count for count, _ in found] == [count for count, _ in expected]
    assert [time for _, time in found] == pytest.approx([time for _, time in expected])


@pytest.mark.parametrize("text", [NPB, LULESH, HPCG])
def test_outputs_say_how_many_processors_ran(tmp_path: Path, text: str) -> None:
    made = [text.format(p=p, time=16.5 / p, verified="SUCCESSFUL") for p in (1, 2, 4)]
    expected = [(1, 16.5), (2, 8.25), (4, 4.125)]
    (tmp_path / "all.log").write_text("".join(made))
    assert times(answered(read_set([tmp_path / "all.log"]), {"scaling": "strong"})) == expected
    several = tmp_path / "runs"
    several.mkdir()
    for number, one in enumerate(made):
        (several / f"x.{'abc'[number]}.out").write_text(one)
    assert times(answered(read_set([several]), {"scaling": "strong"})) == expected
    assert times(answered(read_set(sorted(several.iterdir())), {"scaling": "strong"})) == expected


def test_a_run_that_failed_by_its_own_words_is_none(tmp_path: Path) -> None:
    path = tmp_path / "all.log"
    runs = [(1, "16.5", "SUCCESSFUL"), (2, "3.0", "UNSUCCESSFUL"), (4, "4.125", "SUCCESSFUL")]
    path.write_text("".join(NPB.format(p=p, time=time, verified=said) for p, time, said in runs))
    measured = read_set([path])
    assert times(answered(measured)) == [(1, 16.5), (4, 4.125)]
    assert [str(skipped) for skipped in measured.skipped] == [f"runs (1): failed, by their own words, first at {path}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hi\n\nreal\t{m}m1.5s\nuser\t0m1.0s\nsys\t0m0.1s\n", 1.5),
        ("\tElapsed (wall clock) time (h:mm:ss or m:ss): {m}:01.50\n\tExit status: 0\n", 1.5),
        (" Performance counter stats for 'x':\n\n  5 cycles\n\n  {m}1.5 seconds time elapsed\n", None),
        ("step time: 9 s\nTotal time = {m}1.5 seconds\nbye\n", None),
    ],
)
@pytest.mark.parametrize("name", ["run_n1000_p{p}.log", "app-{p}threads.out", "slurm.np={p}.txt"])
def test_names_of_logs_give_parameters(tmp_path: Path, text: str, expected: float | None, name: str) -> None:
    for minutes, p in ((4, 1), (2, 4), (1, 16)):
        (tmp_path / name.format(p=p)).write_text(text.format(m=minutes))
    found = times(answered(read_set([tmp_path])))
    assert sorted(found) == [
        (p, minutes * 60 + expected if expected else minutes * 10 + 1.5) for p, minutes in ((1, 4), (4, 2), (16, 1))
    ]


def test_logs_without_a_time_are_counted_and_other_directories_left_to_others(tmp_path: Path) -> None:
    for p in (1, 2, 4):
        (tmp_path / f"run_p{p}.log").write_text("killed\n" if p == 2 else f"time: {8 / p} s\n")
    measured = read_set([tmp_path])
    assert times(answered(measured)) == [(1, 8.0), (4, 2.0)]
    assert "files (1): no time is in them" in str(measured.skipped[0])
    for file in tmp_path.iterdir():
        file.write_text("nothing\n")
    with pytest.raises(InputError, match="holds nothing that is read from a directory"):
        read_set([tmp_path])


def test_a_number_that_may_be_cut_off_is_not_read(tmp_path: Path) -> None:
    whole = NPB.format(p=4, time="1330.85", verified="SUCCESSFUL")
    cut = whole[: whole.index("0.1")]
    path = tmp_path / "cg.out"
    path.write_text(cut)
    with pytest.raises(
        InputError, match=r"cg.out:6: ends in the middle of a line \('Mop/s total     =                  200'\)"
    ):
        read_set([path])
    logs = tmp_path / "logs"
    logs.mkdir()
    for p in (1, 2):
        (logs / f"run_p{p}.log").write_text("Elapsed (wall clock) time (h:mm:ss or m:ss): 1:02.5" + "\n" * (p == 2))
    with pytest.raises(InputError, match=r"run_p1.log:1: ends in the middle"):
        read_set([logs])
    (tmp_path / "own.log").write_text("p: 1\ntime_s: 8.25\np: 2\ntime_s: 4.")
    assert any("if the file was cut off, so is its value" in note for note in read_set([tmp_path / "own.log"]).notes)


HPL = """HPLinpack 2.3  --  High-Performance Linpack benchmark  --   December 2, 2018
N      :   19200
T/V                N    NB     P     Q               Time                 Gflops
WR00L2L4       19200   192 {p:5d}     2 {time:18.2f}             1.2000e+02
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   2.29e-03 ...... {said}
"""
STREAM = """STREAM version $Revision: 5.10 $
Array size = 80000000 (elements), Offset = 0 (elements)
Number of Threads requested = {p}
Number of Threads counted = {p}
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           10000.5     0.150422     0.140000     0.151055
Triad:          20000.5     0.205822     {time}     0.208001
Solution Validates: avg error less than 1.000000e-13 on all three arrays
"""


def test_linpack_counts_the_processes_of_its_grid(tmp_path: Path) -> None:
    path = tmp_path / "HPL.out"
    path.write_text("".join(HPL.format(p=p, time=40 / p, said="PASSED") for p in (1, 2, 4)))
    assert times(answered(read_set([path]))) == [(2, 40.0), (4, 20.0), (8, 10.0)]
    path.write_text(HPL.format(p=1, time=40, said="PASSED") + HPL.format(p=2, time=20, said="FAILED"))
    assert times(answered(read_set([path]))) == [(2, 40.0)]


@pytest.mark.parametrize("name", ["stream.o471{p}", "slurm-471{p}.out"])
def test_stream_has_a_time_without_a_question(tmp_path: Path, name: str) -> None:
    for p in (1, 2, 4):
        (tmp_path / name.format(p=p)).write_text(STREAM.format(p=p, time=0.25 / p))
    guess = answered(read_set([tmp_path]))
    assert times(guess) == [(1, 0.25), (2, 0.125), (4, 0.0625)]
    assert guess.measured.parameters == ("threads", "n")
    copied = answered(read_set([tmp_path]), {"rate": "Copy [MB/s]", "scaling": "strong"})
    assert [time for _, time in times(copied)] == pytest.approx([1 / 10000.5] * 3)


def test_operations_of_mpi_by_processes_and_bytes(tmp_path: Path) -> None:
    path = write("imb", tmp_path)
    guess = answered(read_set([path]))
    runs, _ = make_runs(guess.measured, guess.mapping)
    found = [(*run.point.parameters.values(), run.point.processors, run.time_s) for run in runs]
    expected = [("PingPong", 0, 2, 1.5), ("PingPong", 8, 2, 2.0), ("Alltoall", 8, 2, 11.0), ("Alltoall", 8, 4, 22.0)]
    assert [one[:3] for one in found] == [one[:3] for one in expected]
    assert [one[3] for one in found] == pytest.approx([one[3] * 1e-6 for one in expected])
    path.write_text(path.read_text()[:-60])
    with pytest.raises(InputError, match=r"imb.out:15: (has no end|has 4 numbers of 5): the output was cut off"):
        read_set([path])
    path.write_text(path.read_text().rsplit("# Benchmarking", 1)[0])
    assert "does not end like IMB's outputs" in read_set([path]).notes[-1]


BABELSTREAM_CSV = """function,num_times,n_elements,sizeof,max_mbytes_per_sec,min_runtime,max_runtime,avg_runtime
Copy,100,33554432,8,{copy},0.050000,0.060000,0.055000
Triad,100,33554432,8,20100,{time},0.070000,0.060000
"""
BABELSTREAM = """BabelStream
Version: 5.0
Implementation: OpenMP
Array size: 268.4 MB (=0.3 GB)
Function    MBytes/sec  Min (sec)   Max         Average
Copy        {copy}       0.05        0.06        0.055
Triad       20100       {time}      0.07        0.06
"""


@pytest.mark.parametrize("text", [BABELSTREAM, BABELSTREAM_CSV])
def test_logs_of_babelstream_are_read(tmp_path: Path, text: str) -> None:
    for threads, time in ((1, 0.08), (2, 0.041), (4, 0.022)):
        (tmp_path / f"stream_p{threads}.log").write_text(text.format(time=time, copy=10000 * threads))
    assert times(understood([tmp_path], said={"scaling": "strong"})) == [(1, 0.08), (2, 0.041), (4, 0.022)]
    rated = understood([tmp_path], said={"scaling": "strong", "rate": "Copy [MB/s]"})
    first, *_, last = times(rated)
    assert first[1] / last[1] == pytest.approx(4)
