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

    page_bytes: int = quantity("Page; a power of two.", "bytes", 256, 2**30)
    page_miss_cycles: int = quantity("First touch of a page by anybody.", "cycles", 0, 100_000_000)
    placement: Literal["first_touch", "interleave", "block", "node"] = choice(
        "first_touch: a page lives where it was touched first; interleave: pages go round; block: blocks of pages go "
        "round; node: all live in one place. A program that places its own pages has its way.",
        runtime=named("placement", "placement", "PLACE"),
    )
    block_pages: int = quantity(
        "Pages of a block, for placement block.",
        "pages",
        1,
        2**20,
        default=16,
        runtime=(Given("placement_block_pages", same, 1, 2**20),),
    )
    node: int = quantity(
        "Where all pages live, for placement node.",
        "",
        0,
        65_535,
        default=0,
        runtime=(Given("placement_node", same, 0, 65_535),),
    )
    capacity_kib: int = quantity(
        "Memory that each processor has for the data of a problem, which bounds of memory hold; 0: that of its node "
        "(nodes.memory_mib) divided by the node's processors. Runs are not refused for it.",
        "KiB",
        0,
        2**34,
        default=0,
        runtime=(),
    )
    core_read_gb_s: float = quantity(
        "Bandwidth at which one processor's private caches take lines, wherever they come from; 0: no limit.",
        "GB/s",
        0,
        100_000,
        default=0.0,
        runtime=_line_time("core_read_millicycles"),
    )
    core_write_gb_s: float = quantity(
        "Written-back lines hold those up that the prefetcher brings, at this bandwidth; 0: they do not.",
        "GB/s",
        0,
        100_000,
        default=0.0,
        runtime=_line_time("core_write_millicycles"),
    )
    write_allocate: Literal["always", "busy", "never"] = choice(
        "Whether a store that misses reads the line: always; never, where the prefetcher sees a stream of stores that "
        "fills whole lines; busy: not then, if the channel is so busy that the read would wait for longer than memory "
        "takes.",
        default="always",
        runtime=(Given("write_allocate", same, enum=("sg_write_allocate", "ALLOCATE")),),
    )


class Prefetch(Section):
    """A prefetcher per processor; its lines use the network like any others."""

    kind: Literal["none", "next_line", "stride"] = choice(
        "next_line: the lines behind one that was missed; stride: those ahead in a stream of equal steps in a page.",
        default="none",
        runtime=named("kind", "prefetch_kind", "PREFETCH"),
    )
    level: int = quantity(
        "Number of the private level that lines are brought into; the first is 0.", "", 0, 3, default=1
    )
    degree: int = quantity("Lines brought at a time.", "lines", 1, 16, default=1)
    distance: int = quantity(
        "How many lines ahead the first of them is; a new stream catches up.", "lines", 1, 64, default=1
    )
    under_way: int = quantity(
        "Lines that are on their way to a processor at a time, of all streams; 0: any number.",
        "lines",
        0,
        1024,
        default=0,
    )
    next_page: bool = choice(
        "A stream goes on behind its page, where the next page has been touched; else it ends there.",
        default=False,
        runtime=None,
    )
