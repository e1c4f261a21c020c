from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze import bounds, matrix, metrics
from scalegraph.base.run import RunRecord
from tests.analyze import synthetic

# isospeed.txt Table II (s), and the cells of Table I that follow from it
BURG_PROCESSORS = (1, 2, 4, 8, 16, 32, 64, 128)
BURG_TIMES = (0.004029, 0.00913, 0.01362, 0.01774, 0.02144, 0.02561, 0.0296, 0.03338)
BURG_TABLE = (
    (1.00, 0.441, 0.296, 0.215, 0.188, 0.157, 0.136, 0.121),
    (1.00, 0.670, 0.488, 0.426, 0.357, 0.308, 0.274),
    (1.00, 0.728, 0.635, 0.532, 0.460, 0.408),
    (1.00, 0.827, 0.693, 0.599, 0.531),
    (1.00, 0.837, 0.724, 0.642),
    (1.00, 0.865, 0.767),
    (1.00, 0.887),
    (1.00,),
)
BURG_CELLS = {
    (n, n2): value
    for row, n in zip(BURG_TABLE, BURG_PROCESSORS, strict=True)
    for n2, value in zip(BURG_PROCESSORS[-len(row) :], row, strict=True)
}


def _scaling(runs: list[RunRecord]) -> pd.DataFrame:
    return metrics.scaling(pd.DataFrame([run.row() for run in runs]))


def _points(*rows: tuple[int, float, float, float]) -> pd.DataFrame:
    """Rows (N, W, E, T) as `metrics.scaling` would give them; L follows from eq. 10."""
    table = pd.DataFrame(rows, columns=["processors", "work", "efficiency", "time_s"]).astype({"processors": int})
    table["latency_s"] = table["latency_method1_s"] = table["time_s"] * (1 - table["efficiency"])
    table["unit_speed"] = table["work"] / (table["processors"] * table["time_s"])
    table["label"] = [f"W = {work:g}" for work in table["work"]]
    return table.assign(keys=[str(i) for i in range(len(table))], memory_bytes=np.nan)


def test_published_times_give_the_published_scalabilities() -> None:
    made = matrix.from_times(BURG_PROCESSORS, BURG_TIMES)
    for (n, n2), published in BURG_CELLS.items():
        if n2 != 8 or n == 8:  # see the next test
            # the paper prints three digits, but times with four
            assert made.value(n, n2) == pytest.approx(published, abs=6e-4), (n, n2)
    assert made.residual() == pytest.approx(0.0, abs=1e-12)


def test_the_residual_finds_the_column_of_the_published_table_that_contradicts_the_others() -> None:
    """Column N' = 8 of Table I is 5 % below T_N/T_8 of Table II, and below the value implied by the rest of Table I."""
    made = matrix.Matrix("isospeed", "speed", 0.85e6, BURG_PROCESSORS, BURG_CELLS)
    residuals = made.residuals()
    wrong = {triple for triple, residual in residuals.items() if abs(residual) > 0.01}
    assert wrong == {triple for triple in residuals if triple[1] == 8}
    assert made.residual() == pytest.approx(0.056, abs=0.004)


def test_of_the_runs_within_tolerance_the_one_with_the_least_work_is_taken() -> None:
    rows = _points((2, 10, 0.40, 1.0), (2, 20, 0.494, 1.5), (2, 30, 0.501, 2.0), (4, 50, 0.5, 3.0))
    made = matrix.scalability(rows, target=0.5, tolerance=0.01)
    assert made is not None
    assert made.anchors[2].way == "measured"
    assert made.anchors[2].work == 20
    assert made.value(2, 4) == pytest.approx(1.5 * 0.506 / (3.0 * 0.5))
    assert made.ways[(2, 4)] == "measured"


def test_larger_sizes_added_later_leave_the_point_where_it_was() -> None:
    first = ((2, 10, 0.40, 1.0), (2, 20, 0.495, 1.5))
    (before,) = bounds.anchors(_points(*first), "efficiency", 0.5, tolerance=0.02)
    more = _points(*first, (2, 40, 0.5, 2.0), (2, 80, 0.7, 3.0), (2, 160, 0.5, 3.0))
    (after,) = bounds.anchors(more, "efficiency", 0.5, tolerance=0.02)
    assert (before.work, before.latency_s, before.labels) == (after.work, after.latency_s, after.labels)


def test_a_goal_passed_at_a_smaller_size_counts_before_a_larger_run_that_meets_it() -> None:
    rows = _points((2, 10, 0.3, 1.0), (2, 20, 0.7, 2.0), (2, 4000, 0.5, 9.0))
    (anchor,) = bounds.anchors(rows, "efficiency", 0.5, tolerance=0.01)
    assert anchor.labels == ("W = 10", "W = 20")


