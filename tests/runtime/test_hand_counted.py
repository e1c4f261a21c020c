"""Barriers and locks of a simulated program, counted to the cycle by hand, on four kinds of machines.

Each formula counts the references of one episode of the program; every line is where the previous episode has left it.
Costs of references come from the machine's values: reading a line that is dirty in another cache, reading one that is
clean in others, getting the right to write a line one has, writing a line that others have. A line in one's own first
level costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from scalegraph import machine

pytestmark = pytest.mark.compiler
Runner = Callable[..., Any]
EPISODES = 4


@dataclass(frozen=True)
class Prices:
    """Costs of references; *right* and *take* by the number of other copies to invalidate."""

    dirty: int
    clean: int
    right: Callable[[int], int]
    take: Callable[[int], int]


def values(name: str) -> dict[str, int]:
    config = machine.load(name).runtime_config()
    return {key.removeprefix("machine."): int(text) for key, text in config.items() if text.isdigit()}


def server(v: dict[str, int]) -> Prices:
    """Return the prices within a socket; the first to read a dirty line brings it into the shared level."""
    shared = v["level.1.hit_cycles"] + v["level.2.hit_cycles"]
    snoop = v["network.snoop_cycles"]
    return Prices(shared + max(v["network.transfer_cycles"], snoop), shared, lambda _: snoop, lambda _: shared + snoop)


def bus(v: dict[str, int]) -> Prices:
    network = {key.removeprefix("network."): value for key, value in v.items() if key.startswith("network.")}
    n = {key.removesuffix("_millicycles"): value for key, value in network.items()}
    look, address = v["level.1.hit_cycles"], n["arbitration"] + n["address"]
    dirty = look + -(-(address + n["snoop"] + n["supply"] + n["data"]) // 1000)
    memory = look + -(-(address + max(n["snoop"], n["memory"]) + n["data"]) // 1000)
    right = -(-(address + n["snoop"]) // 1000)
    return Prices(dirty, memory, lambda _: right, lambda _: memory)


def multistage(v: dict[str, int]) -> Prices:
    n = {key.removeprefix("network."): value for key, value in v.items() if key.startswith("network.")}
    way, short = 3 * n["switch_cycles"], -(-n["header_bytes"] // n["flit_bytes"])
    long = -(-(n["header_bytes"] + v["coherence.line_bytes"]) // n["flit_bytes"])
    ask = way + short + n["snoop_cycles"] + way  # from a cache to home and back, without the flits of its answer
    dirty = way + short + n["directory_cycles"] + ask + long + n["memory_cycles"] + way + long

    def all_gone(copies: int) -> int:
        return ask + short + (copies - 1) * short  # one after the other through the home's port

    return Prices(
        dirty,
        way + short + n["memory_cycles"] + way + long,
        lambda copies: way + short + n["directory_cycles"] + all_gone(copies) + way + short,
        lambda copies: way + short + n["memory_cycles"] + all_gone(copies) + way + long,
    )


def hypernode(v: dict[str, int]) -> Prices:
    n = {key.removeprefix("network."): value for key, value in v.items() if key.startswith("network.")}
    carry = n["crossbar_cycles"] + -(-v["coherence.line_bytes"] // n["crossbar_bytes"])
    ask = 2 * n["crossbar_cycles"] + n["snoop_cycles"]
    clean = n["crossbar_cycles"] + n["memory_cycles"] + carry
    right = 2 * n["crossbar_cycles"] + n["directory_cycles"] + ask
    return Prices(clean + n["directory_cycles"] + ask + carry, clean, lambda _: right, lambda _: clean + ask)


ALONE = {"run.ideal": "contention"}  # those that poll a flag do so all at once
MACHINES: dict[str, tuple[Callable[[dict[str, int]], Prices], int, dict[str, str]]] = {
    "server-2x32-inorder": (server, 32, {}),
    "bus-smp": (bus, 36, ALONE),
    "cerberus": (multistage, 64, ALONE),
    "convex-exemplar": (hypernode, 8, {**ALONE, "machine.placement": "first_touch"}),
}


class Case:
    """A machine, its prices, and the results of running the program."""

    def __init__(self, run: Runner, name: str) -> None:
        self._run, self._name = run, name
        self.values = values(name)
        make, self.most, self._settings = MACHINES[name]
        self.prices = make(self.values)

    def cost(self, category: str, threads: int, **settings: object) -> float:
        changed = self._settings | {f"machine.{key}": str(value) for key, value in settings.items()}
        outcome = self._run("hand_counted", threads, on=self._name, settings=changed)
        assert outcome.stdout == "done\n"
        return float(outcome.of_region(1, category) / EPISODES)


@pytest.fixture(params=MACHINES)
def case(run: Runner, request: pytest.FixtureRequest) -> Case:
    return Case(run, request.param)


def counter_and_flag(prices: Prices, arrivals: int) -> int:
    """Return the cost of one counter with its flag: of a central barrier, or of one node of a tree."""
    if arrivals == 1:
        return 0  # its lines never leave the cache
    counting = arrivals * prices.dirty  # a read-modify-write each, of a line that the previous one has
    release = prices.right(arrivals - 1)  # the last one writes the flag that all others have read
    return counting + release + prices.dirty + (arrivals - 2) * prices.clean  # and they read it again


def tree(prices: Prices, threads: int, radix: int) -> int:
    total, width = 0, threads
    while True:
        sizes = [min(radix, width - first) for first in range(0, width, radix)]
        total += sum(counter_and_flag(prices, size) for size in sizes)
        if len(sizes) == 1:
            return total
        width = len(sizes)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2, 3, 8, 32])
def test_a_central_barrier(case: Case, threads: int) -> None:
    threads = min(threads, case.most)
    expected = threads * case.values["barrier_cycles"] + counter_and_flag(case.prices, threads)
    assert case.cost("prim_barrier", threads, barrier="central") == expected


@pytest.mark.slow
@pytest.mark.parametrize(("threads", "radix"), [(5, 4), (7, 2), (32, 4)])
def test_a_combining_tree(case: Case, threads: int, radix: int) -> None:
    threads = min(threads, case.most)
    expected = threads * case.values["barrier_cycles"] + tree(case.prices, threads, radix)
    assert case.cost("prim_barrier", threads, barrier="tree", barrier_radix=radix) == expected


@pytest.mark.parametrize("threads", [2, 8])
def test_a_hardware_barrier(case: Case, threads: int) -> None:
    # The last one charges the signal; the others wait for it.
    expected = threads * case.values["barrier_cycles"] + case.values["barrier_hardware_cycles"]
    assert case.cost("prim_barrier", threads, barrier="hardware") == expected


def test_a_test_and_set_lock(case: Case) -> None:
    calls, prices = 4 * case.values["lock_cycles"], case.prices
    first = prices.dirty + prices.dirty  # sets it; fetches the line back from the waiting one to release it
    second = prices.dirty + prices.dirty + prices.right(1)  # tries, sees it free, sets it; releases its own line
    assert case.cost("prim_lock", 2, lock="test_and_set") == calls + first + second


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_a_ticket_lock(case: Case, threads: int) -> None:
    calls, prices = 2 * threads * case.values["lock_cycles"], case.prices
    tickets = threads * prices.dirty
    first_look = prices.dirty + (threads - 2) * prices.clean  # the last one still has the word, which it released
    # The releaser's word is cached by its predecessor and by all that wait.
    releases = prices.right(threads - 1) + sum(prices.right(threads - number) for number in range(1, threads))
    looks = sum(prices.dirty + waiting * prices.clean for waiting in range(threads - 1))  # after each release
    assert case.cost("prim_lock", threads, lock="ticket") == calls + tickets + first_look + releases + looks


@pytest.mark.parametrize("threads", [3, 8])
def test_a_queue_lock(case: Case, threads: int) -> None:
    calls, prices = 2 * threads * case.values["lock_cycles"], case.prices
    ends = threads * prices.dirty  # the end of the queue is fetched from the predecessor
    links = (threads - 2) * prices.take(2)  # into the predecessor's line, which two have; the first one's is its own
    grants = (threads - 2) * prices.dirty + prices.right(1)  # nobody has linked to the last one's line
    looks = (threads - 1) * prices.dirty
    assert case.cost("prim_lock", threads, lock="queue") == calls + ends + links + grants + looks
