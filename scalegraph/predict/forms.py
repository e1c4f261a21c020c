"""Functions for fitting data-dependent counts: products of powers of sizes, partly divided by N.

A size is a parameter or the sum of two (pulses in both slots); the distributed part is a size or the product of two.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scalegraph.predict.lower import Floats, Growth, solve

MOST_DEGREE = 4
_GOOD = 0.01  # residual at which a form is good enough
_AS_GOOD = 1.5
# shared work counts as distributed unless the form without distribution has a residual this much smaller
_WHOLE = 0.005
Size = tuple[str, ...]  # parameters that are added


@dataclass(frozen=True)
class Form:
    """A product of *powers* of *sizes*; *dealt*: positions of those whose product is divided by N, empty for none."""

    sizes: tuple[Size, ...]
    powers: tuple[int, ...]
    dealt: tuple[int, ...] = ()

    @property
    def degree(self) -> int:
        """Sum of the powers."""
        return sum(self.powers)

    def at(self, values: Mapping[str, int], processors: int) -> float:
        """Return the product at *values* on N = *processors*."""
        known = [sum(values[name] for name in size) for size in self.sizes]
        blocks = -(-math.prod(known[i] for i in self.dealt) // processors) if self.dealt else 1
        rest = (
            size ** (power - (i in self.dealt)) for i, (size, power) in enumerate(zip(known, self.powers, strict=True))
        )
        return float(blocks * math.prod(rest))

    @property
    def formula(self) -> str:
        """The product as an expression for graph files."""
        named = [size[0] if len(size) == 1 else f"({' + '.join(size)})" for size in self.sizes]
        factors = [f"ceil({' * '.join(named[i] for i in self.dealt)} / N)"] if self.dealt else []
        for i, (name, power) in enumerate(zip(named, self.powers, strict=True)):
            left = power - (i in self.dealt)
            factors += [name if left == 1 else f"{name} ** {left}"] if left else []
        return " * ".join(factors) or "1"

    def terms(self) -> tuple[Growth, ...]:
        """Return the form and those of outer loops: divided by one size, by two, and so on down to 1."""
        found = [Growth(self.formula, self.at)]
        for number in range(1, self.degree + 1):
            for places in itertools.combinations_with_replacement(range(len(self.sizes)), number):
                if all(places.count(i) <= self.powers[i] for i in places):
                    found += [self._without(places)]
        return tuple(found)

    def _without(self, places: Sequence[int]) -> Growth:
        divisor = Form(self.sizes, tuple(places.count(i) for i in range(len(self.sizes))))
        return Growth(
            f"({self.formula}) / ({divisor.formula})",
            lambda values, processors: self.at(values, processors) / divisor.at(values, processors),
        )


def forms(names: Sequence[str], *, divided: bool, most: int = MOST_DEGREE) -> Iterator[Form]:
    """Yield the products of powers of parameters and of sums of two, up to the degree *most*.

    *divided*: also with every choice of the distributed part.
    """
    sizes: list[Size] = [(name,) for name in names]
    sizes += itertools.combinations(names, 2) if len(names) > 1 else []
    for degree in range(most + 1):
        for number in range(min(degree, 3) + 1):
            for chosen in itertools.combinations(sizes, number):
                for powers in itertools.product(range(1, degree + 1), repeat=number):
                    if sum(powers) == degree and not _repeated(chosen):
                        yield from _dealt(chosen, powers, divided=divided)


def _repeated(chosen: Sequence[Size]) -> bool:
    """Return whether a parameter occurs in more than one size."""
    used = [name for size in chosen for name in size]
    return len(used) > len(set(used))


def _dealt(chosen: tuple[Size, ...], powers: tuple[int, ...], *, divided: bool) -> Iterator[Form]:
    yield Form(chosen, powers)  # includes work that every thread does for itself
    if not divided:
        return
    for number in (1, 2):
        for places in itertools.combinations(range(len(chosen)), number):
            yield Form(chosen, powers, places)


Points = tuple[tuple[tuple[tuple[str, int], ...], int], ...]  # for each sample: parameters by name, and N


def points(samples: Sequence[tuple[Mapping[str, int], int]]) -> Points:
    """Return *samples* as a hashable key: regions of a program have the same samples."""
    return tuple((tuple(sorted(values.items())), processors) for values, processors in samples)


@lru_cache(maxsize=16)
def candidates(names: tuple[str, ...], samples: Points, *, divided: bool) -> tuple[tuple[Form, Floats], ...]:
    """Return the forms over *names* with enough of their terms at *samples* to compare them.

    Columns are the form, the form divided by each of its sizes, and 1. *divided*: see `forms`.
    """
    known = {name: np.array([dict(values)[name] for values, _ in samples], dtype=np.float64) for name in names}
    processors = np.array([n for _, n in samples], dtype=np.float64)
    found = []
    for form in forms(names, divided=divided):
        sizes = [sum((known[name] for name in size), np.zeros(len(samples))) for size in form.sizes]
        whole = np.ones(len(samples))
        for size, power in zip(sizes, form.powers, strict=True):
            whole = whole * size**power
        if form.dealt:
            extent = np.prod([sizes[i] for i in form.dealt], axis=0)
            whole = whole / extent * np.ceil(extent / processors)
        columns = [whole, *(whole / size for size in sizes), np.ones(len(samples))]
        found.append((form, np.column_stack(columns)))
    return tuple(found)


def best_form(
    places: Sequence[tuple[Mapping[str, int], int]],
    times: Sequence[float],
    varied: tuple[str, ...],
    *,
    divided: bool,
    least: int = 0,
    most: int = MOST_DEGREE,
) -> Form:
    """Return the form of lowest degree over *varied* that fits well the *times* of sample runs at *places*.

    *divided*: whether the processors share the work; *least*, *most*: bounds of the degree.

    Unit: any, the same for all times. Source: ScaleGraph.
    """
    found: list[tuple[int, float, Form]] = []
    known = np.asarray(times, dtype=np.float64)
    kept = max(1, len(places) - 2)  # with as many terms as samples anything fits
    for form, columns in candidates(varied, points(places), divided=divided):
        if least <= form.degree <= most:
            found.append((form.degree, solve(columns[:, :kept], known), form))
    good = max(_AS_GOOD * min(residual for _, residual, _ in found), _GOOD)
    degree = min(degree for degree, residual, _ in found if residual <= good)
    best = [(residual + (0.0 if form.dealt else _WHOLE), form) for size, residual, form in found if size == degree]
    return min(best, key=lambda one: one[0])[1]
