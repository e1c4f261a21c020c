"""The time of each worksharing loop under each schedule, and the combination of the best schedules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from scalegraph.base.run import Region, RunRecord

WRITTEN = ""  # the program's own schedule
LEAST_GAIN = 0.005  # of a loop's time: a schedule that saves less is not worth a change


@dataclass(frozen=True, slots=True)
class LoopTimes:
    """Elapsed time of one worksharing loop by schedule; `WRITTEN` is the program's own.

    *cycles*: of the main thread in the loop over the whole run, including the barrier at its end.
    """

    region: int
    loop: str  # FILE:LINE, as `scalegraph.link.loops` reads it
    cycles: Mapping[str, int]

    @property
    def best(self) -> str:
        """The fastest schedule; `WRITTEN` unless another one saves `LEAST_GAIN`."""
        written = self.cycles[WRITTEN]
        least = min(self.cycles, key=lambda name: (self.cycles[name], name))
        return least if self.cycles[least] < written * (1 - LEAST_GAIN) else WRITTEN

    @property
    def saved(self) -> int:
        """Cycles that the best schedule saves relative to the loop as written."""
        return self.cycles[WRITTEN] - self.cycles[self.best]


def loop_times(regions: Iterable[Region], records: Mapping[str, RunRecord]) -> list[LoopTimes]:
    """Return the times of the loops that ran in all *records* (by schedule), the longest first.

    *records* must include `WRITTEN`, and share one problem, machine and N.

    Shape: at most one entry for each worksharing region. Unit: cycles. Source: ScaleGraph.
    """
    found = [region for region in regions if region.is_loop]
    names = Counter(PurePath(file).name for file in {region.file for region in found})
    elapsed = {
        name: {cost.region: cost.elapsed for cost in record.regions if cost.elapsed} for name, record in records.items()
    }
    made = []
    for region in found:
        cycles = {name: times[region.id] for name, times in elapsed.items() if region.id in times}
        if len(cycles) == len(records):
            base = PurePath(region.file).name
            file = base if names[base] == 1 else region.file
            made.append(LoopTimes(region.id, f"{file}:{region.line}", cycles))
    return sorted(made, key=lambda loop: (-loop.cycles[WRITTEN], loop.region))


def together(loops: Sequence[LoopTimes]) -> str:
    """Return the best schedules of *loops* as one choice for `scalegraph.link.loops`; empty if all are best as written.

    Shape: text. Unit: none. Source: ScaleGraph.
    """
    return ";".join(f"{loop.loop}={loop.best.removeprefix('runtime=')}" for loop in loops if loop.best != WRITTEN)


def expected_cycles(loops: Sequence[LoopTimes], written: RunRecord) -> int | None:
    """Return the program's time if each of *loops* took its best time and everything else the time as written.

    None if unknown. Shape: scalar. Unit: cycles. Source: ScaleGraph.
    """
    if written.time_cycles is None:
        return None
    return written.time_cycles - sum(loop.saved for loop in loops)
