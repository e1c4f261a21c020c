"""Call paths sampled from a command, as the regions of its study: one for each function on each path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from scalegraph.base.run import PROGRAM, Region, RegionCost, RunRecord
from scalegraph.base.usage import Frame, StackShare

TICKS_HZ: Final = 1e9  # shares of a run become ticks of a clock with one nanosecond resolution
_COMPUTING, _WAITING, _REST = "busy_compute", "idle_serial", "unattributed"


def with_regions(regions: Sequence[Region], records: Iterable[RunRecord]) -> tuple[tuple[Region, ...], list[RunRecord]]:
    """Return the regions plus those of the paths sampled in *records*, and the records with costs by these.

    All repetitions of a point share the paths of the sampled one, each with its own time.
    """
    known = _Known(regions)
    every = [record for record in records if record.ok and record.usage is not None]
    sampled = {_place(run): run.usage.stacks for run in every if run.usage is not None and run.usage.stacks}
    changed = [_costed(run, sampled[_place(run)], known) for run in every if not run.regions and _place(run) in sampled]
    return known.regions, changed


class _Known:
    """Regions by path; new ones get the next numbers, so that the numbers of earlier runs stay valid."""

    def __init__(self, regions: Sequence[Region]) -> None:
        self._all = list(regions) or [PROGRAM]
        self._numbers = {(region.parent or 0, region.name, region.file): region.id for region in self._all[1:]}

    @property
    def regions(self) -> tuple[Region, ...]:
        """All regions, earlier ones first."""
        return tuple(self._all)

    def of(self, path: Sequence[Frame]) -> int:
        """Return the number of the region at the end of *path*."""
        at = 0
        for frame in path:
            key = (at, frame.name, frame.file)
            if key not in self._numbers:
                number = max(region.id for region in self._all) + 1
                self._numbers[key] = number
                self._all.append(Region(id=number, kind="function", name=frame.name, file=frame.file, parent=at))
            at = self._numbers[key]
        return at


def _place(run: RunRecord) -> str:
    return run.point.model_copy(update={"repetition": 0}).key


def _costed(run: RunRecord, stacks: Sequence[StackShare], known: _Known) -> RunRecord:
    time = run.time_s or 0.0
    ticks = round(time * TICKS_HZ)
    whole = run.point.processors * ticks
    costs: dict[int, dict[str, int]] = {}
    for stack in stacks:
        own = costs.setdefault(known.of(stack.path), {_COMPUTING: 0, _WAITING: 0})
        own[_COMPUTING] += round(stack.busy * whole)
        own[_WAITING] += round(stack.waiting * whole)
    sums = {name: sum(own[name] for own in costs.values()) for name in (_COMPUTING, _WAITING)}
    rest = max(whole - sum(sums.values()), 0)
    costs.setdefault(0, {})[_REST] = rest
    return run.model_copy(
        update={
            "clock_hz": TICKS_HZ,
            "time_cycles": ticks,
            "busy_s": sums[_COMPUTING] / TICKS_HZ,
            "idle_s": (sums[_WAITING] + rest) / TICKS_HZ,
            "categories": {**sums, _REST: rest},
            "regions": tuple(
                RegionCost(region=region, categories={name: value for name, value in own.items() if value})
                for region, own in sorted(costs.items())
            ),
        }
    )
