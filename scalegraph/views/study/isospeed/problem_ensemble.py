"""The problem-ensemble space: processors and work, bounded by memory and communication (isospeed.txt Fig. 3)."""

from __future__ import annotations

import math

import numpy as np

from scalegraph.analyze import ensemble as ensembles
from scalegraph.analyze.ensemble import Curve, Ensemble
from scalegraph.analyze.metrics import work_unit
from scalegraph.analyze.table import numbers
from scalegraph.base.units import plain, si, significant
from scalegraph.figures.figure import Axis, Figure, Line, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_TITLE = "Problem-ensemble space"
_EFFICIENT, _FITS, _RUNS = "communication bound", "memory bound", "runs"


def _has_sizes(data: StudyData, **_: object) -> bool:
    work, efficiency = numbers(data.one_program, "work"), numbers(data.one_program, "efficiency")
    rows = data.one_program[np.isfinite(work) & np.isfinite(efficiency) & (numbers(data.one_program, "processors") > 1)]
    several = [n for n, part in rows.groupby("processors") if len(set(part["work"])) > 1]
    return len(several) > 1


_NEED = needs.sizes(
    "The problem-ensemble space needs several sizes on one processor and on two or more other counts.",
    "efficiency",
    met=_has_sizes,
)


def _make(
    data: StudyData, efficiency: float | None = None, limit: float | None = None, of: object = "processor"
) -> Figure | Need:
    scaling = data.one_program
    held = matrices.held_at(data, "efficiency", efficiency)
    if held is None:
        return _NEED
    each = of == "processor"
    of_memory = math.isfinite(ensembles.work_within(scaling, 1.0, of_memory=True))
    capacity = data.capacity_bytes if of_memory and each else None
    most = limit or capacity or _largest(data, of_memory=of_memory, each=each)
    made = ensembles.ensemble(scaling, held[0], most, of_memory=of_memory, per_processor=each)
    unit = work_unit(scaling)
    fits = f"{si(most, 'B' if of_memory else unit)} {'a processor' if each else 'in all'}"
    counts = sorted({int(n) for n in scaling["processors"]})
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(made, held[0], fits),
        (
            Plot(
                common.processors_axis(counts),
                Axis("work W" if unit != "s" else "work W, as one-processor time", unit, "log10"),
                (*_bounds(made, unit), *_contours(made, unit), _runs(data, unit)),
            ),
        ),
        notes=(
            f"Below the {_EFFICIENT} the efficiency is less than {plain(held[0])}.",
            f"Above the {_FITS} a problem needs more than {fits}{_whose(limit, capacity)}.",
            common.work_note(data),
            *common.run_notes(data),
        ),
    )


def _whose(limit: float | None, capacity: float | None) -> str:
    """Return the origin of the memory limit, if the user has not given it."""
    if limit:
        return ""
    return ", what the machine has" if capacity else ", the most that was run"


def _largest(data: StudyData, *, of_memory: bool, each: bool) -> float:
    """Return the largest memory use of a run, or work if memory is not known: per processor, or in total."""
    values = numbers(data.one_program, "memory_bytes" if of_memory else "work")
    return float(np.nanmax(values / numbers(data.one_program, "processors") if each else values))


def _bounds(made: Ensemble, unit: str) -> list[Line]:
    """Return both bounds, with the area between them shaded."""
    least, most = dict(made.communication.points), dict(made.memory.points)
    both = made.usable
    lines = [
        _line(_EFFICIENT, made.communication, "series:1", unit, f"E = {plain(made.communication.level)}"),
        _line(_FITS, made.memory, "series:0", unit, _FITS),
    ]
    if len(both) > 1:
        at = tuple(float(n) for n in both)
        middle = tuple(math.sqrt(least[n] * most[n]) for n in both)
        low, high = tuple(least[n] for n in both), tuple(most[n] for n in both)
        lines.insert(
            0, Line("fits, and efficient", at, middle, "efficiency", "computed", low, high, "thin", False, band=True)
        )
    return [line for line in lines if line.x]


def _contours(made: Ensemble, unit: str) -> list[Line]:
    lines = []
    turn = 3  # after the colours of the bounds and the area
    for curve in made.efficiencies:
        words = f"E = {plain(curve.level)}"
        lines.append(_line(words, curve, f"series:{turn}", unit, words, "thin"))
        turn += 1
    for curve in made.times:
        words = f"time {si(curve.level, 's')}"
        if len(curve.points) > 1:
            lines.append(_line(words, curve, f"series:{turn}", unit, words, "dashed"))
            turn += 1
    return lines


def _line(name: str, curve: Curve, role: str, unit: str, words: str, style: str = "solid") -> Line:
    counts, work = zip(*curve.points, strict=True) if curve.points else ((), ())
    return Line(
        name,
        tuple(float(n) for n in counts),
        work,
        role,
        "computed",
        style="solid" if style == "solid" else "thin" if style == "thin" else "dashed",
        markers=style == "solid",
        tips=tuple(f"N = {n}: {words} at work {si(w, unit, 4)}" for n, w in curve.points),
        processors=tuple(counts),
    )


def _runs(data: StudyData, unit: str) -> Line:
    """Return the runs as unconnected points."""
    x: list[float] = []
    y: list[float] = []
    tips, counts = [], []
    for row in data.one_program.sort_values(["processors", "work"], kind="stable").to_dict("records"):
        n, work = int(row["processors"]), float(row["work"])
        if not work > 0:
            continue
        x += [float(n), float(n)]
        y += [work, math.nan]
        said = f"{common.run_label(row)}\nW = {si(work, unit, 4)}, time {si(row['time_s'], 's', 4)}"
        shown = f", E = {significant(row['efficiency'])}" if math.isfinite(row["efficiency"]) else ""
        tips += [said + shown, ""]
        counts += [n, n]
    return Line(
        _RUNS, tuple(x), tuple(y), "ideal", common.origin(data.one_program), tips=tuple(tips), processors=tuple(counts)
    )


def _sentence(made: Ensemble, efficiency: float, fits: str) -> str:
    known = sorted(n for n, _ in made.communication.points)
    text = f"an efficiency of {plain(efficiency)} within {fits}"
    if len(known) < 2:
        return f"No two processor counts meet an efficiency of {plain(efficiency)}: choose another."
    usable = made.usable
    if not usable:
        return f"No problem has {text} on any N: communication asks for larger problems than memory holds."
    if usable[-1] < known[-1]:
        return f"Up to N = {usable[-1]} there are problems of {text}; beyond, communication asks for larger ones."
    least, most = dict(made.communication.points)[usable[-1]], dict(made.memory.points)[usable[-1]]
    return f"On N = {usable[-1]} problems of {text} span a factor of {significant(most / least)} in work."


VIEW = View(
    "problem-ensemble",
    _TITLE,
    "Which problems fit into memory and run efficiently on each N, with lines of equal time and efficiency.",
    _make,
    (
        matrices.EFFICIENCY,
        Option(
            "limit",
            "Memory W0",
            "float",
            description="bytes, or operations if memory use is not known; by default the machine file's memory"
            " per processor, or the most that was run",
            minimum=1e-9,
        ),
        Option(
            "of",
            "Memory of",
            "choice",
            "processor",
            ("processor", "machine"),
            description="W'/N' <= W0: each processor has its own memory; W' <= W0: all share one",
            words=("each processor", "the whole machine"),
        ),
    ),
    needs=(_NEED,),
)
