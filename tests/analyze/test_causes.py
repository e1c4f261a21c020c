"""Quantities computed from references by cause, and from misses by class, variable and link."""

import math

import pandas as pd
import pytest

from scalegraph.analyze import causes, misses
from scalegraph.base.run import VariableCost
from tests.analyze import synthetic

RUNS = [synthetic.run(n, 1024, 40) for n in (1, 2, 4)]
TABLE = pd.DataFrame([run.row() for run in RUNS])


def test_remote_accesses_are_reads_writes_and_upgrades_over_the_network() -> None:
    found = causes.remote_accesses(TABLE)
    assert found["computation"].tolist() == found["barrier"].tolist() == [0, 40, 120]
    assert found["lock"].tolist() == [0, 0, 0]


def test_hit_rates_are_not_known_for_a_cause_without_references() -> None:
    rates = causes.hit_rates(TABLE)
    assert rates["barrier"].tolist()[1:] == [0.75, 0.75]
    assert math.isnan(rates["barrier"].iloc[0])
    assert rates["lock"].isna().all()
    assert rates["all"].iloc[2] == pytest.approx(1 - (64 + 240) / (12 * 40 * 1024))
    assert (causes.hit_rates(TABLE, "first")["computation"] < rates["computation"] + 1e-12).all()


@pytest.mark.slow
def test_latency_is_time_over_accesses_and_synchronisation_is_barriers_and_locks() -> None:
    latency = causes.miss_latency(TABLE)
    assert latency["computation"].iloc[2] == 30
    assert latency["synchronisation"].iloc[2] == 50
    assert latency["program"].iloc[2] == 40
    assert latency.iloc[0].isna().all()


@pytest.mark.slow
def test_the_mean_of_all_accesses_lies_between_those_of_its_groups() -> None:
    row = RUNS[2].row()
    forks = {"remote_writes": 10, "stall_remote_write": 100, "stall_contention": 75_000}
    table = pd.DataFrame([row | {f"cause.other.{name}": value for name, value in forks.items()}])
    latency, shares = causes.miss_latency(table).iloc[0], causes.access_shares(table).iloc[0]
    assert latency["program"] > max(latency["computation"], latency["synchronisation"])
    assert latency["others"] == 7510
    assert shares.sum() == pytest.approx(1)
    assert latency["program"] == pytest.approx(sum(shares[name] * latency[name] for name in shares.index))


def test_runs_without_causes_are_not_known_rather_than_zero() -> None:
    table = pd.concat([TABLE, pd.DataFrame([{"processors": 8, "time_s": 1.0}])], ignore_index=True)
    assert causes.is_known(table)
    assert causes.invalidations(table).iloc[3].isna().all()
    assert not causes.is_known(table[["processors", "time_s"]])


def test_width_is_averaged_over_the_writes_that_invalidate() -> None:
    assert causes.average_width(RUNS[2]) == 2.0  # as many writes invalidate one copy as three
    assert causes.widths(RUNS[2]).loc[3, "barrier"] == 40
    assert math.isnan(causes.average_width(RUNS[0]))


def test_classes_add_up_and_are_ranked() -> None:
    total = misses.class_totals(RUNS[2])
    assert int(total.sum()) == sum(sum(part.values()) for part in RUNS[2].classes.values())
    by_variable = misses.classes_by_variable(RUNS[2])
    assert by_variable["name"].tolist() == ["ball"]
    by_region = misses.classes_by_region(RUNS[2], synthetic.REGIONS)
    assert by_region["name"].tolist() == ["sweep"]
    assert by_region["misses"].iloc[0] == 120


def test_variables_are_ranked_by_waiting_and_shares_add_up() -> None:
    costs = misses.variable_costs(RUNS[2])
    assert costs["name"].tolist() == ["barrier variables", "ball"]
    assert costs["share"].sum() == pytest.approx(1)
    assert costs["stall_s"].iloc[0] == 50 * 120 / synthetic.CLOCK
    none = RUNS[2].model_copy(update={"variables": (VariableCost(kind="global", name="x"),)})
    assert math.isnan(misses.variable_costs(none)["share"].iloc[0])


def test_busy_share_counts_the_units_that_work_side_by_side() -> None:
    costs = misses.resource_costs(RUNS[2]).set_index("name")
    assert costs.loc["ring 0", "busy"] == pytest.approx(170 * 120 / 34 / (RUNS[2].time_cycles or 1))
    assert costs.loc["ring 0", "wait"] == 0.5
