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

    def runtime(self, clock_hz: float, line_bytes: int) -> dict[str, int]:
        """Return the parameters of the C side; times are in cycles of *clock_hz* already."""
        del clock_hz, line_bytes
        return self.model_dump(exclude={"kind"})

    def capacity(self) -> int:
        """Processors that find a place: the network grows with them."""
        return 4096


class Numa(Section):
    """Sockets with memory channels of their own and a link between each two of them."""

    kind: Literal["numa"] = choice("Topology: sockets with their own memory, every two of them linked.")
    sockets: int = quantity("Sockets.", "sockets", 1, 64)
    socket_processors: int = quantity("Processors (cores) of one socket.", "processors", 1, 4096)
    channels: int = quantity("Memory channels of one socket, lines interleaved over them.", "channels", 1, 1024)
    channel_gb_s: float = quantity("Bandwidth of one memory channel.", "GB/s", 0.001, 100_000)
    memory_ns: float = quantity("From the miss of the last cache to the data of the own memory.", "ns", 0, 100_000)
    transfer_ns: float = quantity("The same to the data of another cache of the socket.", "ns", 0, 100_000)
    snoop_ns: float = quantity("To invalidate the copies within one socket.", "ns", 0, 100_000)
    link_ns: float = quantity("A message one way between two sockets.", "ns", 0, 100_000)
    link_gb_s: float = quantity("Bandwidth of the link between two sockets, each direction.", "GB/s", 0.001, 100_000)
    header_bytes: int = quantity("Header of a message on the link.", "bytes", 1, 4096)

    def runtime(self, clock_hz: float, line_bytes: int) -> dict[str, int]:
        """Return the parameters of the C side, times rounded to cycles, occupancies to 1/1000 cycle."""

        def cycles(nanoseconds: float) -> int:
            return round(nanoseconds * 1e-9 * clock_hz)

        def busy(size: int, gb_s: float) -> int:
            return round(1000 * size / (gb_s * 1e9) * clock_hz)

        return {
            "sockets": self.sockets,
            "socket_processors": self.socket_processors,
            "channels": self.channels,
            "memory_cycles": cycles(self.memory_ns),
            "transfer_cycles": cycles(self.transfer_ns),
            "snoop_cycles": cycles(self.snoop_ns),
            "link_cycles": cycles(self.link_ns),
            "channel_line_millicycles": busy(line_bytes, self.channel_gb_s),
            "link_line_millicycles": busy(line_bytes + self.header_bytes, self.link_gb_s),
            "link_control_millicycles": busy(self.header_bytes, self.link_gb_s),
        }

    def capacity(self) -> int:
        """Processors that find a place."""
        return self.sockets * self.socket_processors


Network = Annotated[Ring | Multistage | Numa, Field(discriminator="kind")]
