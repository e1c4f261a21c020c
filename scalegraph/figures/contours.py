"""Geometry of fields for every renderer: coordinates of axes, values between nodes, iso-lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import contourpy
import numpy as np

from scalegraph.base.units import significant
from scalegraph.figures.figure import Axis, Field

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def along(axis: Axis, values: Sequence[float] | Floats) -> Floats:
    """Return *values* as coordinates on *axis*: logarithms on a logarithmic axis, NaN where undefined."""
    raw = np.asarray(values, dtype=np.float64)
    if not axis.scale.startswith("log"):
        return raw
    with np.errstate(all="ignore"):
        return np.where(raw > 0, np.log2(raw) if axis.scale == "log2" else np.log10(raw), np.nan)


def back(axis: Axis, places: Sequence[float] | Floats) -> Floats:
    """Return the values at coordinates *places* of *axis*; the inverse of `along`."""
    raw = np.asarray(places, dtype=np.float64)
    if axis.scale == "log2":
        return np.exp2(raw)
    return np.power(10.0, raw) if axis.scale == "log10" else raw


def _limits(axis: Axis, places: Floats) -> tuple[float, float]:
    if axis.limits is not None:
        low, high = along(axis, axis.limits)
        return float(low), float(high)
    return float(np.nanmin(places)), float(np.nanmax(places))


def resampled(field: Field, columns: int = 160, rows: int = 120) -> tuple[Floats, Floats, Floats]:
    """Return evenly spaced x and y coordinates, and the values there, shape (rows, columns); NaN if unknown.

    Coordinates are those of `along`. Values are interpolated bilinearly between the nodes.
    """
    x, y = along(field.x, field.columns), along(field.y, field.rows)
    at_x = np.linspace(*_limits(field.x, x), columns)
    at_y = np.linspace(*_limits(field.y, y), rows)
    values = np.asarray(field.values, dtype=np.float64).reshape(len(y), len(x))
    left, right, across = _between(x, at_x)
    below, above, up = _between(y, at_y)
    parts = (
        _part(values[np.ix_(below, left)], np.outer(1 - up, 1 - across)),
        _part(values[np.ix_(below, right)], np.outer(1 - up, across)),
        _part(values[np.ix_(above, left)], np.outer(up, 1 - across)),
        _part(values[np.ix_(above, right)], np.outer(up, across)),
    )
    made = np.sum(parts, axis=0)
    made[:, (at_x < x[0]) | (at_x > x[-1])] = np.nan
    made[(at_y < y[0]) | (at_y > y[-1]), :] = np.nan
    return at_x, at_y, made


def _between(nodes: Floats, at: Floats) -> tuple[Any, Any, Floats]:
    """Return for each place the nodes on either side and its fraction of the way from the first to the second."""
    if len(nodes) == 1:
        none = np.zeros(len(at), dtype=int)
        return none, none, np.zeros(len(at))
    right = np.clip(np.searchsorted(nodes, at, side="right"), 1, len(nodes) - 1)
    left = right - 1
    return left, right, np.clip((at - nodes[left]) / (nodes[right] - nodes[left]), 0.0, 1.0)


def _part(values: Floats, weight: Floats) -> Floats:
    # a node of weight 0 has no effect, even if it is NaN
    return np.where(weight > 1e-12, values * weight, 0.0)


def lines(field: Field, level: float) -> list[tuple[Floats, Floats]]:
    """Return the iso-lines of *level* as (x, y) in axis units, each an array of points."""
    if len(field.columns) < 2 or len(field.rows) < 2:
        return []
    x, y = along(field.x, field.columns), along(field.y, field.rows)
    values = np.ma.masked_invalid(np.asarray(field.values, dtype=np.float64).reshape(len(y), len(x)))
    if values.count() == 0:
        return []
    made = contourpy.contour_generator(x, y, values, corner_mask=False).lines(level)
    return [(back(field.x, line[:, 0]), back(field.y, line[:, 1])) for line in made]  # type: ignore[call-overload]


def at(field: Field, x: float, y: float) -> float:
    """Return the value of *field* at a point in axis units, NaN outside: for dragging an iso-line."""
    one = Axis("", scale=field.x.scale, limits=(x, x)), Axis("", scale=field.y.scale, limits=(y, y))
    _, _, values = resampled(Field(one[0], one[1], field.value, field.columns, field.rows, field.values), 1, 1)
    return float(values[0, 0])


def round_levels(values: Sequence[float] | Floats, count: int = 7) -> tuple[float, ...]:
    """Return about *count* round values strictly between the smallest and the largest of *values*."""
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not len(known) or known.min() == known.max():
        return ()
    low, high = float(known.min()), float(known.max())
    rough = (high - low) / (count + 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(one * power for one in _STEPS if one * power >= rough * 0.999)
    first = math.floor(low / step) + 1
    found = [float(f"{i * step:.15g}") for i in range(first, first + 4 * count) if i * step < high]
    return tuple(sorted({value for value in found if low < value < high}))


def level_text(value: float) -> str:
    """Return the label of an iso-line: ``0.5``."""
    text = significant(value, 3)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
