"""Geometry of timelines for every renderer: bin colours, time ticks, which arrows to draw, colour ramps."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np

from scalegraph.figures.figure import Arrows, Axis, Key, LaneTrack, Polygon, Radar, Timeline
from scalegraph.figures.palette import Theme, colour, paper

Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
_UNITS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
OTHER: Final = Key("other", "muted")  # known time of a bin without a name
_STEPS: Final = (1.0, 2.0, 5.0, 10.0)
_NUMBERED: Final = re.compile(r"(.*?\D)\s*(\d+)")
# every sixteenth colour of viridis; linear interpolation between them is close enough
_VIRIDIS: Final = (
    "#440154",
    "#48186A",
    "#472D7B",
    "#424086",
    "#3B528B",
    "#33638D",
    "#2C728E",
    "#26828E",
    "#21918C",
    "#1FA088",
    "#28AE80",
    "#3FBC73",
    "#5EC962",
    "#84D44B",
    "#ADDC30",
    "#D8E219",
    "#FDE725",
)


def rgb(hexa: str) -> tuple[int, int, int]:
    """Return ``#rrggbb`` as three numbers from 0 to 255."""
    return int(hexa[1:3], 16), int(hexa[3:5], 16), int(hexa[5:7], 16)


def key_colours(track: LaneTrack, theme: Theme) -> list[str]:
    """Return the ``#rrggbb`` of each key of *track*; a colour set by the trace overrides the role."""
    return [key.colour or colour(key.role, theme) for key in track.key]


def mixed(track: LaneTrack, theme: Theme) -> Bytes:
    """Return the colour of every bin, shape (lanes, bins, 3): the mean of its parts' colours weighted by their share.

    Known time without a name has the role ``other``, unknown time the colour of the paper. So a lane that was busy for
    half of a bin is halfway between the colour of busy and that of the other half.
    """
    behind = np.array(rgb(paper(theme)), np.float32)
    # each key's difference from the paper; code -1 is row 0 and adds nothing
    adds = np.array([behind, *(rgb(one) for one in key_colours(track, theme))], np.float32) - behind
    shares = np.asarray(track.shares, np.float32)
    everywhere = _everywhere(track.codes)
    if everywhere is not None:
        made = shares @ adds[everywhere + 1]
        named = shares @ (everywhere >= 0).astype(np.float32)
    else:
        made = np.zeros((*shares.shape[:2], 3), np.float32)
        named = np.zeros(shares.shape[:2], np.float32)
        for k in range(shares.shape[2]):
            code = track.codes[:, :, k]
            share = np.where(code >= 0, shares[:, :, k], np.float32(0))
            named += share
            made += adds[code + 1] * share[..., None]
    if track.covered is not None:
        left = np.maximum(np.asarray(track.covered, np.float32) - named, 0)
        named += left
        made += left[..., None] * (np.array(rgb(colour("other", theme)), np.float32) - behind)
    if named.size and named.max() > 1:  # rounding may push a sum above 1
        made /= np.maximum(named, 1)[..., None]
    made += behind + np.float32(0.5)
    colours: Bytes = np.clip(made, 0, 255, out=made).astype(np.uint8)
    return colours


def _everywhere(codes: Any) -> Any:
    """Return the codes [K] if all bins share them, as in tracks with few codes; otherwise None."""
    shared = codes.size and codes.strides[0] == 0 == codes.strides[1]
    return np.asarray(codes[0, 0]) if shared else None


def leftover(track: LaneTrack) -> Any:
    """Return [L, B]: the share of every bin that is known but not named by its codes."""
    named = np.where(track.codes >= 0, track.shares, 0.0).sum(axis=2, dtype=np.float64)
    if track.covered is None:
        return np.zeros(named.shape)
    left = np.clip(np.asarray(track.covered, np.float64) - named, 0.0, 1.0)
    return np.where(left > 1e-4, left, 0.0)  # shares may be stored in 16 bits


