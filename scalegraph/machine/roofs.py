"""What a machine can do at most on so many processors: operations a second, and bytes a second from its memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scalegraph.machine.active import clock_hz

if TYPE_CHECKING:
    from scalegraph.machine.model import Machine

LANES: Final = 4  # doubles of a vector of 32 bytes
_WORD: Final = 8  # bytes of a load


@dataclass(frozen=True)
class Roofs:
    """The roofs over *processors* of a machine.

    *plain_flops_s*: floating-point operations a second, one an instruction; *vector_flops_s*: fused multiply-adds of
    vectors of `LANES` doubles; *operations_s*: operations of any kind. *channels_b_s*: bytes a second that memory
    gives, *cores_b_s*: that the processors can take in from there; each NaN where the machine has no such limit.
    *written*: what a byte that is written back takes of the first, of one that is read. *shared_b_s*, *first_b_s*:
    bytes a second from the last shared level of caches, NaN without one, and from the first level.
    """

    processors: int
    line_bytes: int
    plain_flops_s: float
    vector_flops_s: float
    operations_s: float
    channels_b_s: float
    cores_b_s: float
    written: float
    shared_b_s: float
    first_b_s: float

    @property
    def memory_b_s(self) -> float:
        """Bytes a second of reads from memory; NaN without a limit."""
        return _or_nan(min(_or_infinite(self.channels_b_s), _or_infinite(self.cores_b_s)))

    def moved_b_s(self, read: float, written: float) -> float:
        """Return the bytes a second at which so many bytes *read* and *written* can move; NaN without a limit."""
        channels = (read + written) / (read + self.written * written) * _or_infinite(self.channels_b_s)
        cores = (read + written) / read * _or_infinite(self.cores_b_s) if read else math.inf
        return _or_nan(min(channels, cores))


def roofs(machine: Machine, processors: int) -> Roofs:
    """Return the roofs over *processors* processors of *machine*: all of them busy, with data of their own.

    Pages are where they are used (first touch), so that each memory node that has working processors gives all of its
    bandwidth; the first processors work, as in a run.
    """
    cost, pipeline = machine.processor.operation_cycles, machine.processor.pipeline
    issue = 1 / pipeline.issue if pipeline.issue else float(machine.processor.issue_width)
    all_cycles = processors * clock_hz(machine, processors)
    plain = min(_per_cycle(min(cost.fp_add, cost.fp_mul)), issue)
    fused = 2 * min(_per_cycle(cost.fp_fma), issue)
    network = machine.network
    return Roofs(
        processors=processors,
        line_bytes=machine.coherence.line_bytes,
        plain_flops_s=plain * all_cycles,
        vector_flops_s=LANES * max(fused, plain) * all_cycles,
        operations_s=issue * all_cycles,
        channels_b_s=_memory(machine, processors),
        cores_b_s=_or_nan(processors * _core(machine, _memory_ns(machine))),
        written=getattr(network, "write_cost", 1.0),
        shared_b_s=_shared(machine, processors),
        first_b_s=_WORD * min(_per_cycle(cost.load), issue) * all_cycles,
    )


def _per_cycle(cycles: float) -> float:
    return 1 / cycles if cycles else math.inf


def _or_nan(value: float) -> float:
    return value if math.isfinite(value) and value > 0 else math.nan


def _or_infinite(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _memory_ns(machine: Machine) -> float:
    """Return what a line from memory takes, with the look into all levels; NaN where the network has no such value."""
    looks = sum(level.hit_cycles for level in machine.cache) / machine.clock_hz * 1e9
    own: float = getattr(machine.network, "memory_ns", math.nan)
    return looks + own


def _core(machine: Machine, line_ns: float) -> float:
    """Return the bytes a second that one processor takes in, of lines that need *line_ns* each; infinite if unknown."""
    under_way = max(machine.processor.pipeline.misses or machine.processor.memory_parallelism, 1.0)
    if machine.prefetch.kind != "none":
        under_way = max(under_way, machine.prefetch.under_way or math.inf)
    rate = under_way * machine.coherence.line_bytes / line_ns * 1e9 if line_ns > 0 else math.inf
    own = machine.memory.core_read_gb_s * 1e9
    return min(rate, own) if own else rate


def _shared(machine: Machine, processors: int) -> float:
    """Return the bytes a second from the last shared level; NaN without one."""
    if machine.cache[-1].shared_by <= 1:
        return math.nan
    return _or_nan(
        processors * _core(machine, sum(level.hit_cycles for level in machine.cache) / machine.clock_hz * 1e9)
    )


def _memory(machine: Machine, processors: int) -> float:
    """Return the bytes a second that the memory gives which *processors* processors use; NaN without a limit."""
    each = machine.node_processors
    whole, rest = divmod(processors, each)
    parts = [each] * whole + ([rest] if rest else [])
    line, clock = machine.coherence.line_bytes, machine.clock_hz
    return _or_nan(sum(machine.network.memory_b_s(count, line, clock) for count in parts))
