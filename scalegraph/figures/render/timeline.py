"""Timelines: activity bars with arrows, paths and ticks, areas beside them, a common time axis, one legend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from scalegraph.figures import timelines
from scalegraph.figures.figure import AreaTrack, Arrows, Axis, LaneTrack, PathLine, Ticks, Timeline, Track
from scalegraph.figures.palette import colour
from scalegraph.figures.render.plot import Scale
from scalegraph.figures.render.text import fitted, measure

if TYPE_CHECKING:
    from matplotlib.figure import SubFigure

    from scalegraph.figures.render.picture import Brush

_SIZE = 7.0
_NAME_ROOM = 88.0  # points for the name of a lane
_CM_POINT = 2.54 / 72
_LEGEND_ROW = 11.0  # points
_KEYS = 14  # entries in the legend
_Swatch: TypeAlias = tuple[str, str, str]  # what is drawn (box, line, dash), its colour, its name


@dataclass(frozen=True)
class _Ramp:
    """A colour ramp in the legend."""

    name: str
    axis: Axis
    low: float
    high: float
    thin: bool = False  # a ramp for lines, which must stand out from the paper


def height_cm(panel: Timeline, width_cm: float) -> float:
    """Return the height that *panel* needs."""
    rows = _legend_rows(panel, (width_cm - 0.6) / _CM_POINT)
    return sum(_track_cm(track) for track in panel.tracks) + 1.2 + rows * _LEGEND_ROW * _CM_POINT


def _track_cm(track: Track) -> float:
    if isinstance(track, AreaTrack):
        return 2.4 * track.weight
    arrows = timelines.bar_span(track)[0] > 0.2
    most, least = (0.85, 0.42) if arrows else (0.6, 0.32)
    each = min(most, max(least, 8.0 / max(track.height, 1)))
    return min(15.0, max(1.2, each * track.height)) + (0.5 if track.title else 0.0)


def draw(brush: Brush, part: SubFigure, panel: Timeline) -> None:
    """Draw *panel* on *part* of the sheet."""
    width = float(brush.sheet.get_size_inches()[0]) * 72 - 16
    rows = _legend_rows(panel, width)
    heights = [_track_cm(track) for track in panel.tracks]
    ratios = [rows * _LEGEND_ROW * _CM_POINT, *heights] if rows else heights
    all_axes = part.subplots(len(ratios), 1, height_ratios=ratios, squeeze=False)[:, 0]
    if rows:
        _legend(brush, all_axes[0], panel)
    axes = all_axes[1:] if rows else all_axes
    ticks = timelines.ticks(panel, 8)
    for index, (place, track) in enumerate(zip(axes, panel.tracks, strict=True)):
        place.set_facecolor(brush.paper)
        place.set_xlim(panel.begin, panel.end)
        place.tick_params(colors=brush.ink, length=2.5, which="both")
        for spine in place.spines.values():
            spine.set_color(brush.ink)
        last = index == len(panel.tracks) - 1
        place.xaxis.set_major_locator(FixedLocator(list(ticks.places)))
        place.xaxis.set_minor_locator(NullLocator())
        place.xaxis.set_major_formatter(FixedFormatter(list(ticks.texts) if last else [""] * len(ticks.texts)))
        if last:
            place.set_xlabel(ticks.title, color=brush.ink)
        if isinstance(track, LaneTrack):
            _lanes(brush, place, panel, track)
        else:
            _area(brush, place, track)


def _lanes(brush: Brush, axes: Axes, panel: Timeline, track: LaneTrack) -> None:
    axes.set_ylim(track.height, 0)
    if track.title:
        axes.set_title(fitted(track.title, 7.5, 420), loc="left", size=7.5, color=brush.ink, pad=3)
    what, names = timelines.lane_names(track.names)
    shown = [fitted(name, _SIZE, _NAME_ROOM) for name in names]
    if what:
        axes.set_ylabel(fitted(what, 8.0, 90), color=brush.ink)
    points = _track_cm(track) / _CM_POINT
    _label(axes, shown, timelines.lane_labels(track.height, points, _SIZE * 1.25))
    brush.later.append(lambda: _picture(brush, axes, panel, track, shown))
    for overlay in track.overlays:
        if isinstance(overlay, Arrows):
            _arrows(brush, axes, track, overlay)
        elif isinstance(overlay, PathLine):
            _path(brush, axes, overlay)
        else:
            _ticks(brush, axes, track, overlay)


def _label(axes: Axes, names: list[str], chosen: list[int]) -> None:
    axes.yaxis.set_major_locator(FixedLocator([lane + 0.5 for lane in chosen]))
    axes.yaxis.set_major_formatter(FixedFormatter([names[lane] for lane in chosen]))
    axes.yaxis.set_minor_locator(NullLocator())


def _picture(brush: Brush, axes: Axes, panel: Timeline, track: LaneTrack, names: list[str]) -> None:
    """Draw the bars pixel by pixel, once the position of the axes is known."""
    extent = axes.get_window_extent()
    size = max(1, round(extent.width)), max(1, round(extent.height))
    image = timelines.picture(track, brush.theme, panel.begin, panel.end, size)
    axes.imshow(
        image, extent=(panel.begin, panel.end, track.height, 0), aspect="auto", interpolation="nearest", zorder=1
    )
    axes.set_xlim(panel.begin, panel.end)
    axes.set_ylim(track.height, 0)
    _label(axes, names, timelines.lane_labels(track.height, extent.height * 72 / brush.sheet.dpi, _SIZE * 1.2))


def _arrows(brush: Brush, axes: Axes, track: LaneTrack, arrows: Arrows) -> None:
    if not len(arrows.x0):
        return
    y0, y1 = timelines.arrow_places(arrows, track)
    order = np.argsort(np.nan_to_num(arrows.value), kind="stable") if arrows.value is not None else slice(None)
    lines = np.stack([np.stack([arrows.x0, y0], 1), np.stack([arrows.x1, y1], 1)], 1)[order]
    shades = timelines.arrow_colours(arrows, brush.theme)[order] / 255.0
    width = 0.8 if len(lines) <= 200 else 0.5 if len(lines) <= 1000 else 0.35
    axes.add_collection(
        LineCollection(
            list(lines),
            colors=shades,
            linewidths=width,
            zorder=3,
            capstyle="round",
            linestyles="-" if arrows.kind == "message" else [(0, (3, 1.5))],
        ),
        autolim=False,
    )
    if arrows.kind != "message":  # the end at which a lock arrives
        axes.plot(
            arrows.x1,
            y1,
            linestyle="none",
            marker="o",
            markersize=1.8,
            zorder=3.1,
            color=colour(arrows.role, brush.theme),
        )


def _path(brush: Brush, axes: Axes, path: PathLine) -> None:
    known = path.lane >= 0
    if not known.any():
        return
    y = path.lane.astype(np.float64) + 0.5
    roles = path.roles or (path.role,) * len(y)
    shades = np.array([colour(role, brush.theme) for role in roles])
    bars = np.stack([np.stack([path.x0, y], 1), np.stack([path.x1, y], 1)], 1)
    low, high = axes.get_xlim()
    # a rim around anything narrower than itself would hide the rest
    wide = known & (path.x1 - path.x0 > (high - low) / 150)
    rim = LineCollection(list(bars[wide]), colors=brush.paper, linewidths=3.4, zorder=4.0)
    axes.add_collection(rim, autolim=False)
    if path.connectors and len(y) > 1:
        joined = known[:-1] & known[1:]
        links = np.stack([np.stack([path.x1[:-1], y[:-1]], 1), np.stack([path.x0[1:], y[1:]], 1)], 1)[joined]
        seen = (links[:, 1, 0] >= low) & (links[:, 0, 0] <= high)
        clear = seen & (wide[:-1] | wide[1:])[joined]
        # many arrows between narrow pieces are drawn thin and faint, so that the bars below stay visible
        calm = min(1.0, 150 / max(int((seen & ~clear).sum()), 1))
        shade = colour(path.role, brush.theme)
        for some, share in ((seen & ~clear, calm), (clear, 1.0)):
            lines = LineCollection(
                list(links[some]), colors=shade, linewidths=max(0.2, 0.9 * share), alpha=max(0.25, share), zorder=4.1
            )
            axes.add_collection(lines, autolim=False)
    inner = LineCollection(list(bars[known]), colors=list(shades[known]), linewidths=2.0, zorder=4.2)
    axes.add_collection(inner, autolim=False)


def _ticks(brush: Brush, axes: Axes, track: LaneTrack, ticks: Ticks) -> None:
    if not len(ticks.x):
        return
    low, high = (0.0, 1.0) if ticks.kind == "barrier" else timelines.bar_span(track)
    whole = ticks.lane < 0
    top = np.where(whole, 0.0, ticks.lane + low)
    bottom = np.where(whole, track.height, ticks.lane + high)
    lines = np.stack([np.stack([ticks.x, top], 1), np.stack([ticks.x, bottom], 1)], 1)
    axes.add_collection(
        LineCollection(list(lines), colors=colour(ticks.role, brush.theme), linewidths=0.7, zorder=3.5), autolim=False
    )


def _area(brush: Brush, axes: Axes, track: AreaTrack) -> None:
    values = [
        value
        for area in track.series
        for one in (area.values, area.low, area.high)
        if one is not None
        for value in np.asarray(one, np.float64).tolist()
    ]
    if track.kind == "stack" and track.series:
        values = np.nansum([np.asarray(a.values, np.float64) for a in track.series], axis=0).tolist()
    scale = Scale(track.y, values)
    scale.apply(axes, "y")
    unit = scale.title if track.y.label else track.name
    axes.set_ylabel(unit if unit != track.name else track.name, color=brush.ink)
    axes.grid(visible=True, axis="y", color=colour("grid", brush.theme), alpha=0.25, linewidth=0.5)
    axes.set_axisbelow(True)
    at = np.repeat(np.asarray(track.edges, np.float64), 2)[1:-1]
    base = np.zeros(len(at))
    for area in track.series:
        shade = area.colour or colour(area.role, brush.theme)
        y = np.repeat(np.asarray(area.values, np.float64) * scale.factor, 2)
        if track.kind == "stack":
            top = base + np.nan_to_num(y)
            axes.fill_between(at, base, top, color=shade, linewidth=0, zorder=2)
            base = top
            continue
        if area.low is not None and area.high is not None:
            low, high = (np.repeat(np.asarray(one, np.float64) * scale.factor, 2) for one in (area.low, area.high))
            axes.fill_between(at, low, high, color=shade, alpha=0.25, linewidth=0, zorder=2)
        axes.plot(at, y, color=shade, linewidth=0.9, zorder=2.5)
    _area_limits(axes, track, scale)
    for mark in track.marks:
        if mark.y is not None:
            axes.axhline(mark.y * scale.factor, color=colour(mark.role, brush.theme), linewidth=0.7, zorder=3)
            axes.annotate(
                mark.text,
                (1, mark.y * scale.factor),
                xycoords=("axes fraction", "data"),
                size=6.2,
                xytext=(-2, 1.5),
                textcoords="offset points",
                ha="right",
                va="bottom",
                color=brush.ink,
                zorder=3.1,
                bbox={"facecolor": brush.paper, "edgecolor": "none", "pad": 0.6, "alpha": 0.7},
            )


def _area_limits(axes: Axes, track: AreaTrack, scale: Scale) -> None:
    if track.y.limits is not None:
        axes.set_ylim(track.y.limits[0] * scale.factor, track.y.limits[1] * scale.factor)
    elif len(scale.data):
        low, high = min(0.0, float(scale.data.min())), float(scale.data.max())
        axes.set_ylim(low, high + 0.06 * (high - low or 1.0))


def _swatches(panel: Timeline, brush: Brush | None) -> tuple[list[_Swatch], list[_Ramp]]:
    """Return the entries of the legend, and the ramps beside it."""
    theme = brush.theme if brush is not None else "print"
    ramps: list[_Ramp] = []
    keys = list(timelines.legend(panel))
    found: list[_Swatch] = [("box", key.colour or colour(key.role, theme), key.name) for key in keys[:_KEYS]]
    if len(keys) > _KEYS:
        found.append(("none", "", f"and {len(keys) - _KEYS} more"))
    for track in panel.tracks:
        if isinstance(track, AreaTrack):
            shape = "box" if track.kind == "stack" else "line"
            found.extend((shape, a.colour or colour(a.role, theme), a.name) for a in track.series)
            continue
        if track.scale is not None and track.scale.limits is not None:
            ramps.append(_Ramp(track.scale.label, track.scale, *track.scale.limits))
        for overlay in track.overlays:
            if isinstance(overlay, Arrows):
                if not len(overlay.x0):
                    continue
                if overlay.value is not None:
                    ramps.append(_Ramp(overlay.name, overlay.scale, *timelines.arrow_limits(overlay), thin=True))
                else:
                    found.append(("dash", colour(overlay.role, theme), overlay.name))
            elif len(overlay.x0 if isinstance(overlay, PathLine) else overlay.x):
                shape = "line" if isinstance(overlay, PathLine) else "tick"
                found.append((shape, colour(overlay.role, theme), overlay.name))
    unique: dict[tuple[str, str], _Swatch] = {}
    for swatch in found:
        unique.setdefault(swatch[1:], swatch)
    return list(unique.values()), list(dict.fromkeys(ramps))


def _ramp_width(ramp: _Ramp) -> float:
    low, high = timelines.axis_text(ramp.axis, ramp.low), timelines.axis_text(ramp.axis, ramp.high)
    return measure(ramp.name, _SIZE) + measure(low, _SIZE) + measure(high, _SIZE) + 72.0


def _placed(panel: Timeline, room: float, brush: Brush | None = None) -> list[tuple[int, float, _Swatch | _Ramp]]:
    """Return row and left end (points) of each part of the legend, for a width of *room* points."""
    swatches, ramps = _swatches(panel, brush)
    made: list[tuple[int, float, _Swatch | _Ramp]] = []
    row, left = 0, 0.0
    items: list[_Swatch | _Ramp] = [*swatches, *ramps]
    for item in items:
        width = _ramp_width(item) if isinstance(item, _Ramp) else measure(fitted(item[2], _SIZE, 150), _SIZE) + 24.0
        if left and left + width > room:
            row, left = row + 1, 0.0
        made.append((row, left, item))
        left += width
    return made


def _legend_rows(panel: Timeline, room: float) -> int:
    placed = _placed(panel, room)
    return placed[-1][0] + 1 if placed else 0


def _legend(brush: Brush, axes: Axes, panel: Timeline) -> None:
    axes.set_axis_off()
    brush.later.append(lambda: _draw_legend(brush, axes, panel))


def _draw_legend(brush: Brush, axes: Axes, panel: Timeline) -> None:
    pixel = 72 / brush.sheet.dpi
    extent = axes.get_window_extent()
    # from the left edge of the sheet, not of the tracks: lane names take no room here
    left, width, height = extent.x0 * pixel, extent.width * pixel, extent.height * pixel
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    room = left + width - 10
    placed = _placed(panel, room, brush)
    rows = placed[-1][0] + 1 if placed else 1
    step = min(_LEGEND_ROW, height / rows)
    for row, at, item in placed:
        x, y = at - left + 8, (row + 0.5) * step
        if isinstance(item, _Ramp):
            _draw_ramp(brush, axes, item, x, y)
        else:
            _draw_swatch(brush, axes, item, x, y)


def _draw_swatch(brush: Brush, axes: Axes, swatch: _Swatch, x: float, y: float) -> None:
    shape, shade, name = swatch
    style: dict[str, Any] = {"color": shade, "clip_on": False}
    if shape == "box":
        axes.add_patch(Rectangle((x, y - 3.2), 9, 6.4, linewidth=0, **style))
    elif shape == "tick":
        axes.plot([x + 4.5] * 2, [y - 3.6, y + 3.6], linewidth=1.0, **style)
    elif shape != "none":
        dash = (0, (3, 1.5)) if shape == "dash" else "-"
        axes.plot([x, x + 9], [y, y], linewidth=1.4, linestyle=dash, **style)
    axes.text(x + 12, y, fitted(name, _SIZE, 150), size=_SIZE, color=brush.ink, va="center_baseline", clip_on=False)


def _draw_ramp(brush: Brush, axes: Axes, ramp: _Ramp, x: float, y: float) -> None:
    low, high = timelines.axis_text(ramp.axis, ramp.low), timelines.axis_text(ramp.axis, ramp.high)
    style: dict[str, Any] = {"size": _SIZE, "color": brush.ink, "va": "center_baseline", "clip_on": False}
    axes.text(x, y, ramp.name, **style)
    x += measure(ramp.name, _SIZE) + 5
    axes.text(x, y, low, **style)
    x += measure(low, _SIZE) + 3
    theme = brush.theme if ramp.thin else None
    shades = timelines.ramp(np.linspace(0.0, 1.0, 22), 0.0, 1.0, theme=theme) / 255.0
    for i, shade in enumerate(shades):
        axes.add_patch(Rectangle((x + 2 * i, y - 2.8), 2.1, 5.6, linewidth=0, color=tuple(shade), clip_on=False))
    axes.text(x + 47, y, high, **style)
