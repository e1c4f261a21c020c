"""Measurements without a one-processor run are compared with the smallest count, and every view says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scalegraph.analyze import matrix, reference
from scalegraph.analyze.table import numbers
from scalegraph.base.run import RunPoint, RunRecord, Source
from scalegraph.request.imports.sets import opened
from scalegraph.request.results.data import study_data
from scalegraph.subjects import judgement
from scalegraph.subjects.study import StudyData
from scalegraph.views import registry

TIMES = {2: 8.0, 4: 4.2, 8: 2.5, 16: 1.6}


def study(times: dict[int, float], source: Source = "imported", **parameters: int) -> list[RunRecord]:
    return [
        RunRecord(
            source=source,
            program="p",
            machine="unknown",
            point=RunPoint(processors=count, parameters=dict(parameters)),
            time_s=time,
        )
        for count, time in times.items()
    ]


def test_the_fewest_processors_stand_for_one() -> None:
    rows = StudyData.from_runs(study(TIMES)).scaling
    assert list(rows["efficiency"]) == pytest.approx([2 * 8 / (n * time) for n, time in TIMES.items()])
    assert list(rows["speedup"]) == pytest.approx([2 * 8 / time for time in TIMES.values()])
    assert set(rows["reference"]) == {2}
    assert "N = 2, whose efficiency counts as 1" in reference.sentence(rows)


def test_one_processor_stays_the_reference_where_there_is_one() -> None:
    rows = StudyData.from_runs(study({1: 15.0, **TIMES})).scaling
    assert set(rows["reference"]) == {1}
    assert reference.sentence(rows) == ""
    assert rows["efficiency"].iloc[1] == pytest.approx(15 / 16)


def test_nothing_is_relative_to_itself_alone_nor_simulated_runs_to_two_processors() -> None:
    alone = StudyData.from_runs([*study({2: 8.0}, n=1), *study({4: 8.1}, n=2)]).scaling
    assert not np.isfinite(numbers(alone, "efficiency")).any()
    simulated = StudyData.from_runs(study(TIMES, "simulated")).scaling
    assert not np.isfinite(numbers(simulated, "efficiency")).any()


@pytest.mark.slow
def test_sizes_of_other_references_are_said_and_stand_in_no_matrix_together() -> None:
    small, large = {1: 16.0, 2: 8.1, 4: 4.2, 8: 2.3}, {4: 40.0, 8: 21.0, 16: 12.0}
    data = StudyData.from_runs([*study(small, n=1), *study({n: 2 * t for n, t in small.items()}, n=2)])
    mixed = StudyData.from_runs([*data.runs, *study(large, n=9)])
    assert "Some sizes have no run on one processor" in reference.sentence(mixed.scaling)
    assert mixed.scaling.query("processors == 8 and reference == 4")["efficiency"].iloc[0] == pytest.approx(40 / 42)
    assert not reference.comparable(mixed.scaling)[mixed.scaling["reference"] == 4].any()
    made, alone = (matrix.scalability(rows, target=0.9) for rows in (mixed.scaling, data.scaling))
    assert made is not None
    assert alone is not None
    assert {pair: value for pair, value in made.values.items() if 16 not in pair} == alone.values


def test_a_matrix_begins_above_the_fewest_processors() -> None:
    made = matrix.scalability(
        StudyData.from_runs([*study(TIMES, n=1), *study({n: 4 * t - 0.1 * n for n, t in TIMES.items()}, n=4)]).scaling,
        target=0.9,
    )
    assert made is not None
    assert made.processors == (4, 8, 16)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["speedup", "time", "verdicts", "latency", "runs"])
def test_every_view_says_what_it_is_relative_to(name: str, tmp_path: Path) -> None:
    table = tmp_path / "no1.csv"
    table.write_text("threads,time [s]\n" + "".join(f"{n},{time}\n" for n, time in TIMES.items()))
    with opened([table]) as made:
        data = study_data(made)
    figure = registry()[name].build(data)
    assert not figure.empty
    assert any("relative to the fewest processors, N = 2" in note for note in figure.notes)
    (verdict,) = judgement.said(data)
    assert "speedup 10.0, relative to N = 2" in verdict.text
