"""The selected part of a trace: the options that choose it, and the choice."""

from __future__ import annotations

import fnmatch
import glob
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.units import si
from scalegraph.subjects.option import Option, OptionValue
from scalegraph.subjects.trace import TraceData

BEGIN = Option(
    "begin",
    "From",
    "float",
    unit="s",
    minimum=0.0,
    description="start of the time to show, from the start of the run; otherwise the start",
)


END = Option(
    "end",
    "To",
    "float",
    unit="s",
    minimum=0.0,
    description="end of the time to show, from the start of the run; otherwise the end",
)


LOCATIONS = Option(
    "locations", "Locations", "text", description="numbers and ranges (0-15,20) or names (rank 1*); otherwise all"
)


REGION = Option(
    "region", "Region", "text", description="only regions whose name contains this, or matches it; otherwise all"
)


WIDTH = Option(
    "width",
    "Width",
    "int",
    1000,
    minimum=8,
    maximum=8000,
    description="number of bins for the visible time, about one per pixel",
)


COMMON = (BEGIN, END, LOCATIONS, REGION)


# Of a view that shows a window of time at screen resolution
WINDOWED = (*COMMON, WIDTH)


@dataclass(frozen=True, eq=False)
class Window:
    """The part of a trace that a view shows, made by `window`.

    *begin* and *end* are ticks. *locations*: the numbers of the locations, ascending, at least one unless the trace has
    none; by default those with events (`TraceData.active`). *regions*: the numbers of the regions, None for all.
    *whole*: nothing was left out at all.
    """

    data: TraceData
    begin: int
    end: int
    locations: tuple[int, ...]
    regions: frozenset[int] | None = None
    width: int = 1000

    @property
    def begin_s(self) -> float:
        """Begin in seconds from the start of the run."""
        return float(self.data.seconds(self.begin))

    @property
    def end_s(self) -> float:
        """End in seconds from the start of the run."""
        return float(self.data.seconds(self.end))

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return (self.end - self.begin) / self.data.trace.meta.ticks_per_second

    @property
    def all_locations(self) -> bool:
        """Whether no location is left out."""
        return set(self.data.active) <= set(self.locations)

    @property
    def chosen(self) -> tuple[int, ...] | None:
        """The locations in the form that timelines take: None for all."""
        return None if self.all_locations else self.locations

    @property
    def whole_time(self) -> bool:
        """Whether it is the whole run."""
        return self.begin <= self.data.trace.meta.begin and self.end >= self.data.trace.meta.end

    @property
    def whole_run(self) -> bool:
        """Whether it covers all time and all locations."""
        return self.whole_time and self.all_locations

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return self.whole_run and self.regions is None

    @property
    def lanes(self) -> dict[int, int]:
        """Return the position (0 on top) of every location shown."""
        return {location: lane for lane, location in enumerate(self.locations)}

    def lane_of(self, locations: Any) -> Any:
        """Return the positions of an array of *locations*, -1 for those not shown or unknown."""
        count = len(self.data.trace.definitions.locations)
        table = np.full(count + 1, -1, np.int32)  # the last entry is for no location
        table[list(self.locations)] = np.arange(len(self.locations), dtype=np.int32)
        numbers = np.asarray(locations)
        return table[np.where((numbers >= 0) & (numbers < count), numbers, count)]

    @property
    def words(self) -> str:
        """Return it in words: ``the whole run``, ``1.20 ms to 1.50 ms of the run, 4 of 64 locations``."""
        parts = [
            all_of(self.data) if self.whole_time else f"{si(self.begin_s, 's')} to {si(self.end_s, 's')} of the run"
        ]
        if not self.all_locations:
            parts.append(f"{len(self.locations)} of {len(self.data.active)} locations")
        if self.regions is not None:
            names = sorted(self.data.region_name(number) for number in self.regions)
            parts.append(f"region {names[0]}" if len(names) == 1 else f"{len(names)} regions")
        return ", ".join(parts)


def window(
    data: TraceData,
    begin: object = None,
    end: object = None,
    locations: object = None,
    region: object = None,
    width: object = 1000,
) -> Window:
    """Return the part chosen by the common options.

    Raises `InputError` with every invalid option: an end before the begin, an unknown location or region.
    """
    meta = data.trace.meta
    faults: list[Fault] = []
    # a run of zero length is shown as one tick
    run_end = max(meta.end, meta.begin + 1)
    first = meta.begin if begin is None else max(meta.begin, data.ticks(float(str(begin))))
    last = run_end if end is None else min(run_end, data.ticks(float(str(end))))
    if last <= first:
        faults.append(
            Fault(
                f"expected a time between begin and the end of the run ({si(data.length, 's')}), got "
                f"begin {_given(begin)} and end {_given(end)}",
                key="end",
            )
        )
    chosen: tuple[int, ...] = ()
    regions: frozenset[int] | None = None
    try:
        chosen = chosen_locations(data, locations)
    except InputError as error:
        faults.extend(error.faults)
    try:
        regions = chosen_regions(data, region)
    except InputError as error:
        faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    return Window(data, first, last, chosen, regions, int(str(width)))


