"""Tables as people bring them, with the right values written down independently: read right, asked about or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.guessing import Guess
from scalegraph.measurements.mapping import Unanswered
from scalegraph.measurements.rates import factor
from scalegraph.measurements.table import TableChoices
from scalegraph.request.imports.sets import understood
from tests.measurements.test_outputs import times


def read(tmp_path: Path, text: str, name: str = "t.csv", **said: object) -> Guess:
    path = tmp_path / name
    path.write_text(text)
    return understood([path], said=said)


THREE = [(1, 80), (2, 42), (4, 22.5)]


@pytest.mark.parametrize(
    "last",
    [
        "error\n1,80,\n2,42,\n4,22.5,\n8,3600,OOM killed\n",
        "error\n1,80,none\n2,42,none\n4,22.5,none\n8,0.2,segfault\n",
        "failed\n1,80,0\n2,42,0\n4,22.5,0\n8,0.2,1\n",
        "timed_out\n1,80,no\n2,42,no\n4,22.5,no\n8,3600,yes\n",
        "crashed\n1,80,False\n2,42,False\n4,22.5,False\n8,3600,True\n",
        "status\n1,80,ok\n2,42,ok\n4,22.5,ok\n8,0.2,SIGSEGV\n",
        "result\n1,80,pass\n2,42,pass\n4,22.5,pass\n8,0.2,wrong answer\n",
    ],
)
def test_a_run_that_failed_by_a_column_is_left_out_and_counted(tmp_path: Path, last: str) -> None:
    guess = read(tmp_path, f"p,time_s,{last}")
    assert sorted(times(guess)) == THREE
    assert [(item.count, item.reason.partition(" (")[0]) for item in guess.measured.skipped if item.what == "rows"] == [
        (1, "did not complete")
    ]


@pytest.mark.parametrize("cells", ["1e-9 1.1e-9 1e-9", "0 0 0", "1 2 1"])
def test_a_column_of_numeric_errors_leaves_out_nothing(tmp_path: Path, cells: str) -> None:
    rows = "".join(f"{p},{t},{cell}\n" for (p, t), cell in zip(THREE, cells.split(), strict=True))
    assert len(times(read(tmp_path, f"p,time_s,error\n{rows}", sizes="none"))) == 3


def test_one_time_in_two_units_is_asked_about_where_they_contradict_each_other(tmp_path: Path) -> None:
    text = "p,time_s,time_ms\n1,80,8000\n2,42,4200\n4,22.5,2250\n"
    with pytest.raises(Unanswered) as error:
        read(tmp_path, text)
    assert "contradict each other: 80.0 s and 8.00 s" in str(error.value)
    assert error.value.questions[0].choices == ("time", "time (2)")
    assert sorted(times(read(tmp_path, text, time="time"))) == THREE
    assert sorted(times(read(tmp_path, text, time="time (2)"))) == [(p, t / 10) for p, t in THREE]
    rounded = "p,time_s,time_ms\n1,80,80012\n2,42,41999\n4,22.5,22500\n"
    assert sorted(times(read(tmp_path, rounded))) == THREE


def test_the_mean_beside_minimum_and_maximum_is_the_time(tmp_path: Path) -> None:
    text = "p,max (s),mean (s),std (s),min (s)\n1,81,80,1,79\n2,43,42,1,41\n4,23,22.5,.5,22\n"
    guess = read(tmp_path, text)
    assert sorted(times(guess)) == THREE
    assert "'mean' was taken as the time; max, min are of the same runs" in guess.notes
    with pytest.raises(Unanswered, match="are all times"):  # what is called the mean is less than the minimum
        read(tmp_path, "p,mean (s),min (s),max (s)\n1,80,85,90\n2,42,41,44\n")


def test_of_the_processors_of_a_run_the_slowest_has_its_time(tmp_path: Path) -> None:
    """On one processor least, mean and most are equal; of repeated runs they would differ there, too."""
    guess = read(tmp_path, "p,min (s),max (s),avg (s)\n1,80,80,80\n2,37,42,40\n4,11,22.5,19\n")
    assert sorted(times(guess)) == THREE
    assert "'max' was taken as the time; min, avg are of the processors of the same run" in guess.notes
    guess = read(tmp_path, "p,min (s),max (s),avg (s)\n1,79,81,80\n2,41,43,42\n4,22,23,22.5\n")
    assert sorted(times(guess)) == THREE
    with pytest.raises(Unanswered, match="are all times"):  # nothing tells which of the two they are
        read(tmp_path, "p,min (s),max (s),avg (s)\n2,37,42,40\n4,11,22.5,19\n")


@pytest.mark.parametrize(
    "text",
    [
        "p,bandwidth\n1,900 MB/s\n2,1.8 GB/s\n4,3600 MB/s\n",
        "p;bandwidth\n1;900 MB/s\n2;1,8 GB/s\n4;3,6 GB/s\n",
        "p;bandwidth\n1;0,9 GB/s\n2;1,8 GB/s\n4;3,6 GB/s\n",
        "p,perf\n1,900 MFLOPS\n2,1.8e3 MFLOPS\n4,3.6 GFLOPS\n",
        "p,value,unit\n1,900,MB/s\n2,1.8,GB/s\n4,3.6,GB/s\n",
    ],
)
def test_rates_in_several_units_are_converted(tmp_path: Path, text: str) -> None:
    found = sorted(times(read(tmp_path, text)))
    assert [p for p, _ in found] == [1, 2, 4]
    assert [found[0][1] / t for _, t in found] == pytest.approx([1, 2, 4])


@pytest.mark.parametrize("cells", ["900 Mb/s,1.8 GB/s", '"1,200 MB/s",3.4 GB/s'])
def test_rates_that_cannot_be_converted_are_refused_with_both(tmp_path: Path, cells: str) -> None:
    one, _, other = cells.rpartition(",")
    with pytest.raises(InputError, match=r"several units \('.*' and '.*'\): write them in one"):
        read(tmp_path, f"p,bandwidth\n1,{one}\n2,{other}\n")
    assert factor("MB/s", "GB/s") == 1e-3
    assert factor("GFlop/s", "MFLOPS") == 1e3
    assert factor("MB/s", "MB/h") is None
    assert factor("GiB/s", "MiB/s") == 1024


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("g.csv", 'name,iterations,real_time,cpu_time,time_unit,label\n"BM_x/threads:1",10,8,8,ms,\n', "JSON is read"),
        (
            "ior.out",
            "IOR-3.3.0: MPI Coordinated Test of Parallel I/O\naccess    bw(MiB/s)  iter\nwrite     1000.0     0\n",
            "output of IOR",
        ),
    ],
)
def test_outputs_of_other_tools_are_named(tmp_path: Path, name: str, text: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        read(tmp_path, text, name)


def test_pytest_benchmarks_json_in_one_line_is_recognised(tmp_path: Path) -> None:
    entries = [{"name": f"t[{p}]", "params": {"threads": p}, "stats": {"data": [t]}} for p, t in THREE]
    text = json.dumps({"machine_info": {}, "benchmarks": entries})
    assert sorted(times(read(tmp_path, text, "b.json"))) == THREE


def test_a_table_drawn_with_rules_is_read(tmp_path: Path) -> None:
    rule = "+-------+-------+\n"
    rows = "".join(f"| {p:5} | {t:5} |\n{rule}" for p, t in THREE)
    assert sorted(times(read(tmp_path, f"{rule}| cores | t [s] |\n+=======+=======+\n{rows}", "t.txt"))) == THREE


BELOW = [
    "\nMeasured on cluster X with gcc 12\n",
    "Source: our paper,\n",
    "\nNotes: run twice, best taken, see above\nAll of it.\n",
]


@pytest.mark.parametrize("below", BELOW)
def test_text_below_a_table_is_left_out_and_counted(tmp_path: Path, below: str) -> None:
    guess = read(tmp_path, "cores,time_s\n1,80\n2,42\n4,22.5\n" + below)
    assert sorted(times(guess)) == THREE
    assert [item.count for item in guess.measured.skipped if item.reason == "text below the table"] == [
        len(below.strip().splitlines())
    ]


def test_a_table_of_a_readme_is_read(tmp_path: Path) -> None:
    table = "| Threads | Time (s) |\n|---|---:|\n" + "".join(f"| {p} | {t} |\n" for p, t in THREE)
    text = f"# Results\n\nText, with commas, here.\n\n{table}\nMore text, which goes on.\n\nAnd more.\n"
    assert sorted(times(read(tmp_path, text, "README.md"))) == THREE


@pytest.mark.parametrize("last", ["8", "8,13,7", "timeout,", "\n8,13,node failure here", "8 13"])
def test_a_broken_last_row_is_no_text_below_and_can_be_left_out(tmp_path: Path, last: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"cores,time_s\n1,80\n2,42\n4,22.5\n{last}\n")
    with pytest.raises(InputError) as error:
        understood([path])
    line = 6 if last.startswith("\n") else 5
    assert f"--cell {line}=skip" in str(error.value)
    assert sorted(times(understood([path], choices=TableChoices(cells={str(line): "skip"})))) == THREE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ranks,threads,total_cores\n1,4,4\n2,4,8\n4,4,16\n", [4, 8, 16]),
        ("nodes,tasks per node,threads\n1,1,1\n1,2,1\n2,2,2\n", [1, 2, 8]),
        ("nodes,ppn\n1,1\n1,2\n2,2\n", [1, 2, 4]),
        ("nodes,ranks\n1,48\n2,96\n4,192\n", [48, 96, 192]),
        ("cpus,nodes,ppn\n4,1,4\n8,1,8\n16,2,8\n", [4, 8, 16]),
    ],
)
def test_products_of_counts_decide_which_counts_the_processors(tmp_path: Path, text: str, expected: list[int]) -> None:
    names, *rows = text.splitlines()
    made = "".join(f"{row},{t}\n" for row, (_, t) in zip(rows, THREE, strict=True))
    assert sorted(times(read(tmp_path, f"{names},time_s\n{made}"))) == [
        (p, t) for p, (_, t) in zip(expected, THREE, strict=True)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "threads,time,time_omp,speedup\n1,80,80,1\n2,80,42,1.9\n4,80,22.5,3.56\n",
        "threads,serial_time,parallel_time\n1,80,80\n2,80.5,42\n4,79,22.5\n",
    ],
)
def test_the_time_of_the_serial_program_in_every_row_is_not_the_time(tmp_path: Path, text: str) -> None:
    assert sorted(times(read(tmp_path, text, unit="s"))) == THREE


def test_the_first_column_without_a_name_tells_the_rows_of_a_wide_table_apart(tmp_path: Path) -> None:
    guess = read(tmp_path, ",1,2,4\n1000,80,42,22.5\n2000,160,84,45\n", unit="s")
    assert sorted(times(guess)) == [(1, 80), (1, 160), (2, 42), (2, 84), (4, 22.5), (4, 45)]
    sizes = ",N=1000,N=2000\n1,80,160\n2,42,84\n4,22.5,45\n"
    with pytest.raises(Unanswered, match="'column 1' may"):
        read(tmp_path, sizes, unit="s")
    assert sorted(times(read(tmp_path, sizes, unit="s", processors="column 1"))) == sorted(times(guess))


def test_a_column_called_by_a_number_is_not_the_column_at_that_place(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("n,1,2,4\n1000,80,42,22.5\n")
    guess = understood([path], choices=TableChoices(columns={"1": "skip"}), said={"unit": "s"})
    assert sorted(times(guess)) == [(2, 42), (4, 22.5)]
    assert guess.measured.parameters == ("processors", "n")


def test_two_tables_side_by_side_are_refused_with_the_way(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("cores,time (s),,cores,time (s)\n1,80,,1,160\n2,42,,2,84\n4,22.5,,4,45\n")
    with pytest.raises(InputError, match=r"--column 4=skip --column 5=skip") as error:
        understood([path])
    assert "side by side" in str(error.value)
    left = TableChoices(columns={"4": "skip", "5": "skip"})
    assert sorted(times(understood([path], choices=left))) == THREE


def test_formulas_that_were_never_computed_are_named(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["cores", "end", "time (s)"], [1, 80, "=B2"], [2, 42, "=B3"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="formulas that were never computed"):
        understood([tmp_path / "t.xlsx"])


def test_cells_merged_down_a_column_hold_for_each_of_their_rows(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["n", "cores", "time (s)"], [None, None, None], [10, 1, 8], [None, 2, 4], [20, 1, 16], [None, 2, 8]):
        book.active.append(row)
    for cells in ("A1:A2", "A3:A4", "A5:A6"):
        book.active.merge_cells(cells)
    book.save(tmp_path / "t.xlsx")
    guess = understood([tmp_path / "t.xlsx"])
    assert sorted(times(guess)) == [(1, 8), (1, 16), (2, 4), (2, 8)]
    assert guess.measured.points["n"].tolist() == [10, 10, 20, 20]


def test_a_sheet_whose_numbers_are_texts_is_read(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["cores", "time (s)"], ["1", "80,0"], ["2", "42,0"], ["4", "22,5"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    assert sorted(times(understood([tmp_path / "t.xlsx"]))) == THREE


def test_names_with_their_units_in_the_second_line_keep_them(tmp_path: Path) -> None:
    rows = "1,80,1,90000,1\n2,42,1.9,46000,1.96\n4,22.5,3.6,25000,3.6\n"
    text = f",MPI,,OpenMP,\ncores,time (s),speedup,time (ms),speedup\n{rows}"
    guess = read(tmp_path, text, time="MPI time")
    assert sorted(times(guess)) == THREE
    assert [metric.unit for metric in guess.measured.metrics if metric.kind == "time"] == ["s", "ms"]


def test_nodes_and_ranks_that_change_together_tell_no_problems_apart(tmp_path: Path) -> None:
    text = "nodes,ranks,threads,cores,time_s\n1,4,12,48,80\n2,8,12,96,42\n4,16,12,192,22.5\n"
    guess = read(tmp_path, text)
    assert sorted(times(guess)) == [(48, 80), (96, 42), (192, 22.5)]
    assert guess.mapping.scaling == "strong"


def test_the_serial_time_is_none_of_several_sizes_on_the_same_threads_either(tmp_path: Path) -> None:
    text = "n,serial_time,parallel_time,threads\n10,1,.3,4\n20,8,2.2,4\n"
    assert sorted(times(read(tmp_path, text, unit="s"))) == [(4, 0.3), (4, 2.2)]


def test_a_run_that_converged_is_good(tmp_path: Path) -> None:
    assert len(times(read(tmp_path, "p,time_s,status\n1,80,completed\n2,42,completed\n4,22.5,converged\n"))) == 3


def test_a_grid_as_text_counts_processors_beside_a_serial_time(tmp_path: Path) -> None:
    text = "grid,serial_time,parallel_time\n1x1,80,80\n1x2,80,42\n2x2,80,22.5\n"
    assert sorted(times(read(tmp_path, text, unit="s"))) == THREE


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (",p=1,p=2\nn=100,1.2,0.6\nn=200,9.8,5\n", {"n=100", "n=200"}),
        (",threads=1,threads=2\nfoo,1.2,0.6\nbar,9.8,5\n", {"foo", "bar"}),
        (",p,time\nfoo,1,1.2\nfoo,2,0.6\nbar,1,9.8\nbar,2,5\n", {"foo", "bar"}),
    ],
)
def test_labels_without_a_column_name_keep_problems_apart(tmp_path: Path, text: str, labels: set[str]) -> None:
    guess = read(tmp_path, text, unit="s")
    assert sorted(times(guess)) == [(1, 1.2), (1, 9.8), (2, 0.6), (2, 5)]
    assert set(guess.measured.points["column 1"]) == labels


def test_numbered_runs_without_a_column_name_are_repetitions(tmp_path: Path) -> None:
    guess = read(tmp_path, ",p=1,p=2\nrun1,10,5\nrun2,12,6\n", unit="s")
    assert set(guess.measured.points) == {"p"}
