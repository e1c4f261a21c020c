"""The time of a run with and without monitoring, over N (scale-graph.txt 4.1)."""

from __future__ import annotations

import numpy as np

from scalegraph.analyze import wording
from scalegraph.analyze.monitoring import Perturbation, perturbation
from scalegraph.analyze.series import Series
from scalegraph.base.measures import percent
from scalegraph.base.units import si
from scalegraph.figures.figure import Axis, Figure, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import series as series_
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways
from scalegraph.views.view import View

_TITLE = "Perturbation by monitoring"
_COLUMN = "compensated_s"
_COMPENSATED = (
    "Compensated: without the probes of the main thread. On one processor this is the time without monitoring; on more"
    " it is an estimate."
)


def _costs(data: StudyData, series: Series) -> list[Perturbation | None]:
    return [perturbation(data.by_key[key]) for key in series.rows["key"]]


def _is_monitored(data: StudyData, size: object = None) -> bool:
    series = series_.chosen_series(data, size)
    return series is not None and any(_costs(data, series))


_NEED = Need(
    "No run was monitored on the simulated machine: probes took no simulated time.", ways.MONITOR, met=_is_monitored
)


def _make(data: StudyData, size: object = None) -> Figure:
    series = common.the_series(data, size)
    costs = _costs(data, series)
    rows = series.rows.assign(**{_COLUMN: [np.nan if cost is None else cost.compensated_s for cost in costs]})
    known = [cost for cost in costs if cost is not None]
    worst = max(known, key=lambda cost: cost.perturbation)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"Monitoring makes {series.label or 'the problem'} {percent(worst.perturbation)} slower on "
        f"{wording.span((worst.processors,))}: {si(worst.time_s, 's')} instead of {si(worst.compensated_s, 's')}.",
        (
            Plot(
                common.processors_axis(series.processors),
                Axis("elapsed time", "s"),
                (
                    common.curve(rows, "time_s", "with monitoring", "primitive", unit="s"),
                    common.curve(rows, _COLUMN, "compensated", "busy", unit="s"),
                ),
            ),
        ),
        notes=(_COMPENSATED, *common.failure_notes(data)),
    )


VIEW = View(
    "monitoring",
    _TITLE,
    "The elapsed time over N with software or hardware monitoring on the simulated machine, and compensated for it.",
    _make,
    (common.SIZE,),
    group="Lost time",
    order=67,
    needs=(_NEED,),
)
