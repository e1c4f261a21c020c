"""Peak rates of a machine for a number of processors: operations/s, and memory bandwidth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scalegraph.machine.active import clock_hz

if TYPE_CHECKING:
    from scalegraph.machine.model import Machine

LANES: Final = 4  # doubles in a 32-byte vector
_WORD: Final = 8  # bytes per load


@dataclass(frozen=True)
class Roofs:
    """The roofs of a machine for *processors* processors.

    *plain_flops_s*: scalar floating-point operations/s; *vector_flops_s*: with fused multiply-adds on vectors of
    `LANES` doubles; *operations_s*: operations of any kind. *channels_b_s*: memory bandwidth in bytes/s, *cores_b_s*:
    what the processors can sustain from memory; NaN if unlimited. *written*: channel cost of a written byte relative to
    a read one. *shared_b_s*, *first_b_s*: bandwidth in bytes/s of the last shared cache level (NaN without one) and of
    the first level.
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
        """Read bandwidth of memory in bytes/s; NaN if unlimited."""
        return _or_nan(min(_or_infinite(self.channels_b_s), _or_infinite(self.cores_b_s)))

    def moved_b_s(self, read: float, written: float) -> float:
        """Return the bandwidth in bytes/s for this mix of bytes *read* and *written*; NaN if unlimited."""
        channels = (read + written) / (read + self.written * written) * _or_infinite(self.channels_b_s)
        cores = (read + written) / read * _or_infinite(self.cores_b_s) if read else math.inf
        return _or_nan(min(channels, cores))


def roofs(machine: Machine, processors: int) -> Roofs:
    """Return the roofs of *machine* for *processors* processors, all busy with their own data.

    Pages are local (first touch), so that each memory node with active processors provides its full bandwidth; the
    first processors are active, as in a run.
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
    """Return the latency of a line from memory, including all cache lookups; NaN if the network has no such value."""
    looks = sum(level.hit_cycles for level in machine.cache) / machine.clock_hz * 1e9
    own: float = getattr(machine.network, "memory_ns", math.nan)
    return looks + own


def _core(machine: Machine, line_ns: float) -> float:
    """Return the bandwidth in bytes/s of one processor at a latency of *line_ns* per line; infinite if unknown."""
    under_way = max(machine.processor.pipeline.misses or machine.processor.memory_parallelism, 1.0)
    if machine.prefetch.kind != "none":
        under_way = max(under_way, machine.prefetch.under_way or math.inf)
    rate = under_way * machine.coherence.line_bytes / line_ns * 1e9 if line_ns > 0 else math.inf
    own = machine.memory.core_read_gb_s * 1e9
    return min(rate, own) if own else rate


def _shared(machine: Machine, processors: int) -> float:
    """Return the bandwidth in bytes/s of the last shared level; NaN without one."""
    if machine.cache[-1].shared_by <= 1:
        return math.nan
    return _or_nan(
        processors * _core(machine, sum(level.hit_cycles for level in machine.cache) / machine.clock_hz * 1e9)
    )


def _memory(machine: Machine, processors: int) -> float:
    """Return the memory bandwidth in bytes/s for *processors* processors; NaN if unlimited."""
    each = machine.node_processors
    whole, rest = divmod(processors, each)
    parts = [each] * whole + ([rest] if rest else [])
    line, clock = machine.coherence.line_bytes, machine.clock_hz
    return _or_nan(sum(machine.network.memory_b_s(count, line, clock) for count in parts))