def test_a_value_that_only_falls_past_the_goal_serves_where_it_never_rises_past_it() -> None:
    (falls,) = bounds.anchors(_points((2, 10, 0.7, 1.0), (2, 20, 0.3, 2.0)), "efficiency", 0.5)
    assert falls.way == "computed"
    both = _points((2, 10, 0.7, 1.0), (2, 20, 0.3, 2.0), (2, 40, 0.6, 3.0))
    assert bounds.anchors(both, "efficiency", 0.5)[0].labels == ("W = 20", "W = 40")


def test_between_two_runs_work_is_interpolated_in_its_logarithm() -> None:
    rows = _points((2, 100, 0.4, 1.0), (2, 10_000, 0.6, 4.0))
    (anchor,) = bounds.anchors(rows, "efficiency", 0.5, tolerance=0.01)
    assert anchor.way == "computed"
    assert anchor.work == pytest.approx(1000)
    assert anchor.latency_s == pytest.approx(math.sqrt(0.6 * 1.6))
    assert anchor.efficiency == 0.5
    assert anchor.labels == ("W = 100", "W = 10000")


def test_of_several_crossings_the_smallest_size_counts() -> None:
    rows = _points((2, 1, 0.1, 1.0), (2, 2, 0.6, 1.0), (2, 4, 0.3, 1.0), (2, 8, 0.7, 1.0))
    (anchor,) = bounds.anchors(rows, "efficiency", 0.5)
    assert anchor.labels == ("W = 1", "W = 2")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (((32, 10, 0.1, 1.0), (32, 99, 0.18, 1.0)), "no run at N = 32 reaches E = 0.25: the largest size tried"),
        (((32, 10, 0.31, 1.0), (32, 99, 0.5, 1.0)), "no run at N = 32 gets down to E = 0.25: the smallest size tried"),
        (((32, 10, 0.31, 1.0),), "the only size tried, W = 10, gives 0.310"),
        (((32, float("nan"), float("nan"), 1.0),), "has a one-processor run of the same size"),
    ],
)
def test_an_empty_cell_says_why(rows: tuple[tuple[int, float, float, float], ...], words: str) -> None:
    made = matrix.scalability(_points((2, 10, 0.25, 1.0), *rows), target=0.25)
    assert made is not None
    assert made.value(2, 32) is None
    assert words in made.reasons[(2, 32)]


def test_a_count_that_was_never_run_says_so() -> None:
    made = matrix.scalability(_points((2, 10, 0.25, 1.0)), target=0.25, processors=(2, 64))
    assert made is not None
    assert made.reasons[(2, 64)] == "no run on 64 processors"


def test_the_reason_of_a_search_replaces_that_of_the_table_and_a_failure_is_added() -> None:
    rows = _points((2, 10, 0.25, 1.0), (4, 10, 0.1, 1.0))
    made = matrix.scalability(rows, target=0.25, searches={4: "stopped after 10 sizes"}, failures={4: "it crashed"})
    assert made is not None
    assert made.reasons[(2, 4)] == "stopped after 10 sizes (it crashed)"


def test_a_latency_of_zero_or_less_has_no_ratio() -> None:
    made = matrix.scalability(_points((2, 10, 1.0, 1.0), (4, 20, 1.0, 1.0)), target=1.0)
    assert made is not None
    assert "no latency to compare at N = 2" in made.reasons[(2, 4)]


def test_one_processor_is_no_row_of_the_latency_metric() -> None:
    made = matrix.scalability(_scaling(synthetic.grid()), target=0.5)
    assert made is not None
    assert 1 not in made.processors


def test_when_tc_is_constant_the_latency_metric_equals_isospeed() -> None:
    """Theorem 2 of latency-metric.txt: L/L' = N' W/(N W') at equal efficiency."""
    tc, e = 1e-6, 0.4
    rows = []
    for n, work in ((2, 100.0), (4, 330.0), (8, 1500.0)):
        rows.append((n, work, e, work * tc / (n * e)))
    latency = matrix.scalability(_points(*rows), target=e)
    speed = matrix.scalability(_points(*rows), metric="isospeed", bound="speed", target=e / tc)
    assert latency is not None
    assert speed is not None
    for n, n2 in itertools.combinations((2, 4, 8), 2):
        assert latency.value(n, n2) == pytest.approx(speed.value(n, n2))
    assert latency.work_residual() == pytest.approx(0.0, abs=1e-12)


def test_under_the_time_bound_the_ratio_is_equation_12() -> None:
    rows = _points((4, 10, 0.30, 100.0), (32, 50, 0.15, 100.0))
    made = matrix.scalability(rows, bound="time", target=100.0)
    assert made is not None
    (row,) = matrix.over_estimation(made).to_dict("records")
    assert row["latency_ratio"] == pytest.approx((1 - 0.30) / (1 - 0.15))
    assert row["eq12"] == pytest.approx(row["latency_ratio"])
    assert row["eq13"] == pytest.approx(0.15 / 0.30)
    assert np.isnan(row["excess"])


