"""The cost of messages by communicator, or by rank and partner."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scalegraph.analyze.messages import tables as messages
from scalegraph.analyze.table import numbers
from scalegraph.base.measures import exact, percent
from scalegraph.base.messages import NO_PARTNER
from scalegraph.base.run import RunRecord
from scalegraph.base.units import si
from scalegraph.figures.figure import Axis, Cell, Column, Figure, Grid, Panel, Row, Table
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.memory import cause_words
from scalegraph.views.view import View

_NEED = needs.simulated(
    "Costs of messages need a simulated run of an MPI program: no run of this study has any.",
    needs.run_with("messages"),
)
_TITLE = "Costs of messages"
_MOST = 64  # rows and columns of the matrix; more ranks are grouped
_ROWS, _PAIRS = 400, 100
_WORDS = {name: (words, common.category_role(name)) for name, words in messages.CATEGORIES.items()}


def _make(data: StudyData, by: object = "communicator", processors: object = None, size: object = None) -> Figure:
    run = common.the_run(data, size, processors)
    make = _communicators if by == "communicator" else _partners
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {run.point.processors}",
        _sentence(run),
        make(run),
        notes=(
            f"Run: {run.point.label()}.",
            "Time is summed over the ranks; all entries together are the categories of messages of the run.",
            *common.run_notes(data),
        ),
        meta={"run": run.point.key},
    )


def _second(run: RunRecord) -> float:
    return run.clock_hz or 1.0


def _sentence(run: RunRecord) -> str:
    sums = messages.by_communicator(run)
    whole = float(sums["cycles"].sum())
    if not whole:
        return "Messages cost nothing in this run."
    first, share = sums.iloc[0], whole / run.processor_cycles
    totals = sums[list(messages.CATEGORIES)].sum()
    name = str(totals.idxmax())
    text = (
        f"Messages take {percent(share)} of the processors' time; most of it is {messages.CATEGORIES[name]}"
        f" ({percent(float(totals[name]) / whole)})."
    )
    if len(sums) > 1:
        text += f" The communicator {first['communicator']} has {percent(float(first['cycles']) / whole)} of it."
    if pair := messages.most_expensive(run):
        rank, partner, cycles = pair
        text += f" Rank {rank} spends most on rank {partner}: {si(cycles / _second(run), 's')}."
    return text


def _communicators(run: RunRecord) -> tuple[Panel, ...]:
    sums = messages.by_communicator(run)
    second = _second(run)
    shown = sums.head(16).copy()
    for name in messages.CATEGORIES:
        shown[name] = numbers(shown, name) / second
    plot = cause_words.ranked(shown, [str(name) for name in shown["communicator"]], _WORDS, Axis("time", "s"))
    used = [name for name in messages.CATEGORIES if sums[name].any()]
    columns = (
        Column("communicator"),
        Column("ranks"),
        Column("messages", "", "muted"),
        Column("bytes", "B", "muted"),
        Column("time", "s", "latency"),
        *(Column(messages.CATEGORIES[name], "s", common.category_role(name)) for name in used),
    )
    rows = tuple(
        Row(
            (
                str(row["communicator"]),
                int(row["size"]) or None,
                int(row["messages"]),
                int(row["bytes"]),
                float(row["cycles"]) / second,
                *(float(row[name]) / second for name in used),
            )
        )
        for row in sums.head(_ROWS).to_dict("records")
    )
    return (plot, Table(columns, rows))


def _partners(run: RunRecord) -> tuple[Panel, ...]:
    pairs = messages.by_partner(run)
    return (_matrix(run, pairs), _pairs(run, pairs))


def _matrix(run: RunRecord, pairs: pd.DataFrame) -> Grid:
    """Return each rank's time by partner; more than `_MOST` ranks are put into groups of equal size."""
    ranks = run.processes or int(pairs["rank"].max()) + 1
    each = -(-ranks // _MOST)
    groups = -(-ranks // each)
    known = pairs[pairs["partner"] > NO_PARTNER]
    cycles = np.zeros((groups, groups))
    np.add.at(cycles, (known["rank"] // each, known["partner"] // each), known["cycles"])
    words = np.full((groups, groups), "", dtype=object)
    parts = np.zeros((len(messages.CATEGORIES), groups, groups))
    for at, name in enumerate(messages.CATEGORIES):
        np.add.at(parts[at], (known["rank"] // each, known["partner"] // each), known[name])
    second = _second(run)
    names = tuple(str(g * each) if each == 1 else f"{g * each}-{min((g + 1) * each, ranks) - 1}" for g in range(groups))
    for row, column in zip(*np.nonzero(cycles), strict=True):
        lines = [f"rank {names[row]}, partner {names[column]}: {exact(float(cycles[row, column]) / second, 's')}"]
        lines += [
            f"{text}: {exact(float(parts[at, row, column]) / second, 's')}"
            for at, text in enumerate(messages.CATEGORIES.values())
            if parts[at, row, column]
        ]
        words[row, column] = "\n".join(lines)
    top = float(cycles.max()) / second if cycles.any() else 1.0
    factor, unit = _prefix(top)
    cells = tuple(
        tuple(
            Cell((float(cycles[row, column]) / second / factor,), tip=str(words[row, column]))
            if cycles[row, column]
            else None
            for column in range(groups)
        )
        for row in range(groups)
    )
    limits = (0.0, top / factor)
    return Grid("rank", "partner", names, names, cells, (f"time ({unit})",), limits=limits)


def _prefix(top: float) -> tuple[float, str]:
    return next(((f, u) for f, u in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")) if top >= f), (1e-9, "ns"))


def _pairs(run: RunRecord, pairs: pd.DataFrame) -> Table:
    second = _second(run)
    used = [name for name in messages.CATEGORIES if pairs[name].any()]
    columns = (
        Column("rank"),
        Column("partner"),
        Column("messages", "", "muted"),
        Column("bytes", "B", "muted"),
        Column("time", "s", "latency"),
        *(Column(messages.CATEGORIES[name], "s", common.category_role(name)) for name in used),
    )
    ordered = pairs.sort_values("cycles", ascending=False, kind="stable").head(_PAIRS)
    rows = tuple(
        Row(
            (
                int(row["rank"]),
                _partner(int(row["partner"])),
                int(row["messages"]),
                int(row["bytes"]),
                float(row["cycles"]) / second,
                *(float(row[name]) / second for name in used),
            )
        )
        for row in ordered.to_dict("records")
    )
    return Table(columns, rows)


def _partner(number: int) -> str:
    return "nobody in particular" if number == NO_PARTNER else "further ranks" if number < 0 else str(number)


VIEW = View(
    "message-costs",
    _TITLE,
    "Sending, receiving, packing and waiting for messages by communicator, or by rank and partner.",
    _make,
    (
        Option("by", "By", "choice", "communicator", ("communicator", "partner"), description="how costs are split"),
        common.PROCESSORS,
        common.SIZE,
    ),
    group="Lost time",
    order=75,
    needs=(_NEED,),
)
