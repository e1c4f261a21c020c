"""The networks that a machine may have.

A network is one class here and one C file beside `sg_net_ring.c`; :meth:`runtime` is where physical quantities
(nanoseconds, gigabytes a second) become the cycles that the C side counts in.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from scalegraph.machine.fields import Section, choice, quantity


class Ring(Section):
    """Slotted rings in two levels: a packet waits for an empty slot and keeps it for a revolution."""

    kind: Literal["ring"] = choice("Topology: slotted rings joined by an upper ring.")
    ring_processors: int = quantity("Processors on one ring.", "processors", 1, 1024)
    rings: int = quantity("Rings that the upper ring can join.", "rings", 1, 1024)
    hop_cycles: int = quantity("Time of a slot from one station of a ring to the next.", "cycles", 1, 10_000)
    upper_hop_cycles: int = quantity("The same on the upper ring, one station for each ring.", "cycles", 1, 10_000)
    interface_cycles: int = quantity(
        "Time in the asking processor's ring interface, both ways together.", "cycles", 0, 100_000
    )
    holder_cycles: int = quantity("A processor's cache is busy with supplying one line.", "cycles", 0, 100_000)
    router_cycles: int = quantity("One passage between a ring and the upper ring.", "cycles", 0, 100_000)

    def runtime(self, clock_hz: float, line_bytes: int) -> dict[str, int]:
        """Return the parameters of the C side; times are in cycles of *clock_hz* already."""
        del clock_hz, line_bytes
        return self.model_dump(exclude={"kind"})

    def capacity(self) -> int:
        """Processors that find a place."""
        return self.ring_processors * self.rings

    def nodes(self) -> int:
        """Places where a page can live: with every processor."""
        return self.capacity()


class Multistage(Section):
    """Omega network of k x k switches between processors and interleaved memory modules."""

    kind: Literal["multistage"] = choice("Topology: stages of switches, one memory module at every port.")
    radix: int = quantity("Inputs and outputs of a switch.", "ports", 2, 64)
    least_ports: int = quantity(
        "Ports of the smallest network; a run with more processors has more stages.", "ports", 2, 65_536
    )
    switch_cycles: int = quantity("First flit of a message through one stage.", "cycles", 1, 10_000)
    flit_bytes: int = quantity("Bytes that pass a switch port in one cycle.", "bytes", 1, 4096)
    header_bytes: int = quantity("Header of a message.", "bytes", 1, 4096)
    memory_cycles: int = quantity("A memory module is busy with reading or writing a line.", "cycles", 1, 100_000)
    directory_cycles: int = quantity("A memory module is busy with its directory alone.", "cycles", 1, 100_000)
    snoop_cycles: int = quantity("A cache needs to answer a request of the directory.", "cycles", 0, 100_000)
    switching: Literal["packet", "circuit"] = choice(
        "packet: a message takes a port while it passes; circuit: a request keeps its path until the reply is back.",
        default="packet",
    )
    retry_cycles: int = quantity(
        "Circuits: a request that finds a port of its path taken tries again so much later.", "cycles", 1, 100_000,
        default=8,
    )  # fmt: skip

    def runtime(self, clock_hz: float, line_bytes: int) -> dict[str, int]:
        """Return the parameters of the C side; times are in cycles of *clock_hz* already."""
        del clock_hz, line_bytes
        kept: dict[str, int] = self.model_dump(exclude={"kind", "switching"})
        return kept | {"retry_cycles": self.retry_cycles if self.switching == "circuit" else 0}

    def capacity(self) -> int:
        """Processors that find a place: the network grows with them."""
        return 4096

    def nodes(self) -> int:
        """Places where a page can live: one behind every port, though lines go round all of them."""
        return self.least_ports


def _cycles(nanoseconds: float, clock_hz: float) -> int:
    return round(nanoseconds * 1e-9 * clock_hz)


def _busy(size: int, gb_s: float, clock_hz: float) -> int:
    """Return how long *size* bytes take at a bandwidth, in 1/1000 cycle."""
    return round(1000 * size / (gb_s * 1e9) * clock_hz)


class Numa(Section):
    """Sockets with memory channels of their own and links between them."""

    kind: Literal["numa"] = choice("Topology: sockets with their own memory, joined by links.")
    sockets: int = quantity("Sockets.", "sockets", 1, 64)
    topology: Literal["full", "ring", "hypercube"] = choice(
        "full: a link between every two sockets; ring: between neighbours; "
        "hypercube: between those whose numbers differ in one binary digit.",
        default="full",
    )
    socket_processors: int = quantity("Processors (cores) of one socket.", "processors", 1, 4096)
    channels: int = quantity("Memory channels of one socket, lines interleaved over them.", "channels", 1, 1024)
    channel_gb_s: float = quantity("Bandwidth of one memory channel.", "GB/s", 0.001, 100_000)
    banks: int = quantity("Banks of one channel, lines interleaved over them.", "banks", 1, 1024, default=1)
    bank_busy_ns: float = quantity(
        "A bank is busy with one line; 0: only the channel's bandwidth counts.", "ns", 0, 100_000, default=0.0
    )
    memory_ns: float = quantity("From the miss of the last cache to the data of the own memory.", "ns", 0, 100_000)
    transfer_ns: float = quantity("The same to the data of another cache of the socket.", "ns", 0, 100_000)
    snoop_ns: float = quantity("To invalidate the copies within one socket.", "ns", 0, 100_000)
    link_ns: float = quantity("A message one way over one link.", "ns", 0, 100_000)
    link_gb_s: float = quantity("Bandwidth of a link, each direction.", "GB/s", 0.001, 100_000)
    header_bytes: int = quantity("Header of a message on the link.", "bytes", 1, 4096)

    def runtime(self, clock_hz: float, line_bytes: int) -> dict[str, int]:
        """Return the parameters of the C side, times rounded to cycles, occupancies to 1/1000 cycle."""
        return {
            "sockets": self.sockets,
            "topology": ("full", "ring", "hypercube").index(self.topology),
            "socket_processors": self.socket_processors,
            "channels": self.channels,
            "banks": self.banks,
            "memory_cycles": _cycles(self.memory_ns, clock_hz),
            "transfer_cycles": _cycles(self.transfer_ns, clock_hz),
            "snoop_cycles": _cycles(self.snoop_ns, clock_hz),
            "link_cycles": _cycles(self.link_ns, clock_hz),
            "channel_line_millicycles": _busy(line_bytes, self.channel_gb_s, clock_hz),
            "bank_millicycles": 1000 * _cycles(self.bank_busy_ns, clock_hz),
            "link_line_millicycles": _busy(line_bytes + self.header_bytes, self.link_gb_s, clock_hz),
            "link_control_millicycles": _busy(self.header_bytes, self.link_gb_s, clock_hz),
        }

    def capacity(self) -> int:
        """Processors that find a place."""
        return self.sockets * self.socket_processors

    def nodes(self) -> int:
        """Places where a page can live."""
        return self.sockets


class Bus(Section):
    """One bus that all caches watch, and memory modules on it."""

    kind: Literal["bus"] = choice("Topology: one bus; every cache watches it.")
    bus_processors: int = quantity("Processors that find a place on the bus.", "processors", 1, 4096)
    bus_mhz: float = quantity("Clock of the bus.", "MHz", 0.001, 1e6)
    split: bool = choice("Addresses and data go over two parts of the bus, both free while memory looks for a line.")
    arbitration_bus_cycles: int = quantity("From a request to the first cycle of its address.", "bus cycles", 0, 10_000)
    address_bus_cycles: int = quantity("The bus is busy with one address.", "bus cycles", 1, 10_000)
    snoop_bus_cycles: int = quantity("From then on until all caches have answered.", "bus cycles", 0, 10_000)
    data_bytes: int = quantity("Bytes that pass the bus in one cycle.", "bytes", 1, 4096)
    data_overhead_bus_cycles: int = quantity(
        "Cycles of a data transfer besides those that carry the line.", "bus cycles", 0, 10_000, default=0
    )
    modules: int = quantity("Memory modules, lines interleaved over them.", "modules", 1, 1024)
    memory_ns: float = quantity("From the address to the data of a module.", "ns", 0, 100_000)
    memory_busy_ns: float = quantity("A module is busy with one line.", "ns", 0, 100_000)
    supply_ns: float = quantity("From a cache's answer to its data, when it has the dirty copy.", "ns", 0, 100_000)

    def runtime(self, clock_hz: float, line_bytes: int) -> dict[str, int]:
        """Return the parameters of the C side, all times in 1/1000 cycle."""

        def bus(cycles: int) -> int:
            return max(int(cycles > 0), round(1000 * cycles * clock_hz / (self.bus_mhz * 1e6)))

        def time(nanoseconds: float) -> int:
            return round(1000 * nanoseconds * 1e-9 * clock_hz)

        return {
            "bus_processors": self.bus_processors,
            "split": int(self.split),
            "modules": self.modules,
            "arbitration_millicycles": bus(self.arbitration_bus_cycles),
            "address_millicycles": bus(self.address_bus_cycles),
            "snoop_millicycles": bus(self.snoop_bus_cycles),
            "data_millicycles": bus(-(-line_bytes // self.data_bytes) + self.data_overhead_bus_cycles),
            "memory_millicycles": time(self.memory_ns),
            "memory_busy_millicycles": time(self.memory_busy_ns),
            "supply_millicycles": time(self.supply_ns),
        }

    def capacity(self) -> int:
        """Processors that find a place."""
        return self.bus_processors

    def nodes(self) -> int:
        """Places where a page can live: all memory is equally far."""
        return 1


class Mesh(Section):
    """Two-dimensional mesh of tiles with a part of the directory each; memory controllers at two edges."""

    kind: Literal["mesh"] = choice("Topology: mesh of tiles, messages along the row first, then along the column.")
    width: int = quantity("Columns of tiles.", "tiles", 1, 64)
    height: int = quantity("Rows of tiles.", "tiles", 1, 64)
    router_cycles: int = quantity("First flit of a message through one router.", "cycles", 0, 10_000)
    link_cycles: int = quantity("And over one link.", "cycles", 1, 10_000)
    flit_bytes: int = quantity("Bytes that pass a link in one cycle.", "bytes", 1, 4096)
    header_bytes: int = quantity("Header of a message.", "bytes", 1, 4096)
    directory_cycles: int = quantity("A tile's part of the directory is busy with one request.", "cycles", 0, 100_000)
    snoop_cycles: int = quantity("A cache needs to answer a request of the directory.", "cycles", 0, 100_000)
    controllers: int = quantity("Memory controllers, at the west and the east edge in turn.", "controllers", 1, 128)
    banks: int = quantity("Banks of one controller, lines interleaved over them.", "banks", 1, 1024)
    memory_cycles: int = quantity("A controller needs to read a line.", "cycles", 0, 1_000_000)
    bank_busy_cycles: int = quantity("A bank is busy with one line.", "cycles", 0, 1_000_000)

    def runtime(self, clock_hz: float, line_bytes: int) -> dict[str, int]:
        """Return the parameters of the C side; times are in cycles of *clock_hz* already."""
        del clock_hz, line_bytes
        return self.model_dump(exclude={"kind"})

    def capacity(self) -> int:
        """Processors that find a place."""
        return self.width * self.height

    def nodes(self) -> int:
        """Places where a page can live."""
        return self.controllers


class Hypernode(Section):
    """Hypernodes with a crossbar inside and rings between them."""

    kind: Literal["hypernode"] = choice("Topology: crossbars of a few processors, joined by one-way rings.")
    hypernodes: int = quantity("Hypernodes on a ring.", "hypernodes", 1, 64)
    hypernode_processors: int = quantity("Processors of one hypernode.", "processors", 1, 64)
    rings: int = quantity("Rings, and functional units of a hypernode, lines interleaved over them.", "rings", 1, 64)
    crossbar_cycles: int = quantity("One passage of the crossbar.", "cycles", 0, 100_000)
    crossbar_bytes: int = quantity("Bytes of a line that pass a port of the crossbar in one cycle.", "bytes", 1, 4096)
    memory_cycles: int = quantity("A unit's memory is busy with reading or writing a line.", "cycles", 1, 100_000)
    directory_cycles: int = quantity("A unit's memory is busy with its directory alone.", "cycles", 0, 100_000)
    snoop_cycles: int = quantity("A cache needs to answer a request of the directory.", "cycles", 0, 100_000)
    controller_cycles: int = quantity("One passage between a unit and its ring.", "cycles", 0, 100_000)
    hop_cycles: int = quantity("From one hypernode to the next on a ring.", "cycles", 1, 10_000)
    ring_bytes: int = quantity("Bytes that pass a link of a ring in one cycle.", "bytes", 1, 4096)
    header_bytes: int = quantity("Header of a packet.", "bytes", 1, 4096)

    def runtime(self, clock_hz: float, line_bytes: int) -> dict[str, int]:
        """Return the parameters of the C side; times are in cycles of *clock_hz* already."""
        del clock_hz, line_bytes
        return self.model_dump(exclude={"kind"})

    def capacity(self) -> int:
        """Processors that find a place."""
        return self.hypernodes * self.hypernode_processors

    def nodes(self) -> int:
        """Places where a page can live."""
        return self.hypernodes


Network = Annotated[Ring | Multistage | Numa | Bus | Mesh | Hypernode, Field(discriminator="kind")]
