"""Actual, contention-free, ideal: a problem's what-if runs beside the actual ones, and the gap each closes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scalegraph.analyze import whatif
from scalegraph.analyze.whatif import Compared, Size
from scalegraph.base.errors import InputError
from scalegraph.base.run import Ideal, RunRecord, Variant
from scalegraph.base.units import si, significant
from scalegraph.figures.columns import known
from scalegraph.figures.figure import Axis, Bars, Column, Figure, Line, Plot, Row, Table
from scalegraph.figures.palette import rivals
from scalegraph.figures.way import Need
from scalegraph.runtime.format import GROUPS
from scalegraph.subjects import series as series_
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways
from scalegraph.views.view import View

TITLE = "What would change it"
NEED = Need(
    "No what-if run yet.",
    ways.WHAT_IF,
    "Choose what to change: an ideal, a parameter of the machine, or a faster line.",
    "What-if runs need a program that ScaleGraph can run.",
)
_QUANTITIES = {"time": ("time", "s"), "speedup": ("speedup", ""), "efficiency": ("efficiency", "")}
_MOST_CURVES = 9
_NOTES: dict[Ideal, str] = {
    "contention": "No contention: every transaction takes as long as if it were alone on the machine.",
    "network": "Ideal network: in addition, remote accesses cost as much as local ones.",
    "cache": "Infinite caches: a line leaves only because another processor takes it.",
    "sync": "Free synchronisation: primitives take no time; waiting for others still counts.",
    "balance": "Perfect balance: computed from the run, with the work between barriers divided evenly.",
    "messages": "Messages take no time, nor do sending and receiving; waiting for a late partner still counts.",
}


def _make(
    data: StudyData,
    processors: int | None = None,
    size: object = None,
    quantity: object = "time",
    show: object = "asked for",
) -> Figure | Need:
    rows = whatif.compared(data.runs, data.variants)
    if show != "all":
        rows = _asked(data, rows) or rows
    rows = _of_size(data, rows, size)
    if not rows:
        return NEED
    counts = sorted({row.processors for row in rows})
    count = counts[-1] if processors is None else processors
    if count not in counts:
        raise InputError(f"processors: no what-if run on {count}; run were {', '.join(map(str, counts))}")
    here = sorted((row for row in rows if row.processors == count), key=lambda row: -row.closed_s)
    panels: list[Plot | Table] = [] if len(counts) == 1 else [_curves(data, rows, str(quantity))]
    panels += [_bars(data, here), _table(here)]
    said = sorted({name for row in rows for name in row.variant.ideal})
    return Figure(
        f"{TITLE}: {common.study_title(data)}",
        sentence(here),
        tuple(panels),
        notes=(
            "Speedup is over the actual one-processor run. Gaps do not add up: a wait removed may reappear elsewhere.",
            *(_NOTES[name] for name in said),
            *_failures(data),
        ),
    )


def overlays(data: StudyData, keys: str, quantity: str) -> tuple[Line, ...]:
    """Return dashed curves of the requested what-if runs, for a view of the actual runs' *quantity*.

    *keys* are those of an actual run of the problem, as in a row of `metrics.scaling`.
    """
    run = data.by_key.get(keys.split(",")[0])
    if run is None:
        return ()
    size = tuple(sorted(run.point.parameters.items()))
    compared = whatif.compared(data.runs, data.variants)
    rows = [row for row in _asked(data, compared) or compared if row.size == size]
    parts: dict[str, list[Compared]] = {}
    for row in rows:
        parts.setdefault(row.variant.name, []).append(row)
    unit = _QUANTITIES[quantity][1]
    return tuple(
        _line(part[0].variant.label(), part, quantity, role, unit, dashed=True)
        for role, part in zip(rivals("ink", quantity), list(parts.values())[:_MOST_CURVES], strict=False)
    )


OVERLAY = Option(
    "what_if",
    "What-if runs",
    "bool",
    default=False,
    description="dashed curves of the what-if runs and the actual ones",
)


def sentence(here: Sequence[Compared]) -> str:
    """Return a sentence on the runs of one processor count: what limits the program, and the possible gain."""
    if not here:
        return ""
    gaps = whatif.gaps(here, here[0].processors)
    best = (gaps or sorted(here, key=lambda row: -row.closed_s))[0]
    problem = f"{best.label or 'This problem'} on {best.processors} processor{'s' if best.processors > 1 else ''}"
    if best.closed_s <= 0:
        return f"{problem}: nothing tried makes it faster than {common.seconds(best.actual_s)}."
    text = (
        f"{problem} takes {common.seconds(best.actual_s)}; {_with(best)} it would take"
        f" {common.seconds(best.time_s)}, {significant(100 * best.closed_s / best.actual_s, 2)} % less"
    )
    ideal = [row for row in here if len(row.variant.ideal) > 1 and not (row.variant.speedup or row.variant.machine)]
    if gaps and ideal:
        least = min(ideal, key=lambda row: row.time_s)
        text += f"; {_with(least)} {common.seconds(least.time_s)}"
    if best.indistinct:
        text += "; that is within the interval of these estimates"
    return text + "."


_WITH = {
    "no contention": "without contention",
    "ideal network": "with an ideal network",
    "ideal machine": "on an ideal machine",
}


def _with(row: Compared) -> str:
    label = row.variant.label()
    return _WITH.get(label, f"with {label}")


def _asked(data: StudyData, rows: list[Compared]) -> list[Compared]:
    """Return the rows of what-if runs in the study's current request; the study also keeps earlier ones."""
    wanted = set()
    for given in (data.manifest.get("request") or {}).get("what_if") or ():
        wanted.add(
            Variant(**{name: given[name] for name in ("ideal", "speedup", "machine", "schedule") if name in given}).name
        )
    return [row for row in rows if row.variant.name in wanted]


