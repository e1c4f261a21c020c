"""Costs of teams: a new thread costs `create_cycles`, once; a region without a team `alone_cycles`."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.compiler


@pytest.mark.slow
@pytest.mark.parametrize("on", ["ksr1", "cerberus", "server-2x32-inorder"])
def test_only_threads_that_did_not_exist_before_are_created(run: Callable[..., Any], on: str) -> None:
    free, dear = (run("teams_grow", 8, on=on, settings={"machine.create_cycles": str(n)}) for n in (0, 70000))
    assert (free.status, dear.status, dear.stdout) == ("ok", "ok", "17\n")
    created = 2 + 0 + 2 + 0 + 2  # teams of 3, 3, 5 and 2; the inner teams of the last two regions create a thread each
    cycles = dear.total("prim_fork_join") - free.total("prim_fork_join")
    assert cycles == pytest.approx(created * 70000, abs=2000), "other work meets others in the memory at other times"


@pytest.mark.slow
def test_fork_join_of_one_thread_creates_nothing(run: Callable[..., Any]) -> None:
    free, dear = (run("loops", 1, settings={"machine.create_cycles": str(n)}) for n in (0, 70000))
    assert free.time == dear.time


def test_each_region_of_one_thread_costs_what_the_machine_says(run: Callable[..., Any]) -> None:
    free, dear = (run("loops", 1, settings={"machine.alone_cycles": str(n)}) for n in (0, 70000))
    regions = 5
    assert dear.total("prim_fork_join") - free.total("prim_fork_join") == regions * 70000
    assert dear.time - free.time == regions * 70000


def test_regions_of_teams_do_not_cost_that(run: Callable[..., Any]) -> None:
    free, dear = (run("loops", 4, settings={"machine.alone_cycles": str(n)}) for n in (0, 70000))
    assert free.time == dear.time
