"""Shared parts of maps over processors and work: axes, dots of the runs, the meaning of a line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalegraph.analyze.bounds import Anchor
from scalegraph.analyze.fields import WorkField
from scalegraph.base.units import si, significant
from scalegraph.figures.figure import Axis, Dot, Field, Handle
from scalegraph.views import common

NOTE = "Dots are runs; between them the map is interpolated, and it ends where they end."


def limits(found: WorkField) -> tuple[float, float]:
    """Return the minimum and the maximum."""
    return float(np.nanmin(found.values)), float(np.nanmax(found.values))


def panel(found: WorkField, value: Axis, unit: str, levels: tuple[float, ...], handles: tuple[Handle, ...]) -> Field:
    """Return the map of *found*; *value* is its quantity, and *unit* that of work."""
    low, high = limits(found)
    dots = tuple(
        Dot(
            float(row["processors"]),
            float(row["work"]),
            float(row["value"]),
            f"{common.run_label(row)}: {_shown(float(row['value']), value.unit)}\n"
            f"work {si(row['work'], unit, 4)}, time {si(row['time_s'], 's', 4)}",
            int(row["processors"]),
            common.origin(found.runs),
        )
        for row in found.runs.to_dict("records")
    )
    title = "work W" if unit != "s" else "work W, as one-processor time"
    return Field(
        common.processors_axis(found.processors),
        Axis(title, unit, "log10"),
        value,
        found.columns,
        found.work,
        tuple(tuple(float(cell) for cell in row) for row in found.values),
        tuple(level for level in levels if low < level < high),
        dots,
        handles,
    )


def _shown(value: float, unit: str) -> str:
    return si(value, unit, 4) if unit else common.exact(value)


def sentence(met: Sequence[Anchor], held: str, unit: str) -> str:
    """Return the meaning of the marked line: how work grows between counts that *met* the value, as in matrices."""
    if not held:
        return "No value is met on several processor counts."
    ends = [(one.processors, one.work) for one in met if one.known and one.work]
    if len(ends) < 2:
        return f"{held[0].upper()}{held[1:]} is not met on two processor counts: drag the line to another value."
    (n, work), (n2, work2) = ends[0], ends[-1]
    growth = work2 / work
    return (
        f"To keep {held} from {n} to {n2} processors the work grows {significant(growth)} times, from"
        f" {si(work, unit)} to {si(work2, unit)}: {significant(growth * n / n2)} times as much for each processor."
    )
