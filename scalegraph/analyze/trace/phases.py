"""The phases of a program: the outermost calls of its top-level regions, one after the other on each location."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
import pandas as pd

from scalegraph.analyze.trace.calls import CallTable, Paths
from scalegraph.traces.kinds import NOBODY, Array
from scalegraph.traces.model import Trace

By: TypeAlias = Literal["auto", "phase", "parallel", "depth"]
CHOICES: Final = ("auto", "phase", "parallel", "depth")


@dataclass(frozen=True)
class Phases:
    """Stretches of locations in *regions* (numbers): *phase* is an index into *regions*, times are ticks.

    Stretches are clipped to the interval, sorted by location and time, and do not overlap in a location. *how* says in
    words what a phase is here.
    """

    regions: tuple[int, ...]
    location: Array
    phase: Array
    begin: Array
    end: Array
    how: str

    def __len__(self) -> int:
        return len(self.location)


def phases(
    table: CallTable,
    trace: Trace,
    begin: int,
    end: int,
    locations: Sequence[int] | None = None,
    *,
    by: By = "auto",
    depth: int | None = None,
    regions: Collection[int] | None = None,
) -> Phases:
    """Return the phases of *locations* from *begin* to *end* (ticks).

    With *regions* these are the outermost calls of those regions; with *depth* the calls at that depth (outermost 0);
    by ``phase`` or ``parallel`` the outermost calls of regions of that kind. ``auto``: the phases that the user marked,
    else parallel regions, or if there is only one of them, its callees; else the least depth with two regions.

    Shape: one entry for each phase, its stretches (stretches,). Unit: ticks. Source: isospeed.txt Fig. 9; choice
    ScaleGraph's.
    """
    chosen, how = _choose(table.paths, trace, by, depth, regions)
    found: list[tuple[Array, Array, Array, Array]] = []
    if chosen.any():
        count = len(trace.definitions.locations)
        wanted = np.ones(count, bool) if locations is None else np.isin(np.arange(count), list(locations))
        for calls in table.calls(begin, end):
            keep = chosen[calls.path] & wanted[calls.location] & (calls.end > begin) & (calls.begin < end)
            found.append((calls.location[keep], calls.path[keep], calls.begin[keep], calls.end[keep]))
    if not found:
        none = np.empty(0, np.int64)
        return Phases((), none, none, none, none, how)
    location, path, first, last = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((first, location))
    region = table.paths.region[path[order]]
    names = pd.unique(region[np.argsort(first[order], kind="stable")])  # in order of first occurrence
    index = pd.Index(names)
    return Phases(
        tuple(int(number) for number in names),
        location[order].astype(np.int64),
        np.asarray(index.get_indexer(pd.Index(region)), np.int64),
        np.maximum(first[order], begin),
        np.minimum(last[order], end),
        how,
    )


def _choose(
    paths: Paths, trace: Trace, by: By, depth: int | None, regions: Collection[int] | None
) -> tuple[Array, str]:
    """Return which paths are phases, and a description of them."""
    kinds = [region.kind for region in trace.definitions.regions]
    if regions is not None:
        return _outermost(paths, np.isin(paths.region, list(regions))), "the outermost calls of the chosen regions"
    if depth is not None or by == "depth":
        level = _forking(paths) if depth is None else depth
        return paths.depth == level, f"calls at depth {level}"
    for kind, words in (("phase", "the phases marked in the program"), ("parallel", "parallel regions")):
        if by in ("auto", kind):
            numbers = [number for number, known in enumerate(kinds) if known == kind]
            chosen = _outermost(paths, np.isin(paths.region, numbers))
            if by == kind:
                return chosen, words
            if chosen.any():
                return _opened(paths, trace, chosen, words)
    level = _forking(paths)
    return paths.depth == level, f"calls at depth {level}" if level else "the outermost calls"


def _opened(paths: Paths, trace: Trace, chosen: Array, words: str) -> tuple[Array, str]:
    """Return *chosen*, or if that is a single region, its callees: the first level with two or more regions."""
    inside = chosen
    while len(np.unique(paths.region[inside])) == 1:
        below = (paths.parent >= 0) & inside[paths.parent]
        if not below.any():
            return chosen, words
        inside = below
    if inside is chosen:
        return chosen, words
    return inside, f"calls in {trace.definitions.regions[int(paths.region[chosen][0])].name}"


def _outermost(paths: Paths, matching: Array) -> Array:
    """Return which of the *matching* paths have no matching path further out."""
    chosen = matching.copy()
    above = paths.parent.copy()
    while (up := np.flatnonzero(above >= 0)).size:
        chosen[up] &= ~matching[above[up]]
        above[up] = paths.parent[above[up]]
    return chosen


def _forking(paths: Paths) -> int:
    """Return the least depth with two or more regions, or else the greatest depth."""
    if not len(paths):
        return 0
    known = pd.DataFrame({"depth": paths.depth, "region": paths.region})
    count = known[known["region"] != NOBODY].groupby("depth")["region"].nunique()
    several = count[count > 1]
    return int(several.index[0]) if len(several) else int(paths.depth.max())


_COLUMNS = (
    "phase",
    "region",
    "name",
    "file",
    "line",
    "visits",
    "time_s",
    "span_s",
    "least_s",
    "mean_s",
    "most_s",
    "imbalance",
)


def phase_times(found: Phases, trace: Trace, begin: int, end: int, locations: int) -> pd.DataFrame:
    """Return a row for each phase, in order of first occurrence, and one for the rest of the time.

    Columns: ``phase`` (index, -1 the rest), ``region``, ``name``, ``file``, ``line``, ``visits`` (stretches),
    ``time_s`` summed over the *locations*, ``share`` of their time (0 to 1), ``span_s`` from the first begin to
    the last end, ``least_s``, ``mean_s``, ``most_s`` by location and ``imbalance``, most over mean.

    Shape: one row for each phase. Unit: s; shares have none. Source: ScaleGraph.
    """
    second = trace.meta.ticks_per_second
    length = found.end - found.begin
    rows = []
    numbers = trace.definitions.regions
    place = pd.factorize(found.location)[0] if len(found) else np.empty(0, np.int64)
    for phase, region in enumerate(found.regions):
        mine = found.phase == phase
        each = np.bincount(place[mine], length[mine], locations) if locations else np.zeros(1)
        known = numbers[region] if 0 <= region < len(numbers) else None
        rows.append(
            {
                "phase": phase,
                "region": region,
                "name": known.name if known else "(no name)",
                "file": known.file if known else "",
                "line": known.line if known else 0,
                "visits": int(mine.sum()),
                "time_s": float(each.sum()) / second,
                "span_s": int(found.end[mine].max() - found.begin[mine].min()) / second,
                "least_s": float(each.min()) / second,
                "mean_s": float(each.mean()) / second,
                "most_s": float(each.max()) / second,
                "imbalance": float(each.max() / each.mean()) if each.any() else np.nan,
            }
        )
    table = pd.DataFrame(rows, columns=pd.Index(_COLUMNS))
    available = locations * (end - begin) / second
    rest = {
        "phase": -1,
        "region": NOBODY,
        "name": "rest",
        "file": "",
        "line": 0,
        "visits": 0,
        "time_s": max(0.0, (locations * (end - begin) - int(length.sum())) / second),
    }
    table = pd.concat([table, pd.DataFrame([rest])], ignore_index=True) if len(table) else pd.DataFrame([rest])
    table = table.reindex(columns=pd.Index(_COLUMNS))
    table.insert(7, "share", table["time_s"] / available if available else np.nan)
    return table
