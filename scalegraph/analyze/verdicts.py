"""Verdicts in words: does it scale, strongly and weakly, and what is lost where; with the numbers behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pandas as pd

from scalegraph.analyze import culprits, loss, reference
from scalegraph.analyze.fixed import turning_point
from scalegraph.analyze.loss import Whole
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import Floats, numbers
from scalegraph.analyze.weak import efficiencies, grown_series
from scalegraph.base.measures import percent
from scalegraph.base.units import significant

# Names for efficiencies, with the limits usual in evaluations of parallel programs (POP: 80 %).
RATINGS: tuple[tuple[float, str], ...] = ((0.8, "good"), (0.5, "fair"), (0.0, "poor"))
_EVEN = 0.1  # relative difference within which sizes have the same work per processor
_SUPERLINEAR = 1.05  # tolerance for noise and rounding at an efficiency of 1
_TOLD = 3  # parts of the loss to name
_WORTH_TELLING = 0.05
_STANDS_OUT = 0.15  # no part of the loss stands out if all are below this
_GAINS = {"stall_s": "memory stalls shrink", "busy_s": "operations shrink"}
_AT_CALL = {
    "message_s": "sending, receiving and packing",
    "transfer_wait_s": "messages in transit, which others wait for, too",
    "message_wait_s": "waiting for the other side",
    "other_wait_s": "waiting",
}
_FRACTIONS = {
    Fraction(1, 4): "a quarter",
    Fraction(1, 3): "a third",
    Fraction(1, 2): "half",
    Fraction(2, 3): "two thirds",
    Fraction(3, 4): "three quarters",
}


@dataclass(frozen=True)
class Verdict:
    """One sentence and what it is based on.

    *kind*: ``strong``, ``weak``, ``loss``, ``timed`` (the section that the program times itself) or ``estimated``;
    *rating* from `RATINGS`, empty if none; *processors* and *place* (a region's id or a call path's position) say where
    to start looking.
    """

    kind: str
    text: str
    rating: str = ""
    processors: int | None = None
    place: int | None = None
    value: float = math.nan


def share_words(share: float) -> str:
    """Return a share in words if a simple fraction is within 3 percentage points: ``two thirds``, otherwise ``43 %``.

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
    """Return whether the fixed size of *found* scales; ``None`` without a reference run.

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
        text += f"; it is good up to {good} processors" if good > 1 else "; it is good on one processor only"
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
    """Return the largest processor count up to which the efficiency stays at or above *least*."""
    reached = 0
    for count, value in zip(counts, efficiency, strict=True):
        if not value >= least:
            break
        reached = int(count)
    return reached


def weak_series(scaling: pd.DataFrame, tolerance: float = _EVEN) -> Series | None:
    """Return the longest chain of runs, one per N, with the same work per processor within *tolerance*.

    *scaling* comes from `metrics.scaling`; needs the work of the problems. Ties go to the largest work; ``None`` for
    fewer than two N.

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
    """Return whether time stays constant at constant work per processor: efficiency T(first N)/T(N).

    *same_size*: the user says that the problem grows with N although no parameter shows it.

    Source: Gustafson 1988; ratings ScaleGraph's.
    """
    made = efficiencies(found)
    counts, time = numbers(made, "processors"), numbers(made, "time_s")
    efficiency = float(made["weak_efficiency"].iloc[-1])
    said = rating(efficiency)
    how = "the measurement set says that the problem grows with N" if same_size else "the work of each processor stays"
    text = (
        f"Weak scaling from {int(counts[0])} to {int(counts[-1])} processors is {said}: {how}, and the time becomes "
        f"{significant(float(time[-1] / time[0]))} times as long (efficiency {significant(efficiency, 2)})."
    )
    return Verdict("weak", text, said, int(counts[-1]), value=float(efficiency))


def lost(parts: pd.DataFrame, processors: int, gains: Mapping[str, float] = MappingProxyType({})) -> list[Verdict]:
    """Return what is lost on *processors*, by `loss.by_region` or `loss.by_path`, most expensive place first.

    Says so if almost nothing is lost; if no place stands out, names the kind of the loss. *gains*: speedup of the
    program without a place, by `culprits.target_of`; the largest gain then comes first.

    Shape: one entry for each part. Source: `loss`.
    """
    whole: Whole | None = parts.attrs.get("whole")
    little = _little(parts, processors, whole)
    if little is not None:
        return [little]
    found: list[Verdict] = []
    of, counted = _loss_words(parts, whole)
    parts = culprits.ordered(parts, gains, processors)
    for _, row in parts.head(_TOLD).iterrows():
        share = float(row["share"])
        if not share >= _WORTH_TELLING:
            break
        what = part_words(row)
        if gain := gains.get(culprits.target_of(row)):
            what += f" (removing it: {significant(gain, 2)} times as fast, by a run)"
        text = (
            f"On {processors} processors {share_words(share)} of {of} is {what}."
            if not found
            else f"Another {share_words(share).removeprefix('a ')} is {what}."
        )
        found.append(Verdict("loss", f"{text}{counted if not found else ''}", "", processors, int(row["place"]), share))
    if not found or (found[0].value < _STANDS_OUT and len(parts) > 2 * _TOLD):
        spread = _spread(parts, processors, of)
        found[:0] = [spread] if spread is not None else []
    return found


