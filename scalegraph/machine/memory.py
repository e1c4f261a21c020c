"""Memory of a machine as described in its file: pages, bandwidth of a core, and prefetchers."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import Given, On, Section, busy_millicycles, choice, named, quantity, same


def _line_time(key: str) -> tuple[Given, ...]:
    """Declare that the time of a line at a bandwidth is passed to the runtime, 0 for no limit."""

    def millicycles(gb_s: float, on: On) -> int:
        return busy_millicycles(on.line_bytes, gb_s, on) if gb_s else 0

    return (Given(key, millicycles, 0, 2**32 - 1),)


class Memory(Section):
    """Pages and the memory bandwidth of a core."""

    page_bytes: int = quantity("Page size; a power of two.", "bytes", 256, 2**30)
    page_miss_cycles: int = quantity("First touch of a page by any processor.", "cycles", 0, 100_000_000)
    placement: Literal["first_touch", "interleave", "block", "node"] = choice(
        "Where pages go. first_touch: where they are first touched; interleave: round-robin; block: blocks of pages "
        "round-robin; node: all in one place. Programs can place their own pages.",
        runtime=named("placement", "placement", "PLACE"),
    )
    block_pages: int = quantity(
        "Pages per block, for placement block.",
        "pages",
        1,
        2**20,
        default=16,
        runtime=(Given("placement_block_pages", same, 1, 2**20),),
    )
    node: int = quantity(
        "Place of all pages, for placement node.",
        "",
        0,
        65_535,
        default=0,
        runtime=(Given("placement_node", same, 0, 65_535),),
    )
    capacity_kib: int = quantity(
        "Memory per processor for a problem's data, used for memory bounds; 0: the node's memory (nodes.memory_mib) "
        "divided by its processors. Runs may exceed it.",
        "KiB",
        0,
        2**34,
        default=0,
        runtime=(),
    )
    core_read_gb_s: float = quantity(
        "Bandwidth into one processor's private caches, from any source; 0: no limit.",
        "GB/s",
        0,
        100_000,
        default=0.0,
        runtime=_line_time("core_read_millicycles"),
    )
    core_write_gb_s: float = quantity(
        "Bandwidth at which written-back lines delay prefetched ones; 0: they do not.",
        "GB/s",
        0,
        100_000,
        default=0.0,
        runtime=_line_time("core_write_millicycles"),
    )
    write_allocate: Literal["always", "busy", "never"] = choice(
        "Whether a store that misses reads the line. always; never: not if the prefetcher sees a stream of stores "
        "that fills whole lines; busy: not for such a stream if the channel is so busy that the read would wait "
        "longer than the memory latency.",
        default="always",
        runtime=(Given("write_allocate", same, enum=("sg_write_allocate", "ALLOCATE")),),
    )


class Prefetch(Section):
    """A prefetcher per processor; its lines use the network like any others."""

    kind: Literal["none", "next_line", "stride"] = choice(
        "next_line: prefetches the lines after one that missed; stride: the next lines in a stream of equal steps "
        "within a page.",
        default="none",
        runtime=named("kind", "prefetch_kind", "PREFETCH"),
    )
    level: int = quantity("Private cache level that receives prefetched lines; the first is 0.", "", 0, 3, default=1)
    degree: int = quantity("Lines prefetched at a time.", "lines", 1, 16, default=1)
    distance: int = quantity(
        "Distance in lines to the first of them; a new stream catches up.", "lines", 1, 64, default=1
    )
    under_way: int = quantity(
        "Maximum number of lines in flight to a processor, over all streams; 0: no limit.",
        "lines",
        0,
        1024,
        default=0,
    )
    next_page: bool = choice(
        "A stream continues into the next page if that has been touched; otherwise it ends with its page.",
        default=False,
        runtime=None,
    )
