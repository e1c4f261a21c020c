"""Verdicts in words: does it scale, strongly and weakly, and what is lost where; each with the numbers behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from scalegraph.analyze import loss, reference
from scalegraph.analyze.fixed import turning_point
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import Floats, numbers
from scalegraph.analyze.weak import efficiencies, grown_series
from scalegraph.base.measures import percent
from scalegraph.base.units import significant

# What an efficiency is called: the limits that evaluations of parallel programs usually take (POP: 80 %).
RATINGS: tuple[tuple[float, str], ...] = ((0.8, "good"), (0.5, "fair"), (0.0, "poor"))
_EVEN = 0.1  # sizes count as the same work per processor within this share of it
_SUPERLINEAR = 1.05  # more than noise and rounding make of an efficiency of 1
_TOLD = 3  # parts of the loss that are named
_WORTH_TELLING = 0.05
_FRACTIONS = {
    Fraction(1, 4): "a quarter",
    Fraction(1, 3): "a third",
    Fraction(1, 2): "half",
    Fraction(2, 3): "two thirds",
    Fraction(3, 4): "three quarters",
}


@dataclass(frozen=True)
class Verdict:
    """One sentence and what it rests on.

    *kind*: ``strong``, ``weak``, ``loss`` or ``timed`` (what the program times itself); *rating* of `RATINGS`, empty
    where there is none; *processors* and *place* (a region's id or a call path's position) are where to begin.
    """

    kind: str
    text: str
    rating: str = ""
    processors: int | None = None
    place: int | None = None
    value: float = math.nan


def share_words(share: float) -> str:
    """Return a share in words where a simple fraction is within 3 percent points: ``two thirds``, else ``43 %``.

    Source: ScaleGraph.
    """
    if share >= 0.97:
        return "nearly all" if share < 1.03 else percent(share)
    for fraction, words in _FRACTIONS.items():
        if abs(share - float(fraction)) <= 0.03:
            return words
    return percent(share)


def rating(efficiency: float) -> str:
    """Return the name of an efficiency in `RATINGS`, empty for NaN.

    Source: ScaleGraph.
    """
    return next((name for limit, name in RATINGS if efficiency >= limit), "")


def strong(found: Series) -> Verdict | None:
    """Return whether the fixed size of *found* scales; ``None`` without a run to compare with.

    Source: latency-metric.txt 2.1; ratings ScaleGraph's.
    """
    rows = found.rows
    efficiency, counts = numbers(rows, "efficiency"), numbers(rows, "processors")
    known = np.isfinite(efficiency) & (counts > 1) & (counts != numbers(rows, "reference"))
    if not known.any():
        return None
    last = int(counts[-1])
    other = reference.others(rows)
    to = f", relative to {reference.named(other[-1])}" if len(other) else ""
    said = rating(efficiency[-1])
    text = (
        f"Strong scaling of {found.label or 'the program'} to {last} processors is {said}: efficiency "
        f"{significant(efficiency[-1], 2)}, speedup {significant(float(rows['speedup'].iloc[-1]))}{to}"
    )
    good = _reached(counts, efficiency, RATINGS[0][0])
    if said != "good":
        text += f"; it is good up to {good} processors" if good > 1 else "; it is good on no more than one processor"
    beyond = counts[(counts > 1) & (efficiency > _SUPERLINEAR)]
    if len(beyond):
        text += (
            f"; on {' and '.join(map(str, sorted({int(beyond.min()), int(beyond.max())})))} it is above 1, so the "
            f"{'run that it is relative to' if len(other) else 'one-processor run'} is slower than its work "
            "explains (caches, memory, or how it was measured)"
        )
    point = turning_point(rows)
    if point is not None and point.reached:
        text += f"; fastest on {point.processors}, more are slower"
    return Verdict("strong", f"{text}.", said, last, value=float(efficiency[-1]))


def _reached(counts: Floats, efficiency: Floats, least: float) -> int:
    """Return the most processors up to which the efficiency never falls below *least*."""
    reached = 0
    for count, value in zip(counts, efficiency, strict=True):
        if not value >= least:
            break
        reached = int(count)
    return reached


def weak_series(scaling: pd.DataFrame, tolerance: float = _EVEN) -> Series | None:
    """Return the longest chain of runs, one for each N, whose work per processor is the same within *tolerance*.

    *scaling* comes from `metrics.scaling`; needs the work of the problems. Of equally long ones the largest work
    counts; ``None`` for fewer than two N.

    Shape: one row for each N. Source: Gustafson 1988.
    """
    rows = scaling.assign(per=numbers(scaling, "work") / numbers(scaling, "processors"))
    rows = rows[np.isfinite(rows["per"]) & (rows["per"] > 0)]
    best: pd.DataFrame | None = None
    first = rows[rows["processors"] == rows["processors"].min()].sort_values("per", ascending=False)
    for per in first["per"]:
        near = rows.assign(off=(rows["per"] / per - 1).abs())
        near = near[near["off"] <= tolerance].sort_values(["processors", "off"]).drop_duplicates("processors")
        if len(near) >= 2 and (best is None or len(near) > len(best)):
            best = near
    if best is None:
        return None
    return Series(best.drop(columns=["per", "off"]).reset_index(drop=True), "work grows with N", "processors")


def weak(found: Series, *, same_size: bool = False) -> Verdict:
    """Return whether time stays the same while the work of each processor does: efficiency T(first N)/T(N).

    *same_size*: the user says that the problem grows with N though no parameter shows it.

    Source: Gustafson 1988; ratings ScaleGraph's.
    """
    made = efficiencies(found)
    counts, time = numbers(made, "processors"), numbers(made, "time_s")
    efficiency = float(made["weak_efficiency"].iloc[-1])
    said = rating(efficiency)
    how = "as the measurement set says, the problem grows with N" if same_size else "the work of each processor stays"
    text = (
        f"Weak scaling from {int(counts[0])} to {int(counts[-1])} processors is {said}: {how}, and the time becomes "
        f"{significant(float(time[-1] / time[0]))} times as long (efficiency {significant(efficiency, 2)})."
    )
    return Verdict("weak", text, said, int(counts[-1]), value=float(efficiency))


def lost(parts: pd.DataFrame, processors: int) -> list[Verdict]:
    """Return what is lost on *processors*, the most expensive part of `loss.by_region` or `loss.by_path` first.

    Shape: one entry for each part. Source: `loss`.
    """
    found: list[Verdict] = []
    for _, row in parts.head(_TOLD).iterrows():
        share = float(row["share"])
        if not share >= _WORTH_TELLING:
            break
        place = loss.place_words(row)
        what = f"in {place}" if row["cause"] == "time" else _what(row, place)
        text = (
            f"On {processors} processors {share_words(share)} of the loss is {what}."
            if not found
            else f"Another {share_words(share).removeprefix('a ')} is {what}."
        )
        found.append(Verdict("loss", text, "", processors, int(row["place"]), share))
    return found


def worth_telling(parts: pd.DataFrame) -> bool:
    """Return whether *parts* say more than that the loss is in the program.

    Source: ScaleGraph.
    """
    return len(parts) > 1 or bool((parts["cause"] != "time").any())


def _what(row: pd.Series, place: str) -> str:
    """Return a cause and its place in words."""
    if row["cause"] == "fork_join_s" and str(row["kind"]).startswith("parallel"):
        return f"starting and ending {place}"
    # What is serial is the place; the waiting is anywhere.
    words = "waiting for serial code" if row["cause"] == "serial_wait_s" else str(row["words"])
    return f"{words} {_preposition(row)}{place}"


def _preposition(row: pd.Series) -> str:
    """Return what links a cause to its place: ``waiting at barriers`` needs no second ``at`` before a barrier."""
    return "of " if str(row["kind"]) == "barrier" else "in "


def all_of(
    scaling: pd.DataFrame, main: Series | None, parts: pd.DataFrame | None, *, grows: bool = False
) -> list[Verdict]:
    """Return every verdict that the runs allow: strong, weak, and where the loss lies.

    *main* is the fixed size that the verdicts are about, *parts* its loss on its most processors; *grows*: the sizes of
    a fixed series grow with N though no parameter says so (a set of a weak-scaling study).

    Shape: one entry for each verdict. Source: ScaleGraph.
    """
    found: list[Verdict] = []
    if main is not None and grows:
        found.append(weak(main, same_size=True))
    elif main is not None and (said := strong(main)) is not None:
        found.append(said)
    elif grows and (grown := grown_series(scaling)) is not None:
        found.append(weak(grown, same_size=True))
    if not grows and (chain := weak_series(scaling)) is not None:
        found.append(weak(chain))
    if main is not None and parts is not None and worth_telling(parts):
        found += lost(parts, main.processors[-1])
    return found
