"""How good a prediction is: its error, and the time that it saves."""

from __future__ import annotations

from collections.abc import Iterable

from scalegraph.base.errors import InputError


def prediction_ratio(actual_s: float, samples_s: float, estimate_s: float) -> float:
    """Return the conservative prediction ratio: the actual time over all that its prediction took.

    *samples_s*: all time for sample runs; *estimate_s*: host time of the estimate. Unit: none (ratio).
    Raises `InputError` when nothing took time. Source: semi-empirical paper (4.8).
    """
    if samples_s + estimate_s <= 0:
        raise InputError("the prediction took no time; samples with a time were expected")
    return actual_s / (samples_s + estimate_s)


def error(actual_s: float, predicted_s: float) -> float:
    """Return the relative error of a predicted time, at least 0.

    Unit: none (relative). Raises `InputError` for an actual time of 0. Source: semi-empirical paper (4.9).
    """
    if actual_s <= 0:
        raise InputError("an actual time above 0 was expected")
    return abs((actual_s - predicted_s) / actual_s)


def mean_error(errors: Iterable[float]) -> float:
    """Return the average error over a set of parameters.

    Unit: none (relative). Raises `InputError` without any. Source: semi-empirical paper (4.10).
    """
    known = list(errors)
    if not known:
        raise InputError("at least one point with an actual time was expected")
    return sum(known) / len(known)
