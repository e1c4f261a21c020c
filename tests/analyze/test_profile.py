from __future__ import annotations

import numpy as np
import pytest

from scalegraph.analyze import profile
from scalegraph.base.run import Region, RegionCost
from tests.analyze import synthetic


def test_exclusive_costs_add_up_to_processor_time_and_the_root_includes_all() -> None:
    run = synthetic.run(8)
    costs = profile.region_costs(run, synthetic.REGIONS)
    assert run.time_s is not None
    assert costs["total_s"].sum() == pytest.approx(8 * run.time_s)
    assert costs["total_incl_s"].iloc[0] == pytest.approx(8 * run.time_s)
    assert costs["share"].sum() == pytest.approx(1.0)


def test_the_tree_is_in_the_order_of_the_program() -> None:
    costs = profile.region_costs(synthetic.run(2), synthetic.REGIONS)
    assert list(costs["name"]) == ["program", "main", "parallel", "sweep", "barrier"]
    assert list(costs["depth"]) == [0, 1, 2, 3, 3]


def test_inclusive_is_exclusive_plus_children() -> None:
    costs = profile.region_costs(synthetic.run(4), synthetic.REGIONS).set_index("name")
    inside = costs.loc["parallel", "total_s"] + costs.loc["sweep", "total_s"] + costs.loc["barrier", "total_s"]
    assert costs.loc["parallel", "total_incl_s"] == pytest.approx(inside)


def test_losses_add_up_to_n_times_the_latency() -> None:
    run, one = synthetic.run(16), synthetic.run(1)
    losses = profile.region_losses(run, one, synthetic.REGIONS)
    assert run.time_s is not None
    assert one.time_s is not None
    assert losses["loss_s"].sum() == pytest.approx(16 * run.time_s - one.time_s)
    assert losses["loss_share"].sum() == pytest.approx(1.0)
    assert losses["loss_share_incl"].iloc[0] == pytest.approx(1.0)


def test_imbalance_is_the_busiest_over_the_mean() -> None:
    run = synthetic.run(4, balls=5)  # 2, 1, 1, 1 balls
    costs = profile.region_costs(run, synthetic.REGIONS).set_index("name")
    assert costs.loc["sweep", "imbalance"] == pytest.approx(2 / (5 / 4))
    assert np.isnan(costs.loc["barrier", "imbalance"])


def test_a_cost_of_a_region_nobody_described_is_kept() -> None:
    run = synthetic.run(1).model_copy(update={"regions": (RegionCost(region=9, categories={"busy_int": 20}),)})
    costs = profile.region_costs(run, ())
    assert list(costs["name"]) == ["program", "region 9"]
    assert costs["share"].iloc[1] == 20 / run.processor_cycles


def test_a_region_with_an_unknown_parent_hangs_below_the_program() -> None:
    costs = profile.region_costs(synthetic.run(1), [Region(id=1, kind="loop", name="x", parent=77)])
    assert costs.set_index("region").loc[1, "depth"] == 1


def test_lines_come_most_expensive_first_with_shares_of_processor_time_waiting_included() -> None:
    run = synthetic.run(4)
    lines = profile.line_costs(run)
    assert run.time_s is not None
    assert list(lines["line"]) == [14, 22, 5]
    # waiting for the serial part is processor time not charged to any line
    assert lines["share"].sum() < 0.99
    assert lines["share"].to_numpy() == pytest.approx(lines["total_s"].to_numpy() / (4 * run.time_s))
    assert lines["miss_share"].sum() < 1  # the barrier's own misses are not on any line
    assert np.isnan(lines.set_index("line").loc[22, "miss_rate"])


def test_every_processor_accounts_for_the_whole_time() -> None:
    run = synthetic.run(4, balls=7)
    for by in ("group", "category"):
        costs = profile.processor_costs(run, by=by)
        assert costs.sum(axis=1).to_numpy() == pytest.approx(run.time_s)


def test_a_run_without_processors_or_lines_gives_empty_frames() -> None:
    run = synthetic.failed(4)
    assert profile.processor_costs(run).empty
    assert profile.line_costs(run).empty
