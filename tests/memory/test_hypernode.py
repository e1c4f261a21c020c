"""The hypernodes of the Convex Exemplar, to the cycle."""

import pytest

from tests.memory.driving import network

pytestmark = pytest.mark.compiler

BASE = 0x100000
LINE, PAGE, LOOK = 64, 4096, 50  # LOOK: a look-up in the network cache, for lines of other hypernodes
N = network("convex-exemplar")
HYPERNODES, EACH = N["hypernodes"], N["hypernode_processors"]
CARRY = N["crossbar_cycles"] + -(-LINE // N["crossbar_bytes"])
SHORT = -(-N["header_bytes"] // N["ring_bytes"])
LONG = -(-(N["header_bytes"] + LINE) // N["ring_bytes"])
ASK = 2 * N["crossbar_cycles"] + N["snoop_cycles"]  # the caches of a hypernode
LOCAL = N["crossbar_cycles"] + N["memory_cycles"] + CARRY
FIRST_TOUCH = {"memory.placement": "first_touch", "memory.page_miss_cycles": "0"}


def ride(hops: int, packet: int) -> int:
    return 2 * N["controller_cycles"] + hops * N["hop_cycles"] + packet


def round_trip(answer: int) -> int:
    """Return the cycles of a request to another hypernode and its answer: together they go once round the ring."""
    return ride(0, SHORT) + ride(0, answer) + HYPERNODES * N["hop_cycles"]


REMOTE = N["crossbar_cycles"] + round_trip(LONG) + N["memory_cycles"] + CARRY


@pytest.fixture
def exemplar(memory):
    return memory("convex-exemplar", 128, FIRST_TOUCH)


def test_a_remote_miss_is_about_seven_times_a_local_one() -> None:
    assert LOCAL == LOOK
    assert 6.5 <= (LOOK + REMOTE) / LOCAL <= 7.5


def test_a_miss_within_the_hypernode(exemplar) -> None:
    exemplar.read(0, BASE, 0)
    cost = {"cycles": LOCAL, "stall_local": LOCAL, "l1_misses": 1, "misses": 1, "memory_lines": 1}
    assert exemplar.read(0, BASE + LINE, 10_000) == cost
    assert exemplar.read(7, BASE + 2 * LINE, 20_000) == cost
    assert exemplar.read(7, BASE + 2 * LINE, 30_000)["cycles"] == 0


@pytest.mark.parametrize("hypernode", [1, 2, 9, 15])
def test_a_remote_miss_costs_the_same_from_every_hypernode(exemplar, hypernode) -> None:
    exemplar.read(0, BASE, 0)
    cost = exemplar.read(hypernode * EACH + 3, BASE + LINE, 10_000)
    assert cost["stall_local"] == LOOK
    assert cost["stall_remote_read"] == REMOTE
    assert cost["remote_reads"] == 1
    assert "stall_contention" not in cost


def test_a_remote_line_that_the_own_hypernode_has_comes_from_there(exemplar) -> None:
    exemplar.read(0, BASE, 0)
    exemplar.read(1, BASE, 5_000)  # no longer exclusive
    exemplar.read(8, BASE, 10_000)
    assert exemplar.read(9, BASE, 20_000)["cycles"] == LOOK + LOCAL


@pytest.mark.slow
def test_the_network_cache_keeps_remote_lines_that_a_cache_gives_up(memory) -> None:
    exemplar = memory("convex-exemplar", 128, FIRST_TOUCH | {"cache.cache.size_kib": "4"})
    for page in range(3):
        exemplar.read(0, BASE + page * PAGE, 1000 * page)
    exemplar.read(8, BASE, 10_000)
    exemplar.read(8, BASE + PAGE, 20_000)  # the same set of the direct-mapped cache
    assert exemplar.read(8, BASE, 30_000) == {"cycles": LOOK, "stall_local": LOOK, "l1_misses": 1, "misses": 1}
    exemplar.read(0, BASE + PAGE, 40_000)  # its victim is in this hypernode's memory
    assert exemplar.read(0, BASE + 2 * PAGE, 50_000)["stall_local"] == LOCAL
    assert exemplar.check() == "ok"


def test_a_dirty_line_of_the_own_hypernode(exemplar) -> None:
    exemplar.write(0, BASE, 0)
    cost = exemplar.read(1, BASE, 10_000)
    # The request reaches the unit, its directory asks the owner, the line arrives, memory stores it and answers.
    expected = N["crossbar_cycles"] + N["directory_cycles"] + ASK + CARRY + N["memory_cycles"] + CARRY
    assert cost["stall_local"] == expected
    assert cost["writebacks"] == 1


def test_a_dirty_line_of_a_third_hypernode_takes_two_rounds(exemplar) -> None:
    exemplar.read(0, BASE, 0)
    exemplar.write(8, BASE + LINE, 10_000)  # home 0, owner in hypernode 1
    cost = exemplar.read(16, BASE + LINE, 20_000)
    who = round_trip(SHORT) + N["directory_cycles"]
    line = round_trip(LONG) + N["directory_cycles"] + ASK + CARRY + N["memory_cycles"]
    assert cost["stall_remote_read"] == N["crossbar_cycles"] + who + line + CARRY


@pytest.mark.parametrize("sharers", [1, 2, 7])
def test_copies_within_the_hypernode_go_at_once(exemplar, sharers) -> None:
    for processor in range(sharers + 1):
        exemplar.read(processor, BASE, 10_000 * processor)
    cost = exemplar.write(0, BASE, 1_000_000)
    assert cost["stall_upgrade"] == 2 * N["crossbar_cycles"] + N["directory_cycles"] + ASK
    assert cost["invalidations"] == sharers


@pytest.mark.slow
@pytest.mark.parametrize("hypernodes", [1, 2, 8, 15])
def test_hypernodes_on_the_list_drop_their_copies_one_after_the_other(exemplar, hypernodes) -> None:
    for hypernode in range(hypernodes + 1):
        exemplar.read(hypernode * EACH, BASE, 10_000 * hypernode)
    cost = exemplar.write(0, BASE, 1_000_000)
    each = round_trip(SHORT) + N["directory_cycles"] + ASK
    assert cost["stall_upgrade"] == 2 * N["crossbar_cycles"] + N["directory_cycles"] + hypernodes * each
    assert cost["invalidations"] == hypernodes
    assert exemplar.check() == "ok"


def test_a_writer_asks_home_first(exemplar) -> None:
    exemplar.read(0, BASE, 0)
    exemplar.read(8, BASE, 10_000)
    cost = exemplar.write(8, BASE, 20_000)
    expected = 2 * N["crossbar_cycles"] + round_trip(SHORT) + N["directory_cycles"] + ASK
    assert cost["stall_upgrade"] == expected
    assert cost["invalidations"] == 1


def test_the_line_decides_which_ring_a_request_takes(exemplar) -> None:
    exemplar.read(0, BASE, 0)
    for line in range(1, 5):
        exemplar.read(8, BASE + line * LINE, 10_000 * line)
    assert all(exemplar.usage()[f"ring {ring} link 1>2"][0] == 1 for ring in range(N["rings"]))


def test_requests_for_one_unit_wait_for_its_memory_and_others_do_not(exemplar) -> None:
    exemplar.read(0, BASE, 0)
    same = [exemplar.read(processor, BASE + LINE * 4 * (1 + processor), 10_000) for processor in range(4)]
    waits = [cost.get("stall_contention", 0) for cost in same]
    assert waits == [N["memory_cycles"] * processor for processor in range(4)]
    assert "stall_contention" not in exemplar.read(5, BASE + LINE, 10_000)
