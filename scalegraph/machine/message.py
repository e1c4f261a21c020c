"""Nodes with their own memory and messages between them, as described in a machine file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from scalegraph.base.speeds import speeds as read_speeds
from scalegraph.machine.fields import Given, On, Section, choice, milli, quantity, same

_CYCLES = "cycles"
MOST_SPEEDS = 64
Speed = Annotated[float, Field(ge=0.001, le=1000)]


def _byte(name: str) -> tuple[Given, ...]:
    return (Given(f"{name}_byte_millicycles", milli, 0, 10**9),)


def _byte_time(mb_s: float, on: On) -> int:
    """Return thousandths of cycles per byte at *mb_s*; 0 MB/s means no time."""
    return round(on.clock_hz / (mb_s * 1e6) * 1000) if mb_s else 0


def _same(name: str, most: int) -> tuple[Given, ...]:
    return (Given(name, same, 0, most),)


class Nodes(Section):
    """The nodes of a machine with an interconnect: each has its own memory and runs its own processes.

    A machine without an interconnect is itself a node, and may state its memory size.
    """

    processors: int = quantity(
        "Processors per node; 0: all of the machine, which is then a single node.",
        "processors",
        0,
        4096,
        default=0,
        runtime=_same("node_processors", 4096),
    )
    memory_mib: int = quantity(
        "Memory of a node, for the static data and heaps of its processes, or for the heap of a program without "
        "messages; 0: no limit.",
        "MiB",
        0,
        2**24,
        default=0,
        runtime=(Given("node_memory_bytes", lambda mib, _on: mib * 2**20, 0, 2**44),),
    )
    speeds: tuple[Speed, ...] = Field(
        default=(),
        strict=False,
        max_length=MOST_SPEEDS,
        description="Speeds of the nodes' processors relative to this file, from node 0 on; the list repeats for "
        "further nodes. Empty: all nodes are equal.",
        json_schema_extra={"unit": ""},
    )

    @field_validator("speeds", mode="before")
    @classmethod
    def _as_written(cls, value: Any) -> Any:
        """Accept what people write instead of a list: ``4*1+2*2.5``, ``1 1 2``, one number."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return (float(value),)
        return tuple(read_speeds(value)) if isinstance(value, str) else value


class Messages(Section):
    """The software cost of messages on a processor, in addition to the transport."""

    send_cycles: int = quantity(
        "Instructions per send.", _CYCLES, 0, 10**9, default=300, runtime=_same("message_send_cycles", 10**9)
    )
    send_byte_cycles: float = quantity(
        "In addition, for each byte.", "cycles/byte", 0, 1e6, default=0.0, runtime=_byte("message_send")
    )
    receive_cycles: int = quantity(
        "Instructions per receive.", _CYCLES, 0, 10**9, default=300, runtime=_same("message_receive_cycles", 10**9)
    )
    receive_byte_cycles: float = quantity(
        "In addition, for each byte.", "cycles/byte", 0, 1e6, default=0.0, runtime=_byte("message_receive")
    )
    match_cycles: int = quantity(
        "Matching a message against one posted receive, or a receive against one unexpected message.",
        _CYCLES,
        0,
        10**9,
        default=10,
        runtime=_same("message_match_cycles", 10**9),
    )
    eager_bytes: int = quantity(
        "A longer message waits until its receiver is ready (rendezvous).",
        "bytes",
        0,
        2**40,
        default=8192,
        runtime=_same("eager_bytes", 2**40),
    )
    copy_byte_cycles: float = quantity(
        "Copying one byte: to pack and unpack, and for messages that arrived before their receiver was ready.",
        "cycles/byte",
        0,
        1e6,
        default=0.125,
        runtime=_byte("message_copy"),
    )
    near_cycles: int = quantity(
        "Instructions per send or receive within a node; 0: as between nodes.",
        _CYCLES,
        0,
        10**9,
        default=0,
        runtime=_same("message_near_cycles", 10**9),
    )
    near_eager_bytes: int = quantity(
        "A longer message within a node waits until its receiver is ready; 0: use eager_bytes.",
        "bytes",
        0,
        2**40,
        default=0,
        runtime=_same("message_near_eager_bytes", 2**40),
    )
    near_lines: int = quantity(
        "Outstanding lines per processor while it copies a message through shared memory; 0: as many as its "
        "pipeline's misses.",
        "lines",
        0,
        4096,
        default=0,
        runtime=_same("message_near_lines", 4096),
    )
    near_single_bytes: int = quantity(
        "From this size on, the operating system copies messages within a node once, from process to process; shorter "
        "ones go through shared memory line by line. 0: all do.",
        "bytes",
        0,
        2**40,
        default=0,
        runtime=_same("message_near_single_bytes", 2**40),
    )
    near_single_mb_s: float = quantity(
        "Bandwidth of that copy; 0: it takes no time.",
        "MB/s",
        0,
        1e9,
        default=0.0,
        runtime=(Given("message_near_single_millicycles", _byte_time, 0, 10**9),),
    )
    collectives: Literal["messages", "hardware"] = choice(
        "How barriers, broadcasts, and integer reductions and scans over all processes work: as messages, or on a "
        "network of their own.",
        default="messages",
        runtime=(Given("message_collectives", same, enum=("sg_collectives", "COLLECTIVES")),),
    )
    collective_cycles: int = quantity(
        "Hardware collective: from the last process to arrive (for a broadcast: from the root) to the result.",
        _CYCLES,
        0,
        10**9,
        default=0,
        runtime=_same("message_collective_cycles", 10**9),
    )
    collective_byte_cycles: float = quantity(
        "In addition, for each byte, for a processor that contributes data.",
        "cycles/byte",
        0,
        1e6,
        default=0.0,
        runtime=_byte("message_collective"),
    )
    collective_bytes: int = quantity(
        "A longer collective uses messages.",
        "bytes",
        0,
        2**40,
        default=0,
        runtime=_same("message_collective_bytes", 2**40),
    )
    one_sided: Literal["software", "interface"] = choice(
        "Who accesses the target's memory of a one-sided transfer on another node: its processor, with the message "
        "software, or the network interface on its own (RDMA).",
        default="software",
        runtime=(Given("message_one_sided", same, enum=("sg_one_sided", "ONE_SIDED")),),
    )
    one_sided_cycles: int = quantity(
        "Instructions to request a one-sided transfer from the network interface, or to start one within a node.",
        _CYCLES,
        0,
        10**9,
        default=100,
        runtime=_same("message_one_sided_cycles", 10**9),
    )
