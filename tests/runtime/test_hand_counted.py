"""Barriers and locks of a simulated program, to the cycle, within one socket of the two-socket server.

A line in another cache costs LINE there, one in the shared level SHARED, the right to write a line that others have
RIGHT; a line in the own first level costs nothing. Each formula counts what one episode of the program refers to;
every line is where the episode before has left it.
"""

from collections.abc import Callable
from typing import Any

import pytest

from scalegraph import machine

pytestmark = pytest.mark.compiler
Runner = Callable[..., Any]

VALUES = {key: int(text) for key, text in machine.load("server-2x32").runtime_config().items() if text.isdigit()}
PRIVATE = VALUES["machine.level.1.hit_cycles"]
SHARED = PRIVATE + VALUES["machine.level.2.hit_cycles"]
TRANSFER, RIGHT = VALUES["machine.network.transfer_cycles"], VALUES["machine.network.snoop_cycles"]
LINE = SHARED + max(TRANSFER, RIGHT)
BARRIER, LOCK = VALUES["machine.barrier_cycles"], VALUES["machine.lock_cycles"]
EPISODES = 4


def counter_and_flag(arrivals: int) -> int:
    """Return what one counter with its flag costs: of a central barrier, or at one node of a tree."""
    if arrivals == 1:
        return 0  # its lines never leave the cache
    counting = arrivals * LINE  # a read-modify-write each, of a line that the one before has
    release = RIGHT  # the last one writes the flag that all others have read
    seeing = LINE + (arrivals - 2) * SHARED  # the first to look brings the flag into the shared level
    return counting + release + seeing


def tree(threads: int, radix: int) -> int:
    total, width = 0, threads
    while True:
        sizes = [min(radix, width - first) for first in range(0, width, radix)]
        total += sum(map(counter_and_flag, sizes))
        if len(sizes) == 1:
            return total
        width = len(sizes)


def costs(run: Runner, leaf: str, threads: int, **settings: object) -> float:
    changed = {f"machine.{key}": str(value) for key, value in settings.items()}
    outcome = run("hand_counted", threads, on="server-2x32", settings=changed)
    assert outcome.stdout == "done\n"
    return outcome.of_region(1, leaf) / EPISODES


@pytest.mark.parametrize("threads", [2, 3, 8, 32])
def test_a_central_barrier(run: Runner, threads: int) -> None:
    expected = threads * BARRIER + counter_and_flag(threads)
    assert costs(run, "prim_barrier", threads, barrier="central") == expected


@pytest.mark.parametrize(("threads", "radix"), [(5, 4), (16, 4), (32, 2)])
def test_a_combining_tree(run: Runner, threads: int, radix: int) -> None:
    expected = threads * BARRIER + tree(threads, radix)
    assert costs(run, "prim_barrier", threads, barrier="tree", barrier_radix=radix) == expected


@pytest.mark.parametrize("threads", [2, 32])
def test_a_hardware_barrier(run: Runner, threads: int) -> None:
    expected = threads * BARRIER + VALUES["machine.barrier_hardware_cycles"]  # of the last one; the others wait for it
    assert costs(run, "prim_barrier", threads, barrier="hardware") == expected


def test_a_test_and_set_lock(run: Runner) -> None:
    first = LOCK + LINE + LOCK + LINE  # sets it; takes it back from the one that waits to release it
    second = LOCK + LINE + LINE + RIGHT + LOCK  # tries, sees it free, sets it; releases what only it has
    assert costs(run, "prim_lock", 2, lock="test_and_set") == first + second


@pytest.mark.parametrize("threads", [2, 3, 8, 20])
def test_a_ticket_lock(run: Runner, threads: int) -> None:
    tickets = threads * (LOCK + LINE)
    first_look = LINE + (threads - 2) * SHARED  # the last one still has the word, which it wrote when it released
    releases = threads * (LOCK + RIGHT)
    looks = sum(LINE + waiting * SHARED for waiting in range(threads - 1))  # of all that wait, after each release
    assert costs(run, "prim_lock", threads, lock="ticket") == tickets + first_look + releases + looks


@pytest.mark.parametrize("threads", [3, 8, 20])
def test_a_queue_lock(run: Runner, threads: int) -> None:
    ends = threads * (LOCK + LINE + LOCK)  # the end of the queue is taken over from the one before
    links = (threads - 2) * (SHARED + RIGHT)  # into the line of the one before, which two have read; the first's is own
    grants = (threads - 2) * LINE + RIGHT  # the last one's line nobody has linked to
    looks = (threads - 1) * LINE
    assert costs(run, "prim_lock", threads, lock="queue") == ends + links + grants + looks
