"""The problem-ensemble space by hand: T = W/N + 4 log2 N seconds at one operation per second."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from scalegraph.analyze import ensemble, metrics
from scalegraph.base.run import RunPoint, RunRecord

pytestmark = pytest.mark.slow

COUNTS = (1, 2, 4, 8)


def scaling(bytes_of: float | None = 8.0) -> pd.DataFrame:
    rows = []
    for n in COUNTS:
        for work in [2**k for k in range(1, 12)]:
            run = RunRecord(
                source="imported",
                program="p",
                machine="m",
                point=RunPoint(processors=n, parameters={"n": work}),
                time_s=work / n + 4 * math.log2(n),
                work_ops=work,
            )
            rows.append(run.row())
    table = pd.DataFrame(rows)
    if bytes_of is not None:
        table["memory_bytes"] = bytes_of * table["param.n"]
    return metrics.scaling(table)


def test_the_communication_bound_is_the_work_that_keeps_the_efficiency() -> None:
    made = ensemble.ensemble(scaling(), 0.5, 512.0, of_memory=True)
    # E = 1/2 where W/N = 4 log2 N: W = 8, 32, 96
    works = dict(made.communication.points)
    assert set(works) == {2, 4, 8}
    assert works[2] == pytest.approx(8)
    assert works[4] == pytest.approx(32)
    assert works[8] == pytest.approx(96, rel=0.03)  # between the sizes 64 and 128


def test_the_memory_bound_is_of_each_processor_or_of_all_together() -> None:
    each = ensemble.ensemble(scaling(), 0.5, 512.0, of_memory=True)
    # 8 bytes per operation: 512 B hold 64 operations per processor
    assert dict(each.memory.points) == pytest.approx({n: 64.0 * n for n in COUNTS})
    assert each.usable == (2, 4, 8)
    shared = ensemble.ensemble(scaling(), 0.5, 512.0, of_memory=True, per_processor=False)
    assert dict(shared.memory.points) == pytest.approx(dict.fromkeys(COUNTS, 64.0))
    assert shared.usable == (2, 4)  # on 8 processors the efficiency requires 96


def test_without_known_memory_the_limit_is_of_the_work() -> None:
    made = ensemble.ensemble(scaling(None), 0.5, 20.0, of_memory=False)
    assert dict(made.memory.points) == {n: 20.0 * n for n in COUNTS}
    assert math.isnan(ensemble.work_within(scaling(None), 20.0, of_memory=True))


def test_along_a_contour_of_time_the_time_is_equal() -> None:
    made = ensemble.ensemble(scaling(), 0.5, 512.0, of_memory=True)
    assert made.times
    for curve in made.times:
        for n, work in curve.points:
            assert work / n + 4 * math.log2(n) == pytest.approx(curve.level, rel=0.08)  # log-linear
    assert [curve.level for curve in made.efficiencies] == [0.25, 0.75, 0.9]


def test_round_times_are_within_and_few() -> None:
    assert ensemble.round_times([0.3, 7.0]) == (0.5, 1.0, 2.0, 5.0)
    assert len(ensemble.round_times([1e-6, 1e3])) == 4
    assert ensemble.round_times([]) == ()
