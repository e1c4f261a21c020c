"""One scalability matrix minus another."""

from __future__ import annotations

from dataclasses import replace

from scalegraph.analyze import compare, wording
from scalegraph.analyze.bounds import Bound
from scalegraph.analyze.matrix import bound_words
from scalegraph.base.units import significant
from scalegraph.figures.figure import Cell, Figure, Grid
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import needs
from scalegraph.views.study.compare.studies import names
from scalegraph.views.view import View

_OTHER = replace(
    needs.OTHER_STUDY,
    text="This subtracts the matrix of a second study from this one's, but only one study is open.",
)
_LACKING = Need("There is no matrix of {studies} to compare.")
_NOTHING_IN_COMMON = Need("The matrices have no cell in common: {why}.")
_TITLE = "Difference of matrices"


def _make(
    data: StudyData,
    metric: object = "latency",
    bound: object = "efficiency",
    efficiency: float | None = None,
    latency: object = "accounting",
) -> Figure | Need:
    titles = names((data, data.others[0]))
    held: Bound = "speed" if metric == "isospeed" else "time" if bound == "time" else "efficiency"
    goal = matrices.held_at(data, held, efficiency if held == "efficiency" else None)
    made = [
        matrices.matrix(
            study,
            held,
            metric=matrices.metric_of(metric),
            target=goal[0] if goal else None,
            latency=str(latency),
        )
        for study in (data, data.others[0])
    ]
    if made[0] is None or made[1] is None:
        lacking = " and ".join(title for title, matrix in zip(titles, made, strict=True) if matrix is None)
        return _LACKING.of(studies=lacking)
    found = compare.difference(made[0], made[1], (titles[0], titles[1]))
    off = {pair: value for pair, value in found.values.items() if pair[0] < pair[1]}
    if not off:
        why = next(iter(found.reasons.values()), "no pair of processor counts is known in both")
        return _NOTHING_IN_COMMON.of(why=why)
    words = bound_words(made[0].bound, wording.target_words(made[0]))
    better = sum(value > 0 for value in off.values())
    worst = max(off, key=lambda pair: abs(off[pair]))
    return Figure(
        f"{titles[1]} minus {titles[0]}",
        f"{titles[1]} scales better in {better} of {len(off)} cells; they differ most from N = {worst[0]} to "
        f"{worst[1]}, by {significant(off[worst])}.",
        (_grid(found, titles),),
        notes=(f"Each cell: {titles[0]} / {titles[1]} / difference. {words[0].upper()}{words[1:]} in both.",),
    )


def _grid(found: compare.Difference, titles: list[str]) -> Grid:
    most = found.largest or 1.0
    cells = []
    for n in found.processors:
        row: list[Cell | None] = []
        for n2 in found.processors:
            pair = (n, n2)
            values = (found.first.get(pair), found.second.get(pair), found.values.get(pair))
            row.append(Cell(values, found.reasons.get(pair, ""), origin="computed") if n <= n2 else None)
        cells.append(tuple(row))
    labels = tuple(str(n) for n in found.processors)
    return Grid(
        "N",
        "N'",
        labels,
        labels,
        tuple(cells),
        (titles[0], titles[1], "difference"),
        2,
        (-most, most),
        found.processors,
        found.processors,
    )


VIEW = View(
    "compare-matrix",
    _TITLE,
    "The scalability matrix of the second study minus that of the first.",
    _make,
    (
        matrices.METRIC,
        Option(
            "bound",
            "Bound",
            "choice",
            "efficiency",
            ("efficiency", "time"),
            description="what is held constant, at the same value in both",
        ),
        matrices.EFFICIENCY,
        matrices.LATENCY,
    ),
    needs=(_OTHER, _LACKING, _NOTHING_IN_COMMON),
    several=True,
)
