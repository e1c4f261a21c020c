"""How a worksharing loop divides its iterations, in words: schedule, chunks and iterations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pandas as pd

from scalegraph.base.loops import LoopCost
from scalegraph.base.run import AS_WRITTEN, Region, RunRecord
from scalegraph.base.units import counted, thousands

_BARE = re.compile(r"schedule\(((?:static|auto)(?:,[^()]*(?:\([^()]*\))?[^()]*)?)\)")


def dealing(run: RunRecord, region: Region) -> str:
    """Return how the loop *region* divides its iterations in *run*; empty if unknown.

    ``schedule(dynamic,1000) makes 1 chunk of 500 iterations for 16 threads, which leaves 15 without any``.

    Source: ScaleGraph.
    """
    if not region.is_loop:
        return ""
    cost = max(_costs(run, region), key=lambda one: one.elapsed, default=None)
    if cost is not None and cost.executions:
        return _of(cost)
    if not region.schedule:
        return ""
    members = _team(run)
    if region.iterations is None:
        return f"schedule({region.schedule})"
    return _words(region.schedule, _chunks(region.schedule, region.iterations, members), region.iterations, members)


def uncounted(parts: pd.DataFrame, least: float) -> list[tuple[str, int]]:
    """Return file and line of the loops in *parts*, a loss, whose iteration counts are unknown.

    These are static loops, which never call the runtime, with no iteration count in the source; *least*: the share of
    the loss that is worth a run.

    Shape: one entry for each loop. Unit: none. Source: ScaleGraph.
    """
    rows = parts[(parts["share"] >= least) & parts["dealing"].map(lambda how: _BARE.fullmatch(str(how)) is not None)]
    return list(dict.fromkeys((str(file), int(line)) for file, line in zip(rows["file"], rows["line"], strict=True)))


def counted_by(parts: pd.DataFrame, run: RunRecord, others: Iterable[RunRecord]) -> pd.DataFrame:
    """Return *parts*, the loss of *run*, with the iterations counted in *others*, whose loops called the runtime.

    Shape: that of *parts*. Unit: as of *parts*. Source: ScaleGraph.
    """
    costs = {
        (cost.file, cost.line): cost
        for other in others
        if other.ok and other.point.variant.schedule == AS_WRITTEN and other.point.actual() == run.point
        for cost in other.loops
        if cost.executions
    }
    known = {at: _of(costs[at]) for at in uncounted(parts, 0.0) if at in costs}
    if not known:
        return parts
    said = [
        known.get((str(row["file"]), int(row["line"])), row["dealing"]) if row["dealing"] else ""
        for _, row in parts.iterrows()
    ]
    made = parts.assign(dealing=said)
    made.attrs.update(parts.attrs)
    return made


def _costs(run: RunRecord, region: Region) -> Sequence[LoopCost]:
    return [one for one in run.loops if one.line == region.line and one.file == region.file]


def _team(run: RunRecord) -> int:
    """Return the size of a team, unless the program chooses another."""
    return run.point.processors // max(1, run.processes or 1)


def _of(cost: LoopCost) -> str:
    chunks = -(-cost.chunk_count // cost.executions)
    return _words(cost.schedule, chunks, cost.iterations, cost.members)


def _chunks(schedule: str, iterations: int, members: int) -> int:
    chunk = schedule.partition(",")[2]
    return -(-iterations // int(chunk)) if chunk.isdigit() and int(chunk) else min(iterations, members)


def _words(schedule: str, chunks: int, iterations: int, members: int) -> str:
    """Return the sentence; iterations are those of one execution of the loop."""
    left = members - chunks
    text = (
        f"schedule({schedule}) makes {counted(chunks, 'chunk')} of {counted(iterations, 'iteration')} for "
        f"{thousands(members)} threads"
    )
    return f"{text}, which leaves {thousands(left)} without any" if left > 0 else text
