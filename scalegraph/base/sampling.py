"""Sampling of repeated phases in a run: how much was simulated, and intervals of its numbers."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from scalegraph.base.units import significant

SAMPLES = "samples"
"""In `RunRecord.collected`: the run was sampled where its phases allow it."""
SAMPLES_WHEN_LONG = "long samples"
"""In a job: sampling begins only once the run has been long. Never in `RunRecord.collected`: a run that stays short, or
cannot be sampled, is the same as without it."""
CONFIDENCE = 0.95
_WIDE = 0.2  # relative half width of the time's interval from which the estimate says little


class SampledPhase(BaseModel):
    """A phase of the program: from one boundary to the next.

    *place*: ``file:line`` of the boundary where it begins; *kind* of that boundary: ``fork``, ``barrier`` or ``join``.
    *visits*: all of them; *measured*: those used for the estimates; *skipped*: those not simulated. *spread*:
    coefficient of variation of the time between measured visits; per unit of work if visits with more work take longer.
    `None` with fewer than two measured visits. *why*: why none is skipped, or none any more.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    place: str
    kind: str
    visits: int
    measured: int = 0
    skipped: int = 0
    spread: float | None = None
    why: str = ""


class Sampled(BaseModel):
    """How a run was sampled.

    Of *visits* to phases, *skipped* were executed without simulation. If there are none, the run was simulated
    completely, its numbers are exact, and *why* says in a sentence what prevented sampling. *intervals*: half width of
    the 95 % interval of a number, by name: ``time_cycles``, categories (cycles) and counters, sums over processors.
    Missing numbers were not estimated.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    visits: int = 0
    skipped: int = 0
    why: str = ""
    intervals: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(default_factory=dict)
    phases: tuple[SampledPhase, ...] = ()

    def time_error(self, time_cycles: int) -> float:
        """Return the relative half width of the 95 % interval of the run's time, *time_cycles*."""
        return self.intervals.get("time_cycles", 0.0) / time_cycles

    def remark(self, time_cycles: int | None) -> str:
        """Return a sentence on the accuracy of the run, which took *time_cycles*."""
        if not self.skipped:
            return f"not sampled, the whole run was simulated: {self.why}"
        error = self.time_error(time_cycles) if time_cycles else 0.0
        about = f", time ± {significant(100 * error)} % (95 %)" if time_cycles else ""
        if error > _WIDE:
            about += ", too wide to rely on: --exact simulates the whole run"
        skipped = f"{self.skipped} of {self.visits} visits of phases"
        return f"sampled: {skipped} were not simulated, their costs are estimated{about}"