def _of_size(data: StudyData, rows: list[Compared], size: object) -> list[Compared]:
    """Return the rows of one problem: the one named, or the one with the most what-if runs."""
    if not rows:
        return []
    groups: dict[Size, list[Compared]] = {}
    for row in rows:
        groups.setdefault(row.size, []).append(row)
    if size:
        wanted = series_.parse_size(str(size), data)
        for key, group in groups.items():
            known = {name: str(value) for name, value in key}
            if all(known.get(name) == value for name, value in wanted.items()):
                return group
        raise InputError(
            f"size: no what-if run of {size}; there are some of {'; '.join(g[0].label for g in groups.values())}"
        )
    return max(groups.values(), key=len)


def _value(row: Compared, quantity: str) -> float:
    return {"time": row.time_s, "speedup": row.speedup, "efficiency": row.efficiency}[quantity]


def _curves(data: StudyData, rows: list[Compared], quantity: str) -> Plot:
    label, unit = _QUANTITIES[quantity]
    variants: dict[str, list[Compared]] = {}
    for row in rows:
        variants.setdefault(row.variant.name, []).append(row)
    order = sorted(variants.values(), key=lambda part: (-len(part), -part[-1].gain))[:_MOST_CURVES]
    actual = _actual(data, rows)
    lines = [_line("actual", actual, quantity, "ink", unit, dashed=False)]
    lines += [
        _line(part[0].variant.label(), part, quantity, role, unit, dashed=True)
        for role, part in zip(rivals("ink"), order, strict=False)
    ]
    counts = sorted({row.processors for row in (*rows, *actual)})
    ideal = {
        "time": tuple(actual[0].t_seq_s / n for n in counts),
        "speedup": tuple(float(n) for n in counts),
        "efficiency": (1.0,) * len(counts),
    }[quantity]
    if not math.isnan(ideal[0]):
        x = tuple(float(n) for n in counts)
        lines.append(Line("linear", x, ideal, "ideal", "computed", style="thin", markers=False))
    scale = {"time": "log10", "speedup": "log2", "efficiency": "linear"}[quantity]
    return Plot(common.processors_axis(counts), Axis(label, unit, scale=scale), tuple(lines))  # type: ignore[arg-type]


