"""The next run of a study that would narrow a prediction most."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from scalegraph.analyze import advise
from scalegraph.analyze.advise import Advice, Cost, Model
from scalegraph.analyze.table import numbers, usable
from scalegraph.base.errors import InputError
from scalegraph.base.units import assigned
from scalegraph.subjects.study import StudyData

_AHEAD = 2  # default target: this multiple of the most processors run


def target_of(model: Model, processors: int | None = None, size: float | None = None) -> list[float]:
    """Return the point to predict: by default twice the most processors, and the largest size.

    Raises:
        InputError: a size is given though only one problem is examined.

    """
    goal = [float(processors or _AHEAD * model.points[:, 0].max())]
    if model.size:
        goal.append(float(size or model.points[:, 1].max()))
    elif size is not None:
        raise InputError("size: the study has one size only on three or more processor counts")
    return goal


def found(
    data: StudyData,
    model: Model,
    target: Sequence[float],
    cost: Cost,
    most: int | None = None,
) -> list[Advice]:
    """Return the advice for *data*, with host times from its runs; see `advise.advise`."""
    runs = usable(data.table)
    keys = [numbers(runs, "processors"), *([numbers(runs, f"param.{model.size}")] if model.size else [])]
    spent = numbers(runs, "host_s")
    host = {
        tuple(map(float, point)): float(seconds)
        for *point, seconds in zip(*keys, spent, strict=True)
        if np.isfinite(seconds) and seconds > 0
    }
    again = set(runs["source"]) != {"simulated"}
    return advise.advise(model, target, cost=cost, host=host, most=most, again=again)


def unimproved(model: Model, goal: Sequence[float]) -> str:
    """Return why no run is advised, to follow a predicted time and a comma."""
    width = model.interval(goal)
    if math.isfinite(width):
        return f"within {advise.half_width(width)}; no single run narrows that visibly. " + (
            model.best.doubt or "Several runs together may: run more processor counts, or repeat them."
        )
    return "without an interval: " + (model.best.doubt or "the points are too few for one; run more processor counts.")


def run_words(entry: Advice) -> str:
    """Return the point of *entry*: ``N = 8, n = 200``."""
    return assigned([("N", entry.processors), *entry.parameters.items()])
