"""What each processor and each region cost, by category and counter: from the runtime's records to the run's."""

from __future__ import annotations

from collections.abc import Sequence

from scalegraph.base.run import RegionCost
from scalegraph.link import causes
from scalegraph.link.blame import by_cause_and_category, caused
from scalegraph.runtime.format import CATEGORY_GROUPS, CATEGORY_NAMES, CLASS_NAMES, COUNTER_NAMES
from scalegraph.runtime.results import Result

_BUSY = [index for index, name in enumerate(CATEGORY_NAMES) if CATEGORY_GROUPS[name] == "busy"]
_USEFUL = [index for index, name in enumerate(CATEGORY_NAMES) if CATEGORY_GROUPS[name] in ("busy", "memory_stall")]


class Accounts:
    """The COST records of *result* by field: there are many, where many processors enter many regions.

    *categories*: for each, the cycles of processor 0, 1, .., or an empty list if it has none; *counters*: sums.
    """

    def __init__(self, result: Result) -> None:
        self._records = result.series("COSTS")
        self._processor, self._region = self._records["processor"][0], self._records["region"][0]
        self._processors = int(result.meta.get("processors", "0")) or max(self._processor, default=-1) + 1
        self._elapsed = {part["region"]: part["cycles"] for part in result.rows("PARTS")}
        self.categories = [self._by_processor(column) for column in self._records["categories"]]
        self.counters = [sum(column) for column in self._records["counters"]]

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._processor)

    def _by_processor(self, column: Sequence[int]) -> list[int]:
        """Sum the records of each processor; return an empty list if all are 0."""
        if not any(column):
            return []
        found = [0] * self._processors
        for processor, value in zip(self._processor, column, strict=True):
            found[processor] += value
        return found

    def fault(self, time_cycles: int) -> str:
        """Return a sentence if some processor's categories do not add up to *time_cycles*, otherwise ""."""
        if not self:
            return "the simulator's result has no accounts; please report this"
        sums = list(map(sum, zip(*filter(None, self.categories), strict=True))) or [0] * self._processors
        wrong = [processor for processor, cycles in enumerate(sums) if cycles != time_cycles]
        if not wrong:
            return ""
        return (
            f"the accounting identity is broken: the categories of processor {wrong[0]} add up to {sums[wrong[0]]} "
            f"cycles, the run took {time_cycles} ({len(wrong)} of {len(sums)} processors differ); please report this"
        )

    def regions(self, result: Result) -> tuple[RegionCost, ...]:
        """Return the costs of each region that has any, by region number."""
        parts = causes.grouped(result.rows("CAUSES"), "region")
        spread = causes.grouped(result.rows("WIDTHS"), "region")
        blames = causes.grouped(result.rows("BLAMES"), "region")
        places: dict[int, list[int]] = {}
        for place, region in enumerate(self._region):
            places.setdefault(region, []).append(place)
        busy, useful = self._sums(_BUSY), self._sums(_USEFUL)
        return tuple(
            RegionCost(
                region=region,
                categories=self._named(CATEGORY_NAMES, "categories", mine),
                counters=self._named(COUNTER_NAMES, "counters", mine),
                busy_max=max(map(busy.__getitem__, mine)),
                useful_max=max(map(useful.__getitem__, mine)),
                causes=causes.by_cause(parts.get(region, ())),
                widths=causes.widths(spread.get(region, ())),
                classes=causes.named(CLASS_NAMES, causes.sums(parts[region], "classes")) if region in parts else {},
                waited=by_cause_and_category(blames.get(region, ())),
                caused=caused(blames.get(region, ())),
                elapsed=self._elapsed.get(region),
            )
            for region, mine in sorted(places.items())
        )

    def _sums(self, categories: Sequence[int]) -> list[int]:
        """Return the sum of the given *categories* for each record."""
        return list(map(sum, zip(*(self._records["categories"][number] for number in categories), strict=True)))

    def _named(self, names: Sequence[str], field: str, places: Sequence[int]) -> dict[str, int]:
        """Sum the array *field* of the records at *places*, per name."""
        return causes.named(names, (sum(map(column.__getitem__, places)) for column in self._records[field]))
