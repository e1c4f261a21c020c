"""Culprits verified by runs: the places charged with losses are made free one by one, to see what that gains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from scalegraph.analyze.charges import DIVIDED, PARALLEL, SHARED_OUT, STALL
from scalegraph.analyze.loops import dealing
from scalegraph.analyze.loss import Whole
from scalegraph.base.run import Region, RunPoint, RunRecord, Variant

MOST = 4  # places to check
LEAST = 0.05  # minimum share of the loss that is worth a run
_TARGETS = ("call", "section", "line", "region", "cost", "whole")
FREE = "inf"  # the factor of a virtual speedup


@dataclass(frozen=True)
class Culprit:
    """A place, its *share* of the loss, and the predicted and measured speedup of removing it.

    *target* names it in a virtual speedup, *factor* says how much faster it is made: free, or for uneven work as fast
    as if evenly divided; *gain* is NaN until a run has measured it.
    """

    file: str
    line: int
    share: float
    promise: float
    target: str
    factor: str = FREE
    gain: float = math.nan

    @property
    def recovered(self) -> float:
        """The gain limited to the loss: a gain above the promise means that useful work was removed, too.

        Unit: none (times as fast). Source: ScaleGraph.
        """
        return min(self.gain, self.promise)

    @property
    def variant(self) -> Variant:
        """The variant of the run that measures the gain.

        Source: ScaleGraph.
        """
        return Variant(speedup={self.target: self.factor})


def target_of(row: pd.Series) -> str:
    """Return the virtual-speedup target for the place of a row of `loss.by_region`; empty if it has none.

    Source: ScaleGraph.
    """
    kind, name = str(row["kind"]), str(row["name"])
    at = f"{row['file']}:{row['line']}" if not row["inside"] else str(row["inside"])
    if kind == "call":
        return f"call:{at}" if row["line"] else ""
    if kind == "lock":
        return f"section:{at}"
    if kind == "line":
        return f"line:{at}"
    number = int(row["place"])
    if not number:
        return ""
    if row["cause"] == STALL:
        return f"region:#{number}/memory"
    whole = kind in SHARED_OUT or name.startswith(PARALLEL)
    return f"{'whole' if whole else 'cost'}:#{number}"


def _line(row: pd.Series) -> tuple[str, int]:
    """Return the file and line to show: in a function or loop the most expensive line, else where the place begins."""
    file, _, line = str(row["inside"]).rpartition(":")
    return (file, int(line)) if file and row["kind"] in ("function", "loop") else (str(row["file"]), int(row["line"]))


def _factor(row: pd.Series, worked: Mapping[int, float]) -> str:
    """Return the speedup factor for a place at which none of its loss remains.

    Evenly divided, a loop would take the mean time of its threads; unevenly, it takes as long as the slowest.
    """
    work = worked.get(int(row["place"]), 0.0)
    uneven = row["cause"] == "barrier_wait_s" and (row["kind"] in DIVIDED or str(row["name"]).startswith(PARALLEL))
    if not uneven or work <= 0 or target_of(row).partition(":")[0] != "whole":
        return FREE
    return f"{min(1 + float(row['loss_s']) / work, 1e5):.4f}"


def factor_of(row: pd.Series, parts: pd.DataFrame) -> str:
    """Return the speedup factor for the place of *row*, one of *parts*, at which none of its loss remains.

    Unit: none. Source: ScaleGraph.
    """
    return _factor(row, parts.attrs.get("worked", {}))


def culprits(parts: pd.DataFrame, processors: int, most: int = MOST) -> list[Culprit]:
    """Return the places of *parts* that are worth a run each, largest loss first.

    Shape: one entry for each place. Unit: none. Source: ScaleGraph.
    """
    whole: Whole | None = parts.attrs.get("whole")
    found: dict[str, Culprit] = {}
    if whole is None or whole.is_little:
        return []
    for _, row in parts.iterrows():
        share, target = float(row["share"]), target_of(row)
        if not share >= LEAST or len(found) == most:
            break
        if target and target not in found:
            left = max(whole.processor_s - float(row["loss_s"]), whole.processor_s / processors)
            promise = whole.processor_s / left
            factor = factor_of(row, parts)
            found[target] = Culprit(*_line(row), share, promise, target, factor)
    return list(found.values())


def points(record: RunRecord, parts: pd.DataFrame) -> list[RunPoint]:
    """Return the runs that measure the gain of removing each culprit of *record*.

    Shape: one entry for each culprit. Unit: none. Source: ScaleGraph.
    """
    return [
        record.point.model_copy(update={"variant": one.variant}) for one in culprits(parts, record.point.processors)
    ]


def gains(record: RunRecord, others: Iterable[RunRecord]) -> dict[str, float]:
    """Return by target the speedup of *record* in those of *others* that made one place free.

    Unit: none. Source: ScaleGraph.
    """
    found: dict[str, float] = {}
    for other in others:
        speedup = other.point.variant.speedup
        if other.ok and other.time_s and record.time_s and other.point.actual() == record.point and len(speedup) == 1:
            target = next(iter(speedup))
            if other.point.variant == Variant(speedup=speedup) and target.partition(":")[0] in _TARGETS:
                found[target] = record.time_s / other.time_s
    return found


def verified(parts: pd.DataFrame, record: RunRecord, others: Iterable[RunRecord]) -> list[Culprit]:
    """Return the culprits that runs have checked, the one that recovers most of the loss first.

    Shape: one entry for each culprit. Unit: none. Source: ScaleGraph.
    """
    known = gains(record, others)
    checked = [
        replace(one, gain=known[one.target]) for one in culprits(parts, record.point.processors) if one.target in known
    ]
    return sorted(checked, key=lambda one: -one.recovered)


def ordered(parts: pd.DataFrame, found: Mapping[str, float], processors: int) -> pd.DataFrame:
    """Return *parts* with the checked places first, sorted by how much of the loss they recover.

    *found*: speedup without a place, by target, on *processors*.

    Shape: that of *parts*. Unit: as of *parts*. Source: ScaleGraph.
    """
    if not found:
        return parts
    known = {
        one.target: replace(one, gain=found[one.target]).recovered
        for one in culprits(parts, processors)
        if one.target in found
    }
    gained = [known.get(target_of(row), -1.0) for _, row in parts.iterrows()]
    made = parts.assign(gained=gained).sort_values(["gained", "loss_s"], ascending=False, kind="stable")
    made.attrs.update(parts.attrs)
    return made.drop(columns="gained").reset_index(drop=True)


def of_largest(
    records: Sequence[RunRecord], regions: Sequence[Region], others: Sequence[RunRecord] = ()
) -> tuple[RunRecord, pd.DataFrame] | None:
    """Return the run on the most processors and its loss against the run on the fewest; ``None`` without a loss.

    *others*: what-if runs, one of which may have counted the iterations of static loops.

    Shape: one row for each part. Unit: as of `loss.by_region`. Source: ScaleGraph.
    """
    from scalegraph.analyze import loss

    known = sorted((one for one in records if one.ok and one.regions), key=lambda one: one.point.processors)
    known = [one for one in known if one.point.parameters == known[-1].point.parameters and not one.point.variant]
    if not known or known[-1].point.processors == 1:
        return None
    one = known[0] if known[0].point.processors < known[-1].point.processors else None
    parts = loss.by_region(known[-1], one, regions)
    return (known[-1], dealing.counted_by(parts, known[-1], others)) if len(parts) else None
