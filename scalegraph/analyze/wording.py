"""Sentences: what the numbers say, in words that a reader can check against the plot."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from scalegraph.analyze.fixed import TurningPoint, turning_point, what_grows
from scalegraph.analyze.matrix import Matrix, bound_words
from scalegraph.analyze.metrics import speed_unit
from scalegraph.analyze.reference import named, others
from scalegraph.analyze.series import Series
from scalegraph.base.measures import percent
from scalegraph.base.text import listed
from scalegraph.base.units import plain, si, significant

# What grows, as the subject of a sentence.
_ADDED = {
    "barrier execution": "barrier execution",
    "waiting at barriers": "barrier waiting",
    "locks and critical sections": "time for locks and critical sections",
    "waiting for serial parts": "waiting for serial code",
    "other waiting": "waiting",
    "starting and ending parallel regions": "time for starting and ending parallel regions",
    "waiting for partners of messages": "waiting for partners of messages",
    "waiting for messages on their way": "waiting for messages on their way",
    "sending, receiving and packing messages": "time for sending, receiving and packing messages",
    "starting and ending MPI": "time for starting and ending MPI",
    "scheduling, tasks, threads, monitoring, disturbance": "time for scheduling, tasks, threads and the like",
    "memory stall": "memory stall",
}


def span(processors: tuple[int, ...]) -> str:
    """Return ``1 to 64 processors`` or ``1 processor``.

    Source: ScaleGraph.
    """
    if not processors:
        return "no processors"
    if len(processors) == 1:
        return f"{processors[0]} processor{'s' if processors[0] != 1 else ''}"
    return f"{processors[0]} to {processors[-1]} processors"


def fixed_size(series: Series) -> str:
    """Return a sentence on a fixed-size series: where it is fastest, and what makes it slower beyond.

    Source: ScaleGraph.
    """
    point = turning_point(series.rows)
    if point is None:
        return "only one processor count was run"
    if point.reached and point.processors == series.processors[0]:
        more = f" {point.processors}" if point.processors > 1 else " one processor"
        growth = what_grows(series.rows, point.processors, series.processors[1])
        cause = f": added {_ADDED[growth[0].words]} outweighs the extra processors" if growth else ""
        return f"fastest on{more}, more are slower{cause}"
    if point.reached:
        later = [n for n in series.processors if n > point.processors]
        growth = [growth for growth in what_grows(series.rows, point.processors, later[0]) if growth.growth_s > 0]
        cause = f"added {_ADDED[growth[0].words]} outweighs the extra processors" if growth else ""
        return f"fastest at {point.processors}" + (f"; beyond {point.processors}, {cause}" if cause else "")
    return f"still faster at {point.processors}, the largest count run{_gain(series, point)}"


def _gain(series: Series, point: TurningPoint) -> str:
    """Return speedup and efficiency at *point*, and what they are relative to, as the end of a sentence."""
    known = math.isfinite(point.speedup) and math.isfinite(point.efficiency)
    other = others(series.rows)
    if len(other) and known and point.processors != other[-1]:
        relative = f"relative to {named(other[-1])}"
        return f", speedup {significant(point.speedup)} and efficiency {significant(point.efficiency, 2)} {relative}"
    if len(other):
        return ""
    gain = f", {significant(point.speedup)} times as fast as on one" if math.isfinite(point.speedup) else ""
    end = f" with efficiency {significant(point.efficiency, 2)}" if math.isfinite(point.efficiency) else ""
    return f"{gain}{end}"


def held(matrix: Matrix) -> str:
    """Return a sentence on a matrix: how far it scales under its bound.

    Source: ScaleGraph.
    """
    words = bound_words(matrix.bound, target_words(matrix))
    if not matrix.anchors and matrix.values:  # a published matrix: only the values are known
        first, last = min(n for n, _ in matrix.values), max(n for _, n in matrix.values)
        value = matrix.value(first, last)
        scale = "not known" if value is None else f"scale {significant(value)}"
        return f"{words}: from {first} to {last} processors {scale}"
    known = [n for n in matrix.processors if n in matrix.anchors and matrix.anchors[n].known]
    flat = {n: value for n, value in matrix.saturated.items() if n in matrix.processors and n not in known}
    if len(known) < 2 and flat:
        return f"{words}: no size reaches it; {_saturation(flat)}"
    if len(known) < 2:
        return f"{words}: too few processor counts meet it to compare"
    first, last = known[0], known[-1]
    value = matrix.value(first, last)
    if value is None:
        return f"{words}: from {first} to {last} processors not known"
    text = f"{words}: from {first} to {last} processors the {_scaled(matrix, first, last)}, scale {significant(value)}"
    beyond = [n for n in matrix.processors if n > last]
    if beyond and beyond[0] in flat:
        return f"{text}; on more no size reaches it: {_saturation(flat)}"
    return text + (f"; not reached at {beyond[0]}" if beyond and matrix.bound == "efficiency" else "")


def _saturation(flat: Mapping[int, float]) -> str:
    """Return a clause with the values, by N, at which larger problems no longer help."""
    parts = [f"{significant(value)} on {n}" for n, value in flat.items()]
    why = "a larger problem hardly raises it, because the loss grows with the work"
    return f"it saturates at {listed(parts)} processors: {why}"


def _scaled(matrix: Matrix, first: int, last: int) -> str:
    low, high = matrix.anchors[first], matrix.anchors[last]
    if matrix.metric != "latency":
        ratio = (high.work or math.nan) / (low.work or math.nan)
        return f"work must grow {significant(ratio)} times"
    ratio = (high.latency_s or math.nan) / (low.latency_s or math.nan)
    return f"average latency becomes {significant(ratio)} times as long"


def target_words(matrix: Matrix) -> str:
    """Return the target of a matrix with its unit: ``0.5``, ``1.2 ms``, ``64 kB``, ``2 Mop/s``.

    Source: ScaleGraph.
    """
    unit = {"time": "s", "memory": "B", "energy": "J", "speed": speed_unit(matrix.work_unit)}.get(matrix.bound, "")
    return si(matrix.target, unit) if unit else plain(matrix.target)


def header(
    scaling: pd.DataFrame,
    series: Series | None,
    manifest: Mapping[str, object],
    matrix: Matrix | None = None,
    *,
    weak: str = "",
) -> str:
    """Return the heading of a study: program, machine, processors, the bound, and how far it scales.

    *weak* is a sentence on weak scaling, used if no problem ran on several processor counts.

    *manifest* may give ``title`` (of the program) and ``machine_title``; otherwise the table's names are used.

    Source: ScaleGraph.
    """
    if scaling.empty:
        return "No run has succeeded yet."
    program = str(manifest.get("title") or manifest.get("program") or scaling["program"].iloc[0])
    machine = str(manifest.get("machine_title") or scaling["machine"].iloc[0]).partition(" (")[0]
    counts = tuple(sorted({int(n) for n in scaling["processors"]}))
    where = program if machine in ("", "unknown") else f"{program} on {machine}"
    parts = [f"{where}, {span(counts)}"]
    if series is not None:
        parts.append(f"fixed size: {fixed_size(series)}.")
    elif matrix is not None:
        parts.append(f"{held(matrix)}.")
    elif weak:
        parts.append(f"{weak[:1].lower()}{weak[1:]}")
    else:
        parts.append("too few runs for a verdict: run the same problem on two or more processor counts.")
    return ", ".join(parts)


def turning(point: TurningPoint) -> str:
    """Return the fastest processor count and its time: ``fastest: 53, 12.3 ms``; a remark if it may lie beyond.

    Source: ScaleGraph.
    """
    words = f"fastest: {point.processors}, {si(point.time_s, 's')}"
    return words if point.reached else f"{words} (still falling at the last N)"


def checks(matrix: Matrix) -> list[str]:
    """Return the results of a matrix's checks, a sentence each.

    Shape: one entry for each check. Source: `Matrix.checks`.
    """
    texts = {
        "multiplicativity": "value(N,N'') = value(N,N') value(N',N'') holds to {:.1g}",
        "work": "values depart from N' W/(N W') by at most {} (what equal work would give)",
        "time": "the scalability is the ratio of the times, T/T', to {}, as the runs meet the speed within a tolerance",
    }
    said = []
    for name, value in matrix.checks().items():
        if value is not None:
            said.append(texts[name].format(value if name == "multiplicativity" else percent(value)))
    return said
