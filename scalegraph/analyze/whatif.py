"""What-if runs beside actual ones: the gap that each ideal closes, and virtual speedups.

Every what-if run is compared with the actual run of the same problem and processor count (the median of repetitions).
Speedup and efficiency refer to the actual program's one-processor time: T_seq(actual)/T_para(what if).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import TypeAlias

import pandas as pd

from scalegraph.analyze.table import parameter_label
from scalegraph.base.run import AS_WRITTEN, RunRecord, Value, Variant, target_words

Size: TypeAlias = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Compared:
    """A what-if run beside the actual one of the same problem on *processors*; times in seconds.

    *t_seq_s*: the actual one-processor time, NaN if there is none; *reach_s*: half the 95 % interval of the difference
    of both times, 0 if they are exact.
    """

    size: Size
    processors: int
    variant: Variant
    time_s: float
    actual_s: float
    t_seq_s: float
    key: str
    reach_s: float = 0.0

    @property
    def indistinct(self) -> bool:
        """Whether the times differ by less than the interval of their difference.

        Source: JCGM 100:2008, 5.1.2: independent errors of a difference add in quadrature.
        """
        return abs(self.closed_s) <= self.reach_s > 0

    @property
    def label(self) -> str:
        """The problem as text.

        Source: ScaleGraph.
        """
        return parameter_label({f"param.{name}": value for name, value in self.size})

    @property
    def gain(self) -> float:
        """Speedup over the actual run.

        Unit: none (ratio). Source: ScaleGraph.
        """
        return self.actual_s / self.time_s if self.time_s > 0 else math.inf

    @property
    def closed_s(self) -> float:
        """Elapsed time saved, in seconds; negative if it gets slower.

        Unit: s. Source: ScaleGraph.
        """
        return self.actual_s - self.time_s

    @property
    def speedup(self) -> float:
        """T_seq of the actual program over T_para of this run.

        Unit: none (ratio). Source: latency-metric.txt 2.1.
        """
        return self.t_seq_s / self.time_s if self.time_s > 0 else math.nan

    @property
    def efficiency(self) -> float:
        """Speedup over N.

        Unit: none (ratio). Source: latency-metric.txt 2.1.
        """
        return self.speedup / self.processors


def compared(runs: Sequence[RunRecord], variants: Sequence[RunRecord]) -> list[Compared]:
    """Return each what-if run with its actual one, by problem, variant and N; failed runs are left out.

    Shape: one entry for each what-if run. Source: ScaleGraph.
    """
    actual = _times(runs)
    grouped = _times(variants)
    known = {record.point.variant.name: record.point.variant for record in variants}
    keys = {_name(record): record.point.key for record in variants if record.ok}
    doubt = {_name(record): record.time_error for record in (*runs, *variants) if record.ok}
    found = []
    for (size, processors, variant), time in grouped.items():
        base = actual.get((size, processors, ""))
        # this is the program as it is, which counts as actual
        if base is None or known[variant].schedule == AS_WRITTEN:
            continue
        one = actual.get((size, 1, ""), math.nan)
        name = keys[size, processors, variant]
        errors = [doubt.get((size, processors, which), 0.0) for which in (variant, "")]
        reach = math.hypot(time * errors[0], base * errors[1])
        found.append(Compared(size, processors, known[variant], time, base, one, name, reach))
    return sorted(found, key=lambda item: (str(item.size), _rank(item.variant), item.processors))


_Name: TypeAlias = tuple[Size, int, str]


def _name(record: RunRecord) -> _Name:
    return tuple(sorted(record.point.parameters.items())), record.point.processors, record.point.variant.name


def _times(records: Iterable[RunRecord]) -> dict[_Name, float]:
    times: dict[_Name, list[float]] = {}
    for record in records:
        if record.ok and record.time_s is not None:
            times.setdefault(_name(record), []).append(record.time_s)
    return {name: median(values) for name, values in times.items()}


def _rank(variant: Variant) -> tuple[int, str]:
    """Sort key: single switches first, then several, then the rest."""
    kind = 3 if variant.machine else 2 if variant.speedup else 0 if len(variant.ideal) == 1 else 1
    return kind, variant.name


def frame(rows: Sequence[Compared]) -> pd.DataFrame:
    """Return *rows* as a table: label, processors, what_if, time_s, actual_s, gain, closed_s, speedup, efficiency.

    Of estimated runs also ``reach_s``, half the 95 % interval of ``closed_s``.

    Shape: one row for each entry. Unit: s for times; ratios have none. Source: ScaleGraph.
    """
    return pd.DataFrame(
        [
            {
                "label": row.label,
                "processors": row.processors,
                "what_if": row.variant.label(),
                "time_s": row.time_s,
                "actual_s": row.actual_s,
                "gain": row.gain,
                "closed_s": row.closed_s,
                "speedup": row.speedup,
                "efficiency": row.efficiency,
                **({"reach_s": row.reach_s} if any(one.reach_s for one in rows) else {}),
            }
            for row in rows
        ]
    )


def gaps(rows: Iterable[Compared], processors: int) -> list[Compared]:
    """Return what each single ideal saves on *processors*, largest first.

    Gaps do not add up: a processor that waits less for the network may wait longer at the barrier.

    Shape: one entry for each ideal. Unit: as in `Compared`. Source: ScaleGraph.
    """
    alone = [
        row
        for row in rows
        if row.processors == processors
        and len(row.variant.ideal) == 1
        and not (row.variant.speedup or row.variant.machine)
    ]
    return sorted(alone, key=lambda row: -row.closed_s)


@dataclass(frozen=True)
class Curve:
    """T_para over the factor of a virtual speedup; *factors* ascending, infinity last; factor 1 is the actual run."""

    target: str
    size: Size
    processors: int
    factors: tuple[float, ...]
    times_s: tuple[float, ...]
    keys: tuple[str, ...]

    @property
    def words(self) -> str:
        """The target as text.

        Source: ScaleGraph.
        """
        return target_words(self.target)

    @property
    def gain(self) -> float:
        """Speedup of the program at the largest factor.

        Unit: none (ratio). Source: virtual speedups of Coz (Curtsinger and Berger 2015).
        """
        return self.times_s[self.factors.index(1)] / self.times_s[-1]


def curves(rows: Iterable[Compared]) -> list[Curve]:
    """Return the virtual speedups of single targets as curves, largest gain first.

    Shape: one entry for each target. Unit: as in `Curve`. Source: Coz (Curtsinger and Berger 2015).
    """
    groups: dict[tuple[str, Size, int], list[Compared]] = {}
    for row in rows:
        speedup = row.variant.speedup
        if len(speedup) == 1 and not (row.variant.ideal or row.variant.machine):
            groups.setdefault((next(iter(speedup)), row.size, row.processors), []).append(row)
    found = []
    for (target, size, processors), members in groups.items():
        points = {1.0: (members[0].actual_s, "")}
        points |= {_factor(row.variant.speedup[target]): (row.time_s, row.key) for row in members}
        ordered = sorted(points.items())
        found.append(
            Curve(
                target,
                size,
                processors,
                tuple(factor for factor, _ in ordered),
                tuple(time for _, (time, _) in ordered),
                tuple(key for _, (_, key) in ordered),
            )
        )
    return sorted(found, key=lambda curve: (-curve.processors, -curve.gain, curve.target))


def _factor(text: str) -> float:
    return math.inf if text == "inf" else float(Fraction(text))
