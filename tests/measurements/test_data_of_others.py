"""Real-life tables, logs and spreadsheets: rates, derived columns, grids, series, header lines."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.guessing import Guess
from scalegraph.measurements.limits import check_lines
from scalegraph.measurements.mapping import Unanswered
from scalegraph.measurements.model import check
from scalegraph.measurements.runs import make_runs
from scalegraph.measurements.table import TableChoices, sheets
from scalegraph.measurements.table.sheets import ENDINGS
from scalegraph.request.imports.sets import answered, opened, read_set


def meant(tmp_path: Path, text: str, name: str = "t.csv", across: str = "", **said: Any) -> Guess:
    path = tmp_path / name
    path.write_text(text)
    guess = answered(read_set([path], choices=TableChoices(across=across) if across else None), said)
    check(guess.measured)
    return guess


def times(guess: Guess) -> list[tuple[Any, ...]]:
    """Return processors, other varying values, and seconds of every run."""
    runs, _ = make_runs(guess.measured, guess.mapping)
    return [(run.point.processors, *run.point.parameters.values(), run.time_s) for run in runs]


def ratios(guess: Guess) -> list[float]:
    """Return the speed of each run relative to the first."""
    found = [row[-1] for row in times(guess)]
    return [found[0] / one for one in found]


@pytest.mark.parametrize(
    "title", ["Mop/s total", "avg Mop/s", "FOM", "fps", "TPS", "IOPS", "GB/s", "Grind rate (zones/s)", "GUP/s max"]
)
def test_rates_are_known_by_their_names(tmp_path: Path, title: str) -> None:
    guess = meant(tmp_path, f"threads,{title}\n1,100\n2,190\n4,350\n")
    assert ratios(guess) == pytest.approx([1, 1.9, 3.5])


@pytest.mark.parametrize("title", ["zone-cycles/cpu_second", "Mop/s/thread", "GFlop/s per core", "cells/core_s"])
def test_rates_of_each_processor_are_multiplied(tmp_path: Path, title: str) -> None:
    guess = meant(tmp_path, f"cores,{title}\n2,3.0\n4,2.7\n8,2.4\n")
    assert ratios(guess) == pytest.approx([1, 1.8, 3.2])
    assert any("times cores" in remark for remark in guess.measured.remarks)


def test_rates_of_each_node_are_multiplied_by_the_nodes(tmp_path: Path) -> None:
    guess = meant(tmp_path, "nodes,cores,GFlop/s per node\n1,48,3.0\n2,96,2.7\n4,192,2.4\n")
    assert [row[0] for row in times(guess)] == [48, 96, 192]
    assert ratios(guess) == pytest.approx([1, 1.8, 3.2])


def test_the_rate_of_all_goes_before_that_of_each(tmp_path: Path) -> None:
    guess = meant(tmp_path, "threads,Mop/s/thread,Mop/s total\n1,100,100\n2,90,185\n")
    assert ratios(guess) == pytest.approx([1, 1.85])


def test_rates_stand_in_cells(tmp_path: Path) -> None:
    assert ratios(meant(tmp_path, "threads,speed\n1,100 MB/s\n2,190 MB/s\n4,\n")) == pytest.approx([1, 1.9])
    two = meant(tmp_path, "threads,speed\n1,900 MB/s\n2,1.8 GB/s\n")
    assert ratios(two) == pytest.approx([1, 2])


@pytest.mark.parametrize("said", [{"rate": "speed"}, {"rate": "speed (x)"}, {"unit": "1/s"}])
def test_what_no_name_says_is_said_to_be_a_rate(tmp_path: Path, said: dict[str, str]) -> None:
    text = "threads,speed (x)\n1,10.5\n2,20.0\n"
    assert make_runs(*_set(meant(tmp_path, text)))[0] == []
    assert ratios(meant(tmp_path, text, **said)) == pytest.approx([1, 20 / 10.5])


def _set(guess: Guess) -> tuple[Any, Any]:
    return guess.measured, guess.mapping


def test_a_rate_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--rate: 'sped' is not a metric of the set; did you mean 'speed'"):
        meant(tmp_path, "threads,speed\n1,10.5\n2,20.0\n", rate="sped")
    with pytest.raises(InputError, match="--rate: times are made of one metric"):
        meant(tmp_path, "threads,speed,time [s]\n1,10.5,2\n2,20.0,1\n", rate="speed", time="time")


@pytest.mark.slow
def test_derived_columns_ask_nothing(tmp_path: Path) -> None:
    text = "| threads | time [s] | Speedup | Efficiency |\n|---|---|---|---|\n"
    text += "| 1 | 12.40 | 1.00x | 100 % |\n| 2 | 6.45 | 1.92x | 96% |\n"
    for name in ("t.csv", "README.md", "t.txt"):
        guess = meant(tmp_path, text, name)
        assert guess.measured.parameters == ("threads",)
        assert times(guess) == [(1, 12.4), (2, 6.45)]
        grid = guess.measured.grid(guess.measured.metric("Speedup"))
        assert grid.ravel().tolist() == [1, 1.92]


@pytest.mark.parametrize("names", ["p,px,py", "ranks,nprow,npcol", "cores,procs_x,procs_y"])
def test_a_grid_of_processes_tells_no_problems_apart(tmp_path: Path, names: str) -> None:
    guess = meant(tmp_path, f"{names},time_s\n1,1,1,18.3\n2,2,1,9.55\n4,2,2,5.02\n8,4,2,2.71\n")
    assert guess.mapping.scaling == "strong"
    assert ratios(guess)[-1] == pytest.approx(18.3 / 2.71)


def test_a_grid_that_is_written_as_text_tells_no_problems_apart(tmp_path: Path) -> None:
    guess = meant(tmp_path, "p,grid,time_s\n1,1x1,18.3\n4,2 x 2,5.02\n8,4x2x1,2.71\n")
    assert (guess.mapping.follow, guess.mapping.scaling) == (("grid",), "strong")
    assert ratios(guess)[-1] == pytest.approx(18.3 / 2.71)
    other = meant(tmp_path, "p,mesh,time_s\n1,64x64,18.3\n4,128x64,5.02\n8,128x128,2.71\n")
    assert other.mapping.follow == ()


def test_a_size_that_is_the_number_of_processors_is_no_grid(tmp_path: Path) -> None:
    guess = meant(tmp_path, "p,n,m,time_s\n1,1,1,8.0\n2,2,1,8.1\n4,4,1,8.3\n")
    assert (guess.mapping.follow, guess.mapping.scaling) == ((), "weak")


@pytest.mark.parametrize("names", ["P,Q", "px,py", "nprow,npcol"])
def test_a_grid_alone_counts_the_processors(tmp_path: Path, names: str) -> None:
    guess = meant(tmp_path, f"N,{names},time_s\n1000,1,1,8.0\n1000,1,2,4.2\n1000,2,2,2.3\n")
    assert times(guess) == [(1, 1000, 8.0), (2, 1000, 4.2), (4, 1000, 2.3)]


@pytest.mark.slow
def test_columns_of_times_are_series(tmp_path: Path) -> None:
    text = "threads,openmp,pthreads\n1,10.02,10.11\n2,5.13,5.20\n"
    guess = meant(tmp_path, text, unit="s")
    assert times(guess) == [(1, "openmp", 10.02), (2, "openmp", 5.13), (1, "pthreads", 10.11), (2, "pthreads", 5.2)]
    assert meant(tmp_path, text, across="variant", unit="s").measured.parameters == ("variant", "threads")
    with pytest.raises(Unanswered) as error:  # one falls and one rises: undecidable
        meant(tmp_path, "threads,alpha,beta\n1,1.5,10.5\n2,2.5,5.5\n")
    assert error.value.questions[0].switch == "--time beta or --rate alpha"


@pytest.mark.parametrize(
    "text",
    [
        "n,1.0,2.0,4.0\n100,4.5,2.5,1.5\n",
        "n,1 thread,2 threads,4 threads\n100,4.5,2.5,1.5\n",
        "n,T=1,T=2,T=4\n100,4.5,2.5,1.5\n",
        "n \\ p,1,2,4\n100,4.5,2.5,1.5\n",
    ],
)
def test_wide_tables(tmp_path: Path, text: str) -> None:
    assert times(meant(tmp_path, text, unit="s")) == [(1, 100, 4.5), (2, 100, 2.5), (4, 100, 1.5)]


def test_across_is_never_ignored(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--across: no columns stand for values of 'threads'"):
        meant(tmp_path, "p,time [s]\n1,8\n2,4\n", across="threads")


@pytest.mark.parametrize(
    "text",
    [
        "threads,triad,triad,dot,dot\n,mean,stddev,mean,stddev\n1,2.41,0.012,1.12,0.004\n2,1.231,0.01,0.571,0.003\n",
        ",triad,,dot,\n,mean,std,mean,std\nthreads,,,,\n1,2.41,0.012,1.12,0.004\n2,1.231,0.01,0.571,0.003\n",
    ],
)
def test_two_lines_of_names(tmp_path: Path, text: str) -> None:
    guess = meant(tmp_path, text, unit="s")
    assert times(guess) == [(1, "triad", 2.41), (2, "triad", 1.231), (1, "dot", 1.12), (2, "dot", 0.571)]
    measured = guess.measured
    assert sorted(measured.grid(measured.metric("stddev of time")).ravel()) == [0.003, 0.004, 0.01, 0.012]


def test_a_line_of_units(tmp_path: Path) -> None:
    guess = meant(tmp_path, "threads,time,speed\n-,[ms],MB/s\n1,8.5,10\n2,4.5,19\n")
    assert [row[-1] for row in times(guess)] == pytest.approx([0.0085, 0.0045])


def test_sacct(tmp_path: Path) -> None:
    text = "JobID|JobName|AllocCPUS|Elapsed|State|ExitCode\n1|heat|1|00:16:40|COMPLETED|0:0\n"
    guess = meant(tmp_path, text + "2|heat|4|00:04:22|COMPLETED|0:0\n", "sacct.txt")
    assert [(row[0], row[-1]) for row in times(guess)] == [(1, 1000), (4, 262)]


@pytest.mark.parametrize("sign", [": ", " = ", "="])
def test_logs_of_keys_and_values(tmp_path: Path, sign: str) -> None:
    blocks = [f"N_Threads{sign}{n}\nsize{sign}100\nTime -- elapsed{sign}{t}\n\n" for n, t in ((1, 8.5), (4, 2.5))]
    guess = meant(tmp_path, "# a run\n" + "".join(blocks), "run.log", unit="s")
    assert times(guess) == [(1, 100, 8.5), (4, 100, 2.5)]
    with pytest.raises(InputError, match=r"run.log:7: .*a number was expected, got 'fast'"):
        meant(
            tmp_path,
            "".join(blocks).replace("4\n", "fast\n") + "".join(blocks * 9),
            "run.log",
            unit="s",
            processors="N_Threads",
        )


def test_output_of_osu(tmp_path: Path) -> None:
    text = "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n# Datatype: MPI_CHAR.\n1    1.17\n8    1.18\n"
    measured = meant(tmp_path, text, "osu_latency.out").measured
    assert measured.points["Size"].tolist() == [1, 8]
    assert [(metric.name, metric.unit) for metric in measured.metrics] == [("Latency", "us")]
    assert measured.values["value"].tolist() == [1.17, 1.18]


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "engine"), [(".xlsx", "openpyxl"), (".ods", "odf")])
def test_spreadsheets(tmp_path: Path, ending: str, engine: Any) -> None:
    path = tmp_path / f"results{ending}"
    table = pd.DataFrame({"threads": [1, 2, 4], "time [s]": [8.5, 4.5, 2.5], "speedup": ["1.00x", "1.89x", "3.40x"]})
    with pd.ExcelWriter(path, engine=engine) as book:
        pd.DataFrame({"who": ["me"] * 9, "age": range(9), "height": range(9)}).to_excel(book, sheet_name="people")
        table.to_excel(book, sheet_name="scaling", startrow=2, index=False)
    guess = answered(read_set([path]))
    check(guess.measured)
    assert times(guess) == [(1, 8.5), (2, 4.5), (4, 2.5)]
    assert any("of 2 sheets 'scaling' was read; not read: people" in note for note in guess.measured.notes)
    assert guess.measured.format == "table"


def test_damaged_spreadsheets_are_refused(tmp_path: Path) -> None:
    for ending in ENDINGS:
        path = tmp_path / f"t{ending}"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("readme", "none")
        with pytest.raises(InputError, match="is not a complete spreadsheet"):
            read_set([path])


@pytest.mark.parametrize(
    "cells", ["1x1 2x1 2x2", "1×1 2×1 2×2", "(1;1) (2;1) (2;2)", "1*1 1*2 2*2", "1x1x1 1x2x1 1x2x2"]
)
@pytest.mark.parametrize("said", [{}, {"processors": "grid"}])
def test_a_grid_of_texts_counts_the_processors(tmp_path: Path, cells: str, said: dict[str, str]) -> None:
    one, two, four = (cell.replace(";", ",") for cell in cells.split())
    guess = meant(tmp_path, f'grid;n;seconds\n"{one}";9;8.0\n"{two}";9;4.2\n"{four}";9;2.2\n', **said)
    assert times(guess) == [(1, 9, 8.0), (2, 9, 4.2), (4, 9, 2.2)]
    assert guess.mapping.scaling == "strong"


def test_grids_of_one_size_are_repetitions(tmp_path: Path) -> None:
    guess = meant(tmp_path, "proc_grid,time_s\n2 x 1,8.0\n1 x 2,8.4\n2 x 2,4.2\n")
    assert sorted(times(guess)) == [(2, 8.0), (2, 8.4), (4, 4.2)]
    assert any("2 = 2 x 1 = 1 x 2" in remark for remark in guess.measured.remarks)


def test_grids_of_cells_are_sizes(tmp_path: Path) -> None:
    guess = meant(tmp_path, "threads,mesh,time_s\n1,64x64,8.0\n2,64x64,4.2\n1,128x128,32\n2,128x128,17\n")
    assert [row[:2] for row in times(guess)] == [(1, "64x64"), (2, "64x64"), (1, "128x128"), (2, "128x128")]
    guess = meant(tmp_path, "mesh,time_s\n64x64,8.0\n128x128,32.2\n")
    assert not times(guess)
    assert "no parameter is known to count processors" in guess.no_runs[0]


def test_a_grid_of_ranks_beside_threads_is_asked_for(tmp_path: Path) -> None:
    text = "threads,grid,time_s\n1,1x1,8.0\n2,1x1,4.2\n1,2x2,2.2\n2,2x2,1.2\n"
    with pytest.raises(Unanswered, match=r"threads and grid may each count the processors.*threads\*grid"):
        meant(tmp_path, text)
    assert times(meant(tmp_path, text, processors="threads*grid")) == [(1, 8.0), (2, 4.2), (4, 2.2), (8, 1.2)]


def test_a_text_that_counts_no_processors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'compiler' is a text ..gcc..; a number of processors was expected"):
        meant(tmp_path, "threads,compiler,time_s\n1,gcc,8\n1,icc,9\n2,gcc,4\n2,icc,5\n", processors="compiler")


def test_texts_that_differ_in_every_run_are_asked_for(tmp_path: Path) -> None:
    text = "threads,name of,time_s\n1,gcc,8\n2,icc,4\n4,clang,2\n"
    with pytest.raises(Unanswered, match="a remark on the run, or the problem's name; say --sizes none"):
        meant(tmp_path, text)
    assert meant(tmp_path, text, sizes="none").mapping.scaling == "strong"
    assert meant(tmp_path, text, sizes="name of").mapping.scaling == "weak"


def test_a_name_with_the_number_of_processors_tells_no_problems_apart(tmp_path: Path) -> None:
    guess = meant(tmp_path, "label,p,time_s\nn1_p01,1,8\nn1_p02,2,4\nn2_p01,1,16\nn2_p02,2,9\n")
    assert times(guess) == [(1, "n1_p#", 8), (2, "n1_p#", 4), (1, "n2_p#", 16), (2, "n2_p#", 9)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("p,time_s\n1,8\n2,abc\n4,2\n", "t.csv:3: column 2 'time_s': a number was expected, got 'abc'"),
        ("p,time_s\n1,8\nx,4\n", "t.csv:3: column 1 'p': a number was expected, got 'x'"),
        ("p,GB/s\n1,8\n2,o5\n", "t.csv:3: column 2 'GB/s': a number was expected, got 'o5'"),
    ],
)
def test_a_bad_cell_of_a_short_table_is_named(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(InputError) as error:
        meant(tmp_path, text)
    assert f"{fault}; --cell 3" in str(error.value)
    assert "--cell 3=skip" in str(error.value)


def test_a_time_of_nothing_is_no_run(tmp_path: Path) -> None:
    guess = meant(tmp_path, "p,time_s,comm_s\n1,8,0\n2,4,1\n4,0,1\n", time="time")
    assert times(guess) == [(1, 8), (2, 4)]
    assert "a time of 0 is not an elapsed time: 1 value left out, first at p = 4" in guess.notes
    assert "no point has a value but 0" in meant(tmp_path, "p,time_s\n1,0\n2,0\n").no_runs[0]


SACCT = """JobID|JobName|AllocCPUS|Elapsed|State|ExitCode
1|a1|1|00:16:40|COMPLETED|0:0
1.batch|batch|1|00:16:40|COMPLETED|0:0
2|a4|4|00:00:05|FAILED|1:0
2.batch|batch|4|00:00:05|FAILED|1:0
3|a4|4|00:04:22|COMPLETED|0:0
4|a16|16|00:01:16|COMPLETED|0:0
4.0|x|16|00:01:11|COMPLETED|0:0
5|a16|16|00:00:16|CANCELLED by 1000|0:0
"""


def test_jobs_that_did_not_complete_and_steps_are_no_runs(tmp_path: Path) -> None:
    guess = meant(tmp_path, SACCT, "s.txt")
    assert [(row[0], row[-1]) for row in times(guess)] == [(1, 1000), (4, 262), (16, 76)]
    said = [str(skipped) for skipped in guess.measured.skipped]
    assert any(words.startswith("rows (3): steps of jobs, first at") for words in said)
    assert any("did not complete (State = CANCELLED by 1000), first at" in words for words in said)
    with pytest.raises(InputError, match=r"t.csv:2: holds no run that completed: did not complete \(exit_code = 1\)"):
        meant(tmp_path, "p,time_s,exit_code\n1,8,1\n2,4,9\n")
    for other in ("success\n1,8,1\n2,4,1\n", "status\n1,8,200\n2,4,200\n"):  # these numbers are not exit codes
        assert len(times(meant(tmp_path, f"p,time_s,{other}"))) == 2
    assert times(meant(tmp_path, "p,time_s,status\n1,8,ok\n2,4,failed\n4,2,ok\n")) == [(1, 8), (4, 2)]


@pytest.mark.parametrize(
    ("text", "said", "fault"),
    [
        ("p,time_s\n1,8\n2,4\n", {"clock_hz": 2e9}, "--clock: 'time' is in s: a clock has no effect"),
        ("p,GB/s\n1,8\n2,14\n", {"unit": "ms"}, "--unit: times are computed from a rate"),
        ("p,Speedup\n1,1\n2,1.9\n", {"unit": "s"}, "--unit: no metric is an elapsed time"),
        ("p,time_s\n1,8\n2,4\n", {"extent": "inclusive"}, "--values: .*has no effect"),
    ],
)
def test_an_answer_that_changes_nothing_is_refused(tmp_path: Path, text: str, said: Any, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        meant(tmp_path, text, **said)


def test_speedups_alone_say_what_is_missing(tmp_path: Path) -> None:
    text = "threads,Speedup,Efficiency\n1,1.0,1.0\n2,1.9,0.95\n4,3.7,0.92\n"
    assert meant(tmp_path, text).no_runs[0].startswith("there are no runs: 'Speedup' is relative to a run whose time")
    assert ratios(meant(tmp_path, text, rate="Speedup")) == pytest.approx([1, 1.9, 3.7])


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b"n,1,2\n1," + b"9" * 400 + b"\n", "t.csv:2: is longer than 0 MiB"),
        (b" " * 4000, "t.csv:1: is longer than 0 MiB"),
        (b"\n" * 4000, "t.csv: has more than 300 lines"),
        (b"\r" * 4000, "t.csv: has more than 300 lines"),
    ],
)
def test_lines_are_checked_before_they_are_read(tmp_path: Path, raw: bytes, fault: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(raw)
    with pytest.raises(InputError) as error:
        check_lines(path, longest=300, most=300)
    assert fault in str(error.value)
    check_lines(path, longest=5000, most=5000)


def test_what_unpacks_to_too_much_is_refused_by_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * (17 << 20))
    with pytest.raises(InputError, match=r"sheet1.xml unpacks to \d+ times its size, as no sheet does"):
        read_set([path])
    monkeypatch.setattr(sheets, "_UNPACKED", 16 << 20)
    with pytest.raises(InputError, match=r"unpacks to 17 MiB in 1 parts; 16 MiB at most"):
        read_set([path])


def test_derived_columns_are_checked_and_said(tmp_path: Path) -> None:
    text = "p,t_solve [s],t_cpu [s],t_best [s],Speedup,Efficiency\n"
    guess = meant(tmp_path, text + "1,8,8,8,1,100%\n2,4.2,8.4,4,1.9,95%\n4,2.3,9.2,2,3.5,87%\n")
    assert guess.mapping.time == "t_solve"
    assert times(guess) == [(1, 8), (2, 4.2), (4, 2.3)]
    said = "\n".join(guess.notes)
    for words in (
        "'t_cpu' is t_solve times p",
        "'t_best' is t_solve on the fewest p, divided by their number",
        "'Speedup' follows from the time",
        "'Efficiency' follows from the time",
    ):
        assert words in said
    wrong = meant(tmp_path, "p,time_s,Speedup\n1,8,1\n2,4.2,1.9\n4,2.3,7\n")
    said = "".join(wrong.notes)
    assert "'Speedup' is not time on the fewest p over time: it differs by up to 101" in said
    assert "at p = 4 it is 7.00, and 3.48 by the times" in said
    weak = meant(tmp_path, "p,n,time_s,efficiency\n1,100,8,1\n2,200,8.2,0.976\n4,400,9,0.889\n")
    assert "'efficiency' follows from the time" in "".join(weak.notes)


def test_a_rate_that_rises_with_the_processors_is_that_of_all(tmp_path: Path) -> None:
    guess = meant(tmp_path, "Num MPI ranks,zone-cycles/cpu_second\n1,6.4e7\n2,1.0e8\n8,3.6e8\n")
    assert ratios(guess) == pytest.approx([1, 1.5625, 5.625])
    assert any("rises with the processors" in remark for remark in guess.measured.remarks)


@pytest.mark.parametrize("name", ["thread_num", "num_proc", "Rank Num"])
def test_more_names_count_processors(tmp_path: Path, name: str) -> None:
    assert times(meant(tmp_path, f"{name},time_s\n1,8\n2,4\n")) == [(1, 8), (2, 4)]


def test_times_that_no_unit_marks_are_known_by_their_names(tmp_path: Path) -> None:
    with pytest.raises(Unanswered, match="t_wall_with_comm, latency are all times"):
        meant(tmp_path, "procs,t_wall_with_comm,latency_us\n1,92.1,0.1\n2,46.6,0.3\n")
    with pytest.raises(Unanswered, match="'latency' may be only a part of the time, beside foo"):
        meant(tmp_path, "procs,foo,latency_us\n1,92.1,0.1\n2,46.6,0.3\n")


def test_numbers_of_their_own_in_every_row_are_asked_for_once_and_where_it_matters(tmp_path: Path) -> None:
    grown = meant(tmp_path, "p,refinements,unknowns,time_s\n1,6,4225,9.0\n4,7,16641,9.3\n16,8,66049,9.9\n")
    assert (grown.mapping.scaling, grown.mapping.sizes) == ("weak", ("refinements", "unknowns"))
    text = "p,hops,time_s\n1,6,9.0\n4,14,2.7\n16,28,0.9\n"
    with pytest.raises(Unanswered, match="'hops' grow with the processors, but times fall") as asked:
        meant(tmp_path, text)
    assert len(asked.value.questions) == 1
    assert meant(tmp_path, text, sizes="none").mapping.scaling == "strong"
    assert meant(tmp_path, text, sizes="hops").mapping.scaling == "weak"


def test_what_is_not_sure_is_asked_at_once_with_a_guess_for_each(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("tasks,cores,wall,comm\n1,1,10,1.5\n2,1,5.2,0.7\n4,1,2.7,0.4\n1,2,5.3,1.5\n")
    with pytest.raises(Unanswered) as asked:
        opened([path])
    assert [one.key for one in asked.value.questions] == ["processors", "unit"]
    assert asked.value.together == "--processors 'tasks*cores' --unit s"
    assert str(asked.value.faults[0]).endswith(f"2 points are open; to take every guess, say {asked.value.together}")
    assert "(tasks*cores is likeliest, as times fall with each of them)" in str(asked.value.faults[1])
    with opened([path], said={one.key: one.guess for one in asked.value.questions}) as study:
        assert len(study) == 4


def test_roles_of_columns_and_units_are_asked_at_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p,label,elapsed\n1,a1x,2.5\n2,b2y,1.4\n4,c3z,0.8\n8,d4w,0.5\n")
    with pytest.raises(Unanswered) as asked:
        opened([path])
    assert [one.key for one in asked.value.questions] == ["columns.label", "unit"]
    assert asked.value.together == "--column label=skip --unit s"


def test_a_speedup_over_an_efficiency_says_what_counts_the_processors(tmp_path: Path) -> None:
    guess = meant(
        tmp_path, "ranks,threads,time_s,speedup,efficiency\n1,1,10,1,1\n2,2,2.7,3.7,0.925\n4,2,1.5,6.667,0.833\n"
    )
    assert [row[0] for row in times(guess)] == [1, 4, 8]
    assert "processors are ranks*threads: 'speedup' over 'efficiency' is that number" in guess.measured.remarks[0]
    guess = meant(
        tmp_path, "nodes,cores,time_s,speedup,efficiency\n1,4,10,1,100%\n2,8,5.4,1.85,92.5%\n4,16,3,3.33,83.3%\n"
    )
    assert guess.mapping.processors == "cores"  # 4 of each node: both are possible


def test_a_rate_beside_a_time_says_its_unit(tmp_path: Path) -> None:
    guess = meant(tmp_path, "threads,cells,time,cells/s\n1,1000000,500,2000000\n2,1000000,250,4000000\n")
    assert guess.mapping.unit == "ms"
    assert times(guess)[0][-1] == pytest.approx(0.5)
    with pytest.raises(Unanswered, match="'time' has no unit"):  # the rate is of something else
        meant(tmp_path, "threads,cells,time,cells/s\n1,1000000,500,2500000\n2,1000000,250,4000000\n")


def test_threads_per_block_of_a_device_are_no_processors(tmp_path: Path) -> None:
    guess = meant(tmp_path, "Threads per Block,n,time (ms)\n32,1,9\n64,1,5\n32,2,19\n64,2,10\n")
    assert guess.mapping.processors == ""


def test_columns_that_are_nearly_the_same_are_repetitions(tmp_path: Path) -> None:
    guess = meant(tmp_path, "n,1,2,3\n10,8.01,8,8.02\n20,16,16.1,16\n", processors="n", unit="s", scaling="weak")
    assert guess.measured.values["repetition"].max() == 2


def test_the_sum_of_the_other_times_is_the_time(tmp_path: Path) -> None:
    guess = meant(tmp_path, "p,comp_s,comm_s,both_s\n1,9,1,10\n2,4.6,1.1,5.7\n4,2.4,1.3,3.7\n")
    assert guess.mapping.time == "both"
    assert times(guess)[2][-1] == pytest.approx(3.7)


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ({"run": "repetition", "p": "repetition"}, "would both number the repetition"),
        ({"run": "unit"}, "as unit has no effect: it holds no units"),
        ({"run": "metric_name"}, "as metric_name has no effect"),
    ],
)
def test_roles_that_do_nothing_are_refused(tmp_path: Path, roles: dict[str, str], words: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p,run,time_s\n1,1,4\n1,2,4.1\n2,1,2.2\n2,2,2.1\n")
    with pytest.raises(InputError, match=words):
        opened([path], choices=TableChoices(columns=roles))


def test_answers_that_do_nothing_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,time_s\n1.5,4\n2.5,2.2\n")
    for said in ({"scaling": "weak"}, {"summed": True}):
        with pytest.raises(InputError, match="this has no effect; name one by --processors"):
            opened([path], said=said)
    path.write_text("p,time_s\n1,4\n2,2.2\n")
    with pytest.raises(InputError, match="'work_flop' is not a column of the run table; did you mean 'work_flops'"):
        opened([path], said={"columns": {"work_flop": "time"}})
    with opened([path]) as study:
        study.save_as(tmp_path / "t.sgstudy")
    with pytest.raises(InputError, match="options for reading a file have no effect"):
        opened([tmp_path / "t.sgstudy"], choices=TableChoices(decimal=","))
