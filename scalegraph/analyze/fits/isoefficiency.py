"""Isoefficiency order: how fast the problem must grow with N to keep an efficiency."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from scalegraph.analyze.fits import deciding, select
from scalegraph.analyze.fits.curve import student
from scalegraph.analyze.fits.fit import CONFIDENCE
from scalegraph.analyze.fits.noise import Flags, Floats
from scalegraph.base.text import listed
from scalegraph.base.units import significant

# Orders of W as powers of N and of log2 N.
ORDERS: dict[str, tuple[float, int]] = {
    "1": (0.0, 0),
    "N": (1.0, 0),
    "N log N": (1.0, 1),
    "N log^2 N": (1.0, 2),
    "N^1.5": (1.5, 0),
    "N^2": (2.0, 0),
    "N^2 log N": (2.0, 1),
    "N^3": (3.0, 0),
}
# Relative accuracy of W interpolated between runs; orders within it all fit.
_ACCURACY = 0.02


@dataclass(frozen=True)
class Order:
    """An order of growth fitted to W(N): W = *factor* g(N); *error* is the standard deviation of ln W around it."""

    order: str
    factor: float
    error: float
    weight: float
    plausible: bool

    def predict(self, processors: Sequence[float] | Floats) -> Floats:
        """Return W at *processors*.

        Shape: (points,). Unit: operations. Source: Grama, Gupta and Kumar 1993.
        """
        power, log = ORDERS[self.order]
        n = np.asarray(processors, dtype=np.float64)
        return np.asarray(self.factor * n**power * np.log2(n) ** log)


@dataclass(frozen=True)
class Isoefficiency:
    """Orders of growth side by side, best first, and the power law W ~ N^*exponent* with its interval."""

    orders: tuple[Order, ...]
    exponent: float
    low: float
    high: float
    decided: bool
    sentence: str


def isoefficiency_order(
    processors: Sequence[float] | Floats, work: Sequence[float] | Floats, *, confidence: float = CONFIDENCE
) -> Isoefficiency | None:
    """Return the order in which *work* (operations) must grow to keep an efficiency, from values at *processors* > 1.

    Fitted in logarithms, so every point weighs the same. Errors below 2 % count as 2 %, as W is interpolated. None with
    fewer than two counts above 1.

    Unit: operations. Source: Grama, Gupta and Kumar 1993; latency-metric.txt 2.1.
    """
    n, w = np.asarray(processors, dtype=np.float64), np.asarray(work, dtype=np.float64)
    good = (n > 1) & np.isfinite(w) & (w > 0)
    n, w = n[good], w[good]
    if len(np.unique(n)) < 2:
        return None
    rank = np.argsort(n, kind="stable")
    n, w = n[rank], w[rank]
    log_n, log_w = np.log(n), np.log(w)
    logs = {order: log_w - power * log_n - log * np.log(np.log2(n)) for order, (power, log) in ORDERS.items()}
    return _judged(logs, n == n[-1], _power(log_n, log_w, confidence))


def _power(log_n: Floats, log_w: Floats, confidence: float) -> tuple[float, float, float]:
    off = log_n - log_n.mean()
    slope = float((off * log_w).sum() / (off**2).sum())
    left = log_w - log_w.mean() - slope * off
    freedom = len(log_n) - 2
    variance = max(float((left**2).sum()) / max(freedom, 1), _ACCURACY**2)
    reach = student(1 - (1 - confidence) / 2, freedom) * math.sqrt(variance / float((off**2).sum()))
    return slope, slope - reach, slope + reach


def _judged(logs: Mapping[str, Floats], hidden: Flags, power: tuple[float, float, float]) -> Isoefficiency:
    """Return the orders by likelihood; *logs* are ln(W/order) at every count, *hidden* marks the largest count."""
    count = len(hidden)
    fits = [
        (name, math.exp(float(right.mean())), float(((right - right.mean()) ** 2).sum()))
        for name, right in logs.items()
    ]
    # every order has only its factor to fit, so the likelihoods, each at its own noise level, are comparable
    scores = np.array([count * math.log(squares / count + _ACCURACY**2) for _, _, squares in fits])
    shares = select.evidence(scores)
    # same threshold as in `select.plausible`, where the reason is given
    reach = count * math.log1p(
        float(scipy.special.fdtri(1.0, max(count - 1.0, 1.0), 1.0 - select.AGAINST)) / max(count - 1.0, 1.0)
    )
    near = scores - scores.min() < reach
    order = np.argsort(scores, kind="stable")
    orders = tuple(
        Order(fits[i][0], fits[i][1], math.sqrt(fits[i][2] / max(count - 1, 1)), float(shares[i]), bool(near[i]))
        for i in order
    )
    rivals = [entry.order for entry in orders if entry.plausible]
    best = orders[0].order
    ahead = [name for name in logs if _ahead(logs[name], hidden, orders[0].error)]
    decided = len(rivals) == 1 and count >= deciding.LEAST_PLACES and ahead == [best]
    exponent, low, high = power
    interval = f" ({significant(low, 2)} to {significant(high, 2)})" if math.isfinite(low) else ""
    words = (
        f"W must grow as {best}"
        if decided
        else f"These points cannot show whether W must grow as {' or '.join(rivals)}"
    )
    if not decided and len(rivals) == 1:
        why = f"{count} counts are too few to be sure"
        if count >= deciding.LEAST_PLACES:
            others = [name for name in ahead if name != best]
            why = (
                f"{listed(others)} predicts the W of the largest N from the others as well"
                if best in ahead and others
                else "the other counts do not predict the W of the largest"
            )
        words = f"W seems to grow as {best}, but {why}"
    return Isoefficiency(
        orders,
        exponent,
        low,
        high,
        decided,
        f"{words}; as a power of N the exponent is {significant(exponent, 3)}{interval}.",
    )


def _ahead(right: Floats, hidden: Flags, error: float) -> bool:
    """Return whether an order, with its factor fitted to the other counts, predicts W at the *hidden* ones."""
    rest = right[~hidden]
    if not len(rest):
        return True
    spread = max(error, _ACCURACY) * math.sqrt(1.0 + 1.0 / len(rest))
    return bool((np.abs(right[hidden] - rest.mean()) <= student(0.975, max(len(rest) - 1.0, 1.0)) * spread).all())
