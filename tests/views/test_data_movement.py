"""Data movement over N, and latency per unit of time."""

from __future__ import annotations

import pytest

from scalegraph.subjects.study import StudyData
from scalegraph.views import get
from tests.analyze import synthetic


def test_data_movement_is_accesses_through_the_network_in_a_microsecond() -> None:
    runs = synthetic.fixed((1, 2, 4, 8))
    figure = get("data-movement").build(StudyData.from_runs(runs))
    (line,) = figure.panels[0].lines  # type: ignore[union-attr]
    expected = {run.point.processors: run.misses / (run.time_s * 1e6) for run in runs if run.time_s}
    assert dict(zip(line.x, line.y, strict=True)) == pytest.approx(expected)
    assert figure.panels[0].y.unit == "packets/µs"  # type: ignore[union-attr]


def test_data_movement_needs_several_counts() -> None:
    assert get("data-movement").build(StudyData.from_runs(synthetic.fixed((1,)))).empty


@pytest.mark.slow
def test_latency_in_a_unit_of_time_is_what_efficiency_leaves() -> None:
    data = StudyData.from_runs(synthetic.fixed((1, 2, 4, 8, 16)))
    figure = get("latency").build(data, per="time")
    (line,) = figure.panels[0].lines  # type: ignore[union-attr]
    efficiency = get("speedup").build(data)
    assert efficiency.panels
    table = data.scaling.set_index("processors")["efficiency"]
    for n, value in zip(line.x, line.y, strict=True):
        assert value == pytest.approx(1 - table[n], abs=1e-12)
    assert "of a second on 16 processors" in figure.sentence
    assert "unit of time" in figure.title
