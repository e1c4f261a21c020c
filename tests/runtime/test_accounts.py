"""Exactly known counts, and the accounting identity."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from scalegraph.instrument.mathlib import MATH_COSTS
from scalegraph.runtime.format import CATEGORY_GROUPS, CATEGORY_NAMES

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
Runner = Callable[..., Any]


@pytest.mark.parametrize("processors", [1, 4, 32])
def test_references_are_counted_by_region(run: Runner, processors: int) -> None:
    outcome = run("counts", processors)
    assert outcome.of_region(1, "writes") >= 1000
    own = 4 if processors == 1 else 20 + 12 * processors  # references of the fork and the barriers
    assert outcome.of_region(1, "writes") <= 1000 + own
    assert outcome.of_region(2, "reads") == 1000
    assert outcome.of_region(2, "flops") == 1000
    assert outcome.of_region(1, "visits") == outcome.of_region(2, "visits") == 1
    assert int(outcome.result.meta["references"]) == outcome.total("reads") + outcome.total("writes")


@pytest.mark.parametrize("processors", [1, 4, 32])
def test_work_of_the_program_does_not_depend_on_the_machine(run: Runner, processors: int) -> None:
    ops = {on: run("counts", processors, on=on).total("ops") for on in ("ksr1", "server-2x32-inorder")}
    assert ops["ksr1"] == ops["server-2x32-inorder"] > 2000


def test_exit_code_of_the_program_is_kept(run: Runner) -> None:
    outcome = run("counts", 2)
    assert (outcome.returncode, outcome.result.meta["exit_code"]) == (5, "5")


@pytest.mark.parametrize("processors", [1, 3, 32])
def test_leaves_add_up_to_processors_times_time(run: Runner, processors: int) -> None:
    outcome = run("sharing", processors)
    assert int(outcome.result.costs["categories"].sum()) == processors * outcome.time


def test_processors_that_never_work_are_not_started(run: Runner) -> None:
    outcome = run("spin", 5)
    idle = CATEGORY_NAMES.index("idle_not_started")
    costs = outcome.result.costs
    for processor in (2, 3, 4):
        assert costs["categories"][costs["processor"] == processor][:, idle].sum() == outcome.time


def test_waiting_for_a_slower_processor_is_barrier_time(run: Runner) -> None:
    outcome = run("imbalance", 8)
    costs, category = outcome.result.costs, CATEGORY_NAMES.index("idle_barrier")
    waits = [int(costs["categories"][costs["processor"] == p][:, category].sum()) for p in range(8)]
    assert waits[0] < 0.02 * outcome.time
    assert min(waits[1:]) > 0.5 * outcome.time


def test_same_run_twice_gives_the_same_result(run: Runner) -> None:
    first, second = (run("sharing", 16) for _ in range(2))
    assert {k: v for k, v in first.result.meta.items() if k != "host_seconds"} == {
        k: v for k, v in second.result.meta.items() if k != "host_seconds"
    }
    for part in ("costs", "sites", "waits"):
        assert np.array_equal(getattr(first.result, part), getattr(second.result, part))


def test_environment_does_not_change_the_result(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run("memory", 4)
    monkeypatch.setenv("SOMETHING_LONG", "x" * 5000)
    assert np.array_equal(first.result.costs, run("memory", 4).result.costs)


def test_busy_cycles_of_the_sites_are_those_of_the_accounts(run: Runner) -> None:
    outcome = run("counts", 4)
    busy = [i for i, name in enumerate(CATEGORY_NAMES) if CATEGORY_GROUPS[name] == "busy"]
    assert int(outcome.result.sites["cycles"][:, 0].sum()) == int(outcome.result.costs["categories"][:, busy].sum())


def test_mathematical_functions_cost_operations(run: Runner) -> None:
    flops = run("mathematics", 4).total("flops")
    own = 100 * 3 + 50  # the sum and conversions, reductions, printing
    calls = [100 * MATH_COSTS["exp"][-1], *(MATH_COSTS[name][-1] for name in ("sin", "cos"))]
    assert sum(calls) <= flops <= sum(calls) + own  # once, not twice