def _little(parts: pd.DataFrame, processors: int, whole: Whole | None) -> Verdict | None:
    """Return that nothing is wrong if less than `_NOTHING_WRONG` of processor time is lost, with the largest part."""
    if whole is None or not whole.processor_s or not whole.is_little:
        return None
    first = parts.iloc[0]
    share = float(first["loss_s"]) / whole.processor_s
    text = (
        f"On {processors} processors nothing is wrong: "
        + (
            f"they take {percent(-whole.loss_s / whole.processor_s)} less processor time than {_other(whole)} would"
            if whole.loss_s < 0
            else f"no more than {percent(whole.loss_s / whole.processor_s)} of processor time is lost"
        )
        + (f"; the largest part, {percent(share)}, is {part_words(first)}." if share >= 0.01 else ".")
    )
    return Verdict("loss", text, "", processors, int(first["place"]), share)


def _other(whole: Whole) -> str:
    one = "one" if whole.reference in (1, None) else f"{whole.reference}"
    return f"{one} with the work of each" if whole.grows else one


def _loss_words(parts: pd.DataFrame, whole: Whole | None) -> tuple[str, str]:
    """Return what shares refer to, and a sentence on gains and on the reference run."""
    gained = parts[parts["gain"] >= _WORTH_TELLING] if "gain" in parts.columns else parts.head(0)
    of = "the loss" if gained.empty else "what is lost"
    said = ""
    for _, row in gained.sort_values("gain", ascending=False).head(1).iterrows():
        what = _GAINS.get(str(row["cause"]), str(row["words"]))
        said = f" {what[:1].upper()}{what[1:]} by {percent(float(row['gain']))} of that."
    if whole is None:
        return of, said
    if whole.reference is None:
        of = "anything but computing"
    elif whole.reference != 1:
        of += f" against {whole.reference}"
    if whole.grows:
        of += " beyond the work that grows with N"
    return of, said


def _spread(parts: pd.DataFrame, processors: int, of: str) -> Verdict | None:
    """Return the main kind of a loss in which no single place stands out."""
    losing = parts[parts["share"] > 0]
    kinds = losing.groupby("words")["share"].agg(["sum", "size"]).sort_values("sum", ascending=False)
    if kinds.empty:
        return None
    words, share, places = str(kinds.index[0]), float(kinds["sum"].iloc[0]), int(kinds["size"].iloc[0])
    worst = losing[losing["words"] == words].iloc[0]
    text = (
        f"On {processors} processors no place stands out: {percent(share)} of {of} is {words}, spread over "
        f"{places} places; the largest, {percent(float(worst['share']))}, is {loss.place_words(worst)}."
    )
    return Verdict("loss", text, "", processors, int(worst["place"]), float(worst["share"]))


def worth_telling(parts: pd.DataFrame) -> bool:
    """Return whether *parts* say more than that the loss is somewhere in the program.

    Source: ScaleGraph.
    """
    return len(parts) > 1 or bool((parts["cause"] != "time").any())


def part_words(row: pd.Series) -> str:
    """Return a cause and its place in words, as the end of ``90 % of the loss is ..``.

    Source: ScaleGraph.
    """
    place, cause, kind = loss.place_words(row), str(row["cause"]), str(row["kind"])
    if cause == "time":
        return f"in {place}"
    if kind == "call":
        return f"{place}: {_AT_CALL.get(cause, str(row['words']))}"
    if cause == "fork_join_s" and kind.startswith("parallel"):
        return f"starting and ending {place}"
    if cause == "serial_wait_s":
        return f"waiting for serial code in {place}"
    if cause == "barrier_wait_s" and kind != "barrier":
        uneven = kind in ("for", "do") or str(row["name"]).startswith(("parallel for", "parallel do"))
        how = f": {row['dealing']}" if row.get("dealing") else ""
        return f"uneven work in {place}{how}" if uneven else f"waiting at barriers for {place}"
    if cause == "message_wait_s":
        return f"other ranks waiting for {place}"
    if cause == "other_wait_s":
        return f"other threads waiting for {place}"
    if kind == "lock":
        return f"waiting for {place}"
    return f"{row['words']} {'of' if kind == 'barrier' else 'in'} {place}"


def all_of(
    scaling: pd.DataFrame,
    main: Series | None,
    parts: pd.DataFrame | None,
    *,
    grows: bool = False,
    gains: Mapping[str, float] = MappingProxyType({}),
) -> list[Verdict]:
    """Return every verdict that the runs allow: strong, weak, and where the loss is.

    *main* is the fixed-size series judged, *parts* its loss on the most processors; *grows*: the sizes of a fixed
    series grow with N although no parameter says so (a set from a weak-scaling study).

    Shape: one entry for each verdict. Source: ScaleGraph.
    """
    found: list[Verdict] = []
    whole: Whole | None = None if parts is None else parts.attrs.get("whole")
    if main is not None and (grows or (whole is not None and whole.grows)):
        found.append(weak(main, same_size=grows))
    elif main is not None and (said := strong(main)) is not None:
        found.append(said)
    elif grows and (grown := grown_series(scaling)) is not None:
        found.append(weak(grown, same_size=True))
    if not grows and (chain := weak_series(scaling)) is not None:
        found.append(weak(chain))
    if main is not None and parts is not None and worth_telling(parts):
        found += lost(parts, main.processors[-1], gains)
    return found
