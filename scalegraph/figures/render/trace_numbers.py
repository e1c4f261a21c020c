"""The numbers of timelines and radars: rows for every lane and bin, every arrow, segment and tick."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from scalegraph.figures.figure import AreaTrack, Arrows, LaneTrack, Overlay, PathLine, Radar, Ticks, Timeline
from scalegraph.figures.timelines import leftover

Rows = list[list[Any]]
HEADER = ["kind", "lane", "from (s)", "to (s)", "what", "value", "unit", "to lane"]
_LEAST = 1e-9  # a share below this is rounding


def timelines(panels: Sequence[Timeline]) -> tuple[list[str], Rows]:
    """Return a row for each share of a bin, value over time, arrow, path segment and tick.

    A lane's bin has a row for each code in it (kind ``activity``, value: share of the bin's time); known time without a
    name is ``other``.
    """
    rows: Rows = []
    for panel in panels:
        for track in panel.tracks:
            rows.extend(_lanes(track) if isinstance(track, LaneTrack) else _areas(track))
    return list(HEADER), rows


def _names(track: LaneTrack) -> list[str]:
    return [f"{track.title}: {name}" if track.title else name for name in track.names]


def _lanes(track: LaneTrack) -> Iterator[list[Any]]:
    names = _names(track)
    keys = [key.name for key in track.key]
    edges = track.edges.tolist()
    rest = leftover(track)
    for lane, name in enumerate(names):
        codes, shares, other = track.codes[lane].tolist(), track.shares[lane].tolist(), rest[lane].tolist()
        for b in range(len(edges) - 1):
            for code, share in zip(codes[b], shares[b], strict=True):
                if code >= 0 and share > _LEAST:
                    yield ["activity", name, edges[b], edges[b + 1], keys[code], round(share, 7), "share", None]
            if other[b] > _LEAST:
                yield ["activity", name, edges[b], edges[b + 1], "other", round(other[b], 7), "share", None]
    for overlay in track.overlays:
        yield from _overlay(overlay, names)


def _lane(names: Sequence[str], lane: int) -> str | None:
    return names[lane] if 0 <= lane < len(names) else None


def _overlay(overlay: Overlay, names: Sequence[str]) -> Iterator[list[Any]]:
    if isinstance(overlay, Arrows):
        values = overlay.value.tolist() if overlay.value is not None else [None] * len(overlay.x0)
        unit = overlay.scale.unit if overlay.value is not None else ""
        for x0, lane0, x1, lane1, value in zip(
            overlay.x0.tolist(),
            overlay.lane0.tolist(),
            overlay.x1.tolist(),
            overlay.lane1.tolist(),
            values,
            strict=True,
        ):
            yield [overlay.kind, _lane(names, lane0), x0, x1, overlay.name, value, unit, _lane(names, lane1)]
    elif isinstance(overlay, PathLine):
        for x0, x1, lane in zip(overlay.x0.tolist(), overlay.x1.tolist(), overlay.lane.tolist(), strict=True):
            yield ["path", _lane(names, lane), x0, x1, overlay.name, x1 - x0, "s", None]
    elif isinstance(overlay, Ticks):
        for x, lane in zip(overlay.x.tolist(), overlay.lane.tolist(), strict=True):
            yield [overlay.kind, _lane(names, lane), x, x, overlay.name, None, "", None]


def _areas(track: AreaTrack) -> Iterator[list[Any]]:
    edges = track.edges.tolist()
    for area in track.series:
        parts = [("", area.values), (", lowest", area.low), (", highest", area.high)]
        for suffix, values in parts:
            if values is not None:
                for begin, end, value in zip(edges, edges[1:], values.tolist(), strict=False):
                    yield ["value", track.name, begin, end, f"{area.name}{suffix}", value, track.y.unit, None]


def summary(panels: Sequence[Timeline]) -> tuple[list[str], Rows]:
    """Return a timeline as a table that fits a page: seconds of each code by lane, in the visible time."""
    keys: dict[str, int] = {}
    rows: list[tuple[str, dict[str, float]]] = []
    for panel in panels:
        for track in panel.tracks:
            if isinstance(track, LaneTrack):
                rows.extend(_sums(track))
    total: dict[str, float] = {}
    for _, sums in rows:
        for name, value in sums.items():
            total[name] = total.get(name, 0.0) + value
    for name in sorted(total, key=lambda name: -total[name]):
        keys[name] = len(keys)
    return ["lane", *(f"{name} (s)" for name in keys)], [
        [lane, *(sums.get(name, 0.0) for name in keys)] for lane, sums in rows
    ]


def _sums(track: LaneTrack) -> Iterator[tuple[str, dict[str, float]]]:
    widths = np.diff(track.edges)
    rest = leftover(track)
    for lane, name in enumerate(_names(track)):
        codes = track.codes[lane]
        weights = np.where(codes >= 0, track.shares[lane], 0.0) * widths[:, None]
        sums = np.bincount(np.clip(codes, 0, None).ravel(), weights.ravel(), minlength=len(track.key))
        found = {track.key[i].name: float(value) for i, value in enumerate(sums.tolist()) if value > 0}
        if (other := float((rest[lane] * widths).sum())) > 0:
            found["other"] = found.get("other", 0.0) + other
        yield name, found


def radar(panel: Radar) -> tuple[list[str], Rows]:
    """Return a row per spoke and a column per polygon."""
    unit = f" ({panel.value.unit})" if panel.value.unit else ""
    rows: Rows = [
        [spoke, *(polygon.values[i] if i < len(polygon.values) else None for polygon in panel.polygons)]
        for i, spoke in enumerate(panel.spokes)
    ]
    return ["spoke", *(f"{polygon.name}{unit}" for polygon in panel.polygons)], rows
