"""Roofline: operations of a code region over the bytes it moves, against the machine's peaks.

Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for multicore architectures", 2009.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from scalegraph.analyze.profile import region_tree
from scalegraph.base.measures import percent
from scalegraph.base.units import significant
from scalegraph.runtime.format import CATEGORY_GROUPS, GROUPS

if TYPE_CHECKING:
    from scalegraph.base.run import Region, RunRecord
    from scalegraph.machine.roofs import Roofs

COUNTER: Final = "memory_lines"
FLOPS, ALL = "floating-point", "all"
HELD: Final = 0.5  # below this share of its roof, a region is limited by something else
_LOOPS: Final = ("loop", "for", "do")
SHARE: Final = 0.01  # share of processor time; regions with less are not named
_FEW: Final = 0.001  # with a smaller share of floating-point operations, all operations are counted
_INSTEAD: Final = {
    "busy": "instructions that wait for each other, or are not counted, take most of its time",
    "memory_stall": "waiting for single lines is most of its time",
    "idle": "idle processors are most of its time",
    "primitive": "synchronisation and scheduling are most of its time",
}


def is_counted(run: RunRecord) -> bool:
    """Return whether lines fetched from memory were counted in *run*: older versions did not.

    Source: ScaleGraph.
    """
    return COUNTER in run.counters


def counted_as(run: RunRecord) -> str:
    """Return which operations of *run* to count: floating-point ones, or all if it has hardly any.

    Source: ScaleGraph.
    """
    few = run.counters.get("flops", 0) < _FEW * run.counters.get("ops", 0)
    return ALL if few else FLOPS


def table(run: RunRecord, regions: Sequence[Region], roofs: Roofs, operations: str = "") -> pd.DataFrame:
    """Return one row for the run (region -1) and one for each active region and loop, exclusive.

    *operations*: `FLOPS` or `ALL`; empty: `counted_as`. Columns: ``region``, ``name``, ``kind``, ``file``, ``line``;
    ``share`` of processor time; ``seconds``: processor time / N; ``counted``: which operations; ``operations`` (count);
    ``bytes`` from and to memory, ``written_bytes`` of them; ``cache_bytes`` beyond the private caches, ``first_bytes``
    that left the first level; ``intensity`` = operations / bytes, NaN without bytes; ``rate`` = operations / seconds;
    ``bandwidth`` = bytes / seconds; ``roof``: the lower one of the arithmetic's and of intensity x memory bandwidth,
    written bytes at their cost; ``of_roof`` = rate / roof, of a place without operations the part of the memory's
    bandwidth that it takes; ``bound``: ``memory bandwidth`` or ``arithmetic``, whichever roof is lower; ``sentence``.

    Shape: one row for each place. Unit: operations, bytes, seconds. Source: Williams et al. 2009.
    """
    kind = operations or counted_as(run)
    whole = sum(run.categories.values())
    places = [_place(-1, "whole run", "run", run.categories, run.counters)]
    costs = {cost.region: cost for cost in run.regions}
    for region, _depth in region_tree(regions, run):
        cost = costs.get(region.id)
        if cost is not None:
            place = _place(region.id, region.name, region.kind, cost.categories, cost.counters)
            places.append(place | {"file": region.file, "line": region.line})
    rows = [_row(place, run, roofs, kind, whole) for place in places]
    kept = [row for row in rows if row["region"] == -1 or row["operations"] or row["bytes"]]
    return pd.DataFrame([row | {"sentence": sentence(row)} for row in kept]).drop(columns="most")


def _place(number: int, name: str, kind: str, cycles: Mapping[str, int], counters: Mapping[str, int]) -> dict[str, Any]:
    return {"region": number, "name": name, "kind": kind, "file": "", "line": 0, "cycles": cycles, "counters": counters}


def _row(place: dict[str, Any], run: RunRecord, roofs: Roofs, kind: str, whole: int) -> dict[str, Any]:
    cycles, counted = place.pop("cycles"), place.pop("counters")
    total, line = sum(cycles.values()), roofs.line_bytes
    seconds = total / run.point.processors / run.clock_hz if run.clock_hz else math.nan
    operations = counted.get("flops" if kind == FLOPS else "ops", 0)
    written = counted.get("writebacks", 0) * line
    moved = counted.get(COUNTER, 0) * line + written
    left = counted.get("misses", 0) - counted.get("upgrades", 0) + counted.get("prefetches", 0)
    intensity = operations / moved if moved else math.nan
    rate, bandwidth = ((count / seconds if seconds else math.nan) for count in (operations, moved))
    most = roofs.moved_b_s(moved - written, written) if moved else math.nan
    flat = _flat(roofs, kind, rate)
    sloped = intensity * most
    roof = min(flat, sloped) if sloped == sloped else flat
    groups = dict.fromkeys(GROUPS, 0)
    for category, count in cycles.items():
        groups[CATEGORY_GROUPS[category]] += count
    return place | {
        "share": total / whole if whole else math.nan,
        "seconds": seconds,
        "counted": kind,
        "operations": operations,
        "bytes": moved,
        "written_bytes": written,
        "cache_bytes": left * line,
        "first_bytes": counted.get("l1_misses", 0) * line,
        "intensity": intensity,
        "rate": rate,
        "bandwidth": bandwidth,
        "roof": roof,
        "of_roof": rate / roof if roof else bandwidth / most,
        "bound": "memory bandwidth" if roof < flat else "arithmetic",
        "most": max(groups, key=lambda group: groups[group]),
    }


def _flat(roofs: Roofs, kind: str, rate: float) -> float:
    """Return the compute roof: that of vector instructions only if the region exceeds the scalar one."""
    if kind == ALL:
        return roofs.operations_s
    return roofs.vector_flops_s if rate > roofs.plain_flops_s else roofs.plain_flops_s


def name_of(row: Mapping[str, Any]) -> str:
    """Return the name of a row: ``loop main.c:12``, ``function solve``, ``the run``.

    Source: ScaleGraph.
    """
    if row["region"] == -1:
        return "the run"
    if row["region"] == 0:
        return "the program outside its regions"
    if row["kind"] in ("function", "phase") or not row["file"]:
        return f"{row['kind']} {str(row['name']).removeprefix(str(row['kind'])).strip()}"
    loop = row["kind"] in _LOOPS or str(row["name"]).startswith(("parallel for", "parallel do"))
    return f"{'loop' if loop else row['kind']} {PurePath(str(row['file'])).name}:{row['line']}"


def sentence(row: Mapping[str, Any]) -> str:
    """Return a sentence on a row of `table`: operations per byte, the lower roof, and how near the region is to it.

    Source: ScaleGraph.
    """
    unit = "operations" if row["counted"] == ALL else "floating-point operations"
    name = name_of(row)
    if not row["operations"] and not row["bytes"]:
        return f"{name} does no {unit} and moves nothing from memory"
    if not row["operations"]:
        does = f"does no {unit} and moves {significant(row['bandwidth'] / 1e9)} GB/s"
    elif row["bytes"]:
        does = f"does {significant(row['intensity'])} {unit} per byte"
    else:
        does = f"does {unit} on data in caches"
    if not math.isfinite(row["of_roof"]):
        return f"{name} {does}"
    share = percent(row["of_roof"])
    if row["of_roof"] >= HELD:
        return f"{name} {does}: bound by {row['bound']}, at {share} of the roof"
    return (
        f"{name} {does}: at {share} of the roof of {row['bound']}, so that does not bound it; {_INSTEAD[row['most']]}"
    )