def _given(value: object) -> str:
    return "none" if value is None else si(float(str(value)), "s")


def chosen_locations(data: TraceData, text: object = None) -> tuple[int, ...]:
    """Return the numbers of the locations that *text* names: numbers and ranges (``0-15,20``) or names with * and ?.

    Raises:
        InputError: one of them does not exist, or is not a range.

    """
    locations = data.trace.definitions.locations
    if text is None or not str(text).strip():
        return data.active
    found: set[int] = set()
    for part in (piece.strip() for piece in str(text).split(",")):
        numbers = re.fullmatch(r"(\d+)(?:\s*-\s*(\d+))?", part)
        if numbers:
            low = int(numbers[1])
            high = int(numbers[2]) if numbers[2] else low
            if not low <= high < len(locations):
                there = f"0 to {len(locations) - 1}" if locations else "none"
                raise InputError(Fault(f"there is no location '{part}'; there are {there}", key="locations"))
            found.update(range(low, high + 1))
            continue
        names = [data.location_name(number) for number in range(len(locations))]
        matching = [number for number, name in enumerate(names) if fnmatch.fnmatchcase(name.lower(), part.lower())]
        if not matching:
            raise InputError(
                Fault(
                    f"there is no location '{part}'{near(part, names)}; expected numbers and ranges "
                    "as in 0-15,20, or names",
                    key="locations",
                )
            )
        found.update(matching)
    return tuple(sorted(found))


def chosen_regions(data: TraceData, text: object = None) -> frozenset[int] | None:
    """Return the numbers of the regions whose name contains *text* (or matches it, with * and ?); None for all.

    Raises:
        InputError: there is none; the message gives the nearest name.

    """
    if text is None or not str(text).strip():
        return None
    wanted = str(text).strip().lower()
    pattern = wanted if re.search(r"[*?]", wanted) else f"*{glob.escape(wanted)}*"
    names = [data.region_name(number) for number in range(len(data.trace.definitions.regions))]
    found = frozenset(number for number, name in enumerate(names) if fnmatch.fnmatchcase(name.lower(), pattern))
    if not found:
        raise InputError(Fault(f"no region is called '{text}'{near(str(text), names)}", key="region"))
    return found


def works(code: Any) -> bool:
    """Return whether *code* of the layer of regions is work: not waiting, communication or management."""
    return bool(code.role.partition(":")[0] in ("series", "busy"))


WORKING: Final = "work of regions"  # in the memo of a trace: names of work regions with their shares


def working(several: Iterable[TraceData]) -> tuple[str, ...]:
    """Return the names of work regions in traces, those with the largest share of their runs first."""
    share: dict[str, float] = {}
    for data in several:
        if WORKING not in data.memo:
            meta = data.trace.meta
            totals = data.timeline.totals("region", meta.begin, meta.end, 64).values.sum(axis=1, dtype=np.float64)
            codes = data.timeline.layers["region"].codes
            names = [(code.name, float(value)) for code, value in zip(codes, totals, strict=True) if works(code)]
            whole = sum(value for _, value in names) or 1.0
            data.memo[WORKING] = [(name, value / whole) for name, value in names]
        for name, value in data.memo[WORKING]:
            share[name] = share.get(name, 0.0) + value
    return tuple(sorted(share, key=lambda name: (-share[name], name)))


def all_of(data: TraceData, length: str = "") -> str:
    """Return the extent of a trace: ``the whole run`` (*length*: `` of 2 s``), or how much of it was traced."""
    run = run_seconds(data)
    return f"the whole run{length}" if run is None else f"the traced {si(data.length, 's')} of a run of {si(run, 's')}"


def run_seconds(data: TraceData) -> float | None:
    """Return the duration of the run if the trace records only a part; None if it records all, as far as is known."""
    meta = data.trace.meta
    cycles = meta.properties.get("time_cycles", "")  # which are the ticks of simulated runs
    if cycles.isdecimal() and int(cycles) > meta.end - meta.begin:
        return int(cycles) / meta.ticks_per_second
    return None


def common_values(options: dict[str, OptionValue]) -> dict[str, OptionValue]:
    """Return the options of *options* that `window` takes."""
    return {name: value for name, value in options.items() if name in {option.name for option in WINDOWED}}
