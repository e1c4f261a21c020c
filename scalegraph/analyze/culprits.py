"""Culprits checked by runs: the places that a loss names, made free one by one, and what that gains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from scalegraph.analyze.charges import DIVIDED, PARALLEL, SHARED_OUT, STALL
from scalegraph.analyze.loops import dealing
from scalegraph.analyze.loss import Whole
from scalegraph.base.run import Region, RunPoint, RunRecord, Variant

MOST = 4  # places that are checked
LEAST = 0.05  # of the loss, for a run to be worth it
_TARGETS = ("call", "section", "line", "region", "cost", "whole")
FREE = "inf"  # the factor of a virtual speedup


@dataclass(frozen=True)
class Culprit:
    """A place, its *share* of what is lost, and what its removal promises and gains: times as fast.

    *target*: what a virtual speedup calls it, and by what *factor* it is faster: free, or where work is uneven as fast
    as if it were even; *gain*: NaN as long as no run has shown it.
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
        """What the removal gains of what is lost: with more than the promise the place's useful work is gone, too.

        Unit: none (times as fast). Source: ScaleGraph.
        """
        return min(self.gain, self.promise)

    @property
    def variant(self) -> Variant:
        """What is different in the run that shows the gain.

        Source: ScaleGraph.
        """
        return Variant(speedup={self.target: self.factor})


def target_of(row: pd.Series) -> str:
    """Return what a virtual speedup calls the place of a part of `loss.by_region`; empty where it has no name.

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
    """Return file and line to look at: in a function or loop the line that costs most, else where the place begins."""
    file, _, line = str(row["inside"]).rpartition(":")
    return (file, int(line)) if file and row["kind"] in ("function", "loop") else (str(row["file"]), int(row["line"]))


def _factor(row: pd.Series, worked: Mapping[int, float]) -> str:
    """Return by what factor a place is to be faster so that nothing of what it loses is left.

    Without uneven work a loop takes the mean of what its threads take; with it, as long as the slowest.
    """
    work = worked.get(int(row["place"]), 0.0)
    uneven = row["cause"] == "barrier_wait_s" and (row["kind"] in DIVIDED or str(row["name"]).startswith(PARALLEL))
    if not uneven or work <= 0 or target_of(row).partition(":")[0] != "whole":
        return FREE
    return f"{min(1 + float(row['loss_s']) / work, 1e5):.4f}"


def factor_of(row: pd.Series, parts: pd.DataFrame) -> str:
    """Return by what factor the place of *row*, one of *parts*, is to be faster so that it loses nothing more.

    Unit: none. Source: ScaleGraph.
    """
    return _factor(row, parts.attrs.get("worked", {}))


def culprits(parts: pd.DataFrame, processors: int, most: int = MOST) -> list[Culprit]:
    """Return the places of *parts* that are worth a run each, the largest part first.

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
    """Return the runs that show what the removal of each culprit of *record* gains.

    Shape: one entry for each culprit. Unit: none. Source: ScaleGraph.
    """
    return [
        record.point.model_copy(update={"variant": one.variant}) for one in culprits(parts, record.point.processors)
    ]


def gains(record: RunRecord, others: Iterable[RunRecord]) -> dict[str, float]:
    """Return how many times as fast the run *record* was without each place that *others* had made free, by target.

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
    """Return the culprits that runs have checked, the one that gains most of what is lost first.

    Shape: one entry for each culprit. Unit: none. Source: ScaleGraph.
    """
    known = gains(record, others)
    checked = [
        replace(one, gain=known[one.target]) for one in culprits(parts, record.point.processors) if one.target in known
    ]
    return sorted(checked, key=lambda one: -one.recovered)


def ordered(parts: pd.DataFrame, found: Mapping[str, float], processors: int) -> pd.DataFrame:
    """Return *parts* with the checked places first, that which gains most of what is lost before the others.

    *found*: times as fast without a place, by target, on *processors*.

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
    """Return the run on the most processors and its loss against that on the fewest; ``None`` without a loss.

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
