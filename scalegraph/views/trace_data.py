"""What a view of a trace gets: the trace, its level of detail, and the program text it points to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from scalegraph.traces.model import Trace

# scalegraph.traces.lod.Timeline
Timeline: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class TraceData:
    """A trace as views see it. Times of views are seconds from the start of the run (`seconds`, `ticks`).

    *timeline* answers questions about any time at once (`scalegraph.traces.lod`). *name* is for people, *path* the file
    that was opened. *sources* are files that regions name and that were found, by the name in the trace; they are
    read when asked for (`text`). *others* are the traces that a view for several compares it with. *facts* is what is
    known of the run beside the trace (``processors``, ``work``, ``machine``, ``program``), as far as it is known.
    """

    trace: Trace
    timeline: Timeline
    name: str = ""
    path: Path = Path()
    sources: Mapping[str, Path] = field(default_factory=dict)
    others: tuple[TraceData, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    # what views made once for all of them, by a key of theirs
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def length(self) -> float:
        """Length of the run in seconds."""
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
        """Return the name of a location for people; one without a name is called by its kind and number."""
        locations = self.trace.definitions.locations
        if not 0 <= number < len(locations):
            return "unknown"
        return locations[number].name or f"{locations[number].kind} {number}"

    def region_name(self, number: int) -> str:
        """Return the name of a region for people."""
        regions = self.trace.definitions.regions
        if not 0 <= number < len(regions):
            return "unknown"
        return regions[number].name or f"{regions[number].kind} {number}"

    def text(self, file: str) -> str | None:
        """Return the program text of the file that a region names, None where it was not found or cannot be read."""
        path = self.sources.get(file)
        if path is None:
            return None
        key = f"text {file}"
        if key not in self.memo:
            try:
                self.memo[key] = path.read_text("utf-8", "replace")
            except OSError:
                self.memo[key] = None
        found: str | None = self.memo[key]
        return found
