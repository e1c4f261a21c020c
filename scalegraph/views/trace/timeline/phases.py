"""Shared parts of views of phases: choice of the time range, and bars over time."""

from __future__ import annotations

from typing import Final

import numpy as np

from scalegraph.analyze.trace.phases import Phases
from scalegraph.figures.figure import Axis, LaneTrack
from scalegraph.subjects.window import Window
from scalegraph.traces.kinds import Array
from scalegraph.views.trace.tracks import coloured

_FINE: Final = 4  # phase boundaries are drawn exactly if there are at most this many per pixel of width


def bars(chosen: Window, made: Phases, values: Array, scale: Axis, title: str) -> LaneTrack:
    """Return a lane per location with its phases coloured by *values* along *scale*.

    Bins end where phases do; if there are too many, a bin has the time-weighted mean of its phases.
    """
    edges = np.unique(np.r_[chosen.begin, made.begin, made.end, chosen.end])
    if len(edges) > _FINE * chosen.width:
        edges = np.unique(np.linspace(chosen.begin, chosen.end, chosen.width + 1).astype(np.int64))
    if len(edges) < 2:
        edges = np.array([chosen.begin, chosen.begin + 1], np.int64)
    sums, covered = spread(chosen.lane_of(made.location), made.begin, made.end, values, len(chosen.locations), edges)
    width = np.diff(edges)
    with np.errstate(all="ignore"):
        mean = np.where(covered > 0, sums / covered, np.nan)
    share = covered / width
    data = chosen.data
    lanes, none = len(chosen.locations), np.zeros((len(chosen.locations), len(width), 1))
    track = LaneTrack(
        tuple(data.location_name(number) for number in chosen.locations),
        chosen.locations,
        data.seconds(edges),
        np.full((lanes, len(width), 1), -1, np.int32),
        none,
        (),
        title=title,
    )
    made_track = coloured(track, mean, scale)
    return LaneTrack(
        made_track.names,
        made_track.locations,
        made_track.edges,
        made_track.codes,
        share[..., None],
        made_track.key,
        None,
        title,
        (),
        scale,
    )


def spread(lane: Array, begin: Array, end: Array, values: Array, lanes: int, edges: Array) -> tuple[Array, Array]:
    """Return, by lane and bin, the sums of time times value and of time; NaN values are skipped."""
    keep = (lane >= 0) & np.isfinite(values) & (end > begin)
    lane, begin, end, values = lane[keep].astype(np.int64), begin[keep], end[keep], values[keep]
    bins = len(edges) - 1
    first = np.clip(np.searchsorted(edges, begin, "right") - 1, 0, bins - 1)
    last = np.clip(np.searchsorted(edges, end, "left"), first + 1, bins)
    count = last - first
    row = np.repeat(np.arange(len(lane)), count)
    at = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + first[row]
    overlap = np.maximum(np.minimum(end[row], edges[at + 1]) - np.maximum(begin[row], edges[at]), 0).astype(np.float64)
    cell = lane[row] * bins + at
    shape = (lanes, bins)
    return (
        np.bincount(cell, overlap * values[row], lanes * bins).reshape(shape),
        np.bincount(cell, overlap, lanes * bins).reshape(shape),
    )
