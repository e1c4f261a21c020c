"""Where a run's processor time goes: every cycle has one place and one cause; waiting is charged to what caused it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from scalegraph.analyze.metrics import BLAMED_ON, CAUSES, STALL_CAUSE
from scalegraph.base.delays import Delay
from scalegraph.base.run import LIBRARY, PROGRAM, Region, RunRecord
from scalegraph.instrument.inlining import is_foreign
from scalegraph.runtime.format import CATEGORY_GROUPS

BUSY = "busy_s"
STALL = STALL_CAUSE[0]
UNEVEN = "barrier_wait_s"
_ALL = 1.1  # tolerance factor: lines and regions are not sampled at the same instants
# (name, label, categories): the causes of latency, plus work that the one-processor run does not do
PARTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    *((name, words, categories) for name, words, categories, _ in CAUSES),
    ("atomic_s", "atomic operations", ("prim_atomic",)),
    (*STALL_CAUSE[:2], tuple(category for category, group in CATEGORY_GROUPS.items() if group == "memory_stall")),
    (BUSY, "extra operations", tuple(category for category, group in CATEGORY_GROUPS.items() if group == "busy")),
)
WORDS = {name: words for name, words, _ in PARTS}
CAUSE_OF = {category: name for name, _, categories in PARTS for category in categories}
WAITS = ("serial_wait_s", "barrier_wait_s", "other_wait_s", "message_wait_s")
"""Causes of waiting for something done at one place; a place gets a single row for all of them."""
SHARED_OUT = (
    "for",
    "do",
    "sections",
    "section",
    "single",
    "master",
    "masked",
    "critical",
    "ordered",
    "task",
    "taskloop",
)
"""Kinds of constructs that assign work to threads; the other threads wait at their end."""
DIVIDED = ("for", "do", "sections", "section", "task", "taskloop")
"""Constructs that may divide work unevenly."""
PARALLEL = ("parallel for", "parallel do", "parallel sections")
"""Name prefixes of combined constructs that assign work, too."""
_AT_CONSTRUCT = ("barrier_wait_s", "serial_wait_s", "other_wait_s", "lock_s")


class Place(NamedTuple):
    """A source location; *kind* and *region* are its region's, or ``call`` or ``lock`` and the enclosing region."""

    region: int
    name: str
    kind: str
    file: str
    line: int
    inside: str = ""  # where most of the cost is, if elsewhere: in a header or a wrapper


Charges: TypeAlias = dict[tuple[Place, str], float]


class Places:
    """Maps the regions of a program to places."""

    def __init__(self, regions: Sequence[Region], *runs: RunRecord) -> None:
        self.of = {region.id: region for region in regions}
        for cost in (cost for run in runs for cost in run.regions):
            if cost.region and cost.region not in self.of:
                self.of[cost.region] = Region(id=cost.region, kind="region", name=f"region {cost.region}")
        self.of.setdefault(0, PROGRAM)
        self._main = next(
            (region for region in self.of.values() if region.kind == "function" and _plain(region) == "main"), None
        )
        self._outside = {id(run): self._outside_line(run) for run in runs}
        self._hot = {id(run): self._hottest(run) for run in runs[:1]}

    def region(self, number: int, run: RunRecord) -> Place:
        """Return the place of a region; for code outside any region, the most expensive line, or ``main``.

        Source: ScaleGraph.
        """
        region = self.of.get(number, self.of[0])
        if region.id:
            return Place(region.id, region.name, region.kind, region.file, region.line)
        if (line := self._outside.get(id(run))) is not None:
            return Place(0, "", "line", *line)
        if self._main is not None:
            return Place(self._main.id, self._main.name, "function", self._main.file, self._main.line)
        return Place(0, region.name, region.kind, region.file, region.line)

    def _outside_line(self, run: RunRecord) -> tuple[str, int] | None:
        """Return the most expensive line outside all regions, if it has a quarter or more of the cost there."""
        cost = next((cost for cost in run.regions if cost.region == 0), None)
        spent = sum(_useful(cost.categories)) if cost else 0
        spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for region in self.of.values():
            spans[region.file].append((region.line, region.end_line))
        outside = [
            line for line in run.lines if not any(low <= line.line <= high for low, high in spans.get(line.file, ()))
        ]
        most = max(outside, key=lambda line: line.busy + line.memory_stall, default=None)
        if most is None or 4 * (most.busy + most.memory_stall) < spent or not most.busy:
            return None
        return most.file, most.line

    def _hottest(self, run: RunRecord) -> dict[int, tuple[str, int]]:
        """Return the most expensive line of each region.

        The line must have at least a quarter of the region's own work and (within `_ALL`) no more than all of it, since
        other threads may execute its lines, too. Header code is in no region; its lines are used where none of the
        region's own qualifies.
        """
        inside: dict[str, list[Region]] = defaultdict(list)
        for region in self.of.values():
            inside[region.file].append(region)
        spent: dict[int, list[tuple[int, str, int]]] = defaultdict(list)
        headers: list[tuple[int, str, int]] = []
        for line in run.lines:
            around = [one for one in inside.get(line.file, ()) if one.line <= line.line <= one.end_line]
            cost = (line.busy + line.memory_stall + line.primitive, line.file, line.line)
            if around:
                spent[min(around, key=lambda one: (one.end_line - one.line, -one.id)).id].append(cost)
            elif line.file not in inside and not is_foreign(line.file):
                headers.append(cost)
        own: dict[int, int] = defaultdict(int)
        for delay in run.delays:
            own[delay.regions[-1] if delay.regions else 0] += delay.worked
        found: dict[int, tuple[str, int]] = {}
        for number, worked in own.items():
            for lines in (spent.get(number, ()), headers):
                fitting = [line for line in lines if worked <= 4 * line[0] and line[0] <= _ALL * worked]
                if fitting and number not in found:
                    found[number] = max(fitting)[1:]
        return found

    def hottest(self, place: Place, run: RunRecord) -> Place:
        """Return *place* with its most expensive line; a construct that assigns work to threads is returned unchanged.

        Source: ScaleGraph.
        """
        hot = self._hot.get(id(run), {}).get(place.region)
        if hot is None or place.kind not in ("function", "loop", LIBRARY) or hot[1] == place.line:
            return place
        return place._replace(inside=f"{hot[0]}:{hot[1]}")

    def culprit(self, path: Sequence[int], cause: str, run: RunRecord) -> Place:
        """Return the place that others waited for: the construct that assigns work, or the innermost region.

        Source: ScaleGraph.
        """
        known = [self.of[number] for number in path if number in self.of]
        if cause in _AT_CONSTRUCT:
            for region in reversed(known):
                if region.kind in SHARED_OUT or region.name.startswith(PARALLEL):
                    return self.region(region.id, run)
        return self.region(known[-1].id if known else 0, run)

    def call(self, delay: Delay) -> Place:
        """Return the place of a call: that of the caller if the call is made in a wrapper.

        Source: ScaleGraph.
        """
        region = delay.regions[-1] if delay.regions else 0
        inside = f"{delay.file}:{delay.line}"
        if delay.caller:
            file, _, line = delay.caller.rpartition(":")
            return Place(region, delay.call, "call", file, int(line), inside)
        return self._seen(Place(region, delay.call, "call", delay.file, delay.line))

    def lock(self, around: Place, delay: Delay) -> Place:
        """Return the place of the lock held in the region *around*.

        Source: ScaleGraph.
        """
        return self._seen(Place(around.region, delay.call, "lock", delay.file, delay.line))

    def _seen(self, place: Place) -> Place:
        """Return *place*; if it is in a header, with the source line that includes the call into it."""
        around = self.of.get(place.region)
        if around is None or around.kind != LIBRARY or place.file == around.file:
            return place
        return place._replace(file=around.file, line=around.line, inside=f"{place.file}:{place.line}")