def totals(track: LaneTrack) -> tuple[tuple[Key, ...], float]:
    """Return the keys of *track* with any time, largest first, and the total seconds of all its lanes."""
    widths = np.diff(track.edges)
    length = float(widths.sum() * track.height)
    everywhere = _everywhere(track.codes)
    sums = np.zeros(len(track.key) + 1)  # the last is for code -1
    if everywhere is not None:
        np.add.at(sums, everywhere, widths @ np.add.reduce(track.shares, axis=0, dtype=np.float64))
    else:
        weights = track.shares * widths.astype(track.shares.dtype)[None, :, None]
        counted = np.bincount(track.codes.ravel() + 1, weights.ravel(), minlength=len(sums))
        sums[:-1] = counted[1:]
    found = [replace(key, seconds=v) for key, v in zip(track.key, sums[:-1].tolist(), strict=True) if v > 0]
    if track.covered is not None:
        left = float(widths @ np.add.reduce(track.covered, axis=0, dtype=np.float64)) - float(sums[:-1].sum())
        if left > 1e-4 * length:  # shares may be stored in 8 or 16 bits
            found.append(replace(OTHER, seconds=left))
    return merged([tuple(found)]), length


def merged(several: Sequence[tuple[Key, ...]]) -> tuple[Key, ...]:
    """Return a common legend of several tracks' keys, with their seconds summed, largest first."""
    found: dict[tuple[str, str, str], Key] = {}
    for key in (key for track in several for key in track):
        appearance = (key.name, key.role, key.colour)
        known = found.get(appearance)
        found[appearance] = key if known is None else replace(known, seconds=known.seconds + key.seconds)
    return tuple(sorted(found.values(), key=lambda key: -key.seconds))


def legend(panel: Timeline) -> tuple[Key, ...]:
    """Return the keys in the legend of *panel*: its own, or those with any time in its lanes."""
    lanes = [track for track in panel.tracks if isinstance(track, LaneTrack) and track.scale is None]
    return panel.key or merged([totals(track)[0] for track in lanes])


@dataclass(frozen=True)
class TimeTicks:
    """Ticks of a time axis: *places* (s) with *texts*, the *title* of the axis, and the *step* (s) between ticks.

    When zoomed far in, the texts count from *origin* (s), which the title shows.
    """

    places: tuple[float, ...]
    texts: tuple[str, ...]
    title: str
    unit: str
    factor: float  # seconds per unit
    step: float
    origin: float = 0.0


def time_ticks(begin: float, end: float, most: int = 8, label: str = "time") -> TimeTicks:
    """Return at most about *most* ticks at round times between *begin* and *end* (s), in s, ms, µs or ns.

    The unit suits the size of the times; if they differ only from the sixth digit on, they are relative to a round time
    shown in the title.
    """
    length = max(end - begin, 1e-15)
    largest = max(abs(begin), abs(end))
    step = _step(length / max(most, 1))
    origin = 0.0
    if largest / step >= 1e5:
        size = _step(length * 5)
        origin = math.floor(begin / size) * size
        largest = max(abs(begin - origin), abs(end - origin))
    factor, unit = next(((f, u) for f, u in _UNITS if largest >= f * 0.9999), _UNITS[-1])
    first = math.ceil((begin - origin) / step - 1e-6)
    last = math.floor((end - origin) / step + 1e-6)
    counts = range(first, last + 1)
    digits = max(0, -math.floor(math.log10(step / factor) + 1e-9))
    texts = tuple(f"{i * step / factor:.{digits}f}" for i in counts)
    title = f"{label} ({unit})"
    if origin:
        title = f"{label} ({unit} after {time_text(origin, size)})"
    return TimeTicks(tuple(origin + i * step for i in counts), texts, title, unit, factor, step, origin)


def ticks(panel: Timeline, most: int = 8) -> TimeTicks:
    """Return the axis ticks of *panel*: times, or values in another unit."""
    return axis_ticks(panel.x, panel.begin, panel.end, most)


