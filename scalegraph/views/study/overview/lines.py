"""The hottest source lines in one run."""

from __future__ import annotations

from pathlib import PurePath

import pandas as pd

from scalegraph.analyze.profile import line_costs
from scalegraph.base.units import significant
from scalegraph.figures.figure import PROCESSOR_TIME, REFERENCES, Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs, ways
from scalegraph.views.study.overview.source import base_notes
from scalegraph.views.view import View

_TITLE = "Hottest lines"
_NEED = Need(
    "Costs by line need a simulated run with lines collected.",
    ways.COLLECT_LINES,
    record="Measurements have none: run the program in ScaleGraph.",
    met=needs.run_with("lines"),
)


def _make(data: StudyData, processors: object = None, size: object = None, most: int = 40) -> Figure:
    run = common.the_run(data, size, processors)
    costs = line_costs(run)
    text = {(source.file, n): line.strip() for source in data.sources for n, line in _numbered(source.text)}
    blames = bool(run.blame)
    rows = []
    for row in costs.head(most).to_dict("records"):
        place = f"{PurePath(str(row['file'])).name}:{int(row['line'])}"
        miss = float(row["miss_rate"]) * 100
        rows.append(
            Row(
                (
                    place,
                    *((100 * float(row["charged_share"]),) if blames else ()),
                    100 * float(row["share"]),
                    *(float(row[f"{group}_s"]) for group in ("busy", "memory_stall", "idle", "primitive")),
                    *((float(row["caused_s"]) or None,) if blames else ()),
                    int(row["executions"]),
                    miss if miss == miss else None,
                    int(row["remote"]) or None,
                    int(row["invalidations"]) or None,
                    text.get((str(row["file"]), int(row["line"])), ""),
                ),
                key=f"{row['file']}:{int(row['line'])}",
                tip=f"{row['file']}:{int(row['line'])}",
            )
        )
    columns = (
        Column("line"),
        *((Column("cost", PROCESSOR_TIME, "mark"),) if blames else ()),
        Column("share", PROCESSOR_TIME, "muted"),
        Column("busy", "s", "busy"),
        Column("memory stall", "s", "memory_stall"),
        Column("idle", "s", "idle"),
        Column("primitives", "s", "primitive"),
        *((Column("causes waiting", "s", "idle:2"),) if blames else ()),
        Column("executions"),
        Column("miss rate", REFERENCES),
        Column("remote"),
        Column("invalidations"),
        Column("text"),
    )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {run.point.processors}",
        _sentence(costs, blames),
        (Table(columns, tuple(rows)),),
        notes=(f"Run: {run.point.label()}. Times are summed over processors.", *base_notes(run)),
    )


def _sentence(costs: pd.DataFrame, blames: bool) -> str:
    """Return how few lines take half of processor time, or the share of all lines if that is less."""
    sums, many = costs["charged_share"].cumsum(), len(costs)
    first = f"the hottest takes {significant(100 * float(costs['charged_share'].iloc[0]))} {PROCESSOR_TIME}"
    first += ", with the waiting that it causes" if blames else ""
    if not float(sums.iloc[-1]) >= 0.5:
        return f"All {many} lines together take {significant(100 * float(sums.iloc[-1]))} {PROCESSOR_TIME}; {first}."
    half = int((sums < 0.5).sum()) + 1
    return f"{half} of {many} lines take{'s' if half == 1 else ''} half of processor time; {first}."


def _numbered(text: str) -> list[tuple[int, str]]:
    return list(enumerate(text.splitlines(), start=1))


VIEW = View(
    "lines",
    _TITLE,
    "Source lines, most expensive first.",
    _make,
    (
        common.PROCESSORS,
        common.SIZE,
        Option("most", "Lines", "int", 40, description="how many lines", minimum=1),
    ),
    needs=(_NEED,),
)
