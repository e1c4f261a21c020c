from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from scalegraph.analyze import matrix
from scalegraph.analyze.matrix import Matrix
from scalegraph.analyze.matrix_prediction import completed
from tests.analyze.test_isospeed import HALF, SPEED, rows

pytestmark = pytest.mark.slow

COUNTS = (1, 2, 4, 8, 16)
ALL = (2, 4, 8, 16, 32, 64)
SIZES = tuple(float(w) for w in np.geomspace(1e4, 1e7, 9))


def held(table: pd.DataFrame, metric: str, bound: str, target: float) -> Matrix:
    made = matrix.scalability(
        table,
        metric=metric,  # type: ignore[arg-type]
        bound=bound,  # type: ignore[arg-type]
        target=target,
        processors=ALL,
        latency="method1",
    )
    assert made is not None
    return made


def need(n: int) -> float:
    """W/N at half of the asymptotic speed, by the law in `rows`."""
    return HALF + SPEED * 0.003 * math.log2(n)


@pytest.fixture(scope="module")
def exact() -> pd.DataFrame:
    return rows(COUNTS, SIZES)


def test_counts_that_were_not_run_are_predicted_by_the_law_behind_the_runs(exact: pd.DataFrame) -> None:
    runs = held(exact, "isospeed", "speed", SPEED / 2)
    made = completed(runs, exact, latency="method1")
    assert runs.value(2, 64) is None
    for n in ALL:
        value = made.value(n, 64)
        assert value == pytest.approx(need(n) / need(64), rel=0.03)
        assert made.ways[(n, 64)] == "predicted"
    assert made.ways[(2, 8)] == runs.ways[(2, 8)]
    assert made.value(2, 8) == runs.value(2, 8)
    assert all(made.ways[pair] == "predicted" for pair in made.intervals)
    assert any("T(N, W) =" in note for note in made.notes)


def test_all_cells_are_predicted_when_asked_and_each_has_an_interval(exact: pd.DataFrame) -> None:
    made = completed(held(exact, "isospeed", "speed", SPEED / 2), exact, latency="method1", replace_all=True)
    off = {pair for pair in made.values if pair[0] < pair[1]}
    assert {made.ways[pair] for pair in off} == {"predicted"}
    assert set(made.intervals) == off
    for pair, (low, high) in made.intervals.items():
        assert low <= made.values[pair] <= high
    document = made.to_json()
    assert document["ways"]["2,64"] == "predicted"
    assert len(document["intervals"]["2,64"]) == 2


def test_intervals_cover_what_the_law_gives_with_noise() -> None:
    table = rows(COUNTS, SIZES, noise=0.01)
    made = completed(held(table, "isospeed", "speed", SPEED / 2), table, latency="method1", replace_all=True)
    covered = [low <= need(n) / need(n2) <= high for (n, n2), (low, high) in made.intervals.items()]
    assert len(covered) == 15
    assert sum(covered) >= 12


@pytest.mark.parametrize(("bound", "target"), [("efficiency", 0.8), ("time", 0.5)])
def test_the_latency_metric_is_predicted_under_other_bounds(exact: pd.DataFrame, bound: str, target: float) -> None:
    made = completed(held(exact, "latency", bound, target), exact, latency="method1")
    anchor = made.anchors[64]
    assert anchor.way == "predicted"
    assert made.value(8, 64) is not None
    if bound == "efficiency":
        assert anchor.efficiency == pytest.approx(target, rel=0.01)
    else:
        assert anchor.time_s == pytest.approx(target, rel=0.01)
    assert anchor.labels[0].startswith("model of T(N, W)")


def test_memory_is_predicted_from_its_growth_with_the_work(exact: pd.DataFrame) -> None:
    table = exact.assign(memory_bytes=8 * exact["work"] ** 0.5)
    made = completed(held(table, "latency", "memory", 200.0), table, latency="method1")
    work = made.anchors[64].work
    assert work == pytest.approx((200.0 * 64 / 8) ** 2, rel=0.02)
    assert made.anchors[64].memory_per_processor == pytest.approx(200.0, rel=0.02)


def test_a_size_far_beyond_the_runs_is_said(exact: pd.DataFrame) -> None:
    made = completed(held(exact, "latency", "efficiency", 0.99), exact, latency="method1", replace_all=True)
    assert "times the largest work run" in made.anchors[64].labels[0]


def test_a_bound_that_no_size_meets_stays_empty_with_its_reason(exact: pd.DataFrame) -> None:
    made = completed(held(exact, "latency", "time", 1e-6), exact, latency="method1")
    assert made.value(2, 4) is None
    assert "at any size" in made.reasons[(2, 4)]
    assert made.intervals == {}


def test_too_few_runs_and_runs_without_one_processor_say_what_is_missing(exact: pd.DataFrame) -> None:
    few = exact[exact["processors"] <= 2]
    made = completed(held(few, "isospeed", "speed", SPEED / 2), few)
    assert "a prediction needs at least 5 runs" in made.reasons[(2, 64)]
    assert made.value(2, 2) == 1
    none = exact[exact["processors"] > 1].assign(efficiency=math.nan)
    made = completed(held(none, "latency", "efficiency", 0.5), none, latency="method1")
    assert "two sizes or more on one processor" in made.reasons[(2, 64)]
    speed = completed(held(none, "isospeed", "speed", SPEED / 2), none, latency="method1")
    assert speed.value(2, 64) == pytest.approx(need(2) / need(64), rel=0.05)


def test_predictions_are_the_same_each_time(exact: pd.DataFrame) -> None:
    one, two = (completed(held(exact, "latency", "efficiency", 0.8), exact, latency="method1") for _ in range(2))
    assert one.to_json() == two.to_json()


def test_nothing_to_predict_leaves_the_matrix_as_it_is(exact: pd.DataFrame) -> None:
    runs = matrix.scalability(exact, metric="isospeed", bound="speed", target=SPEED / 2, processors=(2, 4))
    assert runs is not None
    assert completed(runs, exact) is runs
