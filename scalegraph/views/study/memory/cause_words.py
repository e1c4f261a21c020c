"""Names and colours of causes, miss classes and variables, the same in every view."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scalegraph.analyze.table import numbers
from scalegraph.figures.figure import Axis, Bars, Plot
from scalegraph.figures.way import Need
from scalegraph.views import common, needs, ways

CAUSES = {
    "computation": ("computation", "memory_stall"),
    "barrier": ("barriers", "idle"),
    "lock": ("locks", "primitive"),
    "atomic": ("atomics", "latency"),
    "other": ("forks, chunks and tasks", "muted"),
}
CLASSES = {
    "cold": ("cold", "muted"),
    "capacity": ("capacity", "memory_stall"),
    "conflict": ("conflict", "miss"),
    "true_sharing": ("true sharing", "busy"),
    "false_sharing": ("false sharing", "primitive"),
    "upgrade": ("upgrade", "idle"),
}
KINDS = {
    "global": "global",
    "heap": "heap",
    "stack": "stack",
    "runtime": "of the runtime",
    "other": "other",
}
CLASSES_NEEDED = Need(
    "Misses by class need a simulated run that collects them.",
    ways.COLLECT_CLASSES,
    record=needs.NOT_RECORDED,
    met=needs.run_that_collected("classes"),
)


def occurring(table: pd.DataFrame, words: dict[str, tuple[str, str]]) -> list[str]:
    """Return the columns of *table* that are not all 0, in the order of *words*."""
    return [name for name in words if name in table.columns and np.nansum(np.abs(numbers(table, name))) > 0]


def stacked(rows: pd.DataFrame, parts: pd.DataFrame, axis: Axis) -> Plot:
    """Return *parts*, a column per cause and a row for each run of *rows*, as bars over N."""
    counts = tuple(int(n) for n in rows["processors"])
    labels = common.run_labels(rows)
    stacks, tips = [], []
    for name in occurring(parts, CAUSES):
        words, role = CAUSES[name]
        heights = tuple(float(value) for value in numbers(parts, name))
        stacks.append((words, role, heights))
        tips.append(tuple(f"{words}: {common.exact(y)}\n{label}" for y, label in zip(heights, labels, strict=True)))
    bars = Bars(tuple(float(i) for i in range(len(rows))), tuple(stacks), tuple(tips), counts)
    return Plot(Axis("processors N", scale="category", categories=tuple(str(n) for n in counts)), axis, bars=bars)


def ranked(table: pd.DataFrame, names: list[str], words: dict[str, tuple[str, str]], axis: Axis) -> Plot:
    """Return the columns of *words* in *table* as horizontal bars, the first row on top; *names* are the rows'."""
    shown = table.iloc[::-1]
    labels = tuple(reversed(names))
    stacks, tips = [], []
    for column in occurring(table, words):
        text, role = words[column]
        values = tuple(float(value) for value in numbers(shown, column))
        stacks.append((text, role, values))
        tips.append(
            tuple(
                f"{name}, {text}: {common.exact(value, axis.unit)}" for name, value in zip(labels, values, strict=True)
            )
        )
    return Plot(
        axis,
        Axis("", scale="category", categories=labels),
        bars=Bars(tuple(float(i) for i in range(len(labels))), tuple(stacks), tuple(tips), horizontal=True),
    )
