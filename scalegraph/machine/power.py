"""Power and price of a machine: watts of nodes, sockets and cores, energy of memory traffic, price of a node-hour."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from scalegraph.base.units import plain
from scalegraph.machine.fields import Section, choice, quantity

if TYPE_CHECKING:
    from scalegraph.machine.model import Machine

_WATTS: Final = 1e5


class Power(Section):
    """Power of the machine in additive parts; a file states them only if a source does."""

    covers: str = choice(
        "What the power values cover: sockets, sockets and memory, or whole nodes at the plug.",
        min_length=1,
        max_length=120,
    )
    node_w: float = quantity(
        "Each node in use, excluding its sockets, whatever the load.", "W", 0, _WATTS, default=0.0, runtime=()
    )
    socket_w: float = quantity("Each socket in use, whatever the load.", "W", 0, _WATTS, default=0.0, runtime=())
    core_w: float = quantity(
        "In addition, each core while it executes or waits for memory.", "W", 0, _WATTS, runtime=()
    )
    waiting_core_w: float = quantity(
        "In addition, each core while its thread spins, waiting for others.", "W", 0, _WATTS, runtime=()
    )
    memory_j_gb: float = quantity(
        "In addition, every 10^9 bytes moved between memory and caches.", "J/GB", 0, 1e6, default=0.0, runtime=()
    )


class Price(Section):
    """The price charged to the user."""

    node_hour: float = quantity("One node for one hour.", "currency", 0, 1e6, runtime=())
    currency: str = choice("Currency of node_hour, as three capital letters (ISO 4217).", pattern=r"^[A-Z]{3}$")


def cores(machine: Machine, processors: int) -> float:
    """Return the number of cores used by *processors*: fewer if processors are hardware threads."""
    each = machine.processor.threads_per_core
    return processors / each if processors > machine.processor.count // each else float(processors)


def nodes(machine: Machine, processors: int, processes: int | None = None) -> int:
    """Return the number of nodes for *processors*; the threads of each of *processes* processes share a node."""
    threads = -(-processors // processes) if processes else 1
    room = max(1, machine.node_processors // threads) * threads
    return math.ceil(processors / room)


def sockets(machine: Machine, processors: int, processes: int | None = None) -> int:
    """Return the number of sockets used; processors fill the sockets of a node one after the other."""
    socket = machine.network.cluster() or machine.node_processors
    count = nodes(machine, processors, processes)
    each, rest = divmod(processors, count)
    return rest * math.ceil((each + 1) / socket) + (count - rest) * math.ceil(each / socket)


def contradictions(machine: Machine) -> list[tuple[tuple[str | int, ...], str]]:
    """Return impossible power values: no idle power at all for nodes and sockets, or waiting above working."""
    power = machine.power
    if power is None:
        return []
    if not power.node_w and not power.socket_w:
        return [(("power", "socket_w"), "expected more than 0 of socket_w or node_w: a machine at rest draws power")]
    if power.waiting_core_w > power.core_w:
        text = f"expected at most core_w ({plain(power.core_w)}), got {plain(power.waiting_core_w)}"
        return [(("power", "waiting_core_w"), text)]
    return []