def axis_ticks(x: Axis, begin: float, end: float, most: int = 8) -> TimeTicks:
    """Return at most about *most* ticks of *x* between *begin* and *end*: `time_ticks` for an axis in seconds."""
    if x.unit == "s":
        return time_ticks(begin, end, most, x.label)
    step = _step(max(end - begin, 1e-12) / max(most, 1))
    counts = range(math.ceil(begin / step - 1e-6), math.floor(end / step + 1e-6) + 1)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    texts = tuple(f"{i * step:.{digits}f}" for i in counts)
    return TimeTicks(tuple(i * step for i in counts), texts, x.title, x.unit, 1.0, step)


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(one * power for one in _STEPS if one * power >= rough * 0.999)


def time_text(seconds: float, resolution: float) -> str:
    """Return a time with enough digits to resolve *resolution* (s): ``12.3456 ms``."""
    factor, unit = next(((f, u) for f, u in _UNITS if abs(seconds) >= f * 0.9999), _UNITS[-1])
    digits = max(0, min(15, math.ceil(-math.log10(max(resolution, 1e-15) / factor) - 1e-9)))
    return f"{seconds / factor:.{digits}f} {unit}"


def ramp(values: Any, low: float, high: float, *, log: bool = False, theme: Theme | None = None) -> Bytes:
    """Return viridis colours, shape (n, 3), of *values* between *low* and *high*; unknown ones are grey.

    With a *theme* the end too close to the paper is left out, so that thin lines stay visible.
    """
    raw = np.asarray(values, np.float64)
    known = np.isfinite(raw) & ((raw > 0) | (not log))
    safe = np.where(known, raw, low)
    if log:
        low, high = max(low, 1e-300), max(high, 1e-300)
        safe, low, high = np.log(np.maximum(safe, low)), math.log(low), math.log(high)
    share = np.clip((safe - low) / (high - low), 0.0, 1.0) if high > low else np.full(raw.shape, 0.5)
    if theme is not None:
        share = 0.3 + 0.7 * share if theme == "dark" else 0.93 * share
    anchors = np.array([rgb(one) for one in _VIRIDIS], np.float64)
    at = share * (len(anchors) - 1)
    left = np.minimum(at.astype(np.int64), len(anchors) - 2)
    part = (at - left)[..., None]
    made = anchors[left] * (1 - part) + anchors[left + 1] * part
    made[~known] = rgb(colour("muted"))
    colours: Bytes = np.rint(made).astype(np.uint8)
    return colours


def arrow_limits(arrows: Arrows) -> tuple[float, float]:
    """Return the values at the ends of the ramp of *arrows*: the limits of its scale, or the smallest and largest."""
    if arrows.scale.limits is not None:
        return arrows.scale.limits
    values = np.asarray(arrows.value if arrows.value is not None else (), np.float64)
    values = values[np.isfinite(values) & ((values > 0) | (not arrows.scale.scale.startswith("log")))]
    return (float(values.min()), float(values.max())) if len(values) else (1.0, 1.0)


def arrow_colours(arrows: Arrows, theme: Theme) -> Bytes:
    """Return the colour of each arrow, shape (n, 3): by its value on the ramp, or by its role."""
    if arrows.value is None:
        return np.tile(np.array(rgb(colour(arrows.role, theme)), np.uint8), (len(arrows.x0), 1))
    return ramp(arrows.value, *arrow_limits(arrows), log=arrows.scale.scale.startswith("log"), theme=theme)


