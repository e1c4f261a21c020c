"""System noise of a machine as given in its file."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import Given, Section, choice, quantity, same


class Disturbance(Section):
    """Periodic interruptions of the program: the clock-tick handler of an operating system.

    Ticks come at the same times in every run, so runs stay reproducible. A tick on a processor without a thread costs
    nothing.
    """

    kind: Literal["none", "ticks"] = choice(
        "none: nothing disturbs the program; ticks: a clock interrupts every processor at regular intervals.",
        default="none",
        runtime=(Given("tick_period_cycles", lambda _kind, on: on.section.period_cycles(on.clock_hz), 0, 10**12),),
    )
    period_us: float = quantity("Ticks: interval between two.", "us", 0.001, 1e9, default=10_000.0, runtime=())
    handler_cycles: int = quantity(
        "Ticks: processor time taken by the handler.",
        "cycles",
        0,
        1_000_000_000,
        default=1_000,
        runtime=(Given("tick_handler_cycles", same, 0, 10**9),),
    )
    phase: Literal["spread", "together"] = choice(
        "When the first tick occurs. spread: at a different time on each processor; together: on all at once.",
        default="spread",
        runtime=(Given("tick_spread", lambda phase, _on: int(phase == "spread"), 0, 1),),
    )
    seed: int = quantity(
        "Spread ticks: seed for the times of the first ones.",
        "",
        0,
        2**32 - 1,
        default=1,
        runtime=(Given("tick_seed", same, 0, 2**32 - 1),),
    )

    def period_cycles(self, clock_hz: float) -> int:
        """Return the cycles between ticks, 0 if there are none."""
        return 0 if self.kind == "none" else max(1, round(self.period_us * (clock_hz / 1e6)))
