"""The space of performance models: powers and logarithms of parameters, their products, and sums of products.

The normal form is c0 + sum of c_k prod_j x_j^i log2(x_j)^l. For one parameter all of Extra-P's exponents are tried (its
default set and, where values fall, its negative exponents), plus sums of a falling and a growing term, because
strong-scaling times often have both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from scalegraph.analyze.fits.noise import Flags, Floats
from scalegraph.base.units import significant


@dataclass(frozen=True, order=True)
class Factor:
    """x^power log2(x)^log of one parameter."""

    power: Fraction
    log: int = 0

    def at(self, x: Floats) -> Floats:
        """Return the factor at *x* > 0.

        Shape: that of *x*. Unit: none. Source: Calotoiu and others 2013.
        """
        with np.errstate(all="ignore"):
            value = x ** float(self.power)
            if self.log:
                value = value * np.log2(x) ** self.log
        return np.asarray(value)

    def text(self, name: str) -> str:
        """Return the factor for display: ``N^(3/2) log2(N)``.

        Source: ScaleGraph.
        """
        parts = []
        if self.power:
            exponent = f"^{self.power}" if self.power.denominator == 1 and self.power > 0 else f"^({self.power})"
            parts.append(name if self.power == 1 else name + exponent)
        if self.log:
            power = "" if self.log == 1 else f"^{self.log}" if self.log > 0 else f"^({self.log})"
            parts.append(f"log2({name}){power}")
        return " ".join(parts) or "1"

    @property
    def falls(self) -> bool:
        """Whether the factor falls as x grows without bound.

        Source: ScaleGraph.
        """
        return self.power < 0 or (self.power == 0 and self.log < 0)

    @property
    def oddness(self) -> float:
        """How unusual the exponents are in algorithms, in units of Akaike's criterion; see `SIMPLE`.

        Unit: none (-2 ln likelihood). Source: ScaleGraph.
        """
        if self.log in (0, 1) and abs(self.power) in SIMPLE:
            return 0.0 if self.log == 0 or self.power in (0, 1) else 1.0
        rare = 1.0 if self.power.denominator <= 2 else 2.0
        return rare + float(abs(self.log) == 2 or self.log < 0) + float(self.power.denominator > 2 and self.log != 0)


# Exponents common in algorithms; others must be better by up to exp(oddness/2) in likelihood.
SIMPLE = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3))
Product = tuple[tuple[int, Factor], ...]  # (parameter, factor)
Hypothesis = tuple[Product, ...]  # terms besides the constant

_ROOTS = "1/4 1/3 1/2 2/3 3/4 4/5 1 5/4 4/3 3/2 5/3 7/4 2 9/4 7/3 5/2 8/3 11/4 3"
_ONE_LOG = "0 1/4 1/3 1/2 2/3 3/4 1 5/4 4/3 3/2 2 5/2 3"
_TWO_LOGS = "0 1/4 1/3 1/2 2/3 3/4 1 3/2 2 5/2"


def _fractions(text: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(part) for part in text.split())


@cache
def growing() -> tuple[Factor, ...]:
    """Return the factors that grow: the 42 of Extra-P's default modeller.

    Shape: (42,). Source: Extra-P (Calotoiu and others 2013).
    """
    return (
        *(Factor(power) for power in _fractions(_ROOTS)),
        *(Factor(power, 1) for power in _fractions(_ONE_LOG)),
        *(Factor(power, 2) for power in _fractions(_TWO_LOGS)),
    )


@cache
def falling() -> tuple[Factor, ...]:
    """Return the factors that fall: Extra-P's negative exponents, and N^-i log N.

    Shape: one entry for each factor. Source: Extra-P 4; N^-i log N: ScaleGraph.
    """
    return (
        *(Factor(-power) for power in _fractions(_ROOTS)),
        *(Factor(-power, -1) for power in _fractions(_ONE_LOG)),
        *(Factor(-power, -2) for power in _fractions(_TWO_LOGS)),
        *(Factor(-power, 1) for power in _fractions("1/2 1 2")),
    )


def usable(factors: Sequence[Factor], x: Floats) -> list[Factor]:
    """Return the factors that are defined and finite everywhere on *x*, and not constant.

    Shape: one entry for each factor kept. Source: ScaleGraph.
    """
    kept = []
    for factor in factors:
        if factor.log and (x < 1).any():
            continue
        values = factor.at(x)
        if np.isfinite(values).all() and np.ptp(values) > 0:
            kept.append(factor)
    return kept


def is_falling(factors: Sequence[Factor]) -> Flags:
    """Return which of *factors* fall.

    Shape: (factors,). Unit: none. Source: ScaleGraph.
    """
    return np.array([factor.falls for factor in factors], dtype=bool)


def product_at(product: Product, x: Floats) -> Floats:
    """Return a product at *x* (points, parameters).

    Shape: (points,). Unit: none. Source: Calotoiu and others 2013.
    """
    value = np.ones(len(x))
    for parameter, factor in product:
        value = value * factor.at(x[:, parameter])
    return value


def columns_at(hypothesis: Hypothesis, x: Floats) -> Floats:
    """Return the design matrix of a hypothesis at *x* (points, parameters): (points, columns), the constant first.

    Unit: none. Source: Calotoiu and others 2013.
    """
    return np.stack([np.ones(len(x)), *(product_at(product, x) for product in hypothesis)], axis=1)


def product_text(product: Product, parameters: Sequence[str]) -> str:
    """Return a product as text: ``N^(-1) size``.

    Source: ScaleGraph.
    """
    return " ".join(factor.text(parameters[parameter]) for parameter, factor in product) or "1"


def formula(hypothesis: Hypothesis, theta: Sequence[float], parameters: Sequence[str]) -> str:
    """Return the model with its numbers: ``0.1 + 2.3 N log2(N)``.

    Source: ScaleGraph.
    """
    parts = [significant(float(theta[0]), 4)]
    for product, value in zip(hypothesis, theta[1:], strict=False):
        size = significant(abs(float(value)), 4)
        parts.append(f"{'-' if value < 0 else '+'} {size} {product_text(product, parameters)}")
    return " ".join(parts)


def growth(hypothesis: Hypothesis, theta: Sequence[float], parameters: Sequence[str], far: Floats) -> str:
    """Return the order of growth: the largest term at *far* (parameters,), if it has at least 1 % of the value there.

    A falling term plus a constant is of order 1, unless the constant is below 1 % of the value.

    Source: ScaleGraph.
    """
    if not hypothesis:
        return "1"
    values = np.abs(columns_at(hypothesis, far[None])[0] * np.asarray(theta[: len(hypothesis) + 1]))
    order = [index for index in np.argsort(-values) if values[index] > 0.01 * values.sum()]
    rising = [index for index in order if index > 0 and not all(f.falls for _, f in hypothesis[index - 1])]
    if rising:
        return product_text(hypothesis[rising[0] - 1], parameters)
    return "1" if 0 in order else product_text(hypothesis[order[0] - 1], parameters) if order else "1"