def test_the_published_over_estimation_is_reported_as_an_excess() -> None:
    """scale-graph.txt 6.4.1: from 4 to 32 processors 0.82 under the time bound, 0.54 at constant efficiency."""
    pairs = {(4, 4): 1.0, (32, 32): 1.0}
    time = matrix.Matrix("latency", "time", 100.0, (4, 32), {**pairs, (4, 32): 0.82})
    held = matrix.Matrix("latency", "efficiency", 0.5, (4, 32), {**pairs, (4, 32): 0.54})
    assert matrix.over_estimation(time, held)["excess"].iloc[0] == pytest.approx(0.28)


def test_memory_bound_takes_runs_of_equal_memory_per_processor() -> None:
    rows = _points((2, 10, 0.5, 1.0), (2, 99, 0.9, 4.0), (4, 20, 0.4, 1.2))
    rows["memory_bytes"] = [2000.0, 9000.0, 4000.0]
    made = matrix.scalability(rows, bound="memory", target=1000.0)
    assert made is not None
    assert made.value(2, 4) == pytest.approx(0.5 / (1.2 * 0.6))


def test_without_memory_of_the_runs_the_reason_names_what_is_missing() -> None:
    made = matrix.scalability(_points((2, 10, 0.5, 1.0), (4, 20, 0.4, 1.2)), bound="memory", target=1000.0)
    assert made is not None
    assert "gives no memory per size" in made.reasons[(2, 4)]
    assert matrix.scalability(_points((2, 10, 0.5, 1.0)), bound="memory") is None


@pytest.mark.slow
@given(
    latencies=st.lists(st.floats(1e-6, 1e3), min_size=3, max_size=6),
    efficiency=st.floats(0.05, 0.95),
)
@settings(max_examples=80, deadline=None)
def test_matrices_of_any_latencies_are_multiplicative(latencies: list[float], efficiency: float) -> None:
    rows = [
        (2**i, 10.0 ** (i + 1), efficiency, latency / (1 - efficiency)) for i, latency in enumerate(latencies, start=1)
    ]
    made = matrix.scalability(_points(*rows), target=efficiency)
    assert made is not None
    residual = made.residual()
    assert residual is not None
    assert residual == pytest.approx(0.0, abs=1e-9)
    assert all(made.value(n, n) == 1.0 for n in made.processors)


def test_a_measured_pair_out_of_line_shows_in_the_residual() -> None:
    made = matrix.Matrix("latency", "efficiency", 0.5, (2, 4, 8), {(2, 4): 0.5, (4, 8): 0.5, (2, 8): 0.3})
    assert made.residual() == pytest.approx(0.2)


def test_the_average_over_efficiencies_knows_only_what_all_know() -> None:
    one = matrix.Matrix("latency", "efficiency", 0.2, (2, 4), {(2, 2): 1.0, (2, 4): 0.4, (4, 4): 1.0})
    two = matrix.Matrix("latency", "efficiency", 0.4, (2, 4), {(2, 2): 1.0, (2, 4): 0.6, (4, 4): 1.0})
    three = matrix.Matrix("latency", "efficiency", 0.6, (2, 4), {(2, 2): 1.0, (4, 4): 1.0})
    assert matrix.average([one, two]).value(2, 4) == pytest.approx(0.5)
    assert matrix.average([one, three]).reasons[(2, 4)] == "not known at E = 0.6"


def test_json_has_null_below_the_diagonal_and_reasons_by_pair() -> None:
    rows = _points((2, 10, 0.25, 1.0), (4, 20, 0.25, 2.0), (8, 20, 0.1, 2.0))
    made = matrix.scalability(rows, target=0.25)
    assert made is not None
    document = made.to_json()
    assert document["matrix"] == [[1.0, 0.5, None], [None, 1.0, None], [None, None, None]]
    assert document["efficiency"] == 0.25
    assert document["work"] == [10.0, 20.0, None]
    assert set(document["reasons"]) == {"2,8", "4,8", "8,8"}


@pytest.mark.slow
def test_usual_targets_are_met_where_the_runs_allow() -> None:
    rows = _scaling(synthetic.grid())
    assert bounds.usual_target(rows, "efficiency") == 0.9
    time = bounds.usual_target(rows, "time")
    assert time is not None
    assert all(anchor.known for anchor in bounds.anchors(rows, "time", time, processors=(2, 4, 8, 16, 32)))
    assert bounds.usual_target(rows, "memory") is None
    speed = bounds.usual_target(rows, "speed")
    # one processor needs 55 ns per operation, and less time for the serial part of small problems
    assert speed == pytest.approx(1e9 / 55 / 2)


def test_only_keeps_what_lies_between_the_counts_named() -> None:
    made = matrix.from_times((1, 2, 4), (1.0, 2.0, 4.0)).only((1, 4))
    assert made.processors == (1, 4)
    assert set(made.values) == {(1, 1), (1, 4), (4, 4)}
