"""A run of which repeated phases were sampled: how much was simulated, and intervals of its numbers."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from scalegraph.base.units import significant

SAMPLES = "samples"
"""In `RunRecord.collected`: a run that was sampled where its phases allow that."""
CONFIDENCE = 0.95


class SampledPhase(BaseModel):
    """A phase of the program: from one boundary to the next.

    *place*: ``file:line`` of the boundary at which it begins; *kind*: what that is, ``fork``, ``barrier`` or ``join``.
    *visits*: all of them; *measured*: those that the estimates are made of; *skipped*: those that were not simulated.
    *spread*: standard deviation of the time from one measured visit to the next, as a part of the mean; per unit of
    work if visits with more work take more time. `None` with less than two measured visits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    place: str
    kind: str
    visits: int
    measured: int = 0
    skipped: int = 0
    spread: float | None = None


class Sampled(BaseModel):
    """How a run was sampled.

    *skipped* visits of phases, out of *visits*, were executed without being simulated. If there are none the run was
    simulated as a whole, its numbers are exact, and *why* says in a sentence what was in the way. *intervals*: half the
    width of the interval in which a number of the run lies with a confidence of 95 %, by its name: ``time_cycles``,
    categories (cycles) and counters, sums over processors. What is not there was not estimated.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    visits: int = 0
    skipped: int = 0
    why: str = ""
    intervals: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(default_factory=dict)
    phases: tuple[SampledPhase, ...] = ()

    def time_error(self, time_cycles: int) -> float:
        """Return half the interval of 95 % of the run's time, *time_cycles*, as a part of it."""
        return self.intervals.get("time_cycles", 0.0) / time_cycles

    def remark(self, time_cycles: int | None) -> str:
        """Return the sentence that goes with the numbers of the run, which took *time_cycles*."""
        if not self.skipped:
            return f"not sampled, the whole run was simulated: {self.why}"
        about = f", time ± {significant(100 * self.time_error(time_cycles))} % (95 %)" if time_cycles else ""
        skipped = f"{self.skipped} of {self.visits} visits of phases"
        return f"sampled: {skipped} were not simulated, their costs are estimated{about}"
