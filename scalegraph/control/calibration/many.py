"""Measurements that depend on the number of cores: which cores run together, and the resulting machine values.

The team grows core by core, without hardware threads: through the cores of a last-level cache, a memory node, a socket,
and then socket by socket. So clock and bandwidth with part of a socket active are as seen by a program with compactly
bound threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from scalegraph.control.calibration.derive import Origins
    from scalegraph.control.calibration.host import Host, Place

_STEP: Final = 0.015  # clock difference that makes a separate step
_LEAST_WRITE, _MOST_WRITE = 0.1, 10.0  # range of network.write_cost

NEAR, SOCKET, REMOTE = "near", "socket", "remote"


def cores(host: Host) -> list[Place]:
    """Return one processor per core, in the order in which the team grows."""
    first: dict[tuple[int, int], Place] = {}
    for place in sorted(
        host.places, key=lambda place: (place.socket, place.node, place.cache, place.core, place.number)
    ):
        first.setdefault((place.socket, place.core), place)
    return list(first.values())


def team_sizes(host: Host) -> list[int]:
    """Return the team sizes to measure: powers of two, whole caches, nodes, sockets, and all."""
    team = cores(host)
    bounds = {
        number
        for number, (one, other) in enumerate(pairwise(team), start=1)
        if (one.socket, one.node) != (other.socket, other.node)
    }
    first_cache = sum(place.cache == team[0].cache for place in team)
    doubled = {2**power for power in range(len(team).bit_length())}
    return sorted(size for size in doubled | bounds | {first_cache, len(team)} if 1 <= size <= len(team))


def pairs(host: Host) -> dict[str, tuple[int, int]]:
    """Return a pair of processors for each distance on *host*: in a last-level cache, in a socket, between sockets."""
    team = cores(host)
    found: dict[str, tuple[int, int]] = {}
    for other in team[1:]:
        found.setdefault(distance(team[0], other), (team[0].number, other.number))
    return found


def distance(one: Place, other: Place) -> str:
    """Return the distance of two cores."""
    if one.socket != other.socket:
        return REMOTE
    return NEAR if one.cache == other.cache else SOCKET


def turbo(origins: Origins, host: Host) -> dict[str, Any]:
    """Return the clock by active cores of a socket; empty if it is constant within 1.5 %.

    A step is the largest measured number of cores that still had its clock.
    """
    team = cores(host)
    of_socket = sum(place.socket == team[0].socket for place in team)
    found = [(count, 1e3 / ns) for count, ns in origins.numbered("clock_by") if count <= of_socket]
    steps: list[tuple[int, float]] = []
    for count, mhz in found:
        if steps and abs(mhz - steps[-1][1]) <= _STEP * steps[-1][1]:
            steps[-1] = (count, steps[-1][1])
        else:
            steps.append((count, mhz))
    if len(steps) < 2:
        return {}
    names = [f"clock_by_{count}" for count, _ in found]
    shares = [round(mhz / steps[0][1], 4) for _, mhz in steps]
    how = f"a dependent addition takes one cycle; {', '.join(f'{mhz:.0f}' for _, mhz in steps)} MHz"
    key = "processor"
    return {
        "turbo_cores": origins.measured_as(f"{key}.turbo_cores", [count for count, _ in steps], *names),
        "turbo_clock": origins.measured_as(f"{key}.turbo_clock", shares, *names, how=how),
    }


def bandwidth(origins: Origins, host: Host) -> dict[str, Any]:
    """Return channels and their bandwidth: the total of a memory node's cores, one channel per node.

    The extra cost of a written line is derived from a copy: it reads two lines and later writes one back, compared with
    the rate R of reads alone. Empty if nothing was measured with many cores.
    """
    team = cores(host)
    of_node = sum((place.socket, place.node) == (team[0].socket, team[0].node) for place in team)
    reads = {count: rate for count, rate in origins.numbered("read_by") if count <= of_node}
    if not reads:
        return {}
    nodes = max(1, host.nodes // host.sockets)
    best = max(reads, key=lambda count: reads[count])
    key = "network"
    values = {
        "memory_nodes": origins.note(f"{key}.memory_nodes", nodes, "system: memory nodes of a socket"),
        "channels": origins.note(
            f"{key}.channels", nodes, "estimate: one per memory node, as the system does not report them"
        ),
        "channel_gb_s": origins.measured_as(
            f"{key}.channel_gb_s",
            round(reads[best], 2),
            *(f"read_by_{count}" for count in reads),
            how=f"the largest on up to {of_node} cores, those of a memory node",
        ),
    }
    if f"copy_by_{best}" in origins.measured:
        copied = origins.measured[f"copy_by_{best}"].median
        cost = min(_MOST_WRITE, max(_LEAST_WRITE, 2 * reads[best] / copied - 2))
        values["write_cost"] = origins.measured_as(
            f"{key}.write_cost",
            round(cost, 2),
            f"copy_by_{best}",
            f"read_by_{best}",
            how="twice the second over the first, minus the two lines read",
        )
    return values


def transfers(origins: Origins, host: Host, before_ns: float, link_ns: float) -> dict[str, Any]:
    """Return the time in ns to move a line between caches in a socket, in one last-level cache, and between sockets.

    As with two processors (`derive`), half of the time is the copy and half the invalidation of the other's copy;
    *before_ns* is the cache lookup, *link_ns* a message between sockets, of which each half has two.
    """
    found: dict[str, Any] = {}
    keys = {SOCKET: "transfer_ns", NEAR: "group_transfer_ns", REMOTE: "remote_transfer_ns"}
    measured = {where: f"transfer_{one}_{other}" for where, (one, other) in pairs(host).items()}
    measured = {where: name for where, name in measured.items() if name in origins.measured}
    if SOCKET not in measured and NEAR in measured:
        keys[NEAR] = "transfer_ns"  # the socket has a single last-level cache
    for where, name in measured.items():
        links = 2 * link_ns if where == REMOTE else 0.0
        half = max(0.1, (origins.measured[name].median - before_ns) / 2 - links)
        how = "half of it, minus the cache lookup" + (" and two links" if links else "")
        found[keys[where]] = origins.measured_as(f"network.{keys[where]}", round(half, 1), name, how=how)
    if "transfer_ns" in found:
        name = measured.get(SOCKET, measured.get(NEAR, ""))
        found["snoop_ns"] = origins.measured_as("network.snoop_ns", found["transfer_ns"], name, how="the other half")
    return found


def fork_share(origins: Origins) -> tuple[int, str] | None:
    """Return the cost per member of a region in cycles, and its derivation; None if few cores were measured.

    It is the slope of the time of regions minus that of barriers, from the smallest to the largest team.
    """
    regions, barriers = dict(origins.numbered("region_by")), dict(origins.numbered("barrier_by"))
    sizes = sorted(size for size in regions if size in barriers and size > 1)
    if len(sizes) < 2:
        return None
    low, high = sizes[0], sizes[-1]
    ns = ((regions[high] - barriers[high]) - (regions[low] - barriers[low])) / (high - low)
    names = [f"{what}_by_{size}" for size in (low, high) for what in ("region", "barrier")]
    how = f"slope of regions minus barriers, from {low} to {high} threads"
    return max(0, round(ns * origins.clock_ghz)), f"{origins.text(*names)}; {how}"


def in_words(origins: Origins, kinds: Iterable[str]) -> str:
    """Return medians of the measurements *kinds* by number of cores, for the comment after a value."""
    parts = []
    for kind in kinds:
        found = origins.numbered(f"{kind}_by")
        if len(found) > 1:
            unit = origins.measured[f"{kind}_by_{found[0][0]}"].unit
            values = ", ".join(f"{number}: {value:.4g}" for number, value in found)
            parts.append(f"{kind} by cores in {unit}: {values}")
    return "; ".join(parts)
