"""The time accounting of every processor in one run, which shows the load balance."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze import wording
from scalegraph.analyze.profile import processor_costs
from scalegraph.base.measures import percent
from scalegraph.base.units import significant
from scalegraph.figures.figure import Axis, Bars, Figure, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.simulated("This needs a simulated run, which accounts for every processor.")
_TITLE = "Processors side by side"


def _make(data: StudyData, processors: object = None, size: object = None, by: object = "group") -> Figure | Need:
    run = common.chosen_run(data, size, processors)
    costs = pd.DataFrame() if run is None else processor_costs(run, by=str(by))
    if run is None or costs.empty:
        return _NEED
    words = common.GROUP_WORDS if by == "group" else common.CATEGORY_WORDS
    series, tips = [], []
    for name in costs.columns:
        values = tuple(float(value) for value in costs[name])
        series.append((words[str(name)], str(name) if by == "group" else common.category_role(str(name)), values))
        tips.append(tuple(f"processor {p}, {words[str(name)]}: {common.exact(v, 's')}" for p, v in enumerate(values)))
    busy = processor_costs(run)["busy"]
    mean = float(busy.mean())
    sentence = f"N = {run.point.processors}: no processor is ever busy."
    if mean > 0:
        ratio = float(busy.max()) / mean
        balance = "evenly" if ratio < 1.05 else "unevenly" if ratio > 1.25 else "fairly evenly"
        sentence = (
            f"Work is spread {balance} over {wording.span((run.point.processors,))}: the busiest (number"
            f" {int(busy.to_numpy().argmax())}) works {significant(ratio)} times the mean, a load balance of"
            f" {percent(1 / ratio)}."
        )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {run.point.processors}",
        sentence,
        (
            Plot(
                Axis("processor", scale="category", categories=tuple(str(p) for p in range(len(costs)))),
                Axis("time", "s"),
                bars=Bars(tuple(float(p) for p in range(len(costs))), tuple(series), tuple(tips)),
            ),
        ),
        notes=(f"Run: {run.point.label()}. Every bar is as long as the run took.",),
        meta={"run": run.point.key},
    )


VIEW = View(
    "processors",
    _TITLE,
    "How each processor of one run spent its time.",
    _make,
    (
        common.PROCESSORS,
        common.SIZE,
        Option(
            "by",
            "Detail",
            "choice",
            "group",
            ("group", "category"),
            description="the four groups, or all categories",
            aliases=(("leaf", "category"),),
        ),
    ),
    needs=(_NEED,),
)
