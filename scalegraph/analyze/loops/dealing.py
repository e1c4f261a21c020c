"""How a worksharing loop deals out its iterations, in words: schedule, chunks and iterations."""

from __future__ import annotations

from collections.abc import Sequence

from scalegraph.base.loops import LoopCost
from scalegraph.base.run import Region, RunRecord
from scalegraph.base.units import counted, thousands


def dealing(run: RunRecord, region: Region) -> str:
    """Return how the loop *region* deals out its iterations in *run*: empty if that is not known.

    ``schedule(dynamic,1000) makes 1 chunk of 500 iterations for 16 threads, which leaves 15 without any``.

    Source: ScaleGraph.
    """
    if not region.is_loop:
        return ""
    cost = max(_costs(run, region), key=lambda one: one.elapsed, default=None)
    if cost is not None and cost.executions:
        chunks = -(-cost.chunk_count // cost.executions)
        return _words(cost.schedule, chunks, cost.iterations, cost.members)
    if not region.schedule:
        return ""
    members = _team(run)
    if region.iterations is None:
        return f"schedule({region.schedule})"
    return _words(region.schedule, _chunks(region.schedule, region.iterations, members), region.iterations, members)


def _costs(run: RunRecord, region: Region) -> Sequence[LoopCost]:
    return [one for one in run.loops if one.line == region.line and one.file == region.file]


def _team(run: RunRecord) -> int:
    """Return the threads of a team, if the program does not choose another number."""
    return run.point.processors // max(1, run.processes or 1)


def _chunks(schedule: str, iterations: int, members: int) -> int:
    chunk = schedule.partition(",")[2]
    return -(-iterations // int(chunk)) if chunk.isdigit() and int(chunk) else min(iterations, members)


def _words(schedule: str, chunks: int, iterations: int, members: int) -> str:
    """Return the words; the iterations are those of one execution of the loop."""
    left = members - chunks
    text = (
        f"schedule({schedule}) makes {counted(chunks, 'chunk')} of {counted(iterations, 'iteration')} for "
        f"{thousands(members)} threads"
    )
    return f"{text}, which leaves {thousands(left)} without any" if left > 0 else text
