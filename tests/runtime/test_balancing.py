"""A program whose pages one thread touches first: the system moves them to the threads that use them."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.compiler
Runner = Callable[..., Any]
ON, EACH = "server-2x32-inorder", 4  # 32 cores a socket; pages of each thread
SOON = {  # pages are marked while the first thread waits, and not again before the program ends
    "machine.balancing_delay_cycles": "1000000",
    "machine.balancing_least_cycles": "2800000000",
    "machine.balancing_most_cycles": "168000000000",
    "machine.balancing_fault_cycles": "1400",
    "machine.balancing_migrate_cycles": "33600",
}


def test_pages_of_one_thread_move_to_those_that_use_them(run: Runner) -> None:
    threads = 40
    off = run("balancing", threads, on=ON)
    moved = run("balancing", threads, on=ON, settings=SOON)
    faults = EACH * threads
    assert moved.of_region(1, "hint_faults") == faults
    assert moved.of_region(1, "page_migrations") == EACH * (threads - 32)
    touches = moved.of_region(1, "page_misses")
    assert moved.of_region(1, "stall_page") == (touches + faults) * 1400 + EACH * (threads - 32) * 33_600
    assert moved.of_region(1, "remote_reads") == 1  # from the page that the program placed itself
    assert moved.of_region(2, "hint_faults") == moved.of_region(2, "remote_reads") == 0
    assert off.of_region(1, "remote_reads") == EACH * (threads - 32) + 1
    assert off.of_region(2, "remote_reads") == EACH * (threads - 32)
    assert off.total("hint_faults") == off.total("page_migrations") == 0
    values = "sum 0, nodes"
    assert off.stdout == f"{values}{' 0' * threads}, bound 0\n"
    assert moved.stdout == f"{values}{' 0' * 32}{' 1' * (threads - 32)}, bound 0\n"


def test_a_program_that_ends_before_the_system_marks_pages_takes_the_same_cycles(run: Runner) -> None:
    late = {"machine.balancing_delay_cycles": "2800000000"}  # a second
    off, on = run("balancing", 40, on=ON), run("balancing", 40, on=ON, settings=late)
    assert on.time == off.time
    assert (on.result.costs == off.result.costs).all()


def test_a_faster_pace_marks_pages_sooner_after_the_first_team_started_and_costs_less(run: Runner) -> None:
    later = {key: str(1000 * int(value)) for key, value in SOON.items()} | {"machine.balancing_pace": "1000"}
    soon, paced = run("balancing", 40, on=ON, settings=SOON), run("balancing", 40, on=ON, settings=later)
    for name in ("hint_faults", "page_migrations", "stall_page"):
        assert paced.of_region(1, name) == soon.of_region(1, name) > 0
    alone = run("balancing", 40, on=ON, settings={**later, "machine.balancing_pace": "1"})
    assert alone.total("hint_faults") == 0
