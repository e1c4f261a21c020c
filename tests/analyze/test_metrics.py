from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze import metrics
from scalegraph.base.run import RunRecord
from tests.analyze import synthetic


def _table(runs: list[RunRecord]) -> pd.DataFrame:
    return pd.DataFrame([run.row() for run in runs])


def _by_hand() -> pd.DataFrame:
    """One processor: 10 s busy, 2 s stall. Four: 4 s elapsed, 16 s = 10 busy + 3 stall + 2 idle + 1 primitive."""
    return pd.DataFrame(
        {
            "key": ["a", "b"],
            "status": "ok",
            "processors": [1, 4],
            "time_s": [12.0, 4.0],
            "busy_s": [10.0, 10.0],
            "memory_stall_s": [2.0, 3.0],
            "idle_s": [0.0, 2.0],
            "primitive_s": [0.0, 1.0],
            "work_ops": [1000, 1100],
            "references": [100.0, 100.0],
            "misses": [5.0, 8.0],
        }
    )


def test_values_computed_by_hand() -> None:
    row = metrics.scaling(_by_hand()).iloc[1]
    assert row["speedup"] == 3.0
    assert row["efficiency"] == 0.75
    assert (row["ml_s"], row["it_s"], row["pt_s"]) == (1.0, 2.0, 1.0)
    assert row["latency_s"] == 1.0
    assert row["latency_method1_s"] == 1.0
    assert row["latency_difference_s"] == 0.0
    assert row["efficiency_accounting"] == row["efficiency"]
    assert row["accounting_gap_s"] == 0.0
    assert row["work"] == 1000  # W of the one-processor run: additional operations of parallel code are not work
    assert row["unit_speed"] == pytest.approx(1000 / 16)
    assert row["cpu_utilisation"] == pytest.approx(10 / 16)
    assert row["miss_rate"] == 0.08


def test_extra_busy_time_is_the_difference_of_the_two_latencies() -> None:
    rows = _by_hand()
    rows.loc[1, "busy_s"] = 12.0
    rows.loc[1, "time_s"] = 4.5
    row = metrics.scaling(rows).iloc[1]
    assert row["extra_busy_s"] == 2.0
    assert row["latency_difference_s"] == pytest.approx(2.0 / 4)


def test_without_a_one_processor_run_nothing_is_made_up() -> None:
    row = metrics.scaling(_by_hand().iloc[[1]]).iloc[0]
    for name in ("t_seq_s", "speedup", "efficiency", "latency_s", "latency_method1_s", "work", "unit_speed"):
        assert np.isnan(row[name]), name
    assert row["cpu_utilisation"] == pytest.approx(10 / 16)


def test_runs_without_accounting_keep_speedup_and_method_one() -> None:
    rows = _by_hand().drop(columns=["busy_s", "memory_stall_s", "idle_s", "primitive_s"])
    row = metrics.scaling(rows).iloc[1]
    assert row["latency_method1_s"] == 1.0
    assert np.isnan(row["latency_s"])


def test_the_one_processor_run_of_another_size_is_no_reference() -> None:
    rows = _by_hand()
    rows["param.n"] = [10, 20]
    assert metrics.scaling(rows)["speedup"].isna().sum() == 1


sizes = st.integers(1, 300)
counts = st.sampled_from([2, 3, 4, 7, 8, 16])


@pytest.mark.slow
@given(n=counts, balls=sizes, barrier=st.integers(0, 400), miss=st.integers(0, 90), serial=st.integers(0, 500))
@settings(max_examples=60, deadline=None)
def test_exact_accounting_makes_both_latencies_equal_and_e_one_minus_l_over_t(
    n: int, balls: int, barrier: int, miss: int, serial: int
) -> None:
    more = {"barrier": barrier, "miss": miss, "serial": serial}
    rows = metrics.scaling(_table([synthetic.run(1, balls, 3, **more), synthetic.run(n, balls, 3, **more)]))
    row = rows.iloc[1]
    assert row["latency_s"] == pytest.approx(row["latency_method1_s"], rel=1e-9, abs=1e-15)
    assert row["efficiency_accounting"] == pytest.approx(row["efficiency"], rel=1e-9)
    assert row["accounting_gap_s"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
@given(n=counts, balls=sizes)
@settings(max_examples=30, deadline=None)
def test_overheads_by_cause_add_up_to_the_average_latency(n: int, balls: int) -> None:
    rows = metrics.scaling(_table([synthetic.run(1, balls, 3), synthetic.run(n, balls, 3)]))
    causes = metrics.overheads(rows).iloc[1]
    parts = sum(causes[name] for name in [*(cause[0] for cause in metrics.CAUSES), "stall_s"])
    assert parts == pytest.approx(causes["average_s"], rel=1e-9)


@pytest.mark.parametrize("by", ["category", "group"])
def test_shares_of_processor_time_add_up_to_one(by: str) -> None:
    rows = metrics.scaling(_table(synthetic.fixed((1, 2, 8, 32))))
    assert metrics.breakdown(rows, by=by).sum(axis=1).to_numpy() == pytest.approx(1.0)


def test_every_leaf_that_is_no_work_or_stall_belongs_to_exactly_one_cause() -> None:
    from scalegraph.runtime.format import CATEGORY_GROUPS

    caused = [category for _, _, categories, _ in metrics.CAUSES for category in categories]
    assert sorted(caused) == sorted(
        category for category, group in CATEGORY_GROUPS.items() if group in ("idle", "primitive")
    )


def test_parallel_share_of_operations_is_what_is_not_executed_alone() -> None:
    run = synthetic.run(4, 100)
    counters = {**run.counters, "ops": 800, "serial_ops": 200}
    frame = pd.DataFrame([run.model_copy(update={"counters": counters}).row()])
    assert list(metrics.rates(frame)["parallel_ops_share"]) == [0.75]
    assert np.isnan(metrics.rates(pd.DataFrame([synthetic.run(1, 100).row()]))["parallel_ops_share"]).all()


def test_parallel_share_is_what_is_not_spent_waiting_for_serial_parts() -> None:
    rows = metrics.scaling(_table([synthetic.run(4, 100, 10, serial=1000)]))
    run = synthetic.run(4, 100, 10, serial=1000)
    assert run.time_cycles is not None
    assert rows["parallel_share"].iloc[0] == pytest.approx(1 - 10_000 / run.time_cycles)


def test_an_empty_study_gives_an_empty_frame() -> None:
    assert metrics.scaling(pd.DataFrame()).empty
