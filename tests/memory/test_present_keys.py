"""Features of modern machines that the two-socket server lacks, checked by hand, to the cycle."""

import pytest

from scalegraph import machine
from scalegraph.base.errors import InputError

pytestmark = pytest.mark.compiler

BASE = 0x100000
PAGE = 4096
LOOK = 10 + 60  # look-ups in the second and third level
MEMORY, TRANSFER, SNOOP, LINK = 238, 112, 84, 112  # 85, 40, 30 and 40 ns at 2.8 GHz
LINE = 64 / 38.4e9 * 2.8e9  # cycles of a line on its channel: 4.667


def server(memory, processors=64, **changes):
    return memory("server-2x32-inorder", processors, {key.replace("__", "."): str(v) for key, v in changes.items()})


def settle(memory, processor: int, pages: int) -> None:
    for page in range(pages):
        memory.read(processor, BASE + page * PAGE)


def test_sets_need_not_be_a_power_of_two(memory) -> None:
    """A third level of 3 sets of 15 lines: numbers that differ by 3 fall into the same one."""
    odd = server(memory, cache__l1__size_kib=3, cache__l2__size_kib=4, cache__l3__size_kib=45)
    odd = server(memory, cache__l1__size_kib=3, cache__l2__size_kib=4, cache__l3__size_kib=45, cache__l3__ways=15)
    sets = 45 * 1024 // 64 // 15
    assert sets == 48  # 3 x 16
    step = 48 * 64  # lines this far apart share a set of the third level, and set 0 of the second level's four
    written = [odd.write(0, BASE + line * step, 10_000 * line).get("writebacks", 0) for line in range(40)]
    assert written == [0] * 31 + [1] * 9  # 16 lines in the second level's set, 15 in the third's
    assert odd.check() == "ok"


def test_a_level_of_33_mib_keeps_33_mib() -> None:
    assert machine.load("xeon-8160").cache[2].size_kib == 33 * 1024


@pytest.mark.parametrize("name", ["xeon-6126", "xeon-8360y", "xeon-8470"])
def test_levels_of_real_size_are_accepted(memory, name) -> None:
    """19.25, 27 and 26.25 MiB."""
    assert memory(name, 4).greeting == "ready"


def test_memory_nodes_of_a_socket(memory) -> None:
    """Processors 0 to 15 and 16 to 31 are the halves of socket 0; the other half's memory is 10 ns farther."""
    parts = server(memory, network__memory_nodes=2, network__node_ns=10)
    settle(parts, 0, 1)
    near, far, other = (parts.read(p, BASE + 64 * (1 + n), 10_000 * (1 + n)) for n, p in enumerate((1, 16, 40)))
    assert near["stall_local"] == LOOK + MEMORY
    assert (far["stall_local"], far["stall_remote_read"], far["remote_reads"]) == (LOOK, MEMORY + 28, 1)
    assert other["stall_remote_read"] == 2 * LINK + MEMORY


def test_a_memory_node_has_its_part_of_the_channels(memory) -> None:
    """Four of eight channels: lines that are four apart meet on one."""
    parts = server(memory, network__memory_nodes=2)
    settle(parts, 0, 2)
    waits = [parts.read(core, BASE + (1 + core) * 256, 1_000_000).get("stall_contention", 0) for core in range(10)]
    assert waits == [pytest.approx(position * LINE, abs=1) for position in range(10)]


def test_a_channel_reaches_a_part_of_its_bandwidth(memory) -> None:
    slow = server(memory, network__channel_efficiency=0.5)
    settle(slow, 0, 2)
    waits = [slow.read(core, BASE + (1 + core) * 512, 1_000_000).get("stall_contention", 0) for core in range(7)]
    assert waits == [pytest.approx(position * 2 * LINE, abs=1) for position in range(7)]


