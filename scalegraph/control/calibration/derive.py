"""The machine model of this host, derived from measurements: each value with its origin.

The origin says how a value follows from measurements, and becomes the comment after it in the file. Nothing here is
fitted to a program's time; a value that cannot be measured is an estimate and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from scalegraph.base.errors import WorkError
from scalegraph.base.units import counted
from scalegraph.control.calibration.caches import cache_levels, prefetcher, translation
from scalegraph.control.calibration.host import Host
from scalegraph.control.calibration.many import bandwidth, fork_share, in_words, transfers, turbo
from scalegraph.control.calibration.measure import Sample
from scalegraph.control.calibration.pipeline import branches, issued, pipeline
from scalegraph.machine import Machine
from scalegraph.machine.text import keys

_SUMMARY = (
    "This host as `scalegraph machines calibrate` measured it, with small programs and large pages. Simplified: "
    "instruction fetch is not simulated."
)
_OPERATIONS: Final = (  # class, measurement of independent operations, operations per measured step
    ("int_alu", "int_add_free", 1),
    ("int_mul", "int_mul_free", 1),
    ("int_div", "int_div_free", 1),
    ("load", "load_free", 1),
    ("store", "store_free", 1),
    ("call", "call_and_return", 2),
    ("fp_add", "fp_add_free", 1),
    ("fp_mul", "fp_mul_free", 1),
    ("fp_div", "fp_div_free", 1),
    ("fp_sqrt", "fp_sqrt_free", 1),
    ("fp_other", "convert_free", 1),
)


@dataclass
class Origins:
    """Creates values from measurements and records their origins, by key in the machine file."""

    measured: Mapping[str, Sample]
    said: dict[str, str] = field(default_factory=dict)

    @property
    def clock_ghz(self) -> float:
        """Cycles per nanosecond: a chained integer addition takes one cycle on any current processor."""
        return 1 / self.measured["clock"].median

    def numbered(self, kind: str) -> list[tuple[int, float]]:
        """Return (number, ns) for the measurements ``KIND_NUMBER``, by number."""
        found = [(name.rpartition("_"), sample.median) for name, sample in self.measured.items()]
        return sorted((int(number), ns) for (of, _, number), ns in found if of == kind and number.isdecimal())

    def text(self, *names: str) -> str:
        """Return the medians of the measurements *names* as text, with their spread."""
        parts = []
        for name in names:
            sample = self.measured[name]
            parts.append(f"{name} {sample.median:.4g} {sample.unit}, spread {100 * sample.spread:.0f} %")
        return f"measured: median of {self.measured[names[0]].count}: " + "; ".join(parts)

    def cycles(self, name: str) -> float:
        """Return the median of measurement *name* in cycles."""
        return self.measured[name].median * self.clock_ghz

    def note(self, key: str, value: Any, text: str) -> Any:
        """Record *text* as the origin of *key*; return *value*."""
        self.said[key] = text
        return value

    def measured_as(self, key: str, value: Any, *names: str, how: str = "") -> Any:
        """Do the same for a value computed from the measurements *names*; *how* describes the computation."""
        return self.note(key, value, self.text(*names) + (f"; {how}" if how else ""))


def derive(host: Host, measured: Mapping[str, Sample], name: str = "this-host") -> Machine:
    """Return the machine described by *measured*, with the origin of every value.

    Raises `WorkError` if a value is implausible, as on a host busy with other work.
    """
    origins = Origins(measured)
    levels = cache_levels(origins, host)
    sections: dict[str, Any] = {
        "processor": _processor(origins, host),
        "cache": levels,
        "coherence": _coherence(origins, host, levels),
        "network": _network(origins, host, levels),
        "memory": _memory(origins, host),
        "balancing": _balancing(origins, host),
        "synchronisation": _synchronisation(origins, host),
        "threads": _threads(origins),
        "branches": branches(origins),
        "translation": translation(origins),
        "prefetch": prefetcher(origins, host),
    }
    title = f"{host.model}, {len(host.processors)} processors"[:120]
    try:
        found = Machine.model_validate({"name": name, "title": title, "summary": _summary(host), **sections})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise WorkError(f"the measurements are implausible ({place}: {first['msg']}); is the host busy?") from error
    rest = {key: "choice: default of machine files" for key in keys(found) if "." in key}
    return found.model_copy(update={"origin": {**rest, **origins.said}})


def _summary(host: Host) -> str:
    """Return a description of the host for users of the file."""
    count = len({(place.socket, place.core) for place in host.places})
    parts = [counted(host.sockets, "socket"), counted(count, "core"), counted(len(host.processors), "hardware thread")]
    parts += [counted(host.nodes, "memory node")]
    parts += [f"{host.memory_bytes / 2**30:.0f} GiB"] if host.memory_bytes else []
    parts += [host.system] if host.system else []
    where = " in a virtual machine, whose hypervisor may hide hardware details" if host.is_virtual else ""
    return f"{', '.join(parts)}{where}. {_SUMMARY}"


def _threads(origins: Origins) -> dict[str, Any]:
    """Return the cost of the system's threads; a switch was measured by a message through a pipe, which it includes."""
    create = round(origins.cycles("thread_create") / 2)
    switch = round(origins.cycles("thread_switch"))
    return {
        "thread_cycles": origins.measured_as(
            "threads.thread_cycles", create, "thread_create", how="half of it for each end"
        ),
        "switch_cycles": origins.measured_as(
            "threads.switch_cycles", switch, "thread_switch", how="with a byte through a pipe"
        ),
    }


