"""Laws of speedup (Amdahl, Gustafson, the Universal Scalability Law and others), each a linear combination.

Strong scaling (one problem, T(N)): the basis is 1/N, 1, log2 N, N - 1 with non-negative coefficients. Amdahl's law uses
the first two, the Universal Scalability Law adds the last, tree-like communication the third. Weak scaling (the problem
grows with N): N/T(N) is linear in N by Gustafson's law. Serial fraction, sigma and kappa are ratios of sums of
coefficients, so Fieller's theorem gives their intervals without linearisation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from scalegraph.analyze.fits.curve import Curve, Kind
from scalegraph.analyze.fits.fit import Coefficient
from scalegraph.analyze.fits.noise import Floats
from scalegraph.base.units import significant

Scaling: TypeAlias = Literal["strong", "weak"]

_COLUMNS: dict[str, Callable[[Floats], Floats]] = {
    "1": np.ones_like,
    "1/N": lambda n: 1.0 / n,
    "log": np.log2,
    "N-1": lambda n: n - 1.0,
    "N": lambda n: n,
    "N^2-N": lambda n: n * (n - 1.0),
    "sqrt-1": lambda n: np.sqrt(n) - 1.0,
}


@dataclass(frozen=True)
class Ratio:
    """A number of a law: *top* @ theta, over *bottom* @ theta if given, inverted if *inverse*; in *low* .. *high*."""

    name: str
    meaning: str
    top: tuple[float, ...]
    bottom: tuple[float, ...] | None = None
    low: float = 0.0
    high: float = math.inf
    inverse: bool = False


@dataclass(frozen=True)
class Law:
    """A law as data. *columns* name its basis; coefficients are non-negative. *formula* has placeholders."""

    name: str
    title: str
    columns: tuple[str, ...]
    numbers: tuple[Ratio, ...]
    formula: str
    growth: Callable[[Sequence[float]], str]
    scaling: Scaling = "strong"
    kind: Kind = "value"

    def basis(self, x: Floats) -> Floats:
        """Return the columns at *x* (points, 1 or more), shape (points, columns).

        Unit: none. Source: as the law names.
        """
        return np.stack([_COLUMNS[name](x[:, 0]) for name in self.columns], axis=1)

    def coefficients(self, curve: Curve) -> tuple[Coefficient, ...]:
        """Return the numbers of the law with their intervals.

        Shape: one entry for each coefficient. Unit: as in `Coefficient`. Source: as the law names.
        """
        found = []
        for ratio in self.numbers:
            top = np.array(ratio.top)
            bottom = None if ratio.bottom is None else np.array(ratio.bottom)
            value = float(top @ curve.theta) / (1.0 if bottom is None else float(bottom @ curve.theta) or math.nan)
            low, high = curve.interval(top, bottom)
            if ratio.inverse:
                value, low, high = _reciprocal(value), _reciprocal(high), _reciprocal(max(low, 0.0))
            value = min(max(value, ratio.low), ratio.high) if math.isfinite(value) else value
            low, high = (min(max(end, ratio.low), ratio.high) for end in (low, high))
            found.append(Coefficient(ratio.name, value, min(low, value), max(high, value), ratio.meaning))
        if self.name == "usl":
            found.append(_peak(curve))
        return tuple(found)


def _peak(curve: Curve) -> Coefficient:
    """Return p* = sqrt((1 - sigma)/kappa), the N of least time; its interval is that of kappa/(1 - sigma)."""
    top, bottom = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    low, high = curve.interval(top, bottom)

    value = math.sqrt(_reciprocal(float(curve.theta[2] / curve.theta[0]) if curve.theta[0] > 0 else math.inf))
    ends = (math.sqrt(_reciprocal(max(end, 0.0))) for end in (high, low))
    least, most = ends
    return Coefficient("p*", value, min(least, value), max(most, value), "N of the least time")


def _reciprocal(value: float) -> float:
    return math.inf if value == 0 else 1.0 / value


_T1 = "time on one processor, s"
_SERIAL = "serial fraction"


def _stays(_theta: Sequence[float]) -> str:
    return "1"


def _last(growing: str, otherwise: Callable[[Sequence[float]], str]) -> Callable[[Sequence[float]], str]:
    def growth(theta: Sequence[float]) -> str:
        return growing if theta[-1] > 0 else otherwise(theta[:-1])

    return growth


def _falls(theta: Sequence[float]) -> str:
    return "1" if len(theta) > 1 and theta[1] > 0 else "1/N"


STRONG = (
    Law("serial", "No scaling", ("1",), (Ratio("T1", _T1, (1.0,)),), "T(N) = {T1}", _stays),
    Law("ideal", "Ideal scaling", ("1/N",), (Ratio("T1", _T1, (1.0,)),), "T(N) = {T1}/N", _falls),
    Law(
        "amdahl",
        "Amdahl's law",
        ("1/N", "1"),
        (Ratio("T1", _T1, (1, 1)), Ratio("s", _SERIAL, (0, 1), (1, 1), high=1.0)),
        "T(N) = {T1} ({s} + (1 - {s})/N)",
        _falls,
    ),
    Law(
        "usl",
        "Universal Scalability Law",
        ("1/N", "1", "N-1"),
        (
            Ratio("T1", _T1, (1, 1, 0)),
            Ratio("sigma", "contention", (0, 1, 0), (1, 1, 0), high=1.0),
            Ratio("kappa", "coherency", (0, 0, 1), (1, 1, 0)),
        ),
        "T(N) = {T1} (1 + {sigma} (N - 1) + {kappa} N (N - 1))/N",
        _last("N", _falls),
    ),
    Law(
        "tree",
        "Amdahl's law with overhead log N",
        ("1/N", "1", "log"),
        (
            Ratio("T1", _T1, (1, 1, 0)),
            Ratio("s", _SERIAL, (0, 1, 0), (1, 1, 0), high=1.0),
            Ratio("c", "overhead for each doubling of N, s", (0, 0, 1)),
        ),
        "T(N) = {T1} ({s} + (1 - {s})/N) + {c} log2 N",
        _last("log N", _falls),
    ),
    Law(
        "overheads",
        "Serial part and overheads log N and N",
        ("1/N", "1", "log", "N-1"),
        (
            Ratio("T1", _T1, (1, 1, 0, 0)),
            Ratio("s", _SERIAL, (0, 1, 0, 0), (1, 1, 0, 0), high=1.0),
            Ratio("c", "overhead for each doubling of N, s", (0, 0, 1, 0)),
            Ratio("d", "overhead for each further processor, s", (0, 0, 0, 1)),
        ),
        "T(N) = {T1} ({s} + (1 - {s})/N) + {c} log2 N + {d} (N - 1)",
        _last("N", _last("log N", _falls)),
    ),
)

_WEAK_T1 = "time at N = 1, s"
WEAK = (
    Law("ideal-weak", "Ideal weak scaling", ("1",), (Ratio("T1", _WEAK_T1, (1.0,)),), "T(N) = {T1}", _stays, "weak"),
    Law(
        "gustafson",
        "Gustafson's law",
        ("1", "N-1"),
        # N/T = (N - s (N - 1))/T1: the columns have theta = (1/T1, (1 - s)/T1)
        (Ratio("T1", _WEAK_T1, (1, 0), inverse=True), Ratio("s", _SERIAL, (1, -1), (1, 0), high=1.0)),
        "T(N) = {T1} N/(N - {s} (N - 1))",
        lambda theta: "1" if theta[1] > 0 else "N",
        "weak",
        "rate",
    ),
    Law(
        "weak-tree",
        "Overhead log N",
        ("1", "log"),
        (Ratio("T1", _WEAK_T1, (1, 0)), Ratio("c", "overhead for each doubling of N, s", (0, 1))),
        "T(N) = {T1} + {c} log2 N",
        _last("log N", _stays),
        "weak",
    ),
    Law(
        "weak-linear",
        "Overhead N",
        ("1", "N-1"),
        (Ratio("T1", _WEAK_T1, (1, 0)), Ratio("d", "overhead for each further processor, s", (0, 1))),
        "T(N) = {T1} + {d} (N - 1)",
        _last("N", _stays),
        "weak",
    ),
    Law(
        "weak-usl",
        "Universal Scalability Law, weak",
        ("1", "N-1", "N^2-N"),
        (
            Ratio("T1", _WEAK_T1, (1, 0, 0)),
            Ratio("sigma", "contention", (0, 1, 0), (1, 0, 0)),
            Ratio("kappa", "coherency", (0, 0, 1), (1, 0, 0)),
        ),
        "T(N) = {T1} (1 + {sigma} (N - 1) + {kappa} N (N - 1))",
        _last("N^2", _last("N", _stays)),
        "weak",
    ),
)

LAWS: dict[str, Law] = {law.name: law for law in (*STRONG, *WEAK)}


def formula(law: Law, coefficients: Sequence[Coefficient]) -> str:
    """Return the law's text with the numbers of *coefficients*, four digits each.

    Source: ScaleGraph.
    """
    return law.formula.format(
        **{entry.name: significant(entry.value, 4) for entry in coefficients if entry.name != "p*"}
    )