def test_written_lines_occupy_their_channel_for_longer(memory) -> None:
    """Each of these lines, all on one channel, evicts a dirty one; the next read waits as long as eleven lines take."""
    small = {"cache__l1__size_kib": 3, "cache__l2__size_kib": 4, "cache__l3__size_kib": 15}
    tried = server(memory, network__write_cost=10, **small)
    for line in range(60):
        tried.write(0, BASE + line * 1024, 10**6 * (1 + line))
    assert tried.read(1, BASE + 512, 10**8)["misses"] == 1  # its page is touched already, its channel is the same
    assert tried.write(0, BASE + 61 * 1024, 2 * 10**8)["writebacks"] == 1
    first_touch = 1400 if 61 * 1024 // PAGE > 59 * 1024 // PAGE else 0
    start = 2 * 10**8 + LOOK + first_touch  # the fetch takes the channel first, the evicted line right after it
    wait = tried.read(1, BASE + 1536, start - LOOK + 10)["stall_contention"]
    assert wait == pytest.approx(11 * LINE - 10, abs=2)


def test_transfers_know_who_shares_the_last_level(memory) -> None:
    """Sockets of 32 processors in groups of 4: 10 ns within a group, 40 to another, 60 and two links to a socket."""
    groups = server(memory, cache__l3__shared_by=4, network__group_transfer_ns=10, network__remote_transfer_ns=60)
    for number, (reader, cost) in enumerate(((1, 28), (5, TRANSFER), (40, 2 * LINK + 168))):
        line = BASE + PAGE * number
        groups.write(0, line, 100_000 * number)
        assert groups.read(reader, line, 100_000 * number + 50_000)["cycles"] == LOOK + cost


def test_copies_are_given_up_as_far_away_as_a_line_would_come_from(memory) -> None:
    """30 ns within the group, 60 from another group, 80 and two links from another socket."""
    groups = server(memory, cache__l3__shared_by=4, network__group_transfer_ns=10, network__remote_transfer_ns=60)
    for number, (other, cost) in enumerate(((1, SNOOP), (5, SNOOP + 84), (40, 2 * LINK + SNOOP + 140))):
        line, at = BASE + PAGE * number, 100_000 * number
        groups.read(0, line, at)
        groups.read(other, line, at + 30_000)
        written = groups.write(0, line, at + 60_000)
        assert (written["upgrades"], written["cycles"]) == (1, cost)


def test_the_way_out_of_a_memory_node_saturates(memory) -> None:
    """Lines of eight channels at once, at 32 GB/s in all: 5.6 cycles each."""
    mesh = server(memory, network__mesh_gb_s=32)
    settle(mesh, 0, 1)
    waits = [mesh.read(core, BASE + (1 + core) * 64, 1_000_000).get("stall_contention", 0) for core in range(7)]
    assert waits == [pytest.approx(position * 5.6, abs=1) for position in range(7)]


def test_a_core_takes_lines_one_after_the_other(memory) -> None:
    """At 1.792 GB/s per core a line takes 100 cycles; a line for another core does not wait."""
    port = server(memory, memory__core_read_gb_s=1.792)
    settle(port, 0, 1)
    costs = [port.read(core, BASE + 64 * (1 + n), 1_000_000) for n, core in enumerate((0, 0, 0, 1))]
    assert [cost.get("stall_contention", 0) for cost in costs] == [0, 100, 200, 0]


STREAM = {"prefetch__kind": "stride", "prefetch__level": 1, "prefetch__degree": 1, "prefetch__distance": 1}


def test_streams_of_stores_are_not_read_where_the_machine_says_so(memory) -> None:
    """From the third line of a stream on, stores only request the right to write: 30 ns instead of memory's 85."""
    lines = range(5, 10)
    claims = server(memory, memory__write_allocate="never", **STREAM)
    settle(claims, 0, 1)
    costs = [claims.write(0, BASE + 64 * line, 10_000 * line)["cycles"] for line in lines]
    assert costs == [LOOK + MEMORY] * 2 + [LOOK + SNOOP] * 3
    assert claims.check() == "ok"


