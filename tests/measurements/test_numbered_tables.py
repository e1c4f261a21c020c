"""Tables that were once read silently wrong: rows for each rank or epoch, comments between rows, parts of a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.guessing import Guess, guess_mapping
from scalegraph.measurements.mapping import Unanswered
from scalegraph.measurements.runs import make_runs
from scalegraph.measurements.table import TableChoices
from scalegraph.request.imports.sets import answered, read_set, understood


def meant(tmp_path: Path, text: str, name: str = "t.csv", choices: TableChoices | None = None, **said: Any) -> Guess:
    path = tmp_path / name
    path.write_text(text)
    return answered(read_set([path], choices=choices), said)


def times(guess: Guess) -> list[tuple[Any, ...]]:
    runs, _ = make_runs(guess.measured, guess.mapping)
    return [(run.point.processors, *run.point.parameters.values(), run.time_s) for run in runs]


def asked(tmp_path: Path, text: str, name: str = "t.csv") -> list[Any]:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(Unanswered) as error:
        understood([path])
    return list(error.value.questions)


@pytest.mark.parametrize(("column", "first"), [("rank", 0), ("thread_id", 1), ("id of process", 0)])
def test_a_run_takes_as_long_as_its_slowest_processor(tmp_path: Path, column: str, first: int) -> None:
    rows = "".join(f"{p},{one + first},{8 / p - one / 100},{10 * one}\n" for p in (1, 2, 4) for one in range(p))
    guess = meant(tmp_path, f"np,{column},time_s,flops\n{rows}")
    assert times(guess) == [(1, 8.0), (2, 4.0), (4, 2.0)]
    assert guess.measured.grid(guess.measured.metric("flops")).ravel().tolist() == [0, 10, 60]
    assert any(f"'{column}' numbers the np of each run" in remark for remark in guess.measured.remarks)


def test_numbers_that_do_not_fill_the_processors_stay_a_size(tmp_path: Path) -> None:
    rows = "".join(f"{p},{size},{8 * size / p}\n" for p in (1, 2, 4) for size in (1, 2))
    assert len(times(meant(tmp_path, f"np,order,time_s\n{rows}"))) == 6
    rows = "".join(f"{p},{size},{8 * size / p}\n" for p in (1, 2, 4) for size in range(1, p + 1))
    assert len(times(meant(tmp_path, f"np,order,time_s\n{rows}"))) == 7


@pytest.mark.parametrize(("column", "first"), [("iteration", 0), ("epoch", 1), ("step", 1)])
def test_rows_that_are_numbered_at_every_point_are_asked_about(tmp_path: Path, column: str, first: int) -> None:
    rows = "".join(f"{p},{turn},{8 / p + turn / 100}\n" for p in (1, 2, 4) for turn in range(first, first + 3))
    (one,) = asked(tmp_path, f"np,{column},time_s\n{rows}")
    assert (one.key, one.guess) == (f"columns.{column}", "repetition")
    guess = meant(tmp_path, f"np,{column},time_s\n{rows}", choices=TableChoices(columns={column: "repetition"}))
    assert guess.measured.parameters == ("np",)
    assert len(times(guess)) == 9


def test_counts_of_iterations_are_no_numbers_of_rows(tmp_path: Path) -> None:
    rows = "".join(f"{p},{turns},{turns / p}\n" for p in (1, 2, 4) for turns in (100, 200))
    assert len(times(meant(tmp_path, f"np,iteration,time_s\n{rows}"))) == 6


def test_what_comments_above_blocks_of_rows_say_is_a_column(tmp_path: Path) -> None:
    text = "# N=1000\n# p time_s\n1 10.0\n2 5.2\n\n\n# N=2000\n# p time_s\n1 40.0\n2 20.5\n"
    assert times(meant(tmp_path, text, "s.dat")) == [(1, 1000, 10.0), (2, 1000, 5.2), (1, 2000, 40.0), (2, 2000, 20.5)]
    text = "p,time_s\n# compiler: gcc, n: 8\n1,10.0\n2,5.2\n# compiler: icx, n: 8\n1,9.0\n2,4.7\n"
    found = times(meant(tmp_path, text, "c.csv"))
    assert [row[0] for row in found] == [1, 2, 1, 2]
    assert {"gcc", "icx"} == {part for row in found for part in row if isinstance(part, str)}


@pytest.mark.parametrize("text", ["# N=8\n# p time_s\n1 8.0\n2 4.1\n", "# p time_s\n1 8.0\n# seed=3\n2 4.1\n"])
def test_comments_that_tell_no_rows_apart_are_no_columns(tmp_path: Path, text: str) -> None:
    assert times(meant(tmp_path, text, "s.dat")) == [(1, 8.0), (2, 4.1)]


def test_minutes_and_seconds_of_one_time_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'minutes' and 'seconds' are parts of one time"):
        meant(tmp_path, "cores,minutes,seconds\n1,1,40\n2,0,52\n4,0,27.5\n")
    assert times(meant(tmp_path, "cores,minutes\n1,100\n2,52\n")) == [(1, 6000.0), (2, 3120.0)]


def test_threads_of_blocks_of_a_device_are_asked_about(tmp_path: Path) -> None:
    (one, *_) = asked(tmp_path, "blocks,threads,time_ms\n32,128,5.1\n64,128,2.6\n64,256,1.4\n128,256,0.8\n")
    assert (one.key, one.choices) == ("processors", ("none", "threads"))


def test_numbered_times_that_are_far_apart_are_not_averaged(tmp_path: Path) -> None:
    rows = "".join(f"{p},{8 / p},{4 / p},{1 / p}\n" for p in (1, 2, 4))
    assert asked(tmp_path, f"threads,time1,time2,time3\n{rows}")[0].key == "across"
    rows = "".join(f"{p},{8 / p},{8.2 / p},{7.9 / p}\n" for p in (1, 2, 4))
    assert len(times(meant(tmp_path, f"threads,time1,time2,time3\n{rows}", unit="s"))) == 9


def test_a_constant_count_that_is_not_multiplied_is_said(tmp_path: Path) -> None:
    guess = meant(tmp_path, "nodes,tasks_per_node,time_s\n1,48,8\n2,48,4.2\n4,48,2.3\n")
    assert [row[0] for row in times(guess)] == [1, 2, 4]
    assert any("--processors 'nodes*tasks_per_node' counts 48 for each" in note for note in guess.notes)
    guess = meant(
        tmp_path, "nodes,tasks_per_node,time_s\n1,48,8\n2,48,4.2\n4,48,2.3\n", processors="nodes*tasks_per_node"
    )
    assert [row[0] for row in times(guess)] == [48, 96, 192]
    assert not any("in every run" in note for note in guess.notes)


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("MPI ranks,OMP threads,time_s\n1,8,12\n2,4,11\n4,2,10\n8,1,13\n", "MPI ranks*OMP threads"),
        ("MPI,OpenMP,time_s\n1,1,100\n2,1,52\n2,2,27\n4,2,14.5\n4,4,8\n", "MPI*OpenMP"),
    ],
)
def test_processors_that_are_split_count_together(tmp_path: Path, text: str, guess: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    first = guess_mapping(read_set([path]))
    found = [first.mapping.processors, *(one.guess for one in first.questions if one.key == "processors")]
    assert guess in found


def test_percentiles_are_no_numbers_of_processors(tmp_path: Path) -> None:
    rows = "".join(f"{p},{12 + p},{15 + p},{22 + p}\n" for p in (1, 2, 4))
    questions = asked(tmp_path, f"threads,p50_ms,p95_ms,p99_ms\n{rows}")
    assert questions[0].key == "time"


@pytest.mark.parametrize("title", ["Serial", "Ts", "seq"])
def test_a_serial_column_beside_processors_is_the_serial_program(tmp_path: Path, title: str) -> None:
    guess = meant(tmp_path, f"n,{title},2,4\n8,10,5.2,2.7\n9,40,20.5,10.6\n", unit="s")
    assert guess.measured.parameters == ("processors", "n")
    assert {(row[0], row[-1]) for row in times(guess)} >= {(2, 5.2), (4, 10.6)}
    assert len(times(guess)) == 6


@pytest.mark.parametrize("head", ["n,T1,T2,T4,S2,S4,E2,E4", "n,T(1),T(2),T(4),S(2),S(4),E(2),E(4)"])
def test_speedups_beside_the_times_of_the_same_processors_are_left_out(tmp_path: Path, head: str) -> None:
    guess = meant(tmp_path, f"{head}\n8,10,5.2,2.7,1.92,3.7,.96,.93\n9,40,20.5,10.6,1.95,3.77,.98,.94\n", unit="s")
    assert sorted({row[0] for row in times(guess)}) == [1, 2, 4]
    assert len(times(guess)) == 6
    assert sum(skipped.count for skipped in guess.measured.skipped) == 4


def test_labels_below_the_name_of_the_processors_are_variants(tmp_path: Path) -> None:
    guess = meant(tmp_path, "threads,1,2,4\ngcc,10,5.2,2.7\nicx,9,4.7,2.5\n", unit="s")
    assert {(row[0], row[-1]) for row in times(guess)} == {(1, 10), (2, 5.2), (4, 2.7), (1, 9), (2, 4.7), (4, 2.5)}
    assert {row[1] for row in times(guess)} == {"gcc", "icx"}


def test_the_unnamed_mean_beside_user_and_system_is_the_time(tmp_path: Path) -> None:
    rows = "".join(f"./a,{8 / p},0.1,{8 / p},8,0.1,{7.9 / p},{8.1 / p},{p}\n" for p in (1, 2, 4))
    text = f"command,mean,stddev,median,user,system,min,max,parameter_threads\n{rows}"
    assert times(meant(tmp_path, text, unit="s")) == [(1, 8.0), (2, 4.0), (4, 2.0)]


def test_an_inverse_time_is_a_rate_and_a_percentage_no_time(tmp_path: Path) -> None:
    found = times(meant(tmp_path, "p,1/time\n1,0.01\n2,0.0192\n4,0.0364\n"))
    assert [found[0][-1] / row[-1] for row in found] == pytest.approx([1, 1.92, 3.64])
    assert times(meant(tmp_path, "cores,time reduction [%]\n1,0\n2,48\n4,72.5\n")) == []


@pytest.mark.parametrize("title", ["T_p / s", "Laufzeit / s", "time / s"])
def test_a_quantity_over_its_unit_has_that_unit(tmp_path: Path, title: str) -> None:
    assert times(meant(tmp_path, f"p;{title}\n1;8,5\n2;4,5\n")) == [(1, 8.5), (2, 4.5)]


def test_digits_grouped_by_spaces_stand_before_a_decimal_comma(tmp_path: Path) -> None:
    assert times(meant(tmp_path, "p;time [s]\n1;1\u00a0234,5\n2;640,2\n")) == [(1, 1234.5), (2, 640.2)]


def test_the_longest_of_unnamed_times_is_guessed(tmp_path: Path) -> None:
    text = "ranks,setup,solve,io,total\n1,5.0,70.5,1.0,76.5\n2,5.0,36.2,1.0,42.2\n4,5.0,19.1,1.0,25.1\n"
    assert asked(tmp_path, text)[0].guess == "total"


@pytest.mark.parametrize("column", ["exit", "ret", "retval"])
def test_runs_with_another_exit_code_than_0_are_left_out(tmp_path: Path, column: str) -> None:
    guess = meant(tmp_path, f"threads,time_s,{column}\n1,10,0\n2,5.2,0\n4,0.02,-11\n8,1.6,0\n")
    assert times(guess) == [(1, 10.0), (2, 5.2), (8, 1.6)]


def test_cores_of_each_executor_do_not_count_alone(tmp_path: Path) -> None:
    guess = meant(tmp_path, "executors,cores_per_executor,time_s\n1,4,10\n2,4,5.2\n4,4,2.8\n")
    assert [row[0] for row in times(guess)] == [1, 2, 4]
    assert any("--processors 'executors*cores_per_executor'" in note for note in guess.notes)


def test_labels_in_comments_keep_blocks_of_rows_apart(tmp_path: Path) -> None:
    found = times(meant(tmp_path, "p time_s\n# gcc\n1 10.0\n2 5.2\n\n# icx\n1 9.0\n2 4.7\n", "s.dat"))
    assert found == [(1, "gcc", 10.0), (2, "gcc", 5.2), (1, "icx", 9.0), (2, "icx", 4.7)]


def test_repetitions_that_are_far_apart_are_doubted(tmp_path: Path) -> None:
    guess = meant(tmp_path, "p,time_s\n1,10\n2,5.2\n1,80\n2,41\n")
    assert any("far apart (10.0 and 80.0 at p = 1)" in note for note in guess.notes)
    guess = meant(tmp_path, "p,time_s\n1,10\n2,5.2\n1,11\n2,5.3\n")
    assert not any("far apart" in note for note in guess.notes)


def test_sizes_of_messages_keep_runs_apart(tmp_path: Path) -> None:
    rows = "".join(f"{p},{size},{size * p / 8}\n" for p in (2, 4) for size in (8, 1024))
    assert len({row[1] for row in times(meant(tmp_path, f"np,bytes,time [us]\n{rows}", scaling="strong"))}) == 2


def test_the_average_of_unnamed_times_is_guessed_before_the_worst(tmp_path: Path) -> None:
    text = "threads,best,worst,average\n1,9.5,11.5,10.5\n2,4.9,6.1,5.4\n4,2.5,3.1,2.8\n"
    assert asked(tmp_path, text)[0].guess == "average"


def test_emphasis_in_cells_of_markdown_is_no_part_of_the_number(tmp_path: Path) -> None:
    text = "# Results\n\n| `threads` | **time (s)** |\n|:--|--:|\n| 1 | 10.0 |\n| **2** | **5.2** |\n| `4` | *2.8* |\n"
    for name in ("README.md", "t.txt"):
        assert times(meant(tmp_path, text, name)) == [(1, 10.0), (2, 5.2), (4, 2.8)]


@pytest.mark.parametrize("title", ["ms/step", "ms per iteration", "ms / time step"])
def test_the_time_of_a_step_has_its_unit(tmp_path: Path, title: str) -> None:
    found = times(meant(tmp_path, f"GPUs,{title}\n1,20\n2,10.6\n4,5.9\n"))
    assert [row[-1] for row in found] == pytest.approx([0.02, 0.0106, 0.0059])


def test_the_count_of_repetitions_beside_their_index_is_left_out(tmp_path: Path) -> None:
    rows = "".join(f"{p},3,{again},{8 / p + again / 100}\n" for p in (1, 2) for again in range(3))
    assert len(times(meant(tmp_path, f"np,repetitions,repetition_index,time_s\n{rows}"))) == 6
