"""What lies on the critical path: regions, activities and locations, beside what they take in the whole run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scalegraph.analyze.trace.critical_path import PIECES, CriticalPath, Piece
from scalegraph.analyze.trace.idle import stretches
from scalegraph.analyze.trace.stacks import Stacks, overlaps
from scalegraph.base.cancel import CancelToken
from scalegraph.traces.kinds import Array
from scalegraph.traces.model import Trace


@dataclass(frozen=True, eq=False)
class OnPath:
    """Tables of what lies on a path, largest share of the path first; ticks are exact where the trace is cut there.

    *regions*: ``region`` (number, -1: outside of all), ``path`` ticks of the path in the region itself, ``inclusive``
    those within it and all it calls, ``total`` ticks of all locations in the region itself, ``mean`` of a location;
    ``imbalance`` = path - mean where positive: what the run would gain if all locations shared the region evenly
    (Scalasca's critical-path imbalance). *states* the same by ``state``, *locations* by ``location``, where ``pieces``
    counts how often the path comes there. *kinds*: ``kind``, ``ticks``. All but hand-overs and messages is what
    locations did; *outside* is the time of hand-overs, messages and what is unexplained.
    """

    regions: pd.DataFrame
    states: pd.DataFrame
    locations: pd.DataFrame
    kinds: pd.DataFrame
    outside: int


def on_path(trace: Trace, path: CriticalPath, stacks: Stacks, cancel: CancelToken | None = None) -> OnPath:
    """Return what lies on *path*."""
    busy = path.kind == Piece.COMPUTE
    begin, end, location = path.begin[busy], path.end[busy], path.location[busy]
    region_path, inclusive, region_total = _by_calls(trace, stacks, location, begin, end)
    if cancel is not None:
        cancel.check()
    state_path, state_total, shared_path, shared_total = _by_states(trace, location, begin, end)
    if shared_total is not None and shared_path is not None:  # shares tell it by region too, by cycles
        region_path, region_total = shared_path, shared_total
    count = max(len(trace.definitions.locations), 1)
    where = np.bincount(location, (end - begin).astype(float), minlength=count)
    kinds = [(PIECES[kind], path.ticks(kind)) for kind in Piece]
    came = np.flatnonzero(np.r_[True, path.location[1:] != path.location[:-1]][: len(path)])
    return OnPath(
        _table("region", region_path, region_total, count, inclusive),
        _table("state", state_path, state_total, count),
        pd.DataFrame({"location": np.arange(count), "path": where.astype(np.int64),
                      "pieces": np.bincount(path.location[came], minlength=count)})
        .sort_values("path", ascending=False, kind="stable").reset_index(drop=True),
        pd.DataFrame(kinds, columns=pd.Index(["kind", "ticks"])),
        path.ticks() - path.ticks(Piece.COMPUTE),
    )  # fmt: skip


def _table(name: str, path: Array, total: Array, locations: int, inclusive: Array | None = None) -> pd.DataFrame:
    """Return what has any time; the first entry of the arrays is for -1."""
    mean = total / locations
    table = pd.DataFrame({name: np.arange(len(path)) - 1, "path": path})
    if inclusive is not None:
        table["inclusive"] = inclusive
    table = table.assign(total=total, mean=mean, imbalance=np.maximum(path - mean, 0.0))
    kept = (table["path"] > 0) | (table["total"] > 0)
    if inclusive is not None:
        kept |= table["inclusive"] > 0
    return table[kept].sort_values(["path", "total"], ascending=False, kind="stable").reset_index(drop=True)


def _by_calls(trace: Trace, stacks: Stacks, location: Array, begin: Array, end: Array) -> tuple[Array, ...]:
    """Return ticks on the path by region, by region with all it calls, and of all locations (-1 first)."""
    regions = len(trace.definitions.regions) + 1
    path, inclusive = np.zeros(regions), np.zeros(regions)
    if not len(stacks.time):
        path[0] = float((end - begin).sum())
        return path, inclusive, path.copy()
    until = stacks.until(trace.meta.end)
    region = stacks.region_of(stacks.inner) + 1
    total = np.bincount(region, (until - stacks.time).astype(float), minlength=regions)
    opening = stacks.first[:-1][stacks.first[1:] > stacks.first[:-1]]
    total[0] += float(np.maximum(stacks.time[opening] - trace.meta.begin, 0).sum())
    _, row, ticks = overlaps(stacks.first, stacks.time, until, location, begin, end)
    path += np.bincount(region[row], ticks.astype(float), minlength=regions)
    path[0] += float((end - begin).sum() - ticks.sum())  # before the first call
    inside, which = np.unique(stacks.inner[row], return_inverse=True)
    weight = np.bincount(which, ticks.astype(float), minlength=len(inside))
    above: list[Array] = []
    while len(inside) and (inside >= 0).any():
        here = stacks.region_of(inside)
        fresh = here >= 0
        for other in above:  # a region that calls itself is counted once
            fresh &= here != other
        inclusive += np.bincount(here[fresh] + 1, weight[fresh], minlength=regions)
        above.append(here)
        inside = stacks.caller(inside)
        if len(above) > 256:  # no sum over a deeper recursion
            break
    return path, inclusive, total


def _by_states(
    trace: Trace, location: Array, begin: Array, end: Array
) -> tuple[Array, Array, Array | None, Array | None]:
    """Return ticks on the path and of all locations by state, and from shares by region as well (-1 first)."""
    states, regions = len(trace.definitions.states) + 1, len(trace.definitions.regions) + 1
    locations = len(trace.definitions.locations)
    if trace.count("shares"):
        found = _sorted(trace.columns("shares"), locations, state=states, region=regions)
        stretch = stretches(found["location"], found["begin"])
        sizes = np.diff(np.r_[stretch, len(found["begin"])])
        first = np.searchsorted(found["location"][stretch], np.arange(locations + 1))
        since, until = found["begin"][stretch], found["end"][stretch]
        _, at, ticks = overlaps(first, since, until, location, begin, end)
        rows = np.repeat(stretch[at] - np.r_[0, np.cumsum(sizes[at])[:-1]][: len(at)], sizes[at])
        rows += np.arange(len(rows))
        part = np.repeat(ticks / np.maximum(until[at] - since[at], 1), sizes[at]) * found["ticks"][rows]
        whole = found["ticks"].astype(float)
        return (
            np.bincount(found["state"][rows] + 1, part, minlength=states),
            np.bincount(found["state"] + 1, whole, minlength=states),
            np.bincount(found["region"][rows] + 1, part, minlength=regions),
            np.bincount(found["region"] + 1, whole, minlength=regions),
        )
    found = _sorted(trace.columns("states"), locations, state=states)
    first = np.searchsorted(found["location"], np.arange(locations + 1))
    total = np.bincount(found["state"] + 1, (found["end"] - found["begin"]).astype(float), minlength=states)
    _, at, ticks = overlaps(first, found["begin"], found["end"], location, begin, end)
    return np.bincount(found["state"][at] + 1, ticks.astype(float), minlength=states), total, None, None


def _sorted(found: dict[str, Array], locations: int, **limits: int) -> dict[str, Array]:
    """Return rows of known locations, by location and begin; a number from *limits* - 1 on is none."""
    inside = (found["location"] >= 0) & (found["location"] < locations)
    order = np.flatnonzero(inside)
    order = order[np.lexsort((found["begin"][order], found["location"][order]))]
    found = {name: values[order] for name, values in found.items()}
    for name, count in limits.items():
        found[name] = np.where(found[name] < count - 1, found[name], -1)
    return found
