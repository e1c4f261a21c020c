"""Variables, sorted by the cost of waiting for them."""

from __future__ import annotations

import math
from pathlib import PurePath
from typing import Any

from scalegraph.analyze.misses import variable_costs
from scalegraph.base.measures import percent
from scalegraph.base.units import si
from scalegraph.figures.figure import Axis, Column, Figure, Row, Table
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.memory import cause_words
from scalegraph.views.view import View

_NEED = needs.counts(
    "Costs by variable need a simulated run whose references leave the private caches.", needs.run_with("variables")
)
_TITLE = "Variables"
_BARS = 12


def _make(data: StudyData, processors: object = None, size: object = None, bars: int = _BARS) -> Figure:
    run = common.the_run(data, size, processors)
    costs = variable_costs(run)
    dear = costs[costs["stall_s"] > 0].head(bars)
    names = [_name(row) for row in costs.to_dict("records")]
    first = costs.iloc[0]
    sentence = (
        f"On {run.point.processors} processors {percent(float(first['share']))} of the waiting for memory is for"
        f" {first['name']}: {si(float(first['stall_s']), 's')} of processor time."
        if float(first["stall_s"]) > 0
        else "No reference of this run waits for memory."
    )
    plot = cause_words.ranked(
        dear, names[: len(dear)], {"stall_s": ("waiting for memory", "memory_stall")}, Axis("waiting for memory", "s")
    )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {run.point.processors}",
        sentence,
        (*((plot,) if len(dear) else ()), _table(costs.to_dict("records"), run.collected, names)),
        notes=(
            (
                f"Run: {run.point.label()}. Global symbols by name; heap blocks by what is assigned where they are"
                " allocated; the runtime's own variables are those of its barriers, locks and teams."
            ),
        ),
        meta={"run": run.point.key},
    )


def _name(row: dict[Any, Any]) -> str:
    place = f" ({PurePath(str(row['file'])).name}:{row['line']})" if row["file"] and row["line"] else ""
    return f"{row['name']}{place}" if "allocated at" not in str(row["name"]) else str(row["name"])


def _table(rows: list[dict[Any, Any]], collected: tuple[str, ...], names: list[str]) -> Table:
    columns = [
        Column("variable"),
        Column("kind"),
        Column("waiting", "s", "memory_stall"),
        Column("share", "% of this waiting", "muted"),
        Column("misses"),
        Column("remote"),
        Column("upgrades"),
        Column("invalidations"),
        Column("size", "B"),
    ]
    if "classes" in collected:
        columns.insert(4, Column("references"))
    made = []
    for row, name in zip(rows, names, strict=True):
        share = 100 * float(row["share"])
        values: list[float | int | str | None] = [
            name,
            cause_words.KINDS.get(str(row["kind"]), str(row["kind"])),
            float(row["stall_s"]),
            share if math.isfinite(share) else None,
            *(int(row[column]) for column in ("misses", "remote", "upgrades", "invalidations")),
            int(row["bytes"]) or None,
        ]
        if "classes" in collected:
            values.insert(4, int(row["references"]) if math.isfinite(row["references"]) else None)
        where = f"{row['file']}:{row['line']}" if row["file"] else ""
        blocks = f"{row['blocks']} blocks allocated in {row['function']}" if row["blocks"] else ""
        key = where or (f"data:{row['name']}" if row["kind"] == "global" else "")  # target of a virtual speedup
        made.append(Row(tuple(values), key=key, tip="\n".join(part for part in (name, where, blocks) if part)))
    return Table(tuple(columns), tuple(made))


VIEW = View(
    "variables",
    _TITLE,
    "Which variables the processors wait for: symbols, heap blocks by allocation site, stacks, and the"
    " variables of barriers and locks.",
    _make,
    (
        common.PROCESSORS,
        common.SIZE,
        Option("bars", "Bars", "int", _BARS, description="how many of the most expensive get a bar", minimum=1),
    ),
    needs=(_NEED,),
)
