"""Consistency conditions between the values of a machine, beyond the range of each."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from scalegraph.machine import power
from scalegraph.machine.networks import kind_of, networks

if TYPE_CHECKING:
    from scalegraph.machine.model import Cache, Machine

Found = list[tuple[tuple[str | int, ...], str]]

_MOST_CYCLES = 10**9  # longer network times are input errors


class Inconsistent(ValueError):  # noqa: N818 - said of a machine
    """Values that contradict each other: (key path, sentence) for each contradiction."""

    def __init__(self, found: Found) -> None:
        self.found = found
        super().__init__("; ".join(f"{'.'.join(map(str, path))}: {text}" for path, text in found))


def _power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def contradictions(machine: Machine) -> Found:
    """Return every contradiction within *machine*: the key where it is best fixed, and a sentence."""
    return [
        *_lines(machine),
        *(fault for number, cache in enumerate(machine.cache) for fault in _geometry(number, cache)),
        *_sharing(machine),
        *_ticks(machine),
        *_turbo(machine),
        *_threads(machine),
        *_stores(machine),
        *_nodes(machine),
        *_topology(machine),
        *power.contradictions(machine),
        *_origins(machine),
    ]


def _ticks(machine: Machine) -> Found:
    disturbance = machine.disturbance
    period = disturbance.period_cycles(machine.clock_hz)
    if period == 0 or disturbance.handler_cycles < period:
        return []
    text = f"expected less than a period ({period} cycles), or nothing else would run; got {disturbance.handler_cycles}"
    return [(("disturbance", "handler_cycles"), text)]


def _turbo(machine: Machine) -> Found:
    cores, clocks = machine.processor.turbo_cores, machine.processor.turbo_clock
    key = ("processor", "turbo_clock")
    if len(cores) != len(clocks):
        return [(key, f"expected a clock for each of the {len(cores)} numbers of turbo_cores, got {len(clocks)}")]
    if any(a >= b for a, b in pairwise((0, *cores))):
        text = f"expected numbers from 1 on, each larger than the one before, got {list(cores)}"
        return [(("processor", "turbo_cores"), text)]
    if any(not 0.01 <= b <= a for a, b in pairwise((1.0, *clocks))):
        return [(key, f"expected parts of clock_mhz from 0.01 to 1, none above the one before, got {list(clocks)}")]
    return []


def _threads(machine: Machine) -> Found:
    each, count = machine.processor.threads_per_core, machine.processor.count
    if each == 1:
        return []
    key = ("processor", "threads_per_core")
    if machine.interconnect is not None or machine.network.kind != "numa":
        return [(key, "expected 1: hardware threads need one node with the network 'numa'")]
    if count % each:
        return [(("processor", "count"), f"expected a multiple of threads_per_core ({each}), got {count}")]
    return [
        (
            ("cache", number, "ways"),
            f"expected a multiple of threads_per_core ({each}), which share it, got {cache.ways}",
        )
        for number, cache in enumerate(machine.cache)
        if cache.shared_by == 1 and cache.ways % each
    ]


def _stores(machine: Machine) -> Found:
    if machine.memory.write_allocate == "always":
        return []
    if machine.network.kind == "numa" and machine.prefetch.kind == "stride":
        return []
    text = "expected 'always': others need the network 'numa', and a prefetcher of kind 'stride' that sees the stream"
    return [(("memory", "write_allocate"), text)]


def _lines(machine: Machine) -> Found:
    found: Found = []
    coherence, before = machine.coherence.line_bytes, 1
    if not _power_of_two(coherence):
        found.append((("coherence", "line_bytes"), f"expected a power of two, got {coherence}"))
    page = machine.memory.page_bytes
    if not _power_of_two(page) or page < coherence:
        text = f"expected a power of two of at least one coherence line ({coherence}), got {page}"
        found.append((("memory", "page_bytes"), text))
    for number, cache in enumerate(machine.cache):
        path = ("cache", number, "line_bytes")
        last_private = number + 1 == len(machine.cache) or machine.cache[number + 1].shared_by > 1
        if not _power_of_two(cache.line_bytes):
            found.append((path, f"expected a power of two, got {cache.line_bytes}"))
        elif cache.line_bytes < before:
            found.append((path, f"expected at least the line of the level before ({before}), got {cache.line_bytes}"))
        elif cache.line_bytes > coherence or ((last_private or cache.shared_by > 1) and cache.line_bytes != coherence):
            what = "the coherence line" if last_private or cache.shared_by > 1 else "at most the coherence line"
            found.append((path, f"expected {what} ({coherence}), got {cache.line_bytes}"))
        before = max(before, cache.line_bytes)
    return found


def _geometry(number: int, cache: Cache) -> Found:
    size, way = cache.size_kib * 1024, cache.line_bytes * cache.ways
    if size % way == 0 and size >= way and (number > 0 or _power_of_two(size // way)):
        return []
    sets = "a power of two" if number == 0 else "a whole number"
    text = f"expected line_bytes x ways x {sets} ({cache.line_bytes} x {cache.ways} x ..), got {size} bytes"
    return [(("cache", number, "size_kib"), text)]


def _may_share(machine: Machine) -> bool:
    return not machine.network.private_only and not machine.coherence.kind.startswith("limited_")


def _is_network_cache(machine: Machine, cache: Cache) -> bool:
    network = machine.network
    return network.network_caches and cache.remote_only and cache.shared_by == network.cluster() > 1


def _sharing(machine: Machine) -> Found:
    found: Found = []
    last, network = len(machine.cache) - 1, machine.network
    for number, cache in enumerate(machine.cache):
        path = ("cache", number, "shared_by")
        if cache.shared_by > 1 and (number != last or number == 0):
            found.append((path, "expected 1: only the last of several levels may be shared"))
        elif cache.shared_by > 1 and machine.node_processors > 64 * cache.shared_by:
            found.append((path, f"expected at most 64 instances, got {machine.node_processors} / {cache.shared_by}"))
        elif cache.shared_by > 1 and not _may_share(machine):
            found.append((path, "expected 1: a bus, a mesh and a limited directory need private caches only"))
        elif network.network_caches and cache.shared_by > 1 and not _is_network_cache(machine, cache):
            text = f"expected 1, or a network cache (remote_only) of all {network.cluster()} processors of a hypernode"
            found.append((path, text))
        elif network.cluster() % cache.shared_by:
            found.append((path, f"expected a divisor of a socket's {network.cluster()} processors"))
        if cache.remote_only and not _is_network_cache(machine, cache):
            text = "expected false: only the shared level of the network 'hypernode' can be a network cache"
            found.append((("cache", number, "remote_only"), text))
        if not cache.victim and (cache.shared_by == 1 or cache.remote_only):
            text = "expected true: private levels are inclusive anyway, and a network cache keeps victims"
            found.append((("cache", number, "victim"), text))
    names = [cache.name for cache in machine.cache]
    for number, name in enumerate(names):
        if name in names[:number]:
            found.append((("cache", number, "name"), f"another level has the name '{name}' already"))
    return found


def _topology(machine: Machine) -> Found:
    found: Found = []
    network, count = machine.network, machine.node_processors
    if count > network.capacity() * machine.processor.threads_per_core:
        where = ("processor", "count") if machine.interconnect is None else ("nodes", "processors")
        found.append((where, f"the network has room for {network.capacity()} processors, got {count}"))
    attraction = machine.coherence.kind == "ring_snoop"
    for tied in networks():  # protocols tied to one network, and vice versa
        if tied.protocol and (machine.coherence.kind == tied.protocol) != isinstance(network, tied):
            text = f"'{tied.protocol}' and the network '{kind_of(tied)}' need each other"
            found.append((("coherence", "kind"), text))
    if found:
        return found
    if attraction and machine.memory.placement != "first_touch":
        found.append((("memory", "placement"), "expected 'first_touch': an attraction memory has no fixed homes"))
    elif attraction and machine.cache[-1].shared_by > 1:
        found.append((("cache", len(machine.cache) - 1, "shared_by"), "expected 1 in an attraction memory"))
    elif attraction and machine.coherence.owned_state:
        found.append((("coherence", "owned_state"), "expected false: an attraction memory has no other memory"))
    return [*found, *_places(machine), *_balancing(machine), *_prefetch(machine), *_times(machine)]


def _nodes(machine: Machine) -> Found:
    """Return errors in the nodes and the interconnect that connects them."""
    wire, each, count = machine.interconnect, machine.nodes.processors, machine.processor.count
    if wire is None:
        text = "a machine of several nodes needs an [interconnect]"
        wrong = [
            ("processors", each > 0),
            ("speeds", machine.nodes.speeds),
        ]
        found: Found = [(("nodes", name), text) for name, there in wrong if there]
        if machine.processor.lockstep:
            found.append((("processor", "lockstep"), "a SIMD machine needs an [interconnect] of its elements"))
        return found
    if each == 0:
        return [(("nodes", "processors"), "expected at least 1 on a machine with an interconnect, got 0")]
    found = [(("interconnect", name), text) for name, text in wire.faults()]
    if machine.processor.lockstep and each > 1:
        found.append((("nodes", "processors"), f"expected 1 on a machine with processor.lockstep, got {each}"))
    if not found and count > each * wire.capacity():
        text = f"the interconnect has room for {wire.capacity()} nodes of {each}, got {count} processors"
        found.append((("processor", "count"), text))
    for number, cache in enumerate(machine.cache):
        if each % cache.shared_by:
            text = f"expected a divisor of a node's {each} processors, got {cache.shared_by}"
            found.append((("cache", number, "shared_by"), text))
    return found


def _times(machine: Machine) -> Found:
    """Return network times that are implausible in cycles of the simulation clock."""
    found: Found = []
    times = machine.network.runtime(machine.clock_hz, machine.coherence.line_bytes)
    times |= machine.interconnect.runtime(machine.clock_hz) if machine.interconnect is not None else {}
    for name, value in times.items():
        cycles = value / 1000 if name.endswith("_millicycles") else value if name.endswith("_cycles") else 0
        if cycles > _MOST_CYCLES:
            what = name.removesuffix("_millicycles").removesuffix("_cycles")
            text = f"makes '{what}' of the network {cycles:.3g} cycles; expected at most {_MOST_CYCLES:.0e}"
            found.append((("processor", "clock_mhz"), text))
    return found


def _places(machine: Machine) -> Found:
    network, nodes = machine.network, machine.network.nodes()
    found: Found = []
    if machine.memory.placement == "node" and machine.memory.node >= nodes:
        found.append((("memory", "node"), f"expected a node from 0 to {nodes - 1}, got {machine.memory.node}"))
    return [*found, *((("network", name), text) for name, text in network.faults())]


def _balancing(machine: Machine) -> Found:
    balancing = machine.balancing
    found: Found = []
    if balancing.scan_period_max_ms < balancing.scan_period_min_ms:
        text = f"expected at least scan_period_min_ms ({balancing.scan_period_min_ms:g})"
        found.append((("balancing", "scan_period_max_ms"), f"{text}, got {balancing.scan_period_max_ms:g}"))
    if balancing.scan_delay_ms > 0 and machine.coherence.kind == "ring_snoop":
        text = "expected 0: lines of an attraction memory are where they are used"
        found.append((("balancing", "scan_delay_ms"), text))
    for name in ("fault_us", "migrate_us"):
        cycles = getattr(balancing, name) * 1e-6 * machine.clock_hz
        if cycles > _MOST_CYCLES:
            text = f"expected at most {_MOST_CYCLES:.0e} cycles, got {cycles:.3g} at this clock"
            found.append((("balancing", name), text))
    return found


def _prefetch(machine: Machine) -> Found:
    level, private = machine.prefetch.level, sum(cache.shared_by == 1 for cache in machine.cache)
    if machine.prefetch.kind == "none" or 0 < level < private:
        return []
    return [(("prefetch", "level"), f"expected a private level behind the first, got {level}")]


def _origins(machine: Machine) -> Found:
    from scalegraph.machine.text import keys

    known = set(keys(machine))
    found: Found = []
    for key, text in machine.origin.items():
        if key not in known:
            found.append((("origin", key), "the machine has no value with this key"))
        elif not text.isprintable() or text != text.strip():
            found.append((("origin", key), "expected one line of text"))
    return found
