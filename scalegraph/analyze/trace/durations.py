"""Distribution of the durations of calls of regions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from scalegraph.analyze.trace.calls import CallTable
from scalegraph.analyze.trace.found import Rows, top
from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import Array, Columns
from scalegraph.traces.model import Trace

_BLOCK: Final = 1 << 20  # durations binned at once


@dataclass(frozen=True, eq=False)
class WholeCalls:
    """Calls that begin and end in an interval: *ticks* are their durations, in no order.

    *longest* are the longest of them in descending order: arrays ``begin end location region`` (ticks, numbers).
    """

    ticks: Array
    longest: Columns


def whole_calls(
    table: CallTable,
    trace: Trace,
    begin: int,
    end: int,
    regions: Collection[int] | None = None,
    locations: Sequence[int] | None = None,
    most: int = 0,
) -> WholeCalls:
    """Return the calls that begin and end in [*begin*, *end*] (ticks), with the *most* longest, part by part.

    Shape: (calls,) of each array. Unit: ticks. Source: ScaleGraph.
    """
    chosen = np.ones(len(table.paths), bool) if regions is None else np.isin(table.paths.region, list(regions))
    count = len(trace.definitions.locations)
    wanted = np.ones(count, bool) if locations is None else np.isin(np.arange(count), list(locations))
    ticks, none = [], np.empty(0, np.int64)
    best: Rows = (none, none, none, none, none)
    for calls in table.calls(begin, end):
        if not len(calls.begin):
            continue
        keep = chosen[calls.path] & wanted[calls.location] & (calls.begin >= begin) & (calls.end <= end)
        since, until, region = calls.begin[keep], calls.end[keep], table.paths.region[calls.path[keep]]
        ticks.append(until - since)
        best = top([best, (since, until, calls.location[keep], region, region)], most)
    order = np.lexsort((best[2], best[0], best[0] - best[1]))
    names = ("begin", "end", "location", "region")
    return WholeCalls(np.concatenate([none, *ticks]), {name: best[n][order] for n, name in enumerate(names)})


def histogram(length_s: Array, bins: int = 40) -> pd.DataFrame:
    """Return the count and the sum of the durations (s) in each of *bins* logarithmic bins.

    Columns: ``low_s``, ``high_s``, ``calls``, ``time_s``. Durations of 0 have a bin of their own, from 0 to 0.

    Shape: one row for each bin. Unit: s; calls are a count. Source: ScaleGraph.
    """
    positive = length_s if (length_s > 0).all() else length_s[length_s > 0]
    rows = []
    if len(length_s) > len(positive):
        rows.append({"low_s": 0.0, "high_s": 0.0, "calls": len(length_s) - len(positive), "time_s": 0.0})
    if len(positive):
        low, high = float(positive.min()), float(positive.max())
        edges = np.geomspace(low, high, bins + 1) if high > low * 1.0001 else np.array([low, high])
        edges[0], edges[-1] = low, high
        calls, time = np.zeros(len(edges) - 1, np.int64), np.zeros(len(edges) - 1)
        for at in range(0, len(positive), _BLOCK):
            checkpoint()
            some = positive[at : at + _BLOCK]
            place = np.clip(np.searchsorted(edges, some, "right") - 1, 0, len(edges) - 2)
            calls += np.bincount(place, minlength=len(edges) - 1)
            time += np.bincount(place, some, len(edges) - 1)
        rows += [
            {"low_s": float(edges[i]), "high_s": float(edges[i + 1]), "calls": int(calls[i]), "time_s": float(time[i])}
            for i in range(len(edges) - 1)
        ]
    return pd.DataFrame(rows, columns=pd.Index(("low_s", "high_s", "calls", "time_s")))
