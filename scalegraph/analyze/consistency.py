"""Consistency checks of matrices: entries that contradict the others, or the printed times, by more than rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy

from scalegraph.analyze.matrix import Matrix, Pair

# the printed value, and the range of logarithms it may stand for
_Entry: TypeAlias = tuple[Pair, float, tuple[float, float]]
_REST = 1e-7  # solver tolerance, in logarithms


@dataclass(frozen=True)
class Contradiction:
    """An inconsistent entry: *printed* is its value, *fits* the value that would agree with all others.

    If *n* and *n2* are equal, the entry is the time at N = *n* (s), otherwise the cell from N to N'.
    """

    n: int
    n2: int
    printed: float
    fits: float

    @property
    def is_time(self) -> bool:
        """Whether the entry is a time rather than a cell.

        Source: ScaleGraph.
        """
        return self.n == self.n2


def digit(values: Sequence[float]) -> float:
    """Return the unit of the last printed digit of *values*: 0.001 for 0.441 and 0.67.

    Unit: that of *values*. Source: ScaleGraph.
    """
    places = 0
    for value in values:
        text = f"{value:.12f}".rstrip("0")
        places = max(places, len(text.partition(".")[2]))
    return 10.0**-places


def contradictions(
    matrix: Matrix, *, tolerance: float | None = None, times: Mapping[int, float] | None = None
) -> list[Contradiction]:
    """Return the entries of *matrix* that contradict the others, worst first; empty if all agree.

    value(N, N') = value(N, N'') value(N'', N') (isospeed.txt IV.B) means that value(N, N') = T(N)/T(N') for some T. A
    linear program finds the T that fits every value within half of its last printed digit, or within the relative
    *tolerance*, with the least total deviation (in logarithms); the worst entry is set aside until the rest agree.
    *times* (s, by N) are published T, with their printed digits: then a time can be the contradiction.

    Shape: one entry for each contradiction. Unit: none (ratios); times in s. Source: as named above; the search is
    ScaleGraph's.
    """
    cells = [(pair, value) for pair, value in matrix.values.items() if pair[0] < pair[1] and value > 0]
    known = {n: time for n, time in (times or {}).items() if n in matrix.processors}
    if len(cells) + len(known) < 2:
        return []
    cell_digit = digit([value for _, value in cells]) if cells else 1.0
    entries = [(pair, value, _room(value, cell_digit, tolerance)) for pair, value in cells]
    # each printed time has its own number of digits
    entries += [((n, n), time, _room(time, digit([time]), tolerance)) for n, time in known.items()]
    found = []
    while True:
        logs = _potentials(matrix.processors, entries)
        outside = [(_beyond(logs, entry), entry) for entry in entries]
        worst = max(outside, key=lambda item: item[0], default=None)
        if worst is None or worst[0] <= _REST:
            break
        entries.remove(worst[1])  # one at a time: others may deviate only because of it
        found.append(worst[1])
    made = [Contradiction(*pair, value, math.exp(_fit(logs, pair))) for pair, value, _ in found]
    return sorted(made, key=lambda entry: (-abs(math.log(entry.fits / entry.printed)), entry.n, entry.n2))


def against_sizes(matrix: Matrix, work: Mapping[int, float], *, tolerance: float = 0.05) -> list[Contradiction]:
    """Return the entries of a constant-efficiency matrix that contradict the *work* printed for each N.

    With E constant, L = T_seq (1 - E)/(E N), and with T_seq proportional to W the value from N to N' is W(N) N'/(W(N')
    N) (latency-metric.txt, theorem 2). Returns entries off by more than the relative *tolerance*, worst first; *fits*
    is the value implied by the sizes.

    Shape: one entry for each contradiction. Unit: none (ratios). Source: as named above.
    """
    found = []
    for (n, n2), value in matrix.values.items():
        if n >= n2 or n not in work or n2 not in work:
            continue
        fits = work[n] * n2 / (work[n2] * n)
        if abs(math.log(value / fits)) > math.log1p(tolerance):
            found.append(Contradiction(n, n2, value, fits))
    return sorted(found, key=lambda entry: (-abs(math.log(entry.fits / entry.printed)), entry.n, entry.n2))


def _fit(logs: Mapping[int, float], pair: Pair) -> float:
    n, n2 = pair
    return logs[n] if n == n2 else logs[n] - logs[n2]


def _beyond(logs: Mapping[int, float], entry: _Entry) -> float:
    pair, _, (low, high) = entry
    fits = _fit(logs, pair)
    return max(low - fits, fits - high)


def _room(value: float, last: float, tolerance: float | None) -> tuple[float, float]:
    """Return the bounds on the logarithm of the true value."""
    if tolerance is not None:
        return math.log(value) - tolerance, math.log(value) + tolerance
    half = min(last / 2, 0.999 * value)
    return math.log(value - half), math.log(value + half)


def _potentials(processors: Sequence[int], entries: Sequence[_Entry]) -> dict[int, float]:
    """Return log T by N with the least total deviation beyond each entry's bounds; ties go to the centre of the bounds.

    Unknowns: log T(N), and for each entry its deviation beyond its bounds and, at a cost so small that it only breaks
    ties, its distance from their centre.
    """
    at = {n: i for i, n in enumerate(processors)}
    count, size = len(entries), len(processors)
    rows, columns, data, limits = [], [], [], []
    row = 0
    for index, ((n, n2), value, (low, high)) in enumerate(entries):
        middle = math.log(value)
        departure, distance = size + index, size + count + index
        for sign, end, slack in (
            (1.0, high, departure),
            (-1.0, -low, departure),
            (1.0, middle, distance),
            (-1.0, -middle, distance),
        ):
            parts = [(at[n], sign)] if n == n2 else [(at[n], sign), (at[n2], -sign)]
            for column, factor in [*parts, (slack, -1.0)]:
                rows.append(row)
                columns.append(column)
                data.append(factor)
            limits.append(end)
            row += 1
    cost = np.concatenate([np.zeros(size), np.ones(count), np.full(count, 1e-6)])
    free: list[tuple[float | None, float | None]] = [(None, None)] * size
    if not any(n == n2 for (n, n2), _, _ in entries):
        free[0] = (0.0, 0.0)  # only ratios are known
    made = scipy.optimize.linprog(
        cost,
        A_ub=scipy.sparse.coo_matrix((data, (rows, columns)), shape=(row, size + 2 * count)).tocsr(),
        b_ub=np.array(limits),
        bounds=[*free, *[(0.0, None)] * (2 * count)],
        method="highs",
    )
    return {n: float(made.x[i]) for n, i in at.items()}


def sentence(found: Sequence[Contradiction], least: int = 3) -> str:
    """Return a sentence on the contradictions; empty if there are none. *least* digits are shown of the fitting values.

    Source: ScaleGraph.
    """
    parts = []
    for entry in found:
        printed, fits = f"{entry.printed:.12g}", f"{entry.fits:.{max(least, _digits(entry.printed))}g}"
        name = f"the time at N = {entry.n}" if entry.is_time else f"the entry ({entry.n}, {entry.n2})"
        parts.append(f"{name} = {printed} contradicts the others; {fits} would fit")
    text = "; ".join(parts[:4]) + (f"; and {len(parts) - 4} more" if len(parts) > 4 else "")
    return text[0].upper() + text[1:] + "." if text else ""


def _digits(value: float) -> int:
    return len(f"{value:.12g}".replace(".", "").lstrip("0"))
