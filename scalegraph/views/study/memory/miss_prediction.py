"""The number of processors to which miss latency lets a program scale (latency-metric.txt 5.3, Tables V and VI)."""

from __future__ import annotations

from scalegraph.analyze import causes, miss_latency_prediction
from scalegraph.analyze.miss_latency_prediction import Prediction, Reach
from scalegraph.analyze.table import numbers
from scalegraph.base.units import significant
from scalegraph.figures.figure import Axis, Column, Figure, Mark, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.memory import miss_latency
from scalegraph.views.view import View

_NEED = needs.counts(
    "The prediction needs simulated runs of one problem on two or more processor counts.",
    needs.series(causes.is_known),
)
_NO_ACCESS = Need(
    "On the processors where this problem is fastest no access goes through the network: there is no latency to"
    " predict from."
)
_TITLE = "Prediction from miss latencies"
_CURVES = (
    ("computation", "computation", "memory_stall"),
    ("average", "mean of both", "ink"),
    ("synchronisation", "synchronisation", "idle"),
    ("program", "all accesses", "muted"),
    ("others", miss_latency.OTHERS, "primitive"),
)


def _make(data: StudyData, size: object = None) -> Figure | Need:
    series = common.the_series(data, size)
    latency = causes.miss_latency(series.rows)
    found = miss_latency_prediction.predict(
        series.processors,
        numbers(series.rows, "time_s"),
        *(numbers(latency, name) for name in ("program", "computation", "synchronisation")),
    )
    if found is None:
        return _NO_ACCESS
    latency["average"] = latency[["computation", "synchronisation"]].mean(axis=1)
    lines = miss_latency.curves(series.rows, latency, _CURVES)
    marks = [Mark(f"latency where fastest (N = {found.fastest})", y=found.l_max)]
    marks += [
        Mark(f"{words} {reach.words}", x=reach.processors, y=found.l_max)
        for words, reach in _named(found)
        if reach.way == "between" and reach.processors is not None
    ]
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"{series.label or 'This problem'}: {_sentence(found)}",
        (
            Plot(
                common.processors_axis(series.processors),
                Axis("remote access", "cycles", "log10"),
                lines,
                marks=tuple(marks),
            ),
            _table(found),
        ),
        notes=(
            (
                "The line is the latency of remote accesses where the program is fastest; where curves are below it,"
                " the program still scales."
            ),
            "The mean of both excludes accesses of atomics, forks, chunks and tasks, as in the method.",
            "Beyond the runs a curve continues with its last slope; the interval (95 %) is from how slopes vary.",
            *(
                ()
                if found.reached
                else (
                    "The program was still faster on the most processors: the latency that it can bear may be higher.",
                )
            ),
            *common.run_notes(data),
        ),
    )


def _named(found: Prediction) -> tuple[tuple[str, Reach], ...]:
    return ("optimistic", found.optimistic), ("pessimistic", found.pessimistic), ("predicted", found.predicted)


def _sentence(found: Prediction) -> str:
    at = f"fastest on {found.fastest} processors, where a remote access takes {significant(found.l_max)} cycles"
    words = {name: reach.words for name, reach in _named(found)}
    return (
        f"{at}; misses alone predict {words['predicted']} processors, {words['optimistic']} without synchronisation,"
        f" {words['pessimistic']} if there were nothing else."
    )


def _table(found: Prediction) -> Table:
    meanings = {
        "optimistic": "where computation alone reaches it: no synchronisation at all",
        "pessimistic": "where synchronisation alone reaches it: nothing else",
        "predicted": "where the mean of both reaches it",
    }
    rows = [Row(("of the runs", str(found.fastest), found.l_max, "where the program is fastest"))]
    rows += [Row((name, reach.words, found.l_max, meanings[name])) for name, reach in _named(found)]
    return Table(
        (Column("bound"), Column("processors"), Column("latency reached", "cycles"), Column("condition")), tuple(rows)
    )


VIEW = View(
    "miss-prediction",
    _TITLE,
    "How many processors the program can use, predicted from where the latency of its misses reaches the latency at"
    " its fastest.",
    _make,
    (common.SIZE,),
    needs=(_NEED, _NO_ACCESS),
)