def _processor(origins: Origins, host: Host) -> dict[str, Any]:
    key = "processor"
    width = max(1, min(64, round(1 / origins.cycles(issue := issued(origins)))))
    return {
        "count": origins.note(f"{key}.count", len(host.processors), "system: processors available to this process"),
        "clock_mhz": origins.measured_as(
            f"{key}.clock_mhz", round(origins.clock_ghz * 1e3, 1), "clock", how="a dependent addition takes one cycle"
        ),
        **turbo(origins, host),
        "threads_per_core": origins.note(
            f"{key}.threads_per_core", host.threads_per_core, "system: of the available processors"
        ),
        "issue_width": origins.measured_as(f"{key}.issue_width", width, issue),
        "out_of_order": origins.note(f"{key}.out_of_order", True, "estimate: typical of this kind of processor"),
        "memory_parallelism": _parallelism(origins),
        "operation_cycles": _operations(origins),
        "pipeline": pipeline(origins, host),
    }


def _parallelism(origins: Origins) -> float:
    """Return how many misses overlap: the time of a chased miss over that of one among others, minus the loop."""
    names = ("memory_chase", "memory_visit", f"visit_{origins.numbered('visit')[0][0]}")
    chased, visited, walk = (origins.measured[name].median for name in names)
    many = chased / max(visited - walk, chased / 100)
    how = "the first over the difference of the second and third (hits)"
    key = "processor.memory_parallelism"
    return float(origins.measured_as(key, round(min(100.0, max(1.0, many)), 1), *names, how=how))


def _operations(origins: Origins) -> dict[str, float]:
    """Return the reciprocal throughput of each class."""
    key = "processor.operation_cycles"
    values: dict[str, float] = {}
    for kind, name, count in _OPERATIONS:
        values[kind] = origins.measured_as(f"{key}.{kind}", _cost(origins.cycles(name) / count), name)
    taken = (origins.cycles("branch_taken") + origins.cycles("branch_not_taken")) / 2
    values["branch"] = origins.measured_as(
        f"{key}.branch", _cost(taken), "branch_taken", "branch_not_taken", how="their mean, predicted branches"
    )
    if "fp_fma_free" in origins.measured:
        values["fp_fma"] = origins.measured_as(f"{key}.fp_fma", _cost(origins.cycles("fp_fma_free")), "fp_fma_free")
    else:
        both = values["fp_mul"] + values["fp_add"]
        values["fp_fma"] = origins.note(
            f"{key}.fp_fma", both, "estimate: multiply and add, as the processor has no FMA"
        )
    return values


