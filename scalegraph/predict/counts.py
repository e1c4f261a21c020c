"""Counts F(ss, chi, N): how often something happens, as an exact function of the parameters and N.

Exact counts of small runs determine a polynomial with rational coefficients. If iterations are distributed over the
processors, it also has powers of ceil(x / N) or floor(x / N), as block and cyclic distributions do; if all sizes are
powers of two, it may have log2 of a size, as programs that halve a grid do. Source: semi-empirical paper, 2.2.1, for
the definition of F; finding it from counts is ScaleGraph's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from scalegraph.base.errors import WorkError
from scalegraph.base.units import assigned, counted
from scalegraph.predict.small_sizes import power_of_two

MOST_DEGREE = 4
_PRIME = (1 << 61) - 1
_MOST_TERMS = 60
_MOST_HALVED = 3  # degree of the polynomial combined with log2 of a size


class CannotTellError(WorkError):
    """The available runs do not determine a count."""


@dataclass(frozen=True)
class Sample:
    """An exact count of one run. *values*: its parameters, whole numbers; *processors*: N."""

    values: Mapping[str, int]
    processors: int
    count: int


@dataclass(frozen=True)
class _Term:
    """A monomial: powers of the parameters, of the rounded extent / N and of N; *log*: parameter under log2, or -1."""

    powers: tuple[int, ...]
    blocks: int
    processors: int
    log: int = -1


@dataclass(frozen=True)
class Extent:
    """A distributed extent: the product of parameters (none: undistributed), divided by N and rounded *up* or down."""

    names: tuple[str, ...] = ()
    up: bool = True

    def blocks(self, values: Mapping[str, int], processors: int) -> int:
        """Return ceil(x / N), or floor(x / N)."""
        product = math.prod(values[name] for name in self.names) if self.names else 0
        return -(-product // processors) if self.up else product // processors

    def __str__(self) -> str:
        return f"{'ceil' if self.up else 'floor'}({' * '.join(self.names)} / N)"


@dataclass(frozen=True)
class Count:
    """A count as a function of parameters and N.

    *runs*: number of samples; *unknowns*: coefficients they determine; at least one further sample confirms them.
    """

    parameters: tuple[str, ...]
    extent: Extent
    degree: int
    runs: int
    unknowns: int
    _terms: tuple[_Term, ...] = field(repr=False)
    _pivots: tuple[int, ...] = field(repr=False)
    _rows: tuple[tuple[Fraction, ...], ...] = field(repr=False)
    _right: tuple[Fraction, ...] = field(repr=False)

    def __call__(self, values: Mapping[str, int], processors: int) -> Fraction:
        """Return the count at *values* and N = *processors*.

        Raises `CannotTellError` if the samples allow more than one value, or if it is negative.
        """
        for term in self._terms:
            if term.log >= 0 and not power_of_two(values[name := self.parameters[term.log]]):
                raise CannotTellError(f"this count has log2({name}) in these runs, and {name} = {values[name]}")
        row = [Fraction(value) for value in _row(self._terms, self.parameters, self.extent, values, processors)]
        total = Fraction(0)
        for pivot, known, right in zip(self._pivots, self._rows, self._right, strict=True):
            factor = row[pivot]
            if factor:
                row = [value - factor * other for value, other in zip(row, known, strict=True)]
                total += factor * right
        where = assigned([("N", processors), *((name, values[name]) for name in self.parameters)])
        if any(row):
            raise CannotTellError(f"these runs do not determine the count at {where}")
        if total < 0:
            raise CannotTellError(f"the count that fits these runs is negative at {where}")
        return total

    @property
    def formula(self) -> str:
        """The count as an expression for graph files; of several that fit the samples, the one with fewest terms."""
        parts = []
        for pivot, right in zip(self._pivots, self._right, strict=True):
            if right:
                name = _named(self._terms[pivot], self.parameters, self.extent)
                number = str(right.numerator) if right.denominator == 1 else f"{right.numerator} / {right.denominator}"
                parts.append(f"{number} * {name}" if name else number)
        return " + ".join(parts).replace("+ -", "- ") or "0"


def fit_count(samples: Sequence[Sample], *, divided: bool = False, most: int = MOST_DEGREE) -> Count:
    """Return the simplest exact function of parameters and N that gives the counts of all *samples*.

    *divided*: the processors share the iterations, so that quotients by N are rounded; *most*: highest degree. A
    function is accepted if it has fewer unknowns than there are samples. Raises `CannotTellError` with a sentence:
    there are too few samples, or the counts depend on more than the parameters.
    """
    if not samples:
        raise CannotTellError("no sample has this count")
    parameters = tuple(sorted(samples[0].values))
    counts = [sample.count for sample in samples]
    possible = False
    different = len({(tuple(sorted(sample.values.items())), sample.processors) for sample in samples})
    if not divided and (found := _single(samples, parameters, counts, most)) is not None and different > 1:
        return found
    for degree in range(most + 1):
        for extent in _extents(parameters, divided):
            terms = _terms(
                len(parameters), degree, bool(extent.names), len({sample.processors for sample in samples}) > 1
            )
            if len(terms) > _MOST_TERMS:
                continue
            matrix = [_row(terms, parameters, extent, sample.values, sample.processors) for sample in samples]
            rank, consistent = _modular(matrix, counts)
            if not consistent:
                continue
            if rank == different:
                possible = True
                continue
            pivots, rows, right = _reduced(matrix, counts)
            return Count(parameters, extent, degree, len(samples), rank, terms, pivots, rows, right)
    if (found := _halving(samples, parameters, counts, different)) is not None:
        return found
    runs = counted(len(samples), "run")
    if possible:
        raise CannotTellError(f"{runs}: more sizes are needed to determine how this count grows")
    raise CannotTellError(f"no polynomial of degree {most} gives the counts of {runs}: they also depend on the data")


def _single(samples: Sequence[Sample], parameters: tuple[str, ...], counts: Sequence[int], most: int) -> Count | None:
    """Return the only product of powers of parameters proportional to all counts, if there is exactly one."""
    nothing = Extent()
    for term in sorted(_terms(len(parameters), most, False, False), key=lambda term: sum(term.powers)):
        matrix = [_row((term,), parameters, nothing, sample.values, sample.processors) for sample in samples]
        if _modular(matrix, counts) == (1, True):
            pivots, rows, right = _reduced(matrix, counts)
            return Count(parameters, nothing, sum(term.powers), len(samples), 1, (term,), pivots, rows, right)
    return None


def _halving(
    samples: Sequence[Sample], parameters: tuple[str, ...], counts: Sequence[int], different: int
) -> Count | None:
    """Return the function with log2 of a parameter that gives all *counts*; its values must be powers of two.

    The log2 is added to a polynomial of that parameter, or a factor of every term: log2(n) levels of a grid, n log2(n).
    """
    nothing = Extent()
    for number, name in enumerate(parameters):
        if not all(power_of_two(sample.values[name]) for sample in samples):
            continue
        for degree, often in itertools.product(range(_MOST_HALVED + 1), (False, True)):
            plain = tuple(
                _Term(tuple(power * (i == number) for i in range(len(parameters))), 0, 0) for power in range(degree + 1)
            )
            logs = tuple(_Term(term.powers, 0, 0, number) for term in (plain if often else plain[:1]))
            terms = (*plain, *logs)
            matrix = [_row(terms, parameters, nothing, sample.values, sample.processors) for sample in samples]
            rank, consistent = _modular(matrix, counts)
            if consistent and rank < different:
                pivots, rows, right = _reduced(matrix, counts)
                return Count(parameters, nothing, max(1, degree), len(samples), rank, terms, pivots, rows, right)
    return None


def _extents(parameters: tuple[str, ...], divided: bool) -> list[Extent]:
    """Return the extents that may be distributed over processors: each parameter, and each product of two."""
    if not divided or not parameters:
        return [Extent()]
    products = [(name,) for name in parameters] + list(itertools.combinations(parameters, 2))
    return [Extent(names, up) for names in products for up in (True, False)]


def _terms(parameters: int, degree: int, divided: bool, several: bool) -> tuple[_Term, ...]:
    """Return the monomials up to *degree*; with powers of N if there are *several* N."""
    found = []
    for powers in itertools.product(range(degree + 1), repeat=parameters):
        for blocks in range(degree + 1 - sum(powers) if divided else 1):
            if sum(powers) + blocks > degree:
                continue
            # each block stands for up to N iterations, and the sum over the steps of a loop adds another power
            highest = min(degree - sum(powers), degree - 1) if blocks else 1
            found += [_Term(powers, blocks, n) for n in range(highest + 1 if several else 1)]
    return tuple(found)


def _row(
    terms: Sequence[_Term],
    parameters: Sequence[str],
    extent: Extent,
    values: Mapping[str, int],
    processors: int,
) -> list[int]:
    own = [values[name] for name in parameters]
    blocks = extent.blocks(values, processors)
    return [
        math.prod(value**power for value, power in zip(own, term.powers, strict=True))
        * blocks**term.blocks
        * processors**term.processors
        * (own[term.log].bit_length() - 1 if term.log >= 0 else 1)
        for term in terms
    ]


def _modular(matrix: Sequence[Sequence[int]], counts: Sequence[int]) -> tuple[int, bool]:
    """Return rank and consistency of an integer linear system, modulo a large prime."""
    rows = [[value % _PRIME for value in (*row, count)] for row, count in zip(matrix, counts, strict=True)]
    rank, width = 0, len(rows[0]) - 1
    for column in range(width):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        inverse = pow(rows[rank][column], -1, _PRIME)
        top = rows[rank] = [value * inverse % _PRIME for value in rows[rank]]
        for i in range(rank + 1, len(rows)):
            if factor := rows[i][column]:
                rows[i] = [(value - factor * own) % _PRIME for value, own in zip(rows[i], top, strict=True)]
        rank += 1
    return rank, not any(row[-1] for row in rows[rank:])


def _reduced(
    matrix: Sequence[Sequence[int]], counts: Sequence[int]
) -> tuple[tuple[int, ...], tuple[tuple[Fraction, ...], ...], tuple[Fraction, ...]]:
    """Return pivots, rows and right-hand sides of the reduced echelon form of a consistent system, exactly."""
    rows: list[list[Fraction]] = []
    pivots: list[int] = []
    for source, count in zip(matrix, counts, strict=True):
        row = [Fraction(value) for value in (*source, count)]
        for pivot, known in zip(pivots, rows, strict=True):
            if row[pivot]:
                row = _minus(row, row[pivot], known)
        pivot = next((i for i, value in enumerate(row[:-1]) if value), -1)
        if pivot < 0:
            continue
        row = [value / row[pivot] for value in row]
        rows = [_minus(known, known[pivot], row) if known[pivot] else known for known in rows]
        rows.append(row)
        pivots.append(pivot)
    return tuple(pivots), tuple(tuple(row[:-1]) for row in rows), tuple(row[-1] for row in rows)


def _minus(row: list[Fraction], factor: Fraction, other: list[Fraction]) -> list[Fraction]:
    return [value - factor * own for value, own in zip(row, other, strict=True)]


def _named(term: _Term, parameters: Sequence[str], extent: Extent) -> str:
    factors = [(name, power) for name, power in zip(parameters, term.powers, strict=True) if power]
    if term.blocks:
        factors.append((str(extent), term.blocks))
    if term.processors:
        factors.append(("N", term.processors))
    if term.log >= 0:
        factors.append((f"log2({parameters[term.log]})", 1))
    return " * ".join(name if power == 1 else f"{name} ** {power}" for name, power in factors)
