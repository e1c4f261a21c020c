"""Lanes that combine several locations, for more locations than rows of pixels."""

from __future__ import annotations

import numpy as np

from scalegraph.traces.lod.clipping import added, largest
from scalegraph.traces.lod.shapes import Lanes, Layer


def merged(lanes: Lanes, rows: int, layer: Layer) -> Lanes:
    """Return *rows* lanes, each the mean of neighbouring *lanes*, from their kept shares only."""
    starts = np.arange(rows) * len(lanes.members) // rows
    stops = np.r_[starts[1:], len(lanes.members)]
    sizes = stops - starts
    covered = np.add.reduceat(lanes.covered, starts, axis=0) / sizes[:, None].astype(np.float32)
    members = tuple(
        tuple(number for one in lanes.members[start:stop] for number in one)
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
    )
    bins, kept = lanes.codes.shape[1:]
    if layer.whole:
        shares = np.add.reduceat(lanes.shares, starts, axis=0) / sizes[:, None, None].astype(np.float32)
        codes = np.broadcast_to(lanes.codes[:1], shares.shape)
        return Lanes(lanes.edges, codes, shares, covered, members)
    group = np.repeat(np.arange(rows), sizes)
    place = (group[:, None] * bins + np.arange(bins))[:, :, None]
    share = lanes.shares / sizes[group][:, None, None]
    there = lanes.codes >= 0
    pairs = added(np.broadcast_to(place, there.shape)[there], lanes.codes[there], share[there], len(layer.codes))
    codes, shares = largest(*pairs, rows * bins, kept)
    return Lanes(lanes.edges, codes.reshape(rows, bins, kept), shares.reshape(rows, bins, kept), covered, members)
