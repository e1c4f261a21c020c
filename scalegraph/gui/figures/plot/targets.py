"""Pointer targets in a plot: every point and every piece of a bar, with its tooltip."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from scalegraph.figures.figure import Bars, Line, Plot
from scalegraph.gui.figures.scales import Scale

_ORIGIN_WORDS = {
    "simulated": "simulated",
    "measured": "measured",
    "imported": "imported",
    "predicted": "predicted",
    "computed": "computed",
}


@dataclass(frozen=True)
class Target:
    """A point at drawn coordinates (*x*, *y*), or a rectangle around it (*half_width*, from *bottom* to *top*)."""

    x: float
    y: float
    tip: str  # rich text
    role: str
    processors: int | None = None
    half_width: float = 0.0
    half_height: float = 0.0

    @property
    def is_bar(self) -> bool:
        """Whether it is an area instead of a point."""
        return self.half_width > 0


def rich(title: str, text: str, aside: str = "") -> str:
    """Return a tooltip with *title* in bold and the lines of *text*."""
    first, _, rest = text.partition("\n")
    if first.startswith(f"{title}:"):
        # the first line is the heading
        title, text = first, rest
    head = f"<b>{escape(title)}</b>" + (f" <span style='color:gray'>· {escape(aside)}</span>" if aside else "")
    body = escape(text).replace("\n", "<br>")
    return f"<div style='white-space:pre-wrap'>{head}<br>{body}</div>" if body else f"<div>{head}</div>"


def targets(plot: Plot, x: Scale, y: Scale, half_bar: float) -> list[Target]:
    """Return all targets of *plot*; *half_bar* is half a bar's width in drawn coordinates."""
    found = [target for line in plot.lines for target in _of_line(line, x, y)]
    if plot.bars is not None:
        found = _of_bars(plot.bars, x, y, half_bar) + found
    return found


def _of_line(line: Line, x: Scale, y: Scale) -> list[Target]:
    if line.style == "thin" and not line.markers and not line.tips:
        return []
    found = []
    for i, (xp, yp) in enumerate(zip(x.place(line.x), y.place(line.y), strict=True)):
        if not (math.isfinite(xp) and math.isfinite(yp)):
            continue
        text = line.tips[i] if i < len(line.tips) else _default(line, i, x, y)
        processors = line.processors[i] if i < len(line.processors) else None
        tip = rich(line.name, text, _ORIGIN_WORDS[line.origin])
        found.append(Target(float(xp), float(yp), tip, line.role, processors))
    return found


def _default(line: Line, i: int, x: Scale, y: Scale) -> str:
    text = f"{x.axis.label}: {x.text(line.x[i])}\n{y.axis.label}: {y.text(line.y[i])}"
    if i < len(line.low) and i < len(line.high) and math.isfinite(line.low[i]) and math.isfinite(line.high[i]):
        text += f"\nfrom {y.text(line.low[i])} to {y.text(line.high[i])}"
    return text


def _of_bars(bars: Bars, x: Scale, y: Scale, half_bar: float) -> list[Target]:
    along, value = (y, x) if bars.horizontal else (x, y)
    found = []
    for base, s, i, height in stack(bars):
        name, role, _ = bars.series[s]
        text = (
            bars.tips[s][i]
            if s < len(bars.tips) and i < len(bars.tips[s])
            else f"{along.axis.label}: {along.text(bars.x[i])}\n{value.axis.label}: {value.text(height)}"
        )
        processors = bars.processors[i] if i < len(bars.processors) else None
        low, high = value.place([base, base + height])
        if not math.isfinite(low):
            low = value.extent()[0]
        place, middle, half = along.at(bars.x[i]), float(low + high) / 2, abs(float(high - low)) / 2
        if not (math.isfinite(place) and math.isfinite(middle)):
            continue
        if bars.horizontal:
            found.append(Target(middle, place, rich(name, text), role, processors, half, half_bar))
        else:
            found.append(Target(place, middle, rich(name, text), role, processors, half_bar, half))
    return found


def stack(bars: Bars) -> list[tuple[float, int, int, float]]:
    """Return (base, series, index, height) of every piece; missing heights are skipped."""
    pieces = []
    base = [0.0] * len(bars.x)
    for s, (_, _, heights) in enumerate(bars.series):
        for i, height in enumerate(heights):
            if math.isfinite(height) and height != 0:
                pieces.append((base[i], s, i, height))
                base[i] += height
    return pieces


def nearest(
    found: Sequence[Target], x: float, y: float, pixel: tuple[float, float], reach: float = 14.0
) -> Target | None:
    """Return the target at drawn (*x*, *y*): the nearest point within *reach* pixels, else the bar there.

    *pixel* is a pixel's size in drawn coordinates.
    """
    best: Target | None = None
    distance = reach
    for target in found:
        if target.is_bar:
            continue
        away = math.hypot((target.x - x) / pixel[0], (target.y - y) / pixel[1])
        if away <= distance:
            best, distance = target, away
    if best is not None:
        return best
    for target in found:
        # so that a piece thinner than the pointer can be hit
        high = max(target.half_height, 1.5 * pixel[1])
        if target.is_bar and abs(target.x - x) <= target.half_width and abs(target.y - y) <= high:
            return target
    return None