def _plain(region: Region) -> str:
    return region.name.removeprefix("function ")


def _useful(categories: Mapping[str, int]) -> list[int]:
    return [cycles for name, cycles in categories.items() if CATEGORY_GROUPS[name] in ("busy", "memory_stall")]


def charges(run: RunRecord, places: Places) -> Charges:
    """Return the cycles of *run* by place and cause; they add up to the run's processor time.

    Waiting is charged where it was caused if that is known, otherwise where it happened; message costs are at the
    calls.

    Shape: one entry for each place and cause. Unit: cycles. Source: Tallent and Mellor-Crummey 2009 (blame shifting);
    Boehme, Geimer, Wolf 2010 (delays as the difference of two courses).
    """
    found: Charges = defaultdict(float)
    left: dict[tuple[int, str], float] = defaultdict(float)
    for cost in run.regions:
        for category, cycles in cost.categories.items():
            left[cost.region, category] += cycles
    for delay in run.delays:
        leaf = delay.regions[-1] if delay.regions else 0
        left[leaf, delay.category] -= delay.own + delay.waited
        cause = CAUSE_OF[delay.category]
        if delay.own:
            found[places.call(delay), cause] += delay.own
        if delay.caused:
            found[_caused_at(delay, cause, places, run)] += delay.caused
    if not run.delays:
        _by_blame(run, left, found, places)
    for (number, category), rest in left.items():
        if rest:
            found[places.region(number, run), CAUSE_OF.get(category, "other_wait_s")] += rest
    return found


def worked(run: RunRecord) -> dict[int, int]:
    """Return the cycles that processors worked in each region and everything it calls, without waiting.

    Shape: one entry for each region. Unit: cycles. Source: ScaleGraph.
    """
    found: dict[int, int] = defaultdict(int)
    for delay in run.delays:
        for number in set(delay.regions) if delay.worked else ():
            found[number] += delay.worked
    return dict(found)


def _caused_at(delay: Delay, cause: str, places: Places, run: RunRecord) -> tuple[Place, str]:
    if delay.kind in ("message", "transfer") and delay.file:
        return places.call(delay), "transfer_wait_s" if delay.kind == "transfer" else "message_s"
    if delay.kind == "sleep" and delay.file:
        return places.call(delay), "other_wait_s"
    if delay.kind == "runtime":
        return places.culprit(delay.regions, "", run), "fork_join_s"
    if delay.kind == "held":
        place = places.culprit(delay.regions, "lock_s", run)
        if place.kind != "critical" and delay.file:
            place = places.lock(place, delay)
        return place, "lock_s"
    place = places.culprit(delay.regions, cause, run)
    if place.kind == "critical":
        return place, "lock_s"
    if cause == "serial_wait_s" and (place.kind in DIVIDED or place.name.startswith(PARALLEL)):
        cause = "barrier_wait_s"  # they have no iterations, and never reach its barrier
    return place, "barrier_wait_s" if cause == "lock_s" else cause


def _by_blame(run: RunRecord, left: dict[tuple[int, str], float], found: Charges, places: Places) -> None:
    """Charge waiting for runs recorded before delays were traced, by their blame data."""
    for cost in run.regions:
        for part in cost.waited.values():
            for category, cycles in part.items():
                left[cost.region, category] -= cycles
        for name, cycles in cost.caused.items():
            found[places.region(cost.region, run), BLAMED_ON.get(name, "other_wait_s")] += cycles
