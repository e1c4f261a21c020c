"""Shared parts of the views in this folder: the pair of runs shown, and their needs. Not a view."""

from __future__ import annotations

from scalegraph.analyze.targets import Pair, pairs
from scalegraph.base.errors import InputError
from scalegraph.figures.way import Need
from scalegraph.subjects import series as series_
from scalegraph.subjects.study import StudyData
from scalegraph.views import ways

NEED_TEXT = "No run of this study was both simulated and measured."


def of_study(data: StudyData) -> list[Pair]:
    """Return every pair of a simulated and a measured run in *data*."""
    return pairs((run for run in data.runs if run.source == "simulated"), data.elsewhere)


def _some(data: StudyData, **_: object) -> bool:
    return bool(of_study(data))


BOTH = Need(NEED_TEXT, ways.MEASURE, met=_some)


ACCOUNTS = Need("No measured run of this study has its time by region.", ways.MEASURE)


def chosen(data: StudyData, size: object = None, processors: object = None) -> Pair:
    """Return the chosen size's pair on *processors*; by default on the most processors measured.

    Raises `InputError` for an unknown size, or an N without a pair.
    """
    found = of_study(data)
    series = series_.chosen_series(data, size)
    rows = series.rows if series is not None else data.scaling
    keys = {str(key) for keys in rows["keys"] for key in str(keys).split(",")}
    mine = [pair for pair in found if pair.simulated.point.key in keys] or found
    if processors is None:
        return max(mine, key=lambda pair: pair.simulated.point.processors)
    for pair in mine:
        if pair.simulated.point.processors == int(str(processors)):
            return pair
    counts = sorted({pair.simulated.point.processors for pair in mine})
    raise InputError(f"processors: no pair on {processors}; pairs are on {', '.join(map(str, counts))}")


def title(pair: Pair) -> str:
    """Return the title of a pair: ``ge1, N = 2, n = 400``."""
    return f"{pair.measured.program}, {pair.simulated.point.label()}"
