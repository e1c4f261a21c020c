"""A trace as used by views: the trace, its level of detail, and its program text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from scalegraph.traces.lod import Timeline
from scalegraph.traces.model import Trace


@dataclass(frozen=True, eq=False)
class TraceData:
    """A trace as seen by views. Times of views are seconds from the start of the run (`seconds`, `ticks`).

    *timeline* answers queries at any zoom immediately (`scalegraph.traces.lod`). *name* is for display, *path* the
    opened file. *sources*: files found for regions, by the name in the trace; they are read when requested (`text`).
    *texts*: program texts kept with the run, which take precedence. *others*: the traces that a view for several
    compares it with. *facts*: known facts about the run that are not in the trace (``processors``, ``work``: W,
    operations; ``machine``, ``program``).
    """

    trace: Trace
    timeline: Timeline
    name: str = ""
    path: Path = Path()
    sources: Mapping[str, Path] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    others: tuple[TraceData, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    # cached results shared by views, by their own keys
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def with_sources(self, sources: Mapping[str, Path]) -> TraceData:
        """Return the same trace with program text at *sources*, by the name in the trace.

        Cached results of views are kept, except program text.
        """
        made = replace(self, sources=dict(sources))
        made.memo.update({key: value for key, value in self.memo.items() if not key.startswith("text ")})
        return made

    @property
    def length(self) -> float:
        """Duration of the run in seconds."""
        return self.trace.seconds

    def seconds(self, ticks: Any) -> Any:
        """Return *ticks* (a number or an array) as seconds from the start of the run."""
        meta = self.trace.meta
        if isinstance(ticks, np.ndarray):
            return (ticks.astype(np.int64) - meta.begin) / float(meta.ticks_per_second)
        return (int(ticks) - meta.begin) / meta.ticks_per_second

    def ticks(self, seconds: float) -> int:
        """Return the tick nearest to *seconds* from the start of the run."""
        meta = self.trace.meta
        return meta.begin + round(seconds * meta.ticks_per_second)

    def location_name(self, number: int) -> str:
        """Return the name of a location for display; by default its kind and number.

        If names repeat, such as threads of several processes, the group's name is prepended.
        """
        names = self._location_names
        return names[number] if 0 <= number < len(names) else "unknown"

    @cached_property
    def group_names(self) -> tuple[str, ...]:
        """The names of the groups of locations; processes with the same name get their number, if known."""
        groups = self.trace.definitions.groups
        counts = Counter(group.name for group in groups)
        numbers = {
            one.group: one.key.partition(":")[0] for one in reversed(self.trace.definitions.locations) if ":" in one.key
        }
        names = [
            f"{group.name} {numbers.get(number, '')}".strip() if counts[group.name] > 1 else group.name
            for number, group in enumerate(groups)
        ]
        return tuple(names)

    def lane_groups(self, locations: Sequence[int]) -> tuple[str, ...]:
        """Return the group of each of *locations*, or () unless there are several, one with several locations."""
        defined, count = self.trace.definitions.locations, len(self.group_names)
        numbers = [defined[number].group for number in locations]
        if not 1 < len(set(numbers)) < len(numbers):
            return ()
        return tuple(self.group_names[number] if 0 <= number < count else "" for number in numbers)

    @cached_property
    def _location_names(self) -> tuple[str, ...]:
        locations, groups = self.trace.definitions.locations, self.trace.definitions.groups
        names = [location.name or f"{location.kind} {number}" for number, location in enumerate(locations)]
        names = [f"{one.kind} {name}" if name.isdigit() else name for one, name in zip(locations, names, strict=True)]
        if len(set(names)) == len(names):
            return tuple(names)
        within = [self.group_names[one.group] if 0 <= one.group < len(groups) else "" for one in locations]
        longer = [" ".join(part for part in pair if part) for pair in zip(within, names, strict=True)]
        if len(set(names)) == 1 and len(set(within)) == len(within):
            return tuple(within)  # the only thread of each process
        if len(set(longer)) == len(longer):
            return tuple(longer)
        return tuple(f"{name} ({number})" for number, name in enumerate(longer))

    @cached_property
    def active(self) -> tuple[int, ...]:
        """The locations that have regions, states or messages, ascending; all if none has."""
        count = len(self.trace.definitions.locations)
        if not count:
            return ()
        seen = np.zeros(count, bool)
        meta = self.trace.meta
        for layer in ("region", "activity"):
            covered = self.timeline.lanes(layer, meta.begin, meta.end, 1, None).covered
            seen |= covered.max(axis=1, initial=0.0) > 0
        for name in ("sender", "receiver") if not seen.all() else ():
            for columns in self.trace.chunks("messages", (name,)):
                values = columns[name]
                seen[np.unique(values[(values >= 0) & (values < count)])] = True
        return tuple(np.flatnonzero(seen).tolist()) if seen.any() else tuple(range(count))

    def region_name(self, number: int) -> str:
        """Return the name of a region for display."""
        regions = self.trace.definitions.regions
        if not 0 <= number < len(regions):
            return "unknown"
        return regions[number].name or f"{regions[number].kind} {number}"

    def text(self, file: str) -> str | None:
        """Return the program text of the file that a region names, None if it was not found or cannot be read."""
        if file in self.texts:
            return self.texts[file]
        path, key = self.sources.get(file), f"text {file}"  # a text may exist without a file: from a study
        if path is None and key not in self.memo:
            return None
        if path is not None and key not in self.memo:
            try:
                self.memo[key] = path.read_text("utf-8", "replace")
            except OSError:
                self.memo[key] = None
        found: str | None = self.memo[key]
        return found