def test_streams_of_stores_are_read_while_memory_is_not_busy(memory) -> None:
    idle = server(memory, memory__write_allocate="busy", **STREAM)
    settle(idle, 0, 1)
    costs = [idle.write(0, BASE + 64 * line, 10_000 * line)["cycles"] for line in range(5, 8)]
    assert costs == [LOOK + MEMORY] * 3


@pytest.mark.parametrize(("key", "ends"), [("false", 2), ("true", 0)])
def test_a_stream_ends_with_its_page_or_goes_on(memory, key, ends) -> None:
    stream = server(memory, prefetch__next_page=key, **STREAM)
    settle(stream, 1, 2)
    for line in range(50, 65):
        stream.read(0, BASE + 64 * line, 10_000 * line)
    behind = [stream.read(0, BASE + 64 * line, 10_000 * line).get("misses", 0) for line in range(65, 70)]
    # line 64 is the first of the next page; a new stream is known by its third line
    assert sum(behind) == ends


def test_an_inclusive_level_takes_back_what_it_gives_up(memory) -> None:
    """The third level has one set of 15 lines; private levels could hold more, but lose the first line with it."""
    small = {"cache__l1__size_kib": 12, "cache__l2__size_kib": 16, "cache__l3__size_kib": 60}
    inclusive = server(memory, cache__l3__victim="false", **small)
    step = 64 * 64  # 64 sets in the third level; 16 in the second and the first
    costs = [inclusive.read(0, BASE + line * step, 10_000 * line) for line in range(16)]
    assert [cost.get("invalidations", 0) for cost in costs] == [0] * 15 + [1]
    assert inclusive.read(0, BASE, 500_000)["misses"] == 1
    assert inclusive.check() == "ok"


def test_an_inclusive_level_keeps_what_it_gives(memory) -> None:
    inclusive = server(memory, cache__l3__victim="false")
    settle(inclusive, 0, 1)
    inclusive.read(0, BASE + 64, 10_000)
    assert inclusive.read(1, BASE + 64, 20_000)["cycles"] == LOOK + TRANSFER  # owned: its owner answers
    assert inclusive.read(2, BASE + 64, 30_000)["cycles"] == LOOK
    assert inclusive.check() == "ok"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cache.l1.size_kib": "36"}, "expected line_bytes x ways x a power of two (64 x 12 x ..), got 36864 bytes"),
        ({"cache.l3.size_kib": "61441"}, "expected line_bytes x ways x a whole number (64 x 15 x ..), got 62915584"),
        ({"cache.l2.victim": "false"}, "cache.l2.victim: expected true: private levels are inclusive anyway"),
        ({"network.memory_nodes": "3"}, "expected a divisor of the 32 of network.socket_processors, got 3"),
        ({"network.channel_efficiency": "1.5"}, "less than or equal to 1; got 1.5"),
        ({"memory.write_allocate": "never"}, "expected 'always': others need the network 'numa', and a prefetcher"),
        ({"memory.write_allocate": "sometimes"}, "'always', 'busy' or 'never'; got 'sometimes'"),
        ({"processor.turbo_cores": "[4]"}, "expected a clock for each of the 1 numbers of turbo_cores, got 0"),
        ({"processor.turbo_cores": "[4, 2]", "processor.turbo_clock": "[1.0, 0.9]"}, "each larger than the one before"),
        (
            {"processor.turbo_cores": "[4]", "processor.turbo_clock": "[1.5]"},
            "from 0.01 to 1, none above the one before",
        ),
        ({"processor.threads_per_core": "3"}, "less than or equal to 2; got 3"),
    ],
)
def test_a_wrong_value_gets_a_sentence(changes, said) -> None:
    with pytest.raises(InputError) as caught:
        machine.load("server-2x32-inorder", changes)
    assert [fault for fault in map(str, caught.value.faults) if said in fault], caught.value.faults
