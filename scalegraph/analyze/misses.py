"""Misses by class, variable and line, and the utilisation of memory modules and links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from scalegraph.base.run import Region, RunRecord
from scalegraph.runtime.format import CLASS_NAMES


def _classes(found: Mapping[str, int]) -> dict[str, int]:
    return {name: found.get(name, 0) for name in CLASS_NAMES}


def class_totals(run: RunRecord) -> pd.Series:
    """Return the misses of a run by class, over all causes.

    Shape: (classes,). Unit: events (misses). Source: Dubois and others 1993.
    """
    total = pd.Series(0, index=pd.Index(CLASS_NAMES), dtype=int)
    for part in run.classes.values():
        total += pd.Series(_classes(part))
    return total


def classes_by_region(run: RunRecord, regions: Sequence[Region]) -> pd.DataFrame:
    """Return misses by class of every region with any, most first.

    Columns ``region`` (id), ``name``, ``file``, ``line``, the classes, ``misses``.

    Shape: one row for each region. Unit: events (misses). Source: as of `class_totals`.
    """
    names = {region.id: region for region in regions}
    rows = []
    for cost in run.regions:
        region = names.get(cost.region) or Region(id=cost.region, kind="region", name=f"region {cost.region}")
        place = {"region": region.id, "name": region.name, "kind": region.kind, "file": region.file}
        rows.append({**place, "line": region.line, **_classes(cost.classes)})
    return _ranked(rows, ["region", "name", "kind", "file", "line"])


def classes_by_line(run: RunRecord) -> pd.DataFrame:
    """Return misses by class of every source line with any, most first: ``file``, ``line``, classes, ``misses``.

    Shape: one row for each line. Unit: events (misses). Source: as of `class_totals`.
    """
    rows = [{"file": line.file, "line": line.line, **_classes(line.classes)} for line in run.lines]
    return _ranked(rows, ["file", "line"])


def classes_by_variable(run: RunRecord) -> pd.DataFrame:
    """Return misses by class of every variable with any, most first: ``name``, ``kind``, ``file``, ``line``, ..

    Shape: one row for each variable. Unit: events (misses). Source: as of `class_totals`.
    """
    rows = [
        {"name": one.name, "kind": one.kind, "file": one.file, "line": one.line, **_classes(one.classes)}
        for one in run.variables
    ]
    return _ranked(rows, ["name", "kind", "file", "line"])


def _ranked(rows: list[dict[str, object]], places: list[str]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=pd.Index([*places, *CLASS_NAMES]))
    table["misses"] = table[list(CLASS_NAMES)].sum(axis=1)
    kept = table[table["misses"] > 0]
    return kept.sort_values("misses", ascending=False, kind="stable").reset_index(drop=True)


def variable_costs(run: RunRecord) -> pd.DataFrame:
    """Return one row per variable, the most expensive first.

    Columns: ``name``, ``kind``, ``file``, ``line``, ``function``, ``bytes``, ``blocks``, ``references`` (NaN unless
    collected), ``misses``, ``remote``, ``upgrades``, ``invalidations`` (events), ``stall_s`` (processor-seconds of
    memory stall), ``share`` of all such stalls.

    Shape: one row for each variable. Unit: as listed. Source: ScaleGraph.
    """
    places = ("name", "kind", "file", "line", "function", "bytes", "blocks")
    names = (*places, "references", "misses", "remote", "upgrades", "invalidations", "stall")
    rows = [[getattr(one, name) for name in names] for one in run.variables]
    table = pd.DataFrame(rows, columns=pd.Index(names))
    table["references"] = pd.to_numeric(table["references"])
    whole = float(table["stall"].sum())
    table["share"] = table["stall"] / whole if whole else float("nan")
    table["stall_s"] = table["stall"] / run.clock_hz if run.clock_hz else float("nan")
    ordered = table.sort_values("stall", ascending=False, kind="stable").drop(columns="stall")
    return ordered.reset_index(drop=True)


def resource_costs(run: RunRecord) -> pd.DataFrame:
    """Return one row per link and memory module, the busiest first.

    Columns: ``name``, ``kind`` (link or module), ``units`` that work in parallel, ``transactions`` (events), ``busy``
    (share of the time of the run, 0 to 1, averaged over the units), ``wait`` (cycles that a transaction waited for it
    on average).

    Shape: one row for each link or module. Unit: as listed. Source: ScaleGraph.
    """
    rows = [
        [one.name, one.kind, one.units, one.transactions, one.busy, one.waiting / max(one.transactions, 1)]
        for one in run.resources
    ]
    table = pd.DataFrame(rows, columns=pd.Index(["name", "kind", "units", "transactions", "busy", "wait"]))
    table["busy"] = table["busy"] / (table["units"] * run.time_cycles) if run.time_cycles else float("nan")
    return table.sort_values(["busy", "transactions"], ascending=False, kind="stable").reset_index(drop=True)
