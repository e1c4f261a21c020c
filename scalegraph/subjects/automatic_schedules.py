"""Promising schedules for a program's loops, from a study that ran them under a probe schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scalegraph.analyze.loops import selection
from scalegraph.runtime.format import CATEGORY_GROUPS
from scalegraph.subjects.schedule_runs import schedule_runs

if TYPE_CHECKING:
    from scalegraph.base.run import Region, RunRecord
    from scalegraph.subjects.study import StudyData

MOST: Final = 4  # schedules tried in addition to the probe


@dataclass(frozen=True)
class Picked:
    """Promising schedules for one loop on *processors*: *names*, the most promising first, and *why*."""

    loop: str
    processors: int
    names: tuple[str, ...]
    why: str
    share: float


def picked(data: StudyData) -> list[Picked]:
    """Return the promising schedules of each loop, from the runs under `selection.PROBE`; by N, longest loop first."""
    found = schedule_runs(data)
    made: list[Picked] = []
    for processors in found.counts if found is not None else ():
        assert found is not None
        records = found.records(processors)
        probe, written = records.get(selection.PROBE), records.get("")
        if probe is None or written is None:
            continue
        made += of_run(data.regions, probe, written)
    return made


def of_run(regions: Iterable[Region], probe: RunRecord, written: RunRecord) -> list[Picked]:
    """Return the promising schedules of each loop, from runs under the *probe* and as written, longest loop first."""
    return sorted(_loops(regions, probe, written), key=lambda one: -one.share)


def _loops(regions: Iterable[Region], probe: RunRecord, written: RunRecord) -> Iterable[Picked]:
    elapsed = {cost.region: cost.elapsed for cost in written.regions if cost.elapsed}
    work, work_probed = (
        {cost.region: sum(_work(cost.categories)) for cost in run.regions if cost.categories}
        for run in (written, probe)
    )
    by_place = {(region.file, region.line): region for region in regions if region.is_loop}
    for loop in probe.loops:
        region = by_place.get((loop.file, loop.line))
        if region is None or region.id not in elapsed or not loop.executions:
            continue
        once = elapsed[region.id] / loop.executions
        is_static = bool(region.schedule) and region.schedule.partition(",")[0].strip() in ("static", "auto")
        home = work.get(region.id, 0) / (work_probed.get(region.id) or 1) if is_static else 1.0
        seen = selection.seen(loop, home or 1.0)
        if seen is None:
            continue
        limit = None if is_static else once
        names = [name for name in selection.worth_trying(seen, limit) if not (is_static and name == selection.STATIC)]
        share = elapsed[region.id] / (written.time_cycles or 1)
        yield Picked(
            loop.place,
            probe.point.processors,
            tuple(names),
            selection.why(seen, names, once, is_static=is_static),
            share,
        )


def _work(cycles: Mapping[str, int]) -> Iterable[int]:
    return (count for name, count in cycles.items() if CATEGORY_GROUPS.get(name) in ("busy", "memory_stall"))


def to_try(found: Iterable[Picked]) -> list[str]:
    """Return the schedules under which to run all loops: at most `MOST`, the most promising for the longest loops."""
    weight: dict[str, float] = {}
    for one in found:
        for place, name in enumerate(one.names):
            weight[name] = weight.get(name, 0.0) + one.share / (1 + place)
    return sorted(weight, key=lambda name: (-weight[name], name))[:MOST]