def drawn(arrows: Arrows, most: int) -> Any:
    """Return a mask of the arrows to draw when there is room for *most*; the choice is deterministic.

    The time is divided into equal pieces with equal quotas, filled with the largest, then the longest arrows; the
    remaining room goes to the largest of all.
    """
    count = len(arrows.x0)
    if count <= most:
        return np.ones(count, bool)
    size = np.nan_to_num(np.asarray(arrows.value, np.float64)) if arrows.value is not None else np.zeros(count)
    rank = np.lexsort((arrows.x0, -(arrows.x1 - arrows.x0), -size))
    pieces = max(1, most // 8)
    low, high = float(np.min(arrows.x0)), float(np.max(arrows.x0))
    piece = ((arrows.x0 - low) / (high - low or 1.0) * pieces).astype(np.int64).clip(0, pieces - 1)[rank]
    order = np.argsort(piece, kind="stable")
    sorted_piece = piece[order]
    starts = np.r_[0, np.flatnonzero(np.diff(sorted_piece)) + 1]
    within = np.arange(count) - np.repeat(starts, np.diff(np.r_[starts, count]))
    first = rank[order[within < most // pieces]]
    keep = np.zeros(count, bool)
    keep[first] = True
    spare = most - len(first)
    keep[rank[~keep[rank]][:spare]] = True
    return keep


def lane_labels(count: int, room: float, size: float) -> list[int]:
    """Return which of *count* lanes are named when they share *room* and a name is *size* high.

    All, or every 2nd, 4th, 5th, 8th, 10th .., so that numbers stay round.
    """
    if count <= 0 or room <= 0:
        return []
    least = size * count / room
    steps = sorted({m * 10**p for p in range(5) for m in (1, 2, 5)} | {2**p for p in range(14)})
    step = next((one for one in steps if one >= least), count)
    return list(range(0, count, step))


def axis_text(axis: Axis, value: float) -> str:
    """Return a value of *axis* for a legend: ``64 KiB`` for sizes, SI prefixes for the rest."""
    from scalegraph.base.units import si

    if value == 0:
        return "0"
    if float(value).is_integer() and 0 <= value < 1000:
        return f"{int(value)} {axis.unit}".rstrip()
    if axis.unit == "B" and axis.scale == "log2" and float(value).is_integer():
        for power, prefix in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
            if value % 2**power == 0:
                return f"{int(value) >> power} {prefix}B"
    number, _, unit = si(value, axis.unit).partition(" ")
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return f"{number} {unit}".rstrip()


def resampled(
    colours: Bytes, edges: Any, begin: float, end: float, pixels: int, behind: tuple[int, int, int] = (255, 255, 255)
) -> Bytes:
    """Return the *colours* of bins, shape (lanes, bins, 3), resampled to *pixels* columns from *begin* to *end* (s).

    A column is the time-weighted mean of its bins, so that no bin is lost when there are more bins than pixels. Outside
    the first and last bin it has the colour *behind*.
    """
    at = np.linspace(begin, end, pixels + 1)
    edges = np.asarray(edges, np.float64)
    if not colours.shape[1] or not len(at) or end <= begin:
        return np.full((colours.shape[0], pixels, 3), behind, np.uint8)
    widths = np.diff(edges)
    upto_bin = np.cumsum(colours * widths[None, :, None], axis=1, dtype=np.float64)
    sums = np.concatenate([np.zeros((colours.shape[0], 1, 3)), upto_bin], axis=1)
    inside = np.clip(at, edges[0], edges[-1])
    bin_of = np.clip(np.searchsorted(edges, inside, side="right") - 1, 0, len(widths) - 1)
    upto = sums[:, bin_of] + colours[:, bin_of] * (inside - edges[bin_of])[None, :, None]
    length = np.diff(inside)
    covered = np.clip(length / ((end - begin) / pixels), 0.0, 1.0)[None, :, None]
    made = np.diff(upto, axis=1) / np.where(length > 0, length, 1.0)[None, :, None]
    made = made * covered + np.array(behind, np.float64) * (1.0 - covered)
    found: Bytes = np.rint(np.clip(made, 0, 255)).astype(np.uint8)
    return found


def bar_span(track: LaneTrack) -> tuple[float, float]:
    """Return where a bar begins and ends in its lane (0 top, 1 bottom): thinner if arrows run between lanes."""
    arrows = any(isinstance(overlay, Arrows) and len(overlay.x0) for overlay in track.overlays)
    return (0.27, 0.73) if arrows and track.height <= 256 else (0.1, 0.9)


def picture(track: LaneTrack, theme: Theme, begin: float, end: float, size: tuple[int, int]) -> Bytes:
    """Return the bars of *track* as an image of *size* (width, height) pixels, shape (height, width, 3).

    Lanes of at least 4 pixels are separated (`bar_span`); with more lanes than pixels, a row is the mean of its lanes.
    """
    width, height = size
    lanes = track.height
    if not lanes or width <= 0 or height <= 0:
        return np.zeros((max(height, 0), max(width, 0), 3), np.uint8)
    behind = rgb(paper(theme))
    wide = resampled(mixed(track, theme), track.edges, begin, end, width, behind)
    if lanes > height:
        turned = np.ascontiguousarray(wide.transpose(1, 0, 2))
        return np.ascontiguousarray(resampled(turned, np.arange(lanes + 1), 0, lanes, height).transpose(1, 0, 2))
    place = (np.arange(height) + 0.5) / height * lanes
    rows = np.minimum(place.astype(np.int64), lanes - 1)
    made = wide[rows]
    if height >= 4 * lanes:
        low, high = bar_span(track)
        within = place - rows
        made[(within < low) | (within > high)] = behind
    return made


def arrow_places(arrows: Arrows, track: LaneTrack) -> tuple[Any, Any]:
    """Return y of both ends of every arrow, in lanes from the top: the facing edges of the bars."""
    low, high = bar_span(track)
    first, second = arrows.lane0.astype(np.float64), arrows.lane1.astype(np.float64)
    down = np.sign(second - first)
    y0 = first + np.where(down > 0, high, np.where(down < 0, low, 0.5))
    y1 = second + np.where(down > 0, low, np.where(down < 0, high, 0.5))
    return np.clip(y0, 0, track.height), np.clip(y1, 0, track.height)


def lane_names(names: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the common prefix of lane names and the rests: ``processor`` and ``0``, ``1``; or "" and *names*."""
    found = [_NUMBERED.fullmatch(name) for name in names]
    if len(names) > 1 and all(found):
        kinds = {one[1].strip() for one in found if one}
        if len(kinds) == 1:
            return kinds.pop(), tuple(one[2] for one in found if one)
    words = [name.split(" ") for name in names]
    common = 0
    while len(names) > 1 and len({tuple(one[: common + 1]) for one in words}) == 1 and len(words[0]) > common:
        common += 1
    if common and all(len(one) > common for one in words):  # matches THREAD 1.2.1
        return " ".join(words[0][:common]), tuple(" ".join(one[common:]) for one in words)
    return "", names


def spokes(count: int) -> Any:
    """Return the ends of *count* spokes of length 1, shape (count, 2): the first pointing up, then clockwise."""
    turn = np.arange(count) * (2 * math.pi / max(count, 1))
    return np.stack([np.sin(turn), np.cos(turn)], axis=1)


def radar_limits(radar: Radar) -> tuple[float, float]:
    """Return the values at the centre and the rim of *radar*: its limits, or 0 and the largest value."""
    if radar.value.limits is not None:
        return radar.value.limits
    known = [value for polygon in radar.polygons for value in polygon.values if math.isfinite(value)]
    return min([0.0, *known]), max(known, default=1.0) or 1.0


def polygon_points(radar: Radar, polygon: Polygon) -> Any:
    """Return the corners of *polygon* with the rim at 1, shape (spokes, 2); NaN if unknown."""
    low, high = radar_limits(radar)
    values = np.asarray(polygon.values, np.float64)
    share = np.clip((values - low) / (high - low or 1.0), 0.0, 1.0)
    return spokes(len(radar.spokes)) * np.where(np.isfinite(values), share, np.nan)[:, None]
