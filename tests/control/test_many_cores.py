"""Machine values derived from recorded measurements with many cores, of other hosts than this one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.control.calibration import Sample, derive
from scalegraph.control.calibration.derive import Origins
from scalegraph.control.calibration.host import CacheLevel, Host, Place, this_host
from scalegraph.control.calibration.many import (
    NEAR,
    REMOTE,
    SOCKET,
    bandwidth,
    cores,
    fork_share,
    pairs,
    team_sizes,
    transfers,
    turbo,
)
from scalegraph.machine.networks.numa import Numa
from tests.control.test_calibration import NS

# Two sockets of 36 cores with two memory nodes each and two hardware threads per core, numbered as in Linux: the second
# threads of all cores after the first ones.
PLACES = tuple(
    Place(thread * 72 + core, core // 36, core % 36, core // 18, core // 36 * 36)
    for thread in (0, 1)
    for core in range(72)
)
ICELAKE = Host(
    model="Two sockets of 36",
    processors=tuple(place.number for place in PLACES),
    nodes=4,
    far=36,
    caches=(
        CacheLevel(1, 48 * 1024, 64, 12, 2),
        CacheLevel(2, 1280 * 1024, 64, 20, 2),
        CacheLevel(3, 54 * 2**20, 64, 12, 72),
    ),
    is_virtual=False,
    page_bytes=4096,
    available_bytes=2**37,
    placed=PLACES,
    beside=18,
    memory_bytes=2**38,
    system="Linux 6.1",
)
# Bandwidths of a Xeon Platinum 8360Y (RRZE-HPC/kerncraft: load and copy), clocks from its turbo table, transfers of a
# Platinum 8375C (nviennot/core-to-core-latency).
MHZ = {1: 3500, 2: 3500, 4: 3300, 8: 3300, 16: 3200, 18: 3200, 32: 3100, 36: 3100, 54: 3100, 64: 3100, 72: 3100}
READ = {1: 14.6, 2: 28.5, 4: 53.0, 8: 80.1, 16: 92.0, 18: 93.1, 32: 170.0, 36: 186.0, 72: 372.0}
COPY = {1: 13.0, 2: 24.0, 4: 42.0, 8: 56.0, 16: 66.0, 18: 66.5, 32: 120.0, 36: 133.0, 72: 266.0}


def recorded() -> Origins:
    values = {name: Sample("ns", ns, ns, ns, 21) for name, ns in NS.items()}
    values |= {name: Sample("GB/s", 14.6, 14.6, 14.6, 9) for name in ("read_by_one", "read_by_two")}
    values |= {f"clock_by_{n}": Sample("ns", 1e3 / mhz, 1e3 / mhz, 1e3 / mhz, n) for n, mhz in MHZ.items()}
    values |= {f"read_by_{n}": Sample("GB/s", rate, rate, rate, 9) for n, rate in READ.items()}
    values |= {f"copy_by_{n}": Sample("GB/s", rate, rate, rate, 9) for n, rate in COPY.items()}
    for n in MHZ:
        for name, ns in (
            ("barrier", 200 + 20 * n),
            ("region", 500 + 50 * n),
            ("lock", 90),
            ("page_touch", 800 + 9 * n),
        ):
            values[f"{name}_by_{n}"] = Sample("ns", ns, ns, ns, 21)
    values |= {
        name: Sample("ns", ns, ns, ns, 21)
        for name, ns in (("transfer_0_1", 50.0), ("transfer_0_36", 104.0), ("far_chase", 246.0), ("node_chase", 171.0))
    }
    return Origins(values)


def test_the_team_grows_through_caches_nodes_and_sockets_a_thread_of_each_core() -> None:
    team = cores(ICELAKE)
    assert [place.number for place in team] == list(range(72))
    assert [place.node for place in team] == sorted(place.node for place in team)
    assert team_sizes(ICELAKE) == [1, 2, 4, 8, 16, 18, 32, 36, 54, 64, 72]
    assert (ICELAKE.sockets, ICELAKE.threads_per_core) == (2, 2)


def test_each_distance_has_a_pair() -> None:
    assert pairs(ICELAKE) == {NEAR: (0, 1), REMOTE: (0, 36)}
    rome = replace(ICELAKE, placed=tuple(Place(n, n // 8, n, n // 8, n // 4 * 4) for n in range(16)))
    assert pairs(rome) == {NEAR: (0, 1), SOCKET: (0, 4), REMOTE: (0, 8)}
    assert pairs(replace(ICELAKE, placed=(), processors=(0,))) == {}


def test_the_clock_has_a_step_where_it_changes() -> None:
    found = turbo(recorded(), ICELAKE)
    assert found == {"turbo_cores": [2, 8, 18, 36], "turbo_clock": [1.0, 0.9429, 0.9143, 0.8857]}
    steady = Origins({f"clock_by_{n}": Sample("ns", 0.3 + n * 1e-5, 0.3, 0.3, n) for n in (1, 2, 4, 36)})
    assert turbo(steady, ICELAKE) == {}


def test_a_memory_node_has_what_its_cores_bring_together() -> None:
    found = bandwidth(recorded(), ICELAKE)
    assert (found["memory_nodes"], found["channels"], found["channel_gb_s"]) == (2, 2, 93.1)
    # a copy at 66.5 GB/s, half of it written: a pair of lines takes 128 / 66.5 ns, a read 64 / 93.1
    assert found["write_cost"] == pytest.approx(128 / 66.5 / (64 / 93.1) - 2, abs=0.01)


def test_a_line_takes_longer_between_sockets_by_its_links() -> None:
    found = transfers(recorded(), ICELAKE, before_ns=10.0, link_ns=20.0)
    # a socket has one last-level cache: its internal transfer is the socket's
    assert found == {"transfer_ns": 20.0, "snoop_ns": 20.0, "remote_transfer_ns": 7.0}


def test_members_of_a_team_add_the_slope_of_its_regions() -> None:
    origins = recorded()
    cycles, said = fork_share(origins) or (0, "")
    assert cycles == round(30 * origins.clock_ghz)  # 50 ns per region, including 20 for the barrier
    assert "from 2 to 72 threads" in said
    assert fork_share(Origins({name: origins.measured[name] for name in ("region_by_2", "barrier_by_2")})) is None


def test_the_file_of_a_many_core_is_whole_and_says_what_was_measured(tmp_path: Path) -> None:
    found = derive(ICELAKE, recorded().measured, "icelake")
    path = tmp_path / "icelake.toml"
    path.write_text(found.to_toml(), encoding="utf-8")
    assert machine.load(path) == found
    network = found.network
    assert isinstance(network, Numa)
    assert (network.sockets, network.socket_processors, network.memory_nodes) == (2, 36, 2)
    assert network.link_ns == pytest.approx((246 - 166) / 2)
    assert network.node_ns == pytest.approx(171 - 166)
    assert network.write_cost == pytest.approx(0.8, abs=0.01)
    assert (found.processor.turbo_cores, found.processor.turbo_clock[-1]) == ((2, 8, 18, 36), 0.8857)
    assert (found.max_processors, found.processor.threads_per_core) == (144, 2)
    assert [cache.shared_by for cache in found.cache] == [1, 1, 36]  # in cores
    assert "page_touch by cores in ns: 1: 809, 2: 818" in found.origin["memory.page_miss_cycles"]
    assert "72: 1640" in found.origin["synchronisation.barrier_cycles"]
    assert found.origin["network.memory_nodes"].startswith("system: ")
    assert found.origin["network.channel_gb_s"].startswith("measured: ")
    assert found.summary.startswith(
        "2 sockets, 72 cores, 144 hardware threads, 4 memory nodes, 256 GiB, Linux 6.1. This"
    )


def test_a_host_whose_system_moves_pages_says_so() -> None:
    measured = recorded().measured
    assert derive(ICELAKE, measured).balancing.scan_delay_ms == 0.0
    found = derive(replace(ICELAKE, balances=True), measured)
    assert (found.balancing.scan_delay_ms, found.balancing.fault_us) == (1000.0, 0.8)
    assert found.origin["balancing.fault_us"].startswith("measured: ")


def test_places_come_from_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight processors: two sockets, two cores each, two threads a core."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: set(range(8)))
    for number in range(8):
        socket, core = number % 4 // 2, number % 2
        cpu = tmp_path / f"sys/devices/system/cpu/cpu{number}"
        for name, text in (("physical_package_id", socket), ("core_id", core)):
            (cpu / "topology").mkdir(parents=True, exist_ok=True)
            (cpu / "topology" / name).write_text(f"{text}\n")
        for level, sharers in ((1, f"{number % 4},{number % 4 + 4}"), (3, f"{2 * socket}-{2 * socket + 1}")):
            index = cpu / f"cache/index{level}"
            index.mkdir(parents=True)
            (index / "level").write_text(str(level))
            (index / "shared_cpu_list").write_text(sharers)
    for node, listed in ((0, "0-1,4-5"), (1, "2-3,6-7")):
        place = tmp_path / f"sys/devices/system/node/node{node}"
        place.mkdir(parents=True)
        (place / "cpulist").write_text(listed)
    assert not this_host(tmp_path).balances
    kernel = tmp_path / "proc/sys/kernel"
    kernel.mkdir(parents=True)
    (kernel / "numa_balancing").write_text("0\n")
    assert not this_host(tmp_path).balances
    (kernel / "numa_balancing").write_text("1\n")
    host = this_host(tmp_path)
    assert host.balances
    assert host.places[6] == Place(number=6, socket=1, core=0, node=1, cache=2)
    assert (host.sockets, host.threads_per_core, host.far, host.beside) == (2, 2, 2, -1)
    assert [place.number for place in cores(host)] == [0, 1, 2, 3]
