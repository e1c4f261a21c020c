"""Waiting is charged to its cause; for every program `run` checks that nothing is charged twice or lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from scalegraph.runtime.format import CATEGORY_GROUPS, CATEGORY_NAMES, GROUPS

pytestmark = pytest.mark.compiler
Runner = Callable[..., Any]
SET_UP, SINGLE, FORKS, LOCKED, UNEVEN = "01234"
MACHINES = ("ksr1", "cerberus", "server-2x32-inorder")
IDLE = [name for name in CATEGORY_NAMES if CATEGORY_GROUPS[name] == "idle"]


def idle(outcome: Any) -> int:
    return sum(outcome.total(name) for name in IDLE)


@pytest.mark.slow
@pytest.mark.parametrize("on", MACHINES)
@pytest.mark.parametrize("processors", [2, 5, 32])
def test_all_others_wait_for_a_serial_program_to_the_cycle(run: Runner, on: str, processors: int) -> None:
    outcome = run("blame", processors, on=on, args=[SET_UP])
    spent = sum(outcome.of_region(1, name) for name in CATEGORY_NAMES)
    assert outcome.waited("serial") == idle(outcome) == (processors - 1) * outcome.time
    assert outcome.caused(1, "serial") in range((processors - 1) * spent - 1, (processors - 1) * spent + 2)
    assert outcome.caused(1, "serial") > 0.9 * idle(outcome)


def test_what_is_caused_at_addresses_follows_what_was_spent_there(run: Runner) -> None:
    outcome = run("blame", 9, args=[SET_UP])
    spent = {int(site["address"]): 0 for site in outcome.result.sites}
    for site in outcome.result.sites:
        spent[int(site["address"])] += int(site["cycles"][[GROUPS.index("busy"), GROUPS.index("memory_stall")]].sum())
    for site in outcome.result.blamed_sites:
        if site["address"]:
            assert abs(int(site["caused"].sum()) - 8 * spent[int(site["address"])]) <= 1
    assert sum(int(s["caused"].sum()) for s in outcome.result.blamed_sites if s["address"] == 0) < 0.01 * idle(outcome)


def test_one_processor_waits_for_nobody(run: Runner) -> None:
    outcome = run("blame", 1, args=[SET_UP])
    assert len(outcome.result.blames) == len(outcome.result.blamed_sites) == 0


@pytest.mark.parametrize("on", MACHINES)
def test_waiting_at_the_barrier_of_a_single_is_caused_by_what_is_inside(run: Runner, on: str) -> None:
    outcome = run("blame", 8, on=on, args=[SINGLE])
    inside = sum(outcome.of_region(3, name) for name in CATEGORY_NAMES)
    assert 0.9 * 7 * inside < outcome.caused(3, "serial") <= 7 * inside
    assert outcome.waited("serial", "idle_barrier") > 0.9 * outcome.total("idle_barrier")


@pytest.mark.slow
def test_waiting_for_a_team_to_start_and_for_its_last_member_is_the_cost_of_forks(run: Runner) -> None:
    outcome = run("blame", 64, args=[FORKS])
    assert outcome.caused(4, "fork_join") > 0.9 * idle(outcome)
    assert outcome.waited("fork_join", "idle_barrier") > 0.9 * outcome.total("idle_barrier")
    assert outcome.waited("fork_join", "idle_serial") > 0.9 * outcome.total("idle_serial")


@pytest.mark.parametrize("lock", ["test_and_set", "ticket", "queue"])
def test_who_got_the_lock_early_waits_at_the_barrier_for_the_lock(run: Runner, lock: str) -> None:
    outcome = run("blame", 8, args=[LOCKED], settings={"machine.lock": lock})
    assert outcome.waited("lock", "idle_barrier") > 0.7 * outcome.total("idle_barrier")
    assert outcome.waited("lock") == outcome.caused(6, "lock")
    assert outcome.waited("lock", "idle_lock") == outcome.waited("serial", "idle_lock") == 0


def test_waiting_while_several_still_work_stays_at_the_barrier(run: Runner) -> None:
    outcome = run("blame", 8, args=[UNEVEN])
    others = outcome.waited("lock", "idle_barrier") + outcome.waited("fork_join", "idle_barrier")
    alone = outcome.waited("serial", "idle_barrier")
    assert others < 0.05 * outcome.total("idle_barrier")
    # the last one works alone for one of 1 + 2 + .. + 7 parts of the waiting, while all seven others wait
    assert alone == pytest.approx(7 / 28 * outcome.total("idle_barrier"), rel=0.15)


@pytest.mark.parametrize("part", [SET_UP, SINGLE, FORKS, LOCKED, UNEVEN])
def test_a_trace_changes_nothing_of_it(run: Runner, simulator: Any, part: str) -> None:
    plain = run("blame", 6, args=[part])
    raw = simulator.directory / "blame.raw"
    traced = run("blame", 6, args=[part], settings={"trace.file": str(raw), "trace.interval": "5000"})
    for section in ("costs", "sites", "blames", "blamed_sites"):
        assert np.array_equal(getattr(plain.result, section), getattr(traced.result, section)), section


@pytest.mark.parametrize("on", MACHINES)
def test_operations_alone_are_those_that_one_processor_executes_while_all_others_wait(run: Runner, on: str) -> None:
    """All of a serial program, what is in a single, none on one processor (Scale-Graph paper, Fig. 12)."""
    serial = run("blame", 5, on=on, args=[SET_UP])
    assert serial.total("serial_ops") == serial.total("ops") > 0
    assert run("blame", 1, on=on, args=[SET_UP]).total("serial_ops") == 0
    single = run("blame", 8, on=on, args=[SINGLE])
    assert 0.9 * single.of_region(3, "ops") < single.of_region(3, "serial_ops") <= single.of_region(3, "ops")
    uneven = run("blame", 8, on=on, args=[UNEVEN])
    assert 0 < uneven.total("serial_ops") < 0.5 * uneven.total("ops")
