"""The meaning of names: guessed where that is safe, asked otherwise, and turned into runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scalegraph.base.errors import InputError
from scalegraph.base.resources import resource_dir
from scalegraph.measurements.collecting import column_of
from scalegraph.measurements.guessing import guess_mapping
from scalegraph.measurements.merging import merged
from scalegraph.measurements.model import CallPath, MeasurementSet, Metric, check
from scalegraph.measurements.runs import make_runs
from scalegraph.request.imports.sets import opened
from scalegraph.subjects.study import StudyData


def a_set(
    points: dict[str, list[Any]],
    values: list[float],
    *,
    metrics: tuple[Metric, ...] = (Metric("time", "s", "time", "inclusive"),),
    paths: tuple[CallPath, ...] = (CallPath("main"),),
    repetitions: int = 1,
) -> MeasurementSet:
    """Return a set with values in the order of points, then call paths, metrics and repetitions."""
    table = pd.DataFrame(points)
    shape = (len(table), len(paths), len(metrics), repetitions)
    index = np.indices(shape).reshape(4, -1)
    columns = dict(zip(("point", "call_path", "metric", "repetition"), index, strict=True))
    return MeasurementSet(
        tuple(points),
        table,
        paths,
        metrics,
        pd.DataFrame({**columns, "value": np.array(values, dtype=float)}),
        files=("a.csv",),
        title="a",
    )


def test_processors_time_unit_and_whole_program_are_found() -> None:
    guess = guess_mapping(a_set({"n": [10, 10, 10], "nprocs": [1, 2, 4]}, [8, 4.1, 2.2]))
    assert not guess.questions
    mapping = guess.mapping
    assert (mapping.processors, mapping.time, mapping.unit, mapping.total) == ("nprocs", "time", "s", "main")
    assert (mapping.sizes, mapping.scaling) == (("n",), "strong")


@pytest.mark.parametrize("name", ["p", "procs", "Processors", "ranks", "np", "num_threads", "N", "MPI Ranks", "nNodes"])
def test_names_of_processors_are_known(name: str) -> None:
    assert guess_mapping(a_set({name: [1, 2, 4]}, [8, 4.1, 2.2])).mapping.processors == name


def test_two_counts_of_processors_are_asked_for_and_the_answer_is_taken() -> None:
    made = a_set({"ranks": [1, 2, 4], "threads": [2, 4, 8]}, [8, 4, 2])
    (question,) = guess_mapping(made).questions
    assert question.key == "processors"
    assert question.choices == ("ranks", "threads", "ranks*threads")
    assert guess_mapping(made, {"processors": "threads"}).mapping.processors == "threads"
    one = a_set({"ranks": [1, 2, 4], "threads": [2, 2, 2]}, [8, 4, 2])
    assert guess_mapping(one).mapping.processors == "ranks"


def test_processors_may_be_a_product_of_parameters() -> None:
    made = a_set({"ranks": [1, 2, 4], "threads": [2, 2, 4], "n": [9, 9, 9]}, [8, 4, 1])
    guess = guess_mapping(made, {"processors": "ranks*threads"})
    assert guess.measured.points.to_dict("list") == {"ranks*threads": [2, 4, 16], "n": [9, 9, 9]}
    assert [run.point.processors for run in make_runs(guess.measured, guess.mapping)[0]] == [2, 4, 16]


@pytest.mark.slow
def test_factors_of_a_product_are_no_parameters_of_the_problem() -> None:
    both = a_set({"ranks": [1, 1, 2, 2], "threads": [1, 2, 1, 2]}, [16, 16.2, 8, 8.2, 7, 7.2, 4, 4.2], repetitions=2)
    guess = guess_mapping(both, {"processors": "ranks*threads"})
    check(guess.measured)
    assert guess.measured.points.to_dict("list") == {"ranks*threads": [1, 2, 4]}
    assert any("2 = 1*2 = 2*1" in note for note in guess.measured.remarks)
    runs, _ = make_runs(guess.measured, guess.mapping)
    assert [(run.point.processors, run.point.repetition, run.time_s) for run in runs] == [
        (1, 0, 16),
        (1, 1, 16.2),
        (2, 0, 8),
        (2, 1, 8.2),
        (2, 2, 7),
        (2, 3, 7.2),
        (4, 0, 4),
        (4, 1, 4.2),
    ]
    assert not any(run.point.parameters for run in runs)
    efficiency = StudyData.from_runs(runs).scaling["efficiency"]
    assert list(efficiency) == pytest.approx([1, 16.1 / 2 / 7.6, 16.1 / 4 / 4.1])


def test_without_a_count_of_processors_there_are_no_runs_and_that_is_said() -> None:
    made = a_set({"x": [1, 2, 4]}, [8, 4, 2])
    guess = guess_mapping(made)
    assert not guess.questions
    assert "--processors x if it does" in guess.notes[0]
    assert make_runs(made, guess.mapping) == ([], {})


def test_a_missing_or_foreign_unit_is_asked_for() -> None:
    for unit in ("", "furlongs"):
        made = a_set({"p": [1, 2]}, [8, 4], metrics=(Metric("time", unit, "time"),))
        (question,) = guess_mapping(made).questions
        assert question.switch == "--unit s"
        runs, _ = make_runs(made, guess_mapping(made, {"unit": "ms"}).mapping)
        assert [run.time_s for run in runs] == pytest.approx([0.008, 0.004])
    cycles = a_set({"p": [1, 2]}, [8, 4], metrics=(Metric("time", "cycles", "time"),))
    assert guess_mapping(cycles).questions[0].key == "clock_hz"
    runs, _ = make_runs(cycles, guess_mapping(cycles, {"clock_hz": 4.0}).mapping)
    assert [run.time_s for run in runs] == pytest.approx([2, 1])


def test_several_roots_are_asked_for_and_may_be_taken_together() -> None:
    made = a_set({"p": [1, 2]}, [4, 3, 2, 2], paths=(CallPath("solve"), CallPath("output")))
    (question,) = guess_mapping(made).questions
    assert question.choices == ("solve", "output", "*")
    for total, expected in (("solve", [4, 2]), ("*", [7, 4])):
        runs, _ = make_runs(made, guess_mapping(made, {"total": total}).mapping)
        assert [run.time_s for run in runs] == expected
    named = a_set({"p": [1, 2]}, [4, 3, 2, 2], paths=(CallPath("solve"), CallPath("main")))
    assert guess_mapping(named).mapping.total == "main"


def test_a_time_without_values_is_no_question(tmp_path: Path) -> None:
    """A published table that is cut off before its first number."""
    whole = (resource_dir("published") / "latency-metric-table-2.csv").read_text()
    path = tmp_path / "t.csv"
    path.write_text(whole[: whole.index("8,") + 2])
    with opened([path], said={"clock_hz": 20e6}) as study:
        assert list(study.runs()) == []


def test_exclusive_values_are_summed_below_the_whole_program() -> None:
    paths = (CallPath("main"), CallPath("solve", 0))
    made = a_set({"p": [1, 2]}, [1, 7, 1, 3], paths=paths, metrics=(Metric("time", "s", "time", "exclusive"),))
    guess = guess_mapping(made, {"summed": True})
    runs, _ = make_runs(made, guess.mapping)
    assert [run.time_s for run in runs] == [8, 2]


def test_times_of_a_tree_show_whether_they_hold_those_below() -> None:
    paths = (CallPath("main"), CallPath("solve", 0), CallPath("sum", 0))
    unknown = (Metric("time", "s", "time"),)
    own = guess_mapping(a_set({"p": [1, 2]}, [1, 5, 2, 1, 3, 1], paths=paths, metrics=unknown))
    assert own.measured.metrics[0].extent == "exclusive"
    assert [run.time_s for run in make_runs(own.measured, own.mapping)[0]] == [8, 5]
    whole = guess_mapping(a_set({"p": [1, 2]}, [8, 5, 2, 5, 3, 1], paths=paths, metrics=unknown))
    assert whole.measured.metrics[0].extent == "inclusive"
    assert [run.time_s for run in make_runs(whole.measured, whole.mapping)[0]] == [8, 5]
    categories = a_set({"p": [1, 2]}, [np.nan, 5, 2, np.nan, 3, 1], paths=paths, metrics=unknown)
    categories = replace(categories, values=categories.values.dropna())
    asked = guess_mapping(categories)
    assert [question.key for question in asked.questions] == ["extent"]
    said = guess_mapping(categories, {"extent": "exclusive"})
    assert [run.time_s for run in make_runs(said.measured, said.mapping)[0]] == [7, 4]


def test_repetitions_parameters_and_other_metrics_become_runs() -> None:
    metrics = (Metric("time", "s", "time"), Metric("flops", "", "count"), Metric("memory", "B", "bytes"))
    values = [8, 8.2, 100, 100, 64, 65, 4, 4.2, 100, 100, 32, 33]
    made = a_set({"p": [1, 2], "n": [10.0, 10.0], "input": ["a", "a"]}, values, metrics=metrics, repetitions=2)
    runs, memory = make_runs(made, guess_mapping(made).mapping)
    assert [(run.point.processors, run.point.repetition, run.time_s) for run in runs] == [
        (1, 0, 8),
        (1, 1, 8.2),
        (2, 0, 4),
        (2, 1, 4.2),
    ]
    assert runs[0].point.parameters == {"n": 10, "input": "a"}
    assert runs[0].work_flops == 100
    assert list(memory.values()) == [64, 65, 32, 33]
    assert {run.source for run in runs} == {"imported"}


def test_times_that_stay_leave_it_open_how_the_problem_grows() -> None:
    made = a_set({"p": [1, 2, 4, 8]}, [8, 8.1, 8.3, 8.6])
    (question,) = guess_mapping(made).questions
    assert question.choices == ("strong", "weak")
    runs, _ = make_runs(made, guess_mapping(made, {"scaling": "weak"}).mapping)
    assert [run.point.parameters for run in runs] == [{"problem": n} for n in (1, 2, 4, 8)]
    grown = a_set({"p": [1, 2, 4], "n": [10, 20, 40]}, [8, 8.1, 8.3])
    assert guess_mapping(grown).mapping.scaling == "weak"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"processors": "q"}, "--processors: 'q' is not a parameter of the set; there is p"),
        ({"time": "tim"}, "did you mean 'time'"),
        ({"total": "mian"}, "did you mean 'main'"),
        ({"unit": "parsec"}, "is not a unit of time"),
        ({"columns": {"work_flops": "flips"}}, "is not a metric"),
    ],
)
def test_answers_that_the_set_does_not_have_are_refused(said: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError) as caught:
        guess_mapping(a_set({"p": [1, 2]}, [8, 4]), said)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("counts", "times", "expected"),
    [
        ([1, 2.5], [8, 4], "point p = 2.5: p = 2.5; a whole number of processors"),
        ([-1, 2], [8, 4], "p = -1"),
        ([0, 0], [8, 4], "p = 0"),
        (["one", "two"], [8, 4], "a number of processors was expected"),
        ([1, 2], [8, -4], "-4 s; 0 or more was expected"),
    ],
)
def test_points_that_cannot_be_runs_are_named(counts: list[Any], times: list[float], expected: str) -> None:
    made = a_set({"p": counts}, times)
    with pytest.raises(InputError) as caught:
        make_runs(made, guess_mapping(made, {"processors": "p", "scaling": "strong"}).mapping)
    assert expected in str(caught.value)
    assert str(caught.value).startswith("a.csv: ")


def test_none_says_that_there_is_no_such_thing() -> None:
    mapping = guess_mapping(a_set({"p": [1, 2]}, [8, 4]), {"processors": "none"}).mapping
    assert mapping.processors == ""


def test_sets_of_the_same_parameters_become_one() -> None:
    paths = (CallPath("main"), CallPath("solve", 0))
    one = a_set({"p": [1, 2], "n": [5, 5]}, [8, 4])
    two = a_set({"n": [5, 5], "p": [2, 4]}, [4.1, 3, 2.1, 1], paths=paths)
    both = merged([one, two])
    check(both)
    assert both.points.to_dict("list") == {"p": [1, 2, 4], "n": [5, 5, 5]}
    assert both.paths == ("main", "main->solve")
    assert both.grid(0)[0] == pytest.approx(np.array([[8, np.nan], [4, 4.1], [2.1, np.nan]]), nan_ok=True)
    with pytest.raises(InputError, match="p, n were expected, as in a"):
        merged([one, a_set({"p": [1]}, [1.0])])
    with pytest.raises(InputError, match="in 'ms', but in the files before"):
        merged([one, a_set({"p": [1], "n": [5]}, [1.0], metrics=(Metric("time", "ms", "time", "inclusive"),))])


def test_of_very_many_repetitions_some_become_runs_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalegraph.measurements.runs.MOST_RUNS", 6)
    made = a_set({"p": [1, 2]}, [8, 8.1, 8.2, 8.3, 8.4, 4, 4.1, 4.2, 4.3, 4.4], repetitions=5)
    guess = guess_mapping(made)
    assert "runs are 6 of the 10 times, evenly spaced; the set and its models keep all" in guess.notes
    runs, _ = make_runs(made, guess.mapping)
    assert [(run.point.processors, run.point.repetition) for run in runs] == [
        (1, 0),
        (1, 2),
        (1, 4),
        (2, 0),
        (2, 2),
        (2, 4),
    ]
    monkeypatch.setattr("scalegraph.measurements.runs.MOST_RUNS", 1)
    with pytest.raises(InputError, match="has 2 points with a time; a study holds 1 runs at most"):
        make_runs(made, guess.mapping)


def test_numbers_beside_words_stay_apart() -> None:
    assert column_of([1234567.5, 1234568.5, 3.0, "many"]).tolist() == ["1234567.5", "1234568.5", "3", "many"]
