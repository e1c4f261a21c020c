"""A sentence on what the points leave open about a performance model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scalegraph.analyze.fits import deciding, select, terms
from scalegraph.base.measures import percent
from scalegraph.base.text import listed
from scalegraph.base.units import assigned, significant

if TYPE_CHECKING:
    from scalegraph.analyze.fits.modelset import Models

_NAMED = 3  # rivals listed in a sentence


def doubt(models: Models, series: int) -> str:
    """Return what the points leave open about the model of a series; empty if they decide it.

    They decide it if there are enough points; the model explains them; every rival that diverges from it up to
    `Models.far` both fits worse and fails to predict the largest values from the others, while the model predicts them;
    and the average over all hypotheses allows no other value there.

    Source: ScaleGraph.
    """
    alone = models.one(series)
    chosen = alone.term_text(0)
    size = len(alone.hypothesis(0)) + 1
    known = alone.sample.count[0] > 0
    fewest = min(len(np.unique(column)) for column in alone.points[known].T) if known.any() else 0
    if not np.isfinite(alone.scores[0, 0]) or known.sum() < size + deciding.SPARE or fewest < deciding.LEAST_PLACES:
        return f"{int(known.sum())} points are too few to decide on a model; measure more."
    if said := select.poor(float(alone.cv_error[0]), chosen):
        return said
    place = assigned(zip(alone.parameters, alone.far, strict=True))
    apart = alone.apart()[0]
    if (apart > select.ALIKE).any():
        others = _names(alone, np.flatnonzero(apart > select.ALIKE))
        most = percent(apart.max())
        return f"These points cannot distinguish {chosen} from {others}: at {place} they differ by up to {most}."
    if not _predicts(alone, 0):
        return f"Fitted to the other points, {chosen} does not predict those with the largest values."
    unlike = alone.unlike()[0]
    equal = [int(rank) for rank in np.flatnonzero(unlike > select.ALIKE) if _predicts(alone, int(rank))]
    if equal:
        verb = "predicts" if len(equal) == 1 else "predict"
        return f"{_names(alone, equal)} {verb} the largest values from the others as well as {chosen}: measure beyond."
    return _unsettled(alone, chosen, place)


def _names(models: Models, ranks: np.ndarray | list[int]) -> str:
    names = list(dict.fromkeys(models.term_text(0, int(rank)) for rank in ranks))
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return listed([*names[:_NAMED], *more])


def _predicts(models: Models, rank: int) -> bool:
    """Return whether a hypothesis predicts the largest values of each parameter from the others."""
    design = terms.columns_at(models.hypothesis(0, rank), models.points)
    noise = (float(models.sigma[0, 0]), float(models.freedom[0, 0]))
    return all(deciding.predicts(design, models.sample, deciding.far_end(column), noise) for column in models.points.T)


def _unsettled(models: Models, chosen: str, place: str) -> str:
    together = models.together(0)
    if together is None:
        return ""
    far = float(models.far[0])
    value = float(models.predict([far])[0, 0])
    if deciding.sure(together, far, value):
        return ""
    low, high = (float(end[0, 0]) for end in models.band([far]))
    return (
        f"These points also allow values more than {percent(select.ALIKE)} off {chosen} at {place}:"
        f" there the value is between {significant(low, 3)} and {significant(high, 3)} (95\u00a0%)."
    )
