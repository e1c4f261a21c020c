"""The scalability matrix as a surface over N and N' (isospeed.txt Fig. 6)."""

from __future__ import annotations

import math
from typing import Any

from scalegraph.analyze import wording
from scalegraph.figures.figure import Figure, Surface
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.sizes("A surface needs three or more processor counts that meet the bound.", "efficiency")
_TITLE = "Surface of the matrix"


def _make(data: StudyData, azimuth: float = -52.0, elevation: float = 28.0, **asked: Any) -> Figure | Need:
    made = matrices.asked(data, asked)
    if made is not None:
        (made,), _ = matrices.trimmed([made])
    if made is None or sum(n < n2 for n, n2 in made.values) < 3:
        return _NEED
    counts = made.processors
    heights = tuple(tuple(_known(made.value(n, n2)) for n2 in counts) for n in counts)
    tips = tuple(
        tuple(
            f"from N = {n} to N' = {n2}: {common.exact(_known(made.value(n, n2)))} ({made.ways.get((n, n2), '')})"
            for n2 in counts
        )
        for n in counts
    )
    places = tuple(float(n) for n in counts)
    top = max([1.0, *(value for row in heights for value in row if math.isfinite(value))])
    text = wording.held(made)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        text[0].upper() + text[1:] + ".",
        (
            Surface(
                common.processors_axis(counts, "N'"),
                common.processors_axis(counts, "N"),
                common.plain_axis(matrices.symbol(made), (0.0, top)),
                places,
                places,
                heights,
                azimuth,
                elevation,
                tips,
            ),
        ),
        notes=(
            "1, the straight edge, is the diagonal; the faster the surface falls, the worse it scales.",
            *made.notes,
            *(common.latency_note(made.metric) or (common.work_note(data),)),
        ),
    )


def _known(value: float | None) -> float:
    return math.nan if value is None else value


VIEW = View(
    "scalability-surface",
    _TITLE,
    "The scalability matrix as a surface over N and N'.",
    _make,
    (
        matrices.BOUND,
        *matrices.ASKED,
        Option("azimuth", "Seen from", "float", -52.0, unit="°", description="direction", minimum=-360, maximum=360),
        Option(
            "elevation", "Height of view", "float", 28.0, unit="°", description="above the plane", minimum=1, maximum=89
        ),
    ),
    needs=(*needs.RUNS_OR_MATRIX, _NEED),
    without=True,
)
