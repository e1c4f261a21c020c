"""Network accesses by cause, over N (latency-metric.txt Table III, Fig. 7)."""

from __future__ import annotations

from scalegraph.analyze import causes
from scalegraph.analyze.table import numbers
from scalegraph.base.measures import percent
from scalegraph.base.units import si
from scalegraph.figures.figure import Axis, Figure
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.memory import cause_words
from scalegraph.views.view import View

_NEED = needs.counts(
    "Remote accesses by cause need simulated runs of one problem on two or more processor counts.",
    needs.series(causes.is_known),
    record=needs.NOT_RECORDED,
)
_TITLE = "Remote accesses by cause"


def _make(data: StudyData, size: object = None, show: object = "accesses") -> Figure:
    series = common.the_series(data, size)
    rows = series.rows
    parts = causes.remote_accesses(rows) if show == "accesses" else causes.stalls(rows)
    known = parts.notna().all(axis=1)  # predicted runs have only a time
    rows, parts = rows[known], parts[known]
    axis = Axis("remote accesses") if show == "accesses" else Axis("waiting for memory", "cycles")
    first, last = parts.iloc[0], parts.iloc[-1]
    grown = (last - first).idxmax()
    what = "remote accesses" if show == "accesses" else "cycles of waiting for memory"
    most = int(numbers(rows, "processors")[-1])
    sentence = (
        f"{series.label or 'This problem'}: {si(float(last.sum()), '')} {what} at N = {most},"
        f" {percent(float(last['barrier'] + last['lock']) / max(float(last.sum()), 1))} of them for barriers and"
        f" locks; most of the growth comes from {cause_words.CAUSES[str(grown)][0]}."
    )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        sentence,
        (cause_words.stacked(rows, parts, axis),),
        notes=(
            (
                "A network access is a read or write served by another node, or a write that takes copies"
                " elsewhere away."
            ),
            *common.run_notes(data),
        ),
        meta={"total": str(int(numbers(parts, "computation").sum()))},
    )


VIEW = View(
    "remote-causes",
    _TITLE,
    "Accesses through the network for computation, barriers, locks, atomics and the rest, for each N.",
    _make,
    (
        common.SIZE,
        Option(
            "show", "Show", "choice", "accesses", ("accesses", "waiting"), description="their number, or their time"
        ),
    ),
    needs=(_NEED,),
)
