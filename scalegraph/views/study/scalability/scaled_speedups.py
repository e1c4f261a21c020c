"""Speedup with size, time, or memory per processor held (Sun and Ni 1993)."""

from __future__ import annotations

from scalegraph.analyze import bounds
from scalegraph.analyze.scaled import Speedups
from scalegraph.base.units import si, significant
from scalegraph.figures.figure import Axis, Column, Figure, Line, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices, scaled_speedups
from scalegraph.subjects.series import chosen_series
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.sizes(
    "Speedups with the size, the time or the memory held need runs of a problem on one processor and on another count;"
    " the latter two need several sizes on each.",
    "efficiency",
)
_TITLE = "Fixed-size, fixed-time and memory-bounded speedup"
_REASONS = 4  # shown below
_ROLES = {"fixed-size": "speedup", "fixed-time": "series:1", "memory-bounded": "series:2"}


def _make(data: StudyData, size: object = None, memory: float | None = None) -> Figure | Need:
    made = scaled_speedups.speedups(data, size, memory)
    if made is None or not any(n > 1 for one in made for n in one.values):
        return _NEED
    counts = sorted({n for one in made for n in (*one.values, *one.reasons)})
    ends = (float(counts[0]), float(counts[-1]))
    ideal = Line("ideal", ends, ends, "ideal", "computed", style="thin", markers=False)
    series = chosen_series(data, size)
    label = series.label if series is not None else ""
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(made),
        (
            Plot(
                common.processors_axis(counts),
                Axis("speedup", scale="log2"),
                (*(_line(one) for one in made if one.values), ideal),
            ),
            _table(made, counts),
        ),
        notes=(
            f"Fixed size: T(1)/T(N) of {label or 'one problem'}. {_held(made)}",
            common.work_note(data),
            *_missing(made),
            *common.run_notes(data),
        ),
    )


def _line(one: Speedups) -> Line:
    counts = tuple(sorted(one.values))
    tips = tuple(
        f"{one.kind} speedup {significant(one.values[n])} on {n} processors"
        + (f" ({bounds.WAY_WORDS[one.points[n].way]})" if n in one.points else "")
        for n in counts
    )
    return Line(
        one.kind,
        tuple(float(n) for n in counts),
        tuple(one.values[n] for n in counts),
        _ROLES[one.kind],
        "computed",
        tips=tips,
        processors=counts,
    )


def _table(made: tuple[Speedups, ...], counts: list[int]) -> Table:
    rows = tuple(Row((str(n), *(one.values.get(n) for one in made)), key=str(n)) for n in counts)
    return Table((Column("N"), *(Column(one.kind) for one in made)), rows)


def _sentence(made: tuple[Speedups, ...]) -> str:
    parts = []
    for one in made:
        last = max(one.values, default=0)
        if last > 1:
            parts.append(f"{one.kind} {significant(one.values[last])} on {last}")
    return f"Speedup on the most processors: {', '.join(parts)}."


def _held(made: tuple[Speedups, ...]) -> str:
    said = []
    for one in made:
        if one.held is not None and one.values:
            what = si(one.held, "s") if one.kind == "fixed-time" else f"{si(one.held, 'B')} of each processor"
            means = "W\u2032/W at T" if one.kind == "fixed-time" else "the speed at the problem that fills"
            said.append(
                f"{one.kind[:1].upper()}{one.kind[1:]}: {means} = {what}."
                if one.kind == "fixed-time"
                else f"{one.kind[:1].upper()}{one.kind[1:]}: {means} {what}, over that of one processor."
            )
    return " ".join(said)


def _missing(made: tuple[Speedups, ...]) -> list[str]:
    """Return why counts have no value, each reason once per kind."""
    found = [(one.kind, why) for one in made for why in dict.fromkeys(one.reasons.values())]
    return [f"{kind[:1].upper()}{kind[1:]}: {why}." for kind, why in found[:_REASONS]]


VIEW = View(
    "scaled-speedups",
    _TITLE,
    "How many times as fast N processors are: at one size, with the time held, with the memory per processor held.",
    _make,
    (common.SIZE, matrices.MEMORY),
    needs=(_NEED,),
)
