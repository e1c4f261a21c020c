"""Pictures of a command's points as they arrive: times with intervals over N, and a table by N and size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from scalegraph.base.intervals import median_interval
from scalegraph.base.measures import percent
from scalegraph.base.run import RunRecord
from scalegraph.base.units import assigned, counted, si, significant
from scalegraph.figures.figure import Axis, Column, Line, Plot, Row, Table


@dataclass(frozen=True)
class Point:
    """One N and size: its successful runs, their median and 95 % interval (s)."""

    processors: int
    size: str
    runs: tuple[RunRecord, ...]
    failed: int
    median_s: float | None
    low_s: float | None
    high_s: float | None


def points(records: Iterable[RunRecord]) -> list[Point]:
    """Return the points so far, by size and N."""
    groups: dict[tuple[str, int], list[RunRecord]] = {}
    for record in records:
        groups.setdefault((assigned(record.point.parameters.items()), record.point.processors), []).append(record)
    found = []
    for (size, count), runs in sorted(groups.items()):
        good = tuple(run for run in runs if run.ok)
        times = [run.time_s or 0.0 for run in good]
        low, high = median_interval(times)[:2] if len(times) > 1 else (None, None)
        found.append(Point(count, size, good, len(runs) - len(good), median(times) if times else None, low, high))
    return found


def plot(found: Sequence[Point]) -> Plot:
    """Return times over N with intervals, one curve per size; with the ideal curve for a single size."""
    counts = sorted({point.processors for point in found})
    lines = []
    sizes = list(dict.fromkeys(point.size for point in found))
    for index, size in enumerate(sizes):
        own = [point for point in found if point.size == size and point.median_s is not None]
        if own:
            lines.append(_line(own, size or "time", f"series:{index}"))
    one = next((point.median_s for point in found if point.processors == 1 and point.median_s), None)
    if len(sizes) == 1 and one and len(counts) > 1:
        ideal = tuple(one / n for n in counts)
        lines.append(Line("ideal", tuple(map(float, counts)), ideal, "ideal", "computed", style="thin", markers=False))
    ticks = tuple(map(float, counts)) or (1.0, 2.0, 4.0)
    return Plot(Axis("N", scale="log2", ticks=ticks), Axis("time", "s", scale="log10"), tuple(lines))


def _line(own: Sequence[Point], name: str, role: str) -> Line:
    middle = [point.median_s or 0.0 for point in own]
    return Line(
        name,
        tuple(float(point.processors) for point in own),
        tuple(middle),
        role,
        "measured",
        tuple(m if point.low_s is None else point.low_s for point, m in zip(own, middle, strict=True)),
        tuple(m if point.high_s is None else point.high_s for point, m in zip(own, middle, strict=True)),
        tips=tuple(f"N = {point.processors}: {_said(point)}" for point in own),
        processors=tuple(point.processors for point in own),
    )


def _said(point: Point) -> str:
    if point.low_s is None or point.high_s is None:
        return f"{si(point.median_s, 's')}, 1 run"
    return f"{si(point.median_s, 's')} ({si(point.low_s, 's')} to {si(point.high_s, 's')}), {len(point.runs)} runs"


def table(found: Sequence[Point]) -> Table:
    """Return a row per N and size: time, interval, runs, speedup, busy processors, memory."""
    sized = any(point.size for point in found)
    columns = [Column("N"), *([Column("size")] if sized else [])]
    columns += [
        Column("time", "s", "time", compared=True),
        Column("95 % interval"),
        Column("runs"),
        Column("speedup"),
        Column("busy"),
        Column("memory", "B"),
    ]
    first = {point.size: point.median_s for point in found if point.processors == 1}
    rows = []
    for point in found:
        one = first.get(point.size)
        speedup = one / point.median_s if one and point.median_s else None
        used = [run.usage for run in point.runs if run.usage is not None]
        busy = [usage.parallelism for usage in used if usage.parallelism is not None]
        memory = [usage.peak_memory_bytes for usage in used if usage.peak_memory_bytes is not None]
        runs = f"{len(point.runs)}, {point.failed} failed" if point.failed else len(point.runs)
        values = (
            *((point.size,) if sized else ()),
            point.median_s,
            "–" if point.low_s is None else f"{si(point.low_s, 's')} to {si(point.high_s, 's')}",
            runs,
            speedup,
            median(busy) if busy else None,
            max(memory) if memory else None,
        )
        rows.append(Row((point.processors, *values), key=f"{point.size}/{point.processors}"))
    return Table(tuple(columns), tuple(rows))


def sentence(found: Sequence[Point]) -> str:
    """Return one sentence about the points so far."""
    sizes = {point.size for point in found if point.median_s is not None}
    runs = sum(len(point.runs) for point in found)
    one = next((point for point in found if point.processors == 1 and point.median_s), None)
    known = [point for point in found if point.median_s is not None]
    if not known:
        return "No run has succeeded yet."
    widest = max((point for point in known), key=_width)
    noise = (
        f"; the widest interval is ± {percent(_width(widest))}, at N = {widest.processors}" if _width(widest) else ""
    )
    if one is None or one.median_s is None or len(sizes) > 1:
        return f"{counted(runs, 'run')}{noise}."
    best = min(known, key=lambda point: point.median_s or 0.0)
    speedup = one.median_s / (best.median_s or 1.0)
    return f"Fastest on N = {best.processors}: {significant(speedup)} times as fast as on one{noise}."


def _width(point: Point) -> float:
    if point.low_s is None or point.high_s is None or not point.median_s:
        return 0.0
    return (point.high_s - point.low_s) / 2 / point.median_s