def _cost(cycles: float) -> float:
    """Return *cycles* rounded to the runtime's precision."""
    return round(max(0.0, cycles), 3)


def _coherence(origins: Origins, host: Host, levels: list[dict[str, Any]]) -> dict[str, Any]:
    del host
    line = levels[-1]["line_bytes"]
    return {
        "kind": origins.note("coherence.kind", "full_map", "estimate: typical of current processors"),
        "line_bytes": origins.note("coherence.line_bytes", line, origins.said["cache.0.line_bytes"]),
        "exclusive_state": origins.note("coherence.exclusive_state", True, "vendor: MESI family"),
    }


def _network(origins: Origins, host: Host, levels: list[dict[str, Any]]) -> dict[str, Any]:
    """Return sockets with one channel each: only their total bandwidth can be measured, not their number."""
    ghz, key = origins.clock_ghz, "network"
    before = sum(level["hit_cycles"] for level in levels) / ghz + origins.measured["load_chain"].median
    memory_ns = max(0.0, origins.measured["memory_chase"].median - before)
    names = [name for name in ("read_by_one", "read_by_two") if name in origins.measured]
    rate = max(origins.measured[name].median for name in names)
    share = (len(host.processors) // host.threads_per_core + host.sockets - 1) // host.sockets
    values: dict[str, Any] = {
        "kind": origins.note(f"{key}.kind", "numa", "choice"),
        "sockets": origins.note(f"{key}.sockets", host.sockets, "system"),
        "socket_processors": origins.note(f"{key}.socket_processors", share, "system: cores of a socket"),
        "channels": origins.note(f"{key}.channels", 1, "estimate: one value for all, the system does not report them"),
        "channel_gb_s": origins.measured_as(f"{key}.channel_gb_s", round(rate, 2), *names, how="the larger"),
        "memory_ns": origins.measured_as(
            f"{key}.memory_ns", round(memory_ns, 1), "memory_chase", how="minus the cache lookup"
        ),
    }
    values |= bandwidth(origins, host)
    values |= _transfers(origins, levels, before)
    values |= _farther(origins)
    values |= transfers(origins, host, before, values["link_ns"])
    values["link_gb_s"] = origins.note(f"{key}.link_gb_s", round(rate, 2), "estimate: as much as the memory")
    values["header_bytes"] = origins.note(f"{key}.header_bytes", 16, "estimate")
    return values


def _farther(origins: Origins) -> dict[str, Any]:
    """Return the additional one-way latency to memory of another socket, and of another memory node in the socket."""
    near = origins.measured["memory_chase"].median
    values: dict[str, Any] = {}
    if "far_chase" in origins.measured:
        far = max(0.0, (origins.measured["far_chase"].median - near) / 2)
        values["link_ns"] = origins.measured_as("network.link_ns", round(far, 1), "far_chase", "memory_chase")
    else:
        values["link_ns"] = origins.note("network.link_ns", 40.0, "estimate: not used, one socket")
    if "node_chase" in origins.measured:
        more = max(0.0, origins.measured["node_chase"].median - near)
        values["node_ns"] = origins.measured_as("network.node_ns", round(more, 1), "node_chase", "memory_chase")
    return values


def _transfers(origins: Origins, levels: list[dict[str, Any]], before: float) -> dict[str, Any]:
    """Return the cost of moving a line from one processor to another.

    To pass it back and forth, each side first reads it and then writes it: *transfer* is the copy, *snoop* the
    invalidation of the other's copy. The measurement gives their sum.
    """
    del levels
    if "transfer" not in origins.measured:
        half = round(origins.measured["memory_chase"].median / 2, 1)
        return {
            key: origins.note(f"network.{key}", half, "estimate: half of memory, one processor cannot measure it")
            for key in ("transfer_ns", "snoop_ns")
        }
    whole = max(0.0, origins.measured["transfer"].median - before)
    return {
        "transfer_ns": origins.measured_as(
            "network.transfer_ns", round(whole / 2, 1), "transfer", how="half of it, minus the cache lookup"
        ),
        "snoop_ns": origins.measured_as("network.snoop_ns", round(whole / 2, 1), "transfer", how="the other half"),
    }


def _memory(origins: Origins, host: Host) -> dict[str, Any]:
    touch = round(origins.cycles("page_touch"))
    return {
        "page_bytes": origins.note("memory.page_bytes", host.page_bytes, "system: page size"),
        "page_miss_cycles": origins.measured_as(
            "memory.page_miss_cycles", touch, "page_touch", how=in_words(origins, ["page_touch"])
        ),
        "placement": origins.note("memory.placement", "first_touch", "system: its default"),
    }


def _balancing(origins: Origins, host: Host) -> dict[str, Any]:
    key = "balancing.scan_delay_ms"
    if not host.balances or host.nodes < 2:
        return {
            "scan_delay_ms": origins.note(key, 0.0, "system: kernel.numa_balancing, and the number of memory nodes")
        }
    fault_us = round(origins.measured["page_touch"].median / 1000, 3)
    return {
        "scan_delay_ms": origins.note(key, 1000.0, "system: kernel.numa_balancing; vendor: Linux's default delay"),
        "fault_us": origins.measured_as("balancing.fault_us", fault_us, "page_touch", how="both are minor faults"),
    }


def _synchronisation(origins: Origins, host: Host) -> dict[str, Any]:
    """Return the instruction counts of the host's OpenMP library; cache line transfers are simulated in addition."""
    key = "synchronisation"
    alone = {name: max(0, round(origins.cycles(f"{name}_by_one"))) for name in ("region", "barrier", "lock", "chunk")}
    fork = max(0, alone["region"] - alone["barrier"])
    values: dict[str, Any] = {
        "barrier": origins.note(f"{key}.barrier", "central", "vendor: one counter, as gcc's library has it"),
        "barrier_radix": origins.note(f"{key}.barrier_radix", 4, "estimate: not used by a central barrier"),
        "barrier_hardware_cycles": origins.note(f"{key}.barrier_hardware_cycles", 100, "estimate: not used"),
        "lock": origins.note(f"{key}.lock", "test_and_set", "vendor: as gcc's library has it"),
        "atomic_cycles": origins.measured_as(f"{key}.atomic_cycles", round(origins.cycles("atomic")), "atomic"),
        "fork_cycles": origins.measured_as(
            f"{key}.fork_cycles", fork, "region_by_one", "barrier_by_one", how="the difference"
        ),
        "alone_cycles": origins.measured_as(
            f"{key}.alone_cycles", alone["region"], "region_by_one", how="with the barrier at its end"
        ),
        "fork_per_processor_cycles": _fork_share(origins, host, fork),
        "schedule_cycles": origins.measured_as(f"{key}.schedule_cycles", alone["chunk"], "chunk_by_one"),
        "lock_cycles": origins.measured_as(
            f"{key}.lock_cycles",
            round(alone["lock"] / 2),
            "lock_by_one",
            how="; ".join(filter(None, ["half of it each way", in_words(origins, ["lock"])])),
        ),
        "barrier_cycles": origins.measured_as(
            f"{key}.barrier_cycles", alone["barrier"], "barrier_by_one", how=in_words(origins, ["barrier"])
        ),
        "task_cycles": origins.measured_as(f"{key}.task_cycles", round(origins.cycles("task_by_one")), "task_by_one"),
    }
    return values


def _fork_share(origins: Origins, host: Host, fork: int) -> int:
    """Return the cost per member of a region: that of two threads, minus barrier, fork and a line transfer."""
    key = "synchronisation.fork_per_processor_cycles"
    if (of_many := fork_share(origins)) is not None:
        return int(origins.note(key, *of_many))
    if len(host.processors) < 2 or "region_by_two" not in origins.measured:
        return int(origins.note(key, fork, "estimate: as much as fork_cycles, one processor cannot measure it"))
    names = ("region_by_two", "barrier_by_two", "transfer")
    whole, barrier, transfer = map(origins.cycles, names)
    rest = max(0, round(whole - barrier - transfer - fork))
    return int(origins.measured_as(key, rest, *names, how="the first minus the others and fork_cycles"))
