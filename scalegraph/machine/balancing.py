"""How the operating system moves pages to the memory node that uses them, as given in a machine's file."""

from __future__ import annotations

from scalegraph.machine.fields import Given, On, Section, cycles, quantity, same

_MOST_MS = 1e6
_MOST_CYCLES = 10**15


def _of_ms(key: str) -> tuple[Given, ...]:
    def convert(value: float, on: On) -> int:
        return max(cycles(value * 1e6, on), int(value > 0))  # 0 means never

    return (Given(key, convert, 0, _MOST_CYCLES),)


def _of_us(key: str) -> tuple[Given, ...]:
    def convert(value: float, on: On) -> int:
        return cycles(value * 1e3, on)

    return (Given(key, convert, 0, 10**9),)


class Balancing(Section):
    """Automatic NUMA balancing of Linux: the system marks pages, and moves those that another node's cores use.

    It marks the next *scan_size_mib* of a process at a time. The first reference of a marked page that leaves the
    private caches is a hint fault; the page moves to the node of that processor if its previous hint fault was there
    too, or if it had none. Pages that the program placed itself stay. Without effect where there is one memory node, or
    pages are not placed by first touch.
    """

    scan_delay_ms: float = quantity(
        "Automatic NUMA balancing: time until the system first marks pages; 0: it never does.",
        "ms",
        0,
        _MOST_MS,
        default=0.0,
        runtime=_of_ms("balancing_delay_cycles"),
    )
    scan_period_min_ms: float = quantity(
        "Shortest time in which it marks all pages of a process, and 2560 MiB at most.",
        "ms",
        0.000001,
        _MOST_MS,
        default=1000.0,
        runtime=_of_ms("balancing_least_cycles"),
    )
    scan_period_max_ms: float = quantity(
        "Longest time in which it marks all pages of a process.",
        "ms",
        0.000001,
        _MOST_MS,
        default=60_000.0,
        runtime=_of_ms("balancing_most_cycles"),
    )
    scan_size_mib: int = quantity(
        "How much memory it marks at a time.",
        "MiB",
        1,
        2**20,
        default=256,
        runtime=(Given("balancing_bytes", lambda value, _on: value << 20, 0, 2**40),),
    )
    fault_us: float = quantity(
        "A hint fault: the system's work at the first reference of a marked page.",
        "us",
        0,
        10_000,
        default=0.5,
        runtime=_of_us("balancing_fault_cycles"),
    )
    migrate_us: float = quantity(
        "Moving a page to another memory node, in addition.",
        "us",
        0,
        10_000,
        default=12.0,
        runtime=_of_us("balancing_migrate_cycles"),
    )
    pace: int = quantity(
        "From the first parallel region on, the system's clock runs this many times as fast and its work costs this "
        "many times less: for a run of a few steps that stands for a long one.",
        "",
        1,
        10**6,
        default=1,
        runtime=(Given("balancing_pace", same, 1, 10**6),),
    )
