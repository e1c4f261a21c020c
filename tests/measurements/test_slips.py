"""What a table says besides its numbers is respected: bad cells, columns of units, marked cells."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.guessing import Guess
from scalegraph.measurements.runs import make_runs
from scalegraph.measurements.table import TableChoices
from scalegraph.measurements.table.durations import are_all
from scalegraph.request.imports.sets import understood
from tests.measurements.test_outputs import times


def read(tmp_path: Path, text: str, cells: dict[str, str] | None = None, **said: object) -> Guess:
    path = tmp_path / "t.csv"
    path.write_text(text)
    return understood([path], choices=TableChoices(cells=cells or {}), said=said)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("p,t1,t2,t3\n1,8,8.1,7.9\n2,4,ERR,4.2\n4,2.0,2.1,2.2\n", ":3: column 3 't2'"),
        ("p,t1,t2,t3\n1,8,ERR,7.9\n2,4,ERR,4.2\n", ":2: column 3 't2'"),
        ("p,t1,t2,t3\n1,8,8.1,7.9\n2,4,the node,4.2\n4,2.0,went down,2.2\n", ":3: column 3 't2'"),
        ("n,1,2,4\n100,8,4,2\n200,16,ERR,4\n400,32.5,16,8\n", ":3: column 3 '2'"),
        ("n,1 thread,2 threads,4 threads\n100,8,4,2\n200,16,8,>3600\n", ":3: column 4 '4 threads'"),
        ("n,T=1,T=2,T=4\n100,8m1s,4m1s,2m2s\n200,16m,8m2s,oom\n", ":3: column 4 'T=4'"),
        ("p,openmp,pthreads\n1,8.1,8.2\n2,4.2,crashed\n4,2.2,2.3\n8,1.2,1.3\n", ":3: column 3 'pthreads'"),
        ("p,time\n1,8m1.5s\n2,ERR\n4,2m2s\n", ":3: column 2 'time'"),
        ("p,GB/s\n1,3.2 GB/s\n2,timeout\n4,9.1 GB/s\n", ":3: column 2 'GB/s'"),
    ],
)
def test_one_bad_cell_is_named_and_leaves_its_column_in(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, text, unit="s")
    assert fault in str(error.value)
    assert "--cell" in str(error.value)


def test_a_bad_cell_that_is_left_out_leaves_the_others(tmp_path: Path) -> None:
    guess = read(tmp_path, "n,1,2,4\n100,8,4,2\n200,16,ERR,4\n", {"3:2": "none"}, unit="s")
    assert sorted(times(guess)) == [(1, 8), (1, 16), (2, 4), (4, 2), (4, 4)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p,time,unit\n1,5500,ms\n2,2900,ms\n4,1500,ms\n", [(1, 5.5), (2, 2.9), (4, 1.5)]),
        ("p,time,unit\n1,5.5,s\n2,2900,ms\n4,1500,ms\n", [(1, 5.5), (2, 2.9), (4, 1.5)]),
        ("p,time_unit,time\n1,ms,5500\n2,ms,2900\n4,ms,1500\n", [(1, 5.5), (2, 2.9), (4, 1.5)]),
        ("p,time,unit,energy,unit\n1,5500,ms,3,J\n2,2900,ms,4,J\n", [(1, 5.5), (2, 2.9)]),
        ("p,t1,t2,unit\n1,5500,5500,ms\n2,2900,2900,ms\n", [(1, 5.5), (1, 5.5), (2, 2.9), (2, 2.9)]),
    ],
)  # fmt: skip
def test_a_column_of_units_counts(tmp_path: Path, text: str, expected: list[tuple[int, float]]) -> None:
    found = times(read(tmp_path, text))
    assert [count for count, _ in found] == [count for count, _ in expected]
    assert [time for _, time in found] == pytest.approx([time for _, time in expected])


@pytest.mark.parametrize(
    ("text", "said", "fault"),
    [
        ("p,time,unit\n1,5500,ms\n2,2900,ms\n", {"unit": "s"}, "'time' is in ms according to the file, not in s"),
        ("p,time_ms\n1,5500\n2,2900\n", {"unit": "s"}, "'time' is in ms according to the file, not in s"),
        ("p,time\n1,8m1s\n2,4m1s\n", {"unit": "ms"}, "'time' is in s according to the file, not in ms"),
        ("p,time [s],unit\n1,5500,ms\n2,2900,ms\n", {}, "is in s by its name and in ms by 'unit'"),
        ("p,time,unit\n1,5500,ms\n2,2900,\n", {}, ":3: column 2 'time': its unit is ''"),
    ],
)
def test_a_unit_that_contradicts_the_file_is_refused(
    tmp_path: Path, text: str, said: dict[str, str], fault: str
) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, text, **said)
    assert fault in str(error.value)


def test_sizes_in_several_units_are_not_one_size(tmp_path: Path) -> None:
    text = "size,unit,p,time_s\n1,KB,1,3\n1,KB,2,1.6\n1,MB,1,3000\n1,MB,2,1600\n"
    assert len(times(read(tmp_path, text))) == 4
    assert len(set(times(read(tmp_path, text)))) == 4


@pytest.mark.parametrize(
    ("title", "column", "value", "expected"),
    [
        ("mem [MB]", "memory_bytes", 100, 100e6),
        ("mem [GiB]", "memory_bytes", 2, 2 * 2**30),
        ("rss_kb", "memory_bytes", 100, 100e3),
        ("done [GFLOP]", "work_flops", 16, 16e9),
        ("done [1e6]", "work_ops", 3, 3e6),
        ("done [million]", "misses", 3, 3e6),
        ("done", "references", 7, 7),
        ("calc [ms]", "busy_s", 7, 0.007),
        ("calc", "idle_s", 7, 0.007),  # without a unit in that of the time
    ],
)
def test_metrics_for_columns_of_runs_are_in_their_unit(
    tmp_path: Path, title: str, column: str, value: float, expected: float
) -> None:
    name = title.partition(" [")[0]
    text = f"p,time,{title}\n1,8,{value}\n2,4,{value}.5\n"
    guess = read(tmp_path, text, unit="ms", columns={column: name}, time="time")
    runs, memory = make_runs(guess.measured, guess.mapping)
    found = next(iter(memory.values())) if column == "memory_bytes" else getattr(runs[0], column)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("title", "column", "fault"),
    [
        ("bw [GB/s]", "memory_bytes", "'bw' is in 'GB/s'; bytes (B, KB, MiB, GB, ..) was expected for memory_bytes"),
        ("perf [GFLOP/s]", "work_flops", "'perf' is in 'GFLOP/s'"),
        ("gflops", "work_flops", "'gflops' is a rate of work"),
        ("mem [MB]", "work_flops", "'mem' is in 'MB'"),
        ("mem [Mbit]", "memory_bytes", "'mem' is in 'Mbit'"),
        ("part [%]", "busy_s", "'part' is in '%'; a time (s, ms, us, ns, min, h) was expected for busy_s"),
        ("wait [s]", "memory_bytes", "'wait' is in 's'"),
    ],
)
def test_another_quantity_is_no_column_of_runs(tmp_path: Path, title: str, column: str, fault: str) -> None:
    name = title.partition(" [")[0]
    with pytest.raises(InputError) as error:
        read(tmp_path, f"p,time_s,{title}\n1,8,2.5\n2,4,3.5\n", columns={column: name}, time="time")
    assert fault in str(error.value)


def test_memory_without_a_unit_is_no_number_of_bytes(tmp_path: Path) -> None:
    guess = read(tmp_path, "p,time_s,memory\n1,8,100\n2,4,120\n")
    assert not guess.mapping.columns
    assert any("'memory' has no unit" in note for note in guess.notes)
    assert read(tmp_path, "p,time_s,memory [MB]\n1,8,100\n2,4,120\n").mapping.columns == {"memory_bytes": "memory"}


def test_work_in_its_unit_gives_the_time_of_a_rate(tmp_path: Path) -> None:
    guess = read(tmp_path, "p,flops [GFLOP],perf [GFlop/s]\n1,16,2\n2,16,4\n")
    assert times(guess) == [(1, 8), (2, 4)]


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"rate": "time"}, "'time' is a time in s, not a rate"),
        ({"processors": "time"}, "'time' is a time in s, not a number of processors"),
        ({"rate": "wall"}, "'wall' is a time by its name, not a rate"),
        ({"processors": "wall"}, "'wall' is a time by its name, not a number of processors"),
    ],
)
def test_a_time_is_no_rate_and_no_number_of_processors(tmp_path: Path, said: dict[str, str], fault: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, "p,time [s],wall,rate\n1,8,8,2\n2,4,4,4\n4,2,2,8\n", **said)
    assert fault in str(error.value)


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ({"2": "skip", "2:time_s": "none"}, "'2=skip' leaves out the whole row, '2:time_s' a cell of it"),
        ({"2:time": "none", "2:2": "none"}, "'2:time' and '2:2' are the same cell"),
    ],
)
def test_marks_that_contradict_each_other_are_named(tmp_path: Path, cells: dict[str, str], fault: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, "p,time_s\n1,ERR\n2,4\n4,2\n8,1\n", cells)
    assert fault in str(error.value)


@pytest.mark.parametrize("cells", [{"2": "skip"}, {"2": "skip", "3": "skip"}, {"2:time": "none"}])
def test_the_first_row_can_be_left_out(tmp_path: Path, cells: dict[str, str]) -> None:
    guess = read(tmp_path, "p,time_s\n1,ERR\n2,4\n4,2\n8,1\n", cells)
    assert times(guess)[-2:] == [(4, 2), (8, 1)]


@pytest.mark.parametrize(
    ("cells", "timed", "expected"),
    [
        (["1h", "30m", "15m"], False, True),
        (["1h30m", "45m"], False, True),
        (["30m", "15m"], True, True),
        (["30m", "15m"], False, False),
        (["1h", "x"], True, False),
    ],
)
def test_minutes_beside_other_times(cells: list[str], *, timed: bool, expected: bool) -> None:
    assert are_all(cells, timed=timed) is expected


def test_german_thousands_beside_decimal_commas(tmp_path: Path) -> None:
    assert times(read(tmp_path, "p;time_s\n1;1.234\n2;640,5\n4;320,2\n")) == [(1, 1234), (2, 640.5), (4, 320.2)]
    with pytest.raises(InputError, match="a number was expected"):  # 1.25 groups nothing
        read(tmp_path, "p;time_s\n1;1.25\n2;640,5\n4;320,2\n")


def test_a_total_below_hosts_is_no_run(tmp_path: Path) -> None:
    guess = read(tmp_path, "host,p,time_s\na,1,8\na,2,4\nb,1,9\nb,2,5\nTotal,,26\n")
    assert len(times(guess)) == 4
    assert [one.count for one in guess.measured.skipped] == [1]


def test_a_fraction_that_is_the_same_in_all_rows_is_a_parameter(tmp_path: Path) -> None:
    guess = read(tmp_path, "p,spacing,time_s\n1,0.5,8\n2,0.5,4\n4,0.5,2\n")
    assert guess.measured.parameters == ("p", "spacing")
    assert [metric.name for metric in guess.measured.metrics] == ["time"]


@pytest.mark.parametrize("name", ["L2 miss %", "a, b", "it's"])
def test_names_in_a_question_are_quoted(tmp_path: Path, name: str) -> None:
    text = f'p,"{name}",time_s\n1,10,8\n2,12,4\n4,17,2\n8,15,1\n'
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    words = shlex.split(str(error.value).partition("or --sizes ")[2])
    assert words[0] == name
    assert read(tmp_path, text, sizes=words[0]).mapping.sizes == (name,)


def test_a_log_of_one_run_says_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "lone.txt"
    path.write_text("N = 1000\nthreads = 4\nelapsed time = 3.2 s\n")
    with pytest.raises(InputError, match="no column of numbers; a log of one run is read together"):
        understood([path])


@pytest.mark.parametrize(
    "title",
    [
        "Strong scaling on cluster X,,\n",
        "Strong scaling,,\n,,\n",
        "Strong scaling,,\nauthor:,me,\nyear,2024,\n",
    ],
)
def test_a_title_above_the_names_is_no_name(tmp_path: Path, title: str) -> None:
    guess = read(tmp_path, f"{title}p,n,time_s\n1,100,8\n2,100,4.1\n4,100,2.2\n")
    assert times(guess) == [(1, 8), (2, 4.1), (4, 2.2)]
    assert [one.what for one in guess.measured.skipped] == ["lines"]
