"""Execution profile by nested regions, and where scaling loses time (scale-graph.txt Fig. 5)."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze import wording
from scalegraph.analyze.profile import region_costs, region_losses
from scalegraph.base.measures import percent
from scalegraph.base.run import RunRecord
from scalegraph.figures.columns import known
from scalegraph.figures.figure import LOSS, PROCESSOR_TIME, Axis, Bars, Column, Figure, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.runtime.format import GROUPS
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs, ways
from scalegraph.views.view import View

_TITLE = "Execution profile"
_NEED = Need(
    "A profile needs a run with costs by region.",
    ways.COLLECT_REGIONS,
    "Collect regions.",
    "Measurements have costs by call path: other views show them.",
    met=needs.run_with("regions"),
)
_BARS = 12
_BLAME_NOTE = (
    "Idle: where processors waited; causes waiting: what they waited for. The loss counts waiting at its cause, where"
    " known."
)
_SHORT = {"memory_stall": "stall", "primitive": "primitives"}


def _make(data: StudyData, processors: object = None, size: object = None, bars: int = _BARS) -> Figure:
    run = common.the_run(data, size, processors)
    one = common.one_processor_run(data, run)
    alone = one is None or one is run or not one.regions
    costs = region_costs(run, data.regions) if alone or one is None else region_losses(run, one, data.regions)
    costs = costs[(costs["total_incl_s"] > 0) | (costs["region"] == 0)].reset_index(drop=True)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {run.point.processors}",
        _sentence(costs, run),
        (_table(costs), _bars(costs, run, bars)),
        notes=(
            f"Run: {run.point.label()}. Times are summed over processors.",
            "Inclusive covers what is nested in a region's source, not what it calls.",
            *(("Loss: inclusive share of the loss compared with one processor.",) if not alone else ()),
            *((_BLAME_NOTE,) if run.blame else ()),
        ),
        meta={"run": run.point.key},
    )


def _table(costs: pd.DataFrame) -> Table:
    lost, blames = "loss_share" in costs.columns, bool(costs["caused_s"].any())
    columns = [
        Column("region"),
        Column("inclusive", PROCESSOR_TIME, "muted"),
        Column("exclusive", PROCESSOR_TIME, "muted"),
        *(Column(_SHORT.get(group, group), "s", group) for group in GROUPS),
        *((Column("causes waiting", "s", "idle:2"),) if blames else ()),
        Column("imbalance"),
        Column("visits"),
    ]
    if lost:
        columns.insert(1, Column("loss", LOSS, "mark"))
    rows = []
    for row in costs.to_dict("records"):
        values: list[float | int | str | None] = [
            common.region_name(row),
            known(100 * row["share_incl"]),
            known(100 * row["share"]),
            *(known(row[f"{group}_s"]) for group in GROUPS),
            *((known(row["caused_s"]),) if blames else ()),
            known(row["imbalance"]),
            int(row["visits"]) if row["visits"] else None,
        ]
        if lost:
            values.insert(1, known(100 * row["loss_share_incl"]))
        place = f"{row['file']}:{row['line']}" if row["file"] else ""
        tip = f"{row['kind']} {row['name']} {place}\ninclusive {common.exact(row['total_incl_s'], 's')}"
        rows.append(Row(tuple(values), int(row["depth"]), str(row["region"]), tip))
    return Table(tuple(columns), tuple(rows))


def _bars(costs: pd.DataFrame, run: RunRecord, most: int) -> Plot:
    shown = costs[costs["charged_s"] > 0].sort_values("charged_s", kind="stable").tail(most)
    records = shown.to_dict("records")
    names = tuple(common.region_name(row) for row in records)
    series = [
        (common.GROUP_WORDS[group], group, tuple(float(row[f"{group}_s"]) for row in records)) for group in GROUPS
    ]
    if run.blame:  # draw waiting where it is caused, if known
        left = tuple(float(row["idle_s"] - row["waited_s"]) for row in records)
        series[GROUPS.index("idle")] = ("other idle time", "idle", left)
        series.append(("waiting that it causes", "idle:2", tuple(float(row["caused_s"]) for row in records)))
    tips = tuple(
        tuple(
            f"{name}, {words}: {common.exact(value, 's')}\n{run.point.label()}"
            for name, value in zip(names, values, strict=True)
        )
        for words, _, values in series
    )
    return Plot(
        Axis("processor time, exclusive", "s"),
        Axis("", scale="category", categories=names),
        bars=Bars(tuple(float(i) for i in range(len(names))), tuple(series), tips, horizontal=True),
    )


def _sentence(costs: pd.DataFrame, run: RunRecord) -> str:
    inner = costs[costs["region"] != 0]
    if inner.empty:
        return "All of the time is outside of known regions."
    functions = inner[inner["kind"] == "function"]
    top = (functions if len(functions) else inner).sort_values("charged_share_incl", ascending=False).iloc[0]
    own = inner.sort_values("charged_share", ascending=False).iloc[0]
    waits = " and to waiting for it" if own["caused_s"] > own["total_s"] else ""
    text = (
        f"On {wording.span((run.point.processors,))}, {percent(float(own['charged_share']))} of processor time"
        f" goes to {common.region_name(own.to_dict())} itself{waits}"
    )
    if int(top["region"]) != int(own["region"]):
        inside = percent(float(top["charged_share_incl"]))
        text += f", {inside} to {common.region_name(top.to_dict())} with all inside"
    if "loss_share" in inner.columns and inner["loss_share"].notna().any():
        worst = inner.sort_values("loss_share", ascending=False).iloc[0]
        text += (
            f"; {percent(float(worst['loss_share']))} of the loss compared with one processor is in"
            f" {common.region_name(worst.to_dict())}"
        )
    return text + "."


VIEW = View(
    "profile",
    _TITLE,
    "Time by function, loop and parallel construct, nested as in the source, and each one's share of the loss.",
    _make,
    (
        common.PROCESSORS,
        common.SIZE,
        Option("bars", "Bars", "int", _BARS, description="how many of the most expensive regions get a bar", minimum=1),
    ),
    needs=(_NEED,),
)
