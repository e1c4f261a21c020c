"""Pointer targets in a timeline: an arrow, a piece of a path or a tick, else the bin of a lane or value track."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scalegraph.base.measures import exact
from scalegraph.base.units import si
from scalegraph.figures.figure import AreaTrack, Arrows, LaneTrack, PathLine, Ticks
from scalegraph.figures.timelines import time_text
from scalegraph.gui.figures.timeline.layout import Band, Layout

_REACH: Final = 5.0  # pixels
_MOST_PARTS: Final = 6


@dataclass(frozen=True)
class Hit:
    """Something under the pointer: its text; in a lane also *location* and the time of a pixel (s)."""

    tip: str
    location: int | None = None
    begin: float = 0.0
    end: float = 0.0
    interval: tuple[float, float] | None = None  # of an arrow or piece of a path, in seconds
    what: str = "lane"


def hit(layout: Layout, x: float, y: float) -> Hit | None:
    """Return the target at a pixel of the canvas, or ``None``."""
    if x < layout.left:
        there = _lane(layout, y)
        if there is None:
            return None
        track, lane = there
        tip = track.tips[lane] if lane < len(track.tips) else track.names[lane]
        return Hit(tip, track.locations[lane], layout.begin, layout.end, what="name")
    band_there = layout.band_at(y)
    if band_there is None:
        return None
    if isinstance(band_there.track, AreaTrack):
        return _area(layout, band_there.track, x)
    return _over(layout, band_there, band_there.track, x, y) or _bin(layout, x, y)


def _over(layout: Layout, band: Band, track: LaneTrack, x: float, y: float) -> Hit | None:
    """Return the nearest arrow, piece of a path or tick within reach; the topmost first."""
    for overlay in reversed(track.overlays):
        if isinstance(overlay, Arrows):
            found = _arrow(layout, band, overlay, x, y)
        elif isinstance(overlay, PathLine):
            found = _path(layout, band, track, overlay, x, y)
        else:
            found = _tick(layout, band, track, overlay, x, y)
        if found is not None:
            return found
    return None


def _xs(layout: Layout, seconds: Any) -> Any:
    return layout.left + (np.asarray(seconds, np.float64) - layout.begin) / (layout.end - layout.begin) * layout.width


def _arrow(layout: Layout, band: Band, arrows: Arrows, x: float, y: float) -> Hit | None:
    if not len(arrows.x0):
        return None
    x0, x1 = _xs(layout, arrows.x0), _xs(layout, arrows.x1)
    top = band.top - layout.scroll
    y0 = top + (np.asarray(arrows.lane0) + 0.5) * band.lane
    y1 = top + (np.asarray(arrows.lane1) + 0.5) * band.lane
    dx, dy = x1 - x0, y1 - y0
    along = np.clip(((x - x0) * dx + (y - y0) * dy) / np.maximum(dx * dx + dy * dy, 1e-9), 0.0, 1.0)
    away = np.hypot(x0 + along * dx - x, y0 + along * dy - y)
    best = int(np.argmin(away))
    if away[best] > _REACH:
        return None
    span = (float(arrows.x0[best]), float(arrows.x1[best]))
    tip = arrows.tips[best] if best < len(arrows.tips) else f"{arrows.name}: {_span(layout, *span)}"
    return Hit(tip, None, *span, interval=(min(span), max(span)), what=arrows.kind)


def _path(layout: Layout, band: Band, track: LaneTrack, path: PathLine, x: float, y: float) -> Hit | None:
    lane = layout.lane_at(y)
    if lane is None or abs(layout.lane_y(band, lane[1]) - y) > _REACH:
        return None
    at = layout.seconds(x)
    inside = np.flatnonzero((np.asarray(path.lane) == lane[1]) & (path.x0 <= at) & (path.x1 >= at))
    if not len(inside):
        return None
    one = int(inside[0])
    span = (float(path.x0[one]), float(path.x1[one]))
    tip = path.tips[one] if one < len(path.tips) else f"{path.name}: {_span(layout, *span)}"
    return Hit(tip, track.locations[lane[1]], *span, interval=span, what="path")


def _tick(layout: Layout, band: Band, track: LaneTrack, ticks: Ticks, x: float, y: float) -> Hit | None:
    if not len(ticks.x):
        return None
    lane = layout.lane_at(y)
    mine = (np.asarray(ticks.lane) < 0) | (np.asarray(ticks.lane) == (lane[1] if lane is not None else -2))
    away = np.where(mine, np.abs(_xs(layout, ticks.x) - x), np.inf)
    best = int(np.argmin(away))
    if away[best] > _REACH - 1 or band.lane < 4:
        return None
    moment = float(ticks.x[best])
    tip = ticks.tips[best] if best < len(ticks.tips) else f"{ticks.name} at {time_text(moment, layout.pixel)}"
    location = track.locations[lane[1]] if lane is not None else None
    return Hit(tip, location, moment, moment, what=ticks.kind)


def _lane(layout: Layout, y: float) -> tuple[LaneTrack, int] | None:
    """Return the track and lane at a height, or ``None``."""
    found = layout.lane_at(y)
    if found is None:
        return None
    band, lane = found
    assert isinstance(band.track, LaneTrack)
    return band.track, lane


def _bin(layout: Layout, x: float, y: float) -> Hit | None:
    there = _lane(layout, y)
    if there is None:
        return None
    track, lane = there
    begin, end = layout.seconds(x), layout.seconds(x + 1)
    column = int(np.searchsorted(track.edges, (begin + end) / 2, side="right")) - 1
    lines = [track.names[lane], _span(layout, begin, end)]
    if 0 <= column < track.codes.shape[1]:
        codes, shares = track.codes[lane, column], track.shares[lane, column]
        parts = sorted(zip(shares.tolist(), codes.tolist(), strict=True), reverse=True)
        for share, code in parts[:_MOST_PARTS]:
            if code >= 0 and share > 0:
                lines.append(f"{track.key[code].name} {exact(100 * share, '%')}")
    return Hit("\n".join(lines), track.locations[lane], begin, end)


def _area(layout: Layout, track: AreaTrack, x: float) -> Hit | None:
    moment = layout.seconds(x)
    column = int(np.searchsorted(track.edges, moment, side="right")) - 1
    if not 0 <= column < len(track.edges) - 1:
        return None
    lines = [_span(layout, float(track.edges[column]), float(track.edges[column + 1]))]
    for area in track.series:
        value = float(area.values[column])
        if value == value and (value or len(track.series) < _MOST_PARTS):
            band = ""
            if area.low is not None and area.high is not None:
                band = f" ({si(float(area.low[column]))} to {si(float(area.high[column]))})"
            lines.append(f"{area.name} {si(value, track.y.unit, 4)}{band}")
    return Hit("\n".join(lines), None, float(track.edges[column]), float(track.edges[column + 1]), what="value")


def _span(layout: Layout, begin: float, end: float) -> str:
    finest = min(layout.pixel, max(end - begin, 1e-15)) / 4
    return f"{time_text(begin, finest)} to {time_text(end, finest)} ({si(end - begin, 's')})"
