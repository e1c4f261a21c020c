"""Costs by program region and source line: where time is spent, and where scaling loses it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from scalegraph.analyze.table import Floats
from scalegraph.base.run import PROGRAM, Region, RunRecord
from scalegraph.runtime.format import CATEGORY_GROUPS, GROUPS


def region_costs(run: RunRecord, regions: Sequence[Region]) -> pd.DataFrame:
    """Return one row per region in tree order (parents first), with costs summed over processors.

    Columns: ``region`` id, ``name``, ``kind``, ``file``, ``line``, ``depth``, ``parent``; for every group ``<group>_s``
    exclusive and ``<group>_incl_s`` including everything lexically inside; ``total_s``, ``total_incl_s``
    (processor-seconds), ``share`` and ``share_incl`` of the run's processor time N T_para, including waiting
    (`RunRecord.processor_cycles`; 0 to 1, NaN if unknown); ``waited_s`` the part of the waiting here whose cause is
    known, ``caused_s`` how long all processors waited for work done here, and ``charged_s`` = total - waited + caused,
    with ``charged_incl_s``, ``charged_share`` and ``charged_share_incl``: the same processor time by its cause
    (`_charged`); ``visits`` (events), ``imbalance``: busiest processor's busy time here over the mean of all, 1 is
    balanced, NaN without busy time. Seconds are NaN if the run's clock is unknown. A region without cost stays in the
    tree with 0.

    Shape: one row for each region. Unit: as listed. Source: ``charged``: Tallent and Mellor-Crummey 2009.
    """
    known = region_tree(regions, run)
    exclusive = np.zeros((len(known), len(GROUPS)))
    blamed = np.zeros((len(known), 2))  # waited, caused
    visits = np.zeros(len(known))
    busiest = np.full(len(known), np.nan)
    place = {region.id: index for index, (region, _) in enumerate(known)}
    for cost in run.regions:
        index = place[cost.region]
        for category, cycles in cost.categories.items():
            exclusive[index, GROUPS.index(CATEGORY_GROUPS[category])] += cycles
        visits[index] += cost.counters.get("visits", 0)
        busiest[index] = cost.busy_max
        blamed[index] = sum(sum(part.values()) for part in cost.waited.values()), sum(cost.caused.values())
    both = np.concatenate([exclusive, blamed], axis=1)
    for index in range(len(known) - 1, 0, -1):  # children come after their parents
        parent = known[index][0].parent
        both[place.get(parent if parent is not None else 0, 0)] += both[index]
    inclusive, blamed_inside = both[:, : len(GROUPS)], both[:, len(GROUPS) :]
    scale = 1 / run.clock_hz if run.clock_hz else float("nan")
    table = pd.DataFrame(
        {
            "region": [region.id for region, _ in known],
            "name": [region.name for region, _ in known],
            "kind": [region.kind for region, _ in known],
            "file": [region.file for region, _ in known],
            "line": [region.line for region, _ in known],
            "depth": [depth for _, depth in known],
            "parent": [-1 if region.parent is None else region.parent for region, _ in known],
        }
    )
    for number, group in enumerate(GROUPS):
        table[f"{group}_s"] = exclusive[:, number] * scale
        table[f"{group}_incl_s"] = inclusive[:, number] * scale
    whole = run.processor_cycles
    with np.errstate(all="ignore"):
        for suffix, costs in (("", exclusive), ("_incl", inclusive)):
            table[f"total{suffix}_s"] = costs.sum(axis=1) * scale
            table[f"share{suffix}"] = costs.sum(axis=1) / whole
        for name, costs, moved in (("", exclusive, blamed), ("_incl", inclusive, blamed_inside)):
            charged = _charged(table, costs.sum(axis=1), moved, scale, name)
            table[f"charged_share{name}"] = charged / whole
        mean = exclusive[:, 0] / run.point.processors
        table["imbalance"] = np.where(mean > 0, busiest / mean, np.nan)
    table["visits"] = visits
    return table


def _charged(table: pd.DataFrame, total: Floats, moved: Floats, scale: float, suffix: str = "") -> Floats:
    """Add the columns ``waited_s``, ``caused_s`` and ``charged_s`` to *table*; return the last in cycles.

    Waiting is charged either where it happened or, if its cause is known, to that cause (Tallent and Mellor-Crummey
    2009, blame shifting); both have the same sum. *moved* has the columns waited and caused, in cycles.
    """
    table[f"waited{suffix}_s"] = moved[:, 0] * scale
    table[f"caused{suffix}_s"] = moved[:, 1] * scale
    charged: Floats = total - moved[:, 0] + moved[:, 1]
    table[f"charged{suffix}_s"] = charged * scale
    return charged


def region_tree(regions: Sequence[Region], *runs: RunRecord) -> list[tuple[Region, int]]:
    """Return all regions with their depth, parents before children and siblings by line; id 0 is the root.

    Regions known only from *runs* are placed below the root.

    Shape: one entry for each region. Unit: none (depth). Source: ScaleGraph.
    """
    by_id = {region.id: region for region in regions}
    by_id.setdefault(0, PROGRAM)
    for cost in (cost for run in runs for cost in run.regions):
        by_id.setdefault(cost.region, Region(id=cost.region, kind="region", name=f"region {cost.region}"))
    children: dict[int, list[Region]] = {}
    for region in by_id.values():
        if region.id != 0:
            parent = region.parent if _hangs_together(region, by_id) else 0
            children.setdefault(parent or 0, []).append(region.model_copy(update={"parent": parent or 0}))
    result: list[tuple[Region, int]] = []
    pending = [(by_id[0], 0)]
    while pending:
        region, depth = pending.pop()
        result.append((region, depth))
        inside = sorted(children.pop(region.id, []), key=lambda child: (child.file, child.line, child.id), reverse=True)
        pending.extend((child, depth + 1) for child in inside)
    return result


def _hangs_together(region: Region, by_id: Mapping[int, Region]) -> bool:
    """Return whether the ancestors of *region* lead to the root; in a damaged file they may form a cycle."""
    seen: set[int] = set()
    place: Region | None = region
    while place is not None and place.id != 0 and place.id not in seen:
        seen.add(place.id)
        place = by_id.get(place.parent or 0)
    return place is not None and place.id == 0


def region_losses(run: RunRecord, one: RunRecord, regions: Sequence[Region]) -> pd.DataFrame:
    """Return `region_costs` of *run* with the loss of each region against the run *one* of the same problem.

    Added: ``loss_s`` processor-seconds lost in the region itself (sum of the parts of `loss.by_region`), and
    ``loss_incl_s`` including everything inside it. ``loss_share``, ``loss_share_incl``: of the total loss (negative for
    a gain); NaN if nothing is lost.

    Shape: one row for each region. Unit: processor-seconds; shares have none. Source: latency-metric.txt 6.1, method 1.
    """
    from scalegraph.analyze import loss

    tree = [region for region, _ in region_tree(regions, one, run)]
    table = region_costs(run, tree)
    parts = loss.by_region(run, one, regions)
    parts.attrs = {}  # pandas copies them deeply with every column
    values = parts["loss_s"].to_numpy(dtype=float)
    numbers = table["region"].to_numpy()
    place = {int(region): index for index, region in enumerate(numbers)}
    lost = np.zeros(len(table))
    for region, value in zip(parts["place"].tolist(), values, strict=True):
        if region in place:
            lost[place[region]] += value
    parents = table["parent"].to_numpy()
    inside = lost.copy()
    for index in range(len(table) - 1, 0, -1):  # children come after their parents
        inside[place[int(parents[index])]] += inside[index]
    gross = float(values.clip(min=0).sum())
    for suffix, values in (("", lost), ("_incl", inside)):
        table[f"loss{suffix}_s"] = values
        table[f"loss_share{suffix}"] = values / gross if gross > 0 else np.nan
    return table


def line_costs(run: RunRecord) -> pd.DataFrame:
    """Return one row per source line with a cost, the one that causes most first, summed over processors.

    Columns: ``file``, ``line``, ``executions``, ``references``, ``misses``, ``remote`` (reads and writes served over
    the network), ``upgrades``, ``invalidations`` (events); ``<group>_s`` and ``total_s``
    (processor-seconds); ``share`` of the run's processor time N T_para as in `region_costs` (waiting that no line is
    charged with is part of that, so the shares of all lines may add up to less than 1); ``waited_s``, ``caused_s`` and
    ``charged_s`` as in `region_costs`, and ``charged_share`` of N T_para, by which the rows are ordered;
    ``miss_share`` of the run's misses; ``miss_rate`` of the line's references.

    Shape: one row for each line. Unit: as listed. Source: as of `region_costs`.
    """
    scale = 1 / run.clock_hz if run.clock_hz else float("nan")
    events = ["executions", "references", "misses", "remote", "upgrades", "invalidations"]
    names = ["file", "line", *events, *GROUPS]
    rows = [[getattr(line, name) for name in names] for line in run.lines]
    table = pd.DataFrame(rows, columns=pd.Index(names))
    cycles = table[list(GROUPS)].to_numpy(dtype=float)
    total = cycles.sum(axis=1)
    for number, group in enumerate(GROUPS):
        table[f"{group}_s"] = cycles[:, number] * scale
    table["total_s"] = total * scale
    table["share"] = total / run.processor_cycles
    moved = np.array([[line.waited, sum(line.caused.values())] for line in run.lines], dtype=float).reshape(-1, 2)
    charged = _charged(table, total, moved, scale)
    table["charged_share"] = charged / run.processor_cycles
    references, misses = (table[name].to_numpy(dtype=float) for name in ("references", "misses"))
    table["miss_share"] = misses / (run.misses or misses.sum() or math.nan)
    with np.errstate(all="ignore"):
        table["miss_rate"] = np.where(references > 0, misses / references, np.nan)
    ordered = table.drop(columns=list(GROUPS)).assign(rank=-charged).sort_values(["rank", "file", "line"])
    return ordered.drop(columns="rank").reset_index(drop=True)


def processor_costs(run: RunRecord, *, by: str = "group") -> pd.DataFrame:
    """Return the accounts of every processor of a run in seconds, with a column per group or category.

    Categories that are zero everywhere are left out. Empty if the run has no accounts by processor.

    Shape: (processors, groups or categories). Unit: s. Source: scale-graph.txt Fig. 11.
    """
    if not run.processor_categories or not run.clock_hz:
        return pd.DataFrame()
    known = [category for category in CATEGORY_GROUPS if category in run.processor_categories]
    categories = pd.DataFrame({category: run.processor_categories[category] for category in known}) / run.clock_hz
    if by == "group":
        return pd.DataFrame(
            {
                group: categories[[category for category in known if CATEGORY_GROUPS[category] == group]].sum(axis=1)
                for group in GROUPS
            }
        )
    return categories.loc[:, categories.sum() > 0]
