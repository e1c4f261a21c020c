"""Processor time by category: the accounting identity as stacked shares over N."""

from __future__ import annotations

from scalegraph.analyze.metrics import breakdown
from scalegraph.analyze.table import numbers
from scalegraph.base.measures import percent
from scalegraph.figures.figure import PROCESSOR_TIME, Axis, Bars, Figure, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import series as series_
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.simulated("The breakdown needs runs with an accounting of processor time; simulated runs have it.")
_TITLE = "Breakdown of processor time"


def _make(data: StudyData, size: object = None, by: object = "category") -> Figure | Need:
    series = series_.chosen_series(data, size)
    shares = None if series is None else breakdown(series.rows, by=str(by))
    if series is None or shares is None or shares.empty or shares.isna().all().all():
        return _NEED
    rows = series.rows
    words = common.GROUP_WORDS if by == "group" else common.CATEGORY_WORDS
    stacks, tips = [], []
    for name in shares.columns:
        heights = tuple(float(value) * 100 for value in numbers(shares, name))
        role = str(name) if by == "group" else common.category_role(str(name))
        stacks.append((words[str(name)], role, heights))
        tips.append(
            tuple(
                f"{words[str(name)]}: {common.exact(height, '%')} of processor time\n{run}"
                for height, run in zip(heights, common.run_labels(rows), strict=True)
            )
        )
    counts = series.processors
    bars = Bars(tuple(float(i) for i in range(len(rows))), tuple(stacks), tuple(tips), counts)
    busy = numbers(rows, "cpu_utilisation")
    sentence = (
        f"{series.label or 'This problem'}: processors are busy {percent(float(busy[0]))} of the time"
        f" at N = {counts[0]} and {percent(float(busy[-1]))} at N = {counts[-1]}."
    )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        sentence,
        (
            Plot(
                Axis("processors N", scale="category", categories=tuple(str(n) for n in counts)),
                Axis("share", PROCESSOR_TIME, limits=(0.0, 100.0)),
                bars=bars,
            ),
        ),
        notes=common.run_notes(data),
    )


VIEW = View(
    "breakdown",
    _TITLE,
    "Processor time by category for each N, as shares; every cycle is counted.",
    _make,
    (
        common.SIZE,
        Option(
            "by",
            "Detail",
            "choice",
            "category",
            ("category", "group"),
            description="all categories, or the four groups",
            aliases=(("leaf", "category"),),
        ),
    ),
    needs=(_NEED,),
)
