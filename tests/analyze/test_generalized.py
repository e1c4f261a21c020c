"""Generalized speedup computed by hand: two processor counts, two sizes, Hockney's law on one processor."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scalegraph.analyze import generalized, metrics
from scalegraph.base.run import RunPoint, RunRecord


def run(n: int, size: int, time_s: float) -> RunRecord:
    return RunRecord(
        source="imported",
        program="p",
        machine="m",
        point=RunPoint(processors=n, parameters={"n": size}),
        time_s=time_s,
        work_ops=size,
    )


def table(*more: RunRecord) -> pd.DataFrame:
    # T_1 = (W + 100)/50: r_inf = 50 op/s, W_0 = 100
    ones = [run(1, size, (size + 100) / 50) for size in (100, 300, 900)]
    runs = [*ones, run(4, 300, 4.0), run(4, 1200, 10.0), *more]
    return metrics.scaling(pd.DataFrame([one.row() for one in runs]))


def at(made: pd.DataFrame, n: int, work: float) -> pd.Series:
    return made[(made["processors"] == n) & (made["work"] == work)].iloc[0]


@pytest.mark.slow
def test_the_sequential_speed_is_the_asymptote_unless_another_is_chosen() -> None:
    made = generalized.generalized_speedup(table())
    # 300 op in 4 s on 4: 75 op/s; 75/50 = 1.5; efficiency a quarter of that; T_seq/T_para = 8/4
    row = at(made, 4, 300)
    assert row["parallel_speed"] == 75
    assert row["sequential_speed"] == pytest.approx(50)
    assert row["generalized_speedup"] == pytest.approx(1.5)
    assert row["generalized_efficiency"] == pytest.approx(0.375)
    assert row["speedup"] == pytest.approx(2.0)
    # 900 op in 20 s is the fastest run on one processor: 45 op/s
    assert at(generalized.generalized_speedup(table(), "fastest"), 4, 300)["generalized_speedup"] == 75 / 45


def test_a_size_that_never_ran_on_one_processor_has_a_generalized_speedup_and_no_usual_one() -> None:
    row = at(generalized.generalized_speedup(table(run(8, 2400, 12.0))), 8, 2400)
    assert row["generalized_speedup"] == pytest.approx(200 / 50)
    assert np.isnan(row["speedup"])


def test_of_the_same_problem_it_is_the_usual_speedup() -> None:
    made = generalized.generalized_speedup(table(), "same-size")
    both = made[np.isfinite(made["speedup"]) & (made["processors"] == 4)]
    assert len(both) == 1
    assert both["generalized_speedup"].iloc[0] == pytest.approx(both["speedup"].iloc[0])


def test_equal_unit_speeds_are_equally_efficient() -> None:
    """isospeed.txt III: if, and only if, the sequential speed is independent of the size."""
    # 25 op/s each: 400 op in 4 s on 4, 2000 op in 10 s on 8; their one-processor speeds differ
    scaling = table(run(1, 400, 10.0), run(1, 2000, 42.0), run(4, 400, 4.0), run(8, 2000, 10.0))
    made = generalized.generalized_speedup(scaling)
    first, second = at(made, 4, 400), at(made, 8, 2000)
    assert first["generalized_efficiency"] == pytest.approx(second["generalized_efficiency"])
    usual = generalized.generalized_speedup(scaling, "same-size")
    assert abs(at(usual, 4, 400)["generalized_efficiency"] - at(usual, 8, 2000)["generalized_efficiency"]) > 0.01


def test_without_runs_on_one_processor_there_is_no_sequential_speed() -> None:
    scaling = metrics.scaling(pd.DataFrame([run(2, 100, 1.0).row(), run(4, 100, 0.6).row()]))
    assert generalized.sequential_speed(scaling) is None
    assert generalized.generalized_speedup(scaling)["generalized_speedup"].isna().all()
