"""What a run costs: energy to solution, energy-delay product, core-hours, node-hours and price.

Power and price come from the machine file (`machine.power`), seconds and bytes from the run's own accounts. Nothing is
fitted to runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scalegraph.machine import power as powers
from scalegraph.runtime.format import CATEGORY_GROUPS

if TYPE_CHECKING:
    from scalegraph.base.run import RunRecord
    from scalegraph.machine.model import Machine

_HOUR: Final = 3600.0
_LINES: Final = "memory_lines"  # lines fetched from memory; older versions did not count them
_WAITING: Final = "idle"
# A processor without a running thread is idle; one whose thread waits spins in the library.
_AT_REST: Final = ("idle_not_started", "idle_finished")


@dataclass(frozen=True)
class Energy:
    """Energy to solution in joules by consumer: nodes and sockets, working cores, waiting cores, memory traffic.

    Source: ScaleGraph; the parts follow Hager, Treibig, Habich and Wellein 2016 (baseline and active cores), plus
    memory traffic.
    """

    base_j: float
    cores_j: float
    waiting_j: float
    memory_j: float

    @property
    def total_j(self) -> float:
        """Energy to solution.

        Unit: J. Source: as of the class.
        """
        return self.base_j + self.cores_j + self.waiting_j + self.memory_j


def energy(run: RunRecord, machine: Machine) -> Energy | None:
    """Return the energy used by *run* on *machine*; None if the machine has no power data or the run no account.

    E = T (n_nodes P_node + n_sockets P_socket) + t_work P_core + t_wait P_waiting + bytes e_memory, where t_work is the
    time processors execute or wait for memory and t_wait the time their threads wait for others (sums over processors).
    The interconnect's power is not included.

    Unit: J. Source: as of `Energy`.
    """
    if why_no_energy(run, machine) or machine.power is None or run.time_s is None or run.clock_hz is None:
        return None
    stated, processors = machine.power, run.point.processors
    base = (
        powers.nodes(machine, processors, run.processes) * stated.node_w
        + powers.sockets(machine, processors, run.processes) * stated.socket_w
    )
    share = powers.cores(machine, processors) / processors / run.clock_hz  # core-seconds per processor cycle
    working = waiting = 0
    for name, cycles in run.categories.items():
        if CATEGORY_GROUPS.get(name) != _WAITING:
            working += cycles
        elif name not in _AT_REST:
            waiting += cycles
    return Energy(
        base_j=run.time_s * base,
        cores_j=working * share * stated.core_w,
        waiting_j=waiting * share * stated.waiting_core_w,
        memory_j=memory_bytes(run, machine) / 1e9 * stated.memory_j_gb if stated.memory_j_gb else 0.0,
    )


def memory_bytes(run: RunRecord, machine: Machine) -> float:
    """Return the bytes moved between memory and caches, both ways.

    Unit: bytes. Source: ScaleGraph.
    """
    lines = run.counters.get(_LINES, 0) + run.counters.get("writebacks", 0)
    return float(lines * machine.coherence.line_bytes)


def why_no_energy(run: RunRecord, machine: Machine | None) -> str:
    """Return a sentence saying why the energy of *run* is unknown, or an empty string.

    Source: ScaleGraph.
    """
    if machine is None:
        return f"machine '{run.machine}' is unknown, and so is its power"
    if machine.power is None:
        return f"machine '{machine.name}' has no power data: add a section [power] to its file"
    if not run.ok:
        return "the run failed"
    if not run.categories or not run.clock_hz:
        return "the run has no account of its processors' cycles: energy is known for simulated runs only"
    if machine.power.memory_j_gb and _LINES not in run.counters:
        return "the run is from a version that did not count memory traffic; run it again"
    return ""


def energy_j(run: RunRecord, machine: Machine) -> float | None:
    """Return the energy to solution of *run*; None as for `energy`.

    Unit: J. Source: as of `energy`.
    """
    found = energy(run, machine)
    return None if found is None else found.total_j


def energy_delay_js(run: RunRecord, machine: Machine) -> float | None:
    """Return the energy-delay product E T of *run*; None as for `energy`.

    Unit: J s. Source: Gonzalez and Horowitz 1996.
    """
    found = energy_j(run, machine)
    return None if found is None or run.time_s is None else found * run.time_s


def core_hours(run: RunRecord, machine: Machine | None = None) -> float | None:
    """Return N T in core-hours, counting cores if processors of *machine* are hardware threads; None without a time.

    Unit: core-hours. Source: as centres count them.
    """
    if run.time_s is None or not math.isfinite(run.time_s):
        return None
    count = run.point.processors if machine is None else powers.cores(machine, run.point.processors)
    return count * run.time_s / _HOUR


def node_hours(run: RunRecord, machine: Machine) -> float | None:
    """Return the node-hours of *run*, counting whole nodes; None without a time.

    Unit: node-hours. Source: as centres count them.
    """
    if run.time_s is None:
        return None
    return powers.nodes(machine, run.point.processors, run.processes) * run.time_s / _HOUR


def price(run: RunRecord, machine: Machine) -> float | None:
    """Return the price of *run*: that of its nodes for its time; None if the machine has no price.

    Unit: the machine's currency (``machine.price.currency``). Source: ScaleGraph.
    """
    hours = node_hours(run, machine)
    return None if hours is None or machine.price is None else hours * machine.price.node_hour


def why_no_price(run: RunRecord, machine: Machine | None) -> str:
    """Return a sentence saying why the price of *run* is unknown, or an empty string.

    Source: ScaleGraph.
    """
    if machine is None:
        return f"machine '{run.machine}' is unknown, and so is its price"
    if machine.price is None:
        return f"machine '{machine.name}' has no price: add a section [price] to its file"
    return "" if run.time_s is not None else "the run has no time"
