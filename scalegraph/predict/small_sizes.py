"""Sizes of small runs that determine counts; planning requests needs them, so this module imports no library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

_SMALLEST: Final = 4  # size of a run for counts
_PART: Final = 8  # fraction of the smallest sample that sizes for counts do not fall below


def power_of_two(value: int) -> bool:
    """Return whether *value* is 1, 2, 4, 8, .."""
    return value > 0 and value & (value - 1) == 0


def counting_sizes(
    samples: Sequence[Mapping[str, int]], targets: Sequence[Mapping[str, int]], processors: int, most: int = 4
) -> list[Mapping[str, int]]:
    """Return small sizes whose runs determine counts, some equal to the targets modulo N.

    If one parameter differs: multiples of N plus the targets' remainders, below the smallest sample and at least 1/8 of
    it; if all sizes are powers of two, the next smaller ones. If several differ: fractions of the smallest sample, for
    one parameter at a time and for all.
    """
    points = [*samples, *targets]
    varied = sorted(name for name in points[0] if len({values[name] for values in points}) > 1)
    smallest = min(samples, key=lambda values: math.prod(values[name] for name in varied) if varied else 0)
    found: list[Mapping[str, int]] = []
    if len(varied) == 1:
        name = varied[0]
        least = max(_SMALLEST, -(-smallest[name] // _PART))
        if all(power_of_two(values[name]) for values in points):
            halves = (smallest[name] >> i for i in range(1, most + 1))
            return [{**smallest, name: size} for size in halves if size >= least]
        for remainder in sorted({values[name] % processors for values in targets})[:2]:
            below = [size for size in range(remainder, smallest[name], processors) if size >= least]
            spread = {round(i * (len(below) - 1) / max(1, most - 1)) for i in range(most)} if below else set()
            found += [{**smallest, name: below[i]} for i in sorted(spread)]
    for part in (2, 4) if len(varied) > 1 else ():
        for names in (varied, *([one] for one in varied)):
            found.append({**smallest, **{name: max(1, smallest[name] // part) for name in names}})
    known = [dict(values) for values in samples]
    return [values for i, values in enumerate(found) if values not in known and values not in found[:i]]
