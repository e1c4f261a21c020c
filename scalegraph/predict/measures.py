"""The quality of a prediction: its error, and the time that it saves."""

from __future__ import annotations

from collections.abc import Iterable

from scalegraph.base.errors import InputError
from scalegraph.base.run import RunRecord


def host_seconds(runs: Iterable[RunRecord]) -> float:
    """Return the host processor time of *runs*; elapsed time for those without it.

    Unit: s. Source: ScaleGraph.
    """
    return sum((run.host_s or 0.0) if run.host_cpu_s is None else run.host_cpu_s for run in runs)


def prediction_ratio(actual_s: float, samples_s: float, estimate_s: float) -> float:
    """Return the conservative prediction ratio: the actual time over the total time of its prediction.

    *samples_s*: total time of sample runs; *estimate_s*: host time of the estimate. For simulated runs, the actual and
    the sample times are either both simulated, as in the paper, or both host times. Unit: none (ratio). Raises
    `InputError` if nothing took time. Source: semi-empirical paper (4.8).
    """
    if samples_s + estimate_s <= 0:
        raise InputError("the prediction took no time; samples with a time were expected")
    return actual_s / (samples_s + estimate_s)


def known_ratio(actual_s: float | None, samples_s: float, estimate_s: float) -> float | None:
    """Return `prediction_ratio`; None if the actual time is unknown or nothing took time.

    Unit: none (ratio). Source: semi-empirical paper (4.8).
    """
    if not actual_s or samples_s + estimate_s <= 0:
        return None
    return prediction_ratio(actual_s, samples_s, estimate_s)


def error(actual_s: float, predicted_s: float) -> float:
    """Return the relative error of a predicted time, at least 0.

    Unit: none (relative). Raises `InputError` for an actual time of 0. Source: semi-empirical paper (4.9).
    """
    if actual_s <= 0:
        raise InputError("an actual time above 0 was expected")
    return abs((actual_s - predicted_s) / actual_s)


def mean_error(errors: Iterable[float]) -> float:
    """Return the average error over a set of parameters.

    Unit: none (relative). Raises `InputError` if there are none. Source: semi-empirical paper (4.10).
    """
    known = list(errors)
    if not known:
        raise InputError("at least one point with an actual time was expected")
    return sum(known) / len(known)