def _actual(data: StudyData, rows: list[Compared]) -> list[Compared]:
    """Return the actual runs of the problem of *rows*, on every count, as the same kind of row."""
    size, found = rows[0].size, {}
    for run in data.runs:
        if run.ok and run.time_s is not None and tuple(sorted(run.point.parameters.items())) == size:
            n = run.point.processors
            found[n] = Compared(size, n, run.point.variant, run.time_s, run.time_s, rows[0].t_seq_s, run.point.key)
    return [found[n] for n in sorted(found)]


def _line(name: str, rows: Sequence[Compared], quantity: str, role: str, unit: str, *, dashed: bool) -> Line:
    y = tuple(_value(row, quantity) for row in rows)
    return Line(
        name,
        tuple(float(row.processors) for row in rows),
        y,
        role,
        "simulated",
        style="dashed" if dashed else "solid",
        tips=tuple(
            f"{name}: {common.exact(value, unit)}\nN = {row.processors}, {significant(row.gain, 4)} times as fast"
            for value, row in zip(y, rows, strict=True)
        ),
        processors=tuple(row.processors for row in rows),
    )


def _bars(data: StudyData, here: list[Compared]) -> Plot:
    """Return bars of where a processor's time goes: actual on top, then each what-if run."""
    records = {record.point.key: record for record in (*data.runs, *data.variants)}
    actual = next(
        run
        for run in data.runs
        if run.ok
        and run.point.processors == here[0].processors
        and tuple(sorted(run.point.parameters.items())) == here[0].size
    )
    shown = [actual, *(records[row.key] for row in here[:12])][::-1]  # bars are drawn from the bottom up
    names = tuple(record.point.variant.label() for record in shown)
    series, tips = [], []
    for group in GROUPS:
        values = tuple(_mean(record, group) for record in shown)
        words = common.GROUP_WORDS[group]
        series.append((words, group, values))
        tips.append(
            tuple(f"{name}\n{words}: {common.exact(value, 's')}" for name, value in zip(names, values, strict=True))
        )
    x = tuple(float(i) for i in range(len(shown)))
    return Plot(
        Axis(f"time of a processor at N = {here[0].processors}", "s"),
        Axis("", scale="category", categories=names),
        bars=Bars(x, tuple(series), tuple(tips), horizontal=True),
    )


def _mean(record: RunRecord, group: str) -> float:
    total = getattr(record, f"{group}_s")
    return math.nan if total is None else float(total) / record.point.processors


def _table(here: list[Compared]) -> Table:
    estimated = any(row.reach_s for row in here)
    columns = (
        Column("what if"),
        Column("time", "s"),
        Column("saved", "s", "time"),
        *((Column("± of what is saved (95 %)", "s"),) if estimated else ()),
        Column("share", "% of the actual time"),
        Column("times as fast"),
        Column("speedup"),
        Column("efficiency"),
    )
    rows = tuple(
        Row(
            (
                row.variant.label(),
                row.time_s,
                row.closed_s,
                *((row.reach_s,) if estimated else ()),
                100 * row.closed_s / row.actual_s,
                row.gain,
                known(row.speedup),
                known(row.efficiency),
            ),
            key=row.key,
            tip=f"{row.variant.label()}: {si(row.time_s, 's', 6)} instead of {si(row.actual_s, 's', 6)}",
        )
        for row in here
    )
    return Table(columns, rows)


def _failures(data: StudyData) -> tuple[str, ...]:
    failed = [run for run in data.variants if not run.ok]
    if not failed:
        return ()
    first = failed[0]
    return (f"{len(failed)} what-if runs failed; {first.point.label()}: {first.message or first.status}.",)


VIEW = View(
    "what-if",
    TITLE,
    "Actual, contention-free and ideal runs side by side, and the time each saves: what limits the program, ranked.",
    _make,
    (
        Option("quantity", "Curves of", "choice", "time", tuple(_QUANTITIES), description="what is drawn over N"),
        Option(
            "show",
            "What-if runs",
            "choice",
            "asked for",
            ("asked for", "all"),
            description="what-if runs in the current request, or all in the study",
        ),
        common.PROCESSORS,
        common.SIZE,
    ),
    needs=(NEED,),
)
