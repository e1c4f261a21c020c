"""Counts of a counter in a stretch of time: exact at its samples, linear between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from scalegraph.traces.kinds import Array
from scalegraph.traces.model import Metric, Trace

# metrics taken as work, in order of preference; PAPI's names beside ours
_LEAST: Final = 0.1  # share of the largest of them
WORK: Final = (
    "flops",
    "papi_fp_ops",
    "papi_dp_ops",
    "papi_sp_ops",
    "ops",
    "operations",
    "papi_tot_ins",
    "instructions",
)


class Counted:
    """The running count of a metric at any time, by location; linear between two samples.

    The metric's mode is ``next`` (a sample counts since the previous one) or ``sum`` (since the start of the run).
    """

    def __init__(self, trace: Trace, metric: int) -> None:
        self.metric = trace.definitions.metrics[metric]
        if self.metric.mode == "last":
            raise ValueError(f"'{self.metric.name}' is an instantaneous value, not a count")
        found = [
            {name: values[keep] for name, values in columns.items()}
            for columns in trace.chunks("counters")
            if (keep := columns["metric"] == metric).any()
        ]
        self._start = trace.meta.begin
        self._curves: dict[int, tuple[Array, Array]] = {}
        if not found:
            return
        owner = np.concatenate([columns["location"] for columns in found])
        time = np.concatenate([columns["time"] for columns in found])
        name = "exact" if self.metric.integer else "value"
        value = np.concatenate([columns[name] for columns in found]).astype(np.float64)
        order = np.argsort(owner, kind="stable")
        owner, time, value = owner[order], time[order], value[order]
        starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        for first, last in zip(starts, np.r_[starts[1:], len(owner)], strict=True):
            self._curves[int(owner[first])] = self._curve(time[first:last], value[first:last])

    def _curve(self, time: Array, value: Array) -> tuple[Array, Array]:
        total = np.cumsum(value) if self.metric.mode == "next" else value
        final = np.r_[time[1:] != time[:-1], True]  # the last of several samples at the same tick is valid
        time, total = time[final] - self._start, total[final]
        if len(time) and time[0] > 0:
            time, total = np.r_[0, time], np.r_[0.0, total]
        return time.astype(np.float64), total

    @property
    def locations(self) -> tuple[int, ...]:
        """The locations with samples.

        Shape: (locations,). Unit: none (numbers of locations). Source: ScaleGraph.
        """
        return tuple(sorted(self._curves))

    def at(self, location: int, times: Array) -> Array:
        """Return the running count at *location* at *times* (ticks); 0 without samples.

        Shape: that of *times*. Unit: that of the metric. Source: ScaleGraph.
        """
        if location not in self._curves:
            return np.zeros(len(times))
        time, total = self._curves[location]
        counted: Array = np.interp((times - self._start).astype(np.float64), time, total)
        return counted

    def between(self, location: Array, begin: Array, end: Array) -> Array:
        """Return the count from *begin* to *end* (ticks) at *location*, for arrays of stretches.

        Shape: that of *location*. Unit: that of the metric. Source: ScaleGraph.
        """
        counted = np.zeros(len(location))
        for number in np.unique(location).tolist():
            rows = np.flatnonzero(location == number)
            counted[rows] = self.at(number, end[rows]) - self.at(number, begin[rows])
        return counted

    def totals(self, begin: int, end: int, locations: Sequence[int]) -> Array:
        """Return the count of each of *locations* from *begin* to *end* (ticks).

        Shape: (locations,). Unit: that of the metric. Source: ScaleGraph.
        """
        ends = np.array([begin, end], np.int64)
        return np.array([np.diff(self.at(number, ends))[0] for number in locations], np.float64)


def countable(trace: Trace) -> dict[str, int]:
    """Return the metrics that count something, by name, in trace order.

    Shape: one entry for each metric. Unit: none (numbers of metrics). Source: ScaleGraph.
    """
    return {metric.name: number for number, metric in enumerate(trace.definitions.metrics) if counts(metric)}


def counts(metric: Metric) -> bool:
    """Return whether *metric* is a count that can be summed over time.

    Source: ScaleGraph.
    """
    return metric.mode in ("next", "sum")


def work_metric(trace: Trace) -> str | None:
    """Return the metric of work, or None: floating-point operations, as in isospeed.txt, or else operations.

    Floating-point operations are not used if they are less than a tenth of all operations.

    Source: isospeed.txt III (floating-point operations); choice ScaleGraph's.
    """
    # Paraver's names are followed by a description
    known = {name.lower().partition(" ")[0]: (name, number) for name, number in countable(trace).items()}
    there = [known[wanted] for wanted in WORK if wanted in known]
    if not there:
        return None
    totals = _totals(trace)
    most = max(totals[number] for _, number in there)
    return next((name for name, number in there if totals[number] >= _LEAST * most), there[0][0])


def _totals(trace: Trace) -> Array:
    """Return the count of each metric over the whole run."""
    metrics = trace.definitions.metrics
    totals, since = np.zeros(len(metrics)), np.array([metric.mode == "sum" for metric in metrics])
    last: dict[tuple[int, int], float] = {}
    for columns in trace.chunks("counters", ("metric", "location", "value")):
        metric, value = columns["metric"], columns["value"]
        plain = (metric >= 0) & (metric < len(metrics))
        plain[plain] &= ~since[metric[plain]]
        totals += np.bincount(metric[plain], value[plain], len(metrics))
        # of metrics counted since the start, the last sample of each location
        for number in np.flatnonzero(since).tolist():
            mine = np.flatnonzero(metric == number)
            owner, at = np.unique(columns["location"][mine][::-1], return_index=True)
            last.update(zip(((number, who) for who in owner.tolist()), value[mine][::-1][at].tolist(), strict=True))
    for (number, _), final in last.items():
        totals[number] += final
    return totals
