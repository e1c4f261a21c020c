"""A machine with a number of active processors: the clock drops with active cores, hardware threads share a core.

All cycles remain cycles of ``processor.clock_mhz``, the fastest core clock. If more active cores make all of them
slower, operations of a core take more of these cycles; components with their own clock (shared levels, the network,
memory) are unaffected.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scalegraph.base.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scalegraph.machine.fields import Section
    from scalegraph.machine.model import Machine

RANKS_PER_NODE: Final = "program.ranks_per_node"
_OF_THE_CORE = ("synchronisation", "branches", "translation", "threads", "monitor")


def spread(machine: Machine, ranks: int, threads: int) -> Machine:
    """Return *machine* with at most *ranks* processes of *threads* threads per node, leaving other processors idle.

    Zero ranks means as many as fit on a node. Raises `InputError` if a node has no room for them.
    """
    each = ranks * threads
    if each == 0 or each == machine.node_processors:
        return machine
    if machine.interconnect is None:
        text = f"machine '{machine.name}' is one node; ranks a node are chosen on a machine with an interconnect"
        raise InputError(Fault(text, key=RANKS_PER_NODE))
    if each > machine.node_processors:
        processes = f"{ranks} ranks" + (f" of {threads} threads" if threads > 1 else "")
        text = f"{processes}: a node of machine '{machine.name}' has {machine.node_processors} processors"
        raise InputError(Fault(text, key=RANKS_PER_NODE))
    nodes = machine.processor.count // machine.node_processors
    return _changed(
        machine,
        {
            "nodes": _changed(machine.nodes, {"processors": each}),
            "processor": _changed(machine.processor, {"count": nodes * each}),
        },
    )


def active(machine: Machine, processors: int) -> Machine:
    """Return *machine* with the values that apply while *processors* are active; unchanged if none depends on that."""
    if machine.processor.threads_per_core > 1:
        machine = _threads(machine, processors)
    slower = machine.clock_hz / clock_hz(machine, processors)
    return machine if slower == 1 else _slower(machine, slower)


def clock_hz(machine: Machine, processors: int) -> float:
    """Return the core clock in Hz while *processors* of *machine* are active.

    Processors fill one socket after the other, and the fullest socket decides: a parallel program runs at the pace of
    its slowest core.
    """
    cores, clocks = machine.processor.turbo_cores, machine.processor.turbo_clock
    if not cores:
        return machine.clock_hz
    busy = min(processors, machine.network.cluster() or machine.node_processors, machine.node_processors)
    return machine.clock_hz * next((part for most, part in zip(cores, clocks, strict=True) if busy <= most), clocks[-1])


def values(machine: Machine) -> dict[str, str]:
    """Return the values that affect `active`; empty if it changes nothing."""
    names = ("threads_per_core", "turbo_cores", "turbo_clock")
    fields = type(machine.processor).model_fields
    found = {name: getattr(machine.processor, name) for name in names}
    return {f"active.{name}": str(value) for name, value in found.items() if value != fields[name].default}


_Part = TypeVar("_Part", bound="Section")


def _changed(section: _Part, changes: dict[str, Any]) -> _Part:
    return section.model_copy(update=changes)


def _scaled(section: _Part, by: float, names: Iterable[str]) -> _Part:
    """Return *section* with the fields *names*, in cycles, multiplied by *by*; integers stay integers."""
    found = {name: getattr(section, name) for name in names}
    whole = {name: round(value * by) if isinstance(value, int) else value * by for name, value in found.items()}
    return _changed(section, whole)


def _cycles(section: Section) -> list[str]:
    from scalegraph.machine.fields import unit_of

    return [name for name in type(section).model_fields if unit_of(type(section), name) == "cycles"]


def _slower(machine: Machine, by: float) -> Machine:
    """Return *machine* with cores slowed down by the factor *by*."""
    processor = machine.processor
    pipeline = _scaled(processor.pipeline, by, _cycles(processor.pipeline))
    if pipeline.issue == 0:
        pipeline = _changed(pipeline, {"issue": by / processor.issue_width})
    operations = _scaled(processor.operation_cycles, by, _cycles(processor.operation_cycles))
    levels = [level if level.shared_by > 1 else _scaled(level, by, ["hit_cycles"]) for level in machine.cache]
    return _changed(
        machine,
        {
            "processor": _changed(processor, {"pipeline": pipeline, "operation_cycles": operations}),
            "cache": tuple(levels),
            "memory": _scaled(machine.memory, by, ["page_miss_cycles"]),
            **{name: _scaled(getattr(machine, name), by, _cycles(getattr(machine, name))) for name in _OF_THE_CORE},
        },
    )


def _threads(machine: Machine, processors: int) -> Machine:
    """Return *machine* with hardware threads as processors if *processors* exceeds its number of cores.

    Each gets a share of the core: issue slots, units, window, scheduler, outstanding misses, lines of the private
    caches and TLB entries. Latencies are those of the core.
    """
    each = machine.processor.threads_per_core
    cores = machine.processor.count // each
    if processors <= cores:
        return machine
    processor, pipeline, prefetch = machine.processor, machine.processor.pipeline, machine.prefetch
    issue = pipeline.issue or 1 / processor.issue_width
    shared = {
        "window": pipeline.window // each,
        "scheduler": pipeline.scheduler // each,
        "fp_scheduler": pipeline.fp_scheduler // each,
        "misses": math.ceil(pipeline.misses / each),
        "issue": issue * each,
        "taken": pipeline.taken * each,
        "library_call": pipeline.library_call * each,
        "line": pipeline.line * each,
        "status": pipeline.status * each,
        "fp_mixed": pipeline.fp_mixed * each,
        "select": pipeline.select * each,
        "compare": pipeline.compare * each,
    }
    operations = _scaled(processor.operation_cycles, each, type(processor.operation_cycles).model_fields)
    levels = [
        _changed(level, {"shared_by": level.shared_by * each})
        if level.shared_by > 1
        else _changed(level, {"size_kib": level.size_kib // each, "ways": level.ways // each})
        for level in machine.cache
    ]
    return _changed(
        machine,
        {
            "processor": _changed(
                processor,
                {
                    "pipeline": _changed(pipeline, shared),
                    "operation_cycles": operations,
                    "memory_parallelism": max(1.0, processor.memory_parallelism / each),
                },
            ),
            "cache": tuple(levels),
            "network": _changed(machine.network, {"socket_processors": machine.network.cluster() * each}),
            "prefetch": _changed(prefetch, {"under_way": math.ceil(prefetch.under_way / each)}),
            "translation": _changed(machine.translation, {"entries": max(16, machine.translation.entries // each)}),
        },
    )
