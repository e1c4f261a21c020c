"""What differs between two points: the elapsed time of each cause in both."""

from __future__ import annotations

from collections.abc import Sequence

from scalegraph.analyze.choosing.difference import Share, by_cause
from scalegraph.analyze.choosing.point import Point
from scalegraph.analyze.targets import COMPARED
from scalegraph.base.units import si
from scalegraph.figures.figure import Axis, Bars, Column, Figure, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import needs
from scalegraph.views.study.choosing.choice import second_best
from scalegraph.views.study.choosing.common import GROUP, SEVERAL, points, title
from scalegraph.views.view import View

_TITLE = "Two points by cause"
_NEED = needs.simulated("A difference by cause needs runs with an accounting of processor time.")


def _make(data: StudyData, first: int | None = None, second: int | None = None) -> Figure | Need:
    found, notes = points(data)
    ordered = sorted(found, key=lambda one: one.elapsed_s)
    usual = second_best(data)
    if usual is None:
        return SEVERAL
    one, other = (_at(ordered, number, other) for number, other in ((first, usual[0]), (second, usual[1])))
    runs = [_run(data, point) for point in (one, other)]
    if runs[0] is None or runs[1] is None:
        return _NEED
    shares = by_cause(runs[0], runs[1])
    if not shares:
        return _NEED
    most = max(shares, key=lambda share: abs(share.difference_s))
    gap = other.time_s - one.time_s
    way = "more" if most.difference_s > 0 else "less"
    sentence = (
        f"{other.words()} takes {si(abs(gap), 's')} {'longer' if gap > 0 else 'less'} than {one.words()}; "
        f"most of it is {most.words}: {si(abs(most.difference_s), 's')} {way}."
    )
    roles = {words: role for _name, words, _categories, role in COMPARED}
    series = tuple(
        (share.words, roles.get(share.words, "other"), (share.first_s, share.second_s))
        for share in shares
        if min(share.first_s, share.second_s) >= 0
    )
    labels = (f"first: {_short(one)}", f"second: {_short(other)}")
    plot = Plot(
        Axis("elapsed time", "s"),
        Axis("", scale="category", categories=labels),
        bars=Bars((0.0, 1.0), series, processors=(one.processors, other.processors), horizontal=True),
    )
    return Figure(
        title(_TITLE, data, found),
        sentence,
        (plot, _table(shares)),
        notes=(
            "Each cause's processor time divided by N: the causes add up to the elapsed time.",
            "Points are numbered by time; the fastest is 1.",
            *notes,
        ),
    )


def _at(ordered: Sequence[Point], number: int | None, usual: Point) -> Point:
    return ordered[min(number, len(ordered)) - 1] if number else usual


def _run(data: StudyData, point: Point):  # type: ignore[no-untyped-def]
    part = (data.choices or (data,))[point.member]
    return next((part.by_key[key] for key in point.keys if key in part.by_key), None)


def _short(point: Point) -> str:
    return f"{point.machine}, N = {point.processors}"


def _table(shares: Sequence[Share]) -> Table:
    columns = (
        Column("cause"),
        Column("first", "s", compared=True),
        Column("second", "s", compared=True),
        Column("difference", "s", compared=True),
    )
    return Table(columns, tuple(Row((s.words, s.first_s, s.second_s, s.difference_s)) for s in shares))


VIEW = View(
    "two-points",
    _TITLE,
    "The difference between two points by cause: the time of each cause in both.",
    _make,
    (
        Option(
            "first",
            "First point",
            "int",
            None,
            minimum=1,
            description="Number of the first point in the order of time; the fastest if not chosen.",
        ),
        Option(
            "second",
            "Second point",
            "int",
            None,
            minimum=1,
            description="Number of the second point; the next of the frontier if not chosen.",
        ),
    ),
    group=GROUP,
    order=6,
    needs=(SEVERAL, _NEED),
)
