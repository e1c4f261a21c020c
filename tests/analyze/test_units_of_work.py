"""The unit of imported work is stated wherever an amount of it is shown."""

from __future__ import annotations

import pytest

from scalegraph.analyze import bounds, matrix, metrics, wording
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.subjects.study import StudyData
from scalegraph.views import get

_UNITS = {"s": {}, "flop": {"work_flops": 4e9}, "op": {"work_ops": 4e9}}


def _data(unit: str) -> StudyData:
    runs = []
    for size in (1, 2):
        for count in (1, 2, 4):
            counted = {name: value * size for name, value in _UNITS[unit].items()}
            runs.append(
                RunRecord(
                    source="imported",
                    program="p",
                    machine="m",
                    point=RunPoint(processors=count, parameters={"n": size}),
                    time_s=size * (4 / count + 0.5),
                    **counted,
                )
            )
    return StudyData.from_runs(runs)


@pytest.mark.parametrize("unit", _UNITS)
def test_reasons_and_targets_name_the_unit_of_the_work(unit: str) -> None:
    scaling = _data(unit).scaling
    assert metrics.work_unit(scaling) == unit
    reason = bounds.anchors(scaling.assign(label=""), "speed", 1e12, processors=[2])[0].reason
    made = matrix.from_anchors([], "isospeed", "speed", 0.25, work_unit=unit)
    shown = {"s": "W = 4.50 s", "flop": "W = 4.00 Gflop", "op": "W = 4.00 Gop"}[unit]
    assert shown in reason, reason
    assert wording.target_words(made) == {"s": "0.25", "flop": "250 mflop/s", "op": "250 mop/s"}[unit]


@pytest.mark.parametrize("unit", _UNITS)
def test_views_name_the_unit_of_the_work(unit: str) -> None:
    figure = get("runs").build(_data(unit))
    column = next(place for place, column in enumerate(figure.panels[0].columns) if column.name == "work")
    assert figure.panels[0].columns[column].unit == unit
    assert figure.panels[0].rows[0].values[column] == (4.5 if unit == "s" else 4e9)
