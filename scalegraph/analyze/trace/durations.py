"""How long the calls of regions took: a distribution, not only a mean."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from scalegraph.analyze.trace.calls import CallTable
from scalegraph.traces.kinds import Array, Columns
from scalegraph.traces.model import Trace


def whole_calls(
    table: CallTable, trace: Trace, begin: int, end: int, regions: Collection[int] | None = None,
    locations: Sequence[int] | None = None,
) -> Columns:  # fmt: skip
    """Return the calls that begin and end in [*begin*, *end*]: ``begin end location region`` in arrays (ticks)."""
    chosen = np.ones(len(table.paths), bool) if regions is None else np.isin(table.paths.region, list(regions))
    count = len(trace.definitions.locations)
    wanted = np.ones(count, bool) if locations is None else np.isin(np.arange(count), list(locations))
    found: list[tuple[Array, ...]] = [(np.empty(0, np.int64),) * 4]
    for calls in table.calls(begin, end):
        if not len(calls.begin):
            continue
        keep = chosen[calls.path] & wanted[calls.location] & (calls.begin >= begin) & (calls.end <= end)
        region = table.paths.region[calls.path[keep]]
        found.append((calls.begin[keep], calls.end[keep], calls.location[keep].astype(np.int64), region))
    return dict(zip(("begin", "end", "location", "region"), map(np.concatenate, zip(*found, strict=True)), strict=True))


def histogram(length_s: Array, bins: int = 40) -> pd.DataFrame:
    """Return how many of the lengths (s) are in each of *bins* classes of equal width in logarithm, and their sum.

    Columns: ``low_s``, ``high_s``, ``calls``, ``time_s``. Lengths of 0 are a class of their own, from 0 to 0.
    """
    positive = length_s[length_s > 0]
    rows = []
    if len(length_s) > len(positive):
        rows.append({"low_s": 0.0, "high_s": 0.0, "calls": len(length_s) - len(positive), "time_s": 0.0})
    if len(positive):
        low, high = float(positive.min()), float(positive.max())
        edges = np.geomspace(low, high, bins + 1) if high > low * 1.0001 else np.array([low, high])
        edges[0], edges[-1] = low, high
        place = np.clip(np.searchsorted(edges, positive, "right") - 1, 0, len(edges) - 2)
        calls = np.bincount(place, minlength=len(edges) - 1)
        time = np.bincount(place, positive, len(edges) - 1)
        rows += [
            {"low_s": float(edges[i]), "high_s": float(edges[i + 1]), "calls": int(calls[i]), "time_s": float(time[i])}
            for i in range(len(edges) - 1)
        ]
    return pd.DataFrame(rows, columns=pd.Index(("low_s", "high_s", "calls", "time_s")))
