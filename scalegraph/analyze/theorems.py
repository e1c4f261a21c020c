"""psi predicted by Theorems 1 and 2 (isospeed.txt III, approach 3), from one-processor runs and the overhead alone."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import scipy

from scalegraph.analyze import matrix as matrices
from scalegraph.analyze.bounds import Anchor
from scalegraph.analyze.isospeed import predicted_psi
from scalegraph.analyze.matrix import Matrix
from scalegraph.analyze.overhead import Overhead, SequentialTime
from scalegraph.base.units import significant

_STEPS = 240
_DOWN, _UP = 1e3, 1e5  # the search range: factors below the least and above the largest work of the one-processor runs


def solved_work(n: int, speed: float, one: SequentialTime, overhead: Overhead) -> float | None:
    """Return the least W' that keeps the unit speed on *n* processors (isospeed.txt eq. 7); ``None`` if there is none.

    Eq. 7 is W' (1/speed - 1/mu(W'/N')) = N' t_o(N', W'), because 1/speed = 1/mu(W/N) + N t_o/W for the initial W.
    *speed* in operations/s per processor. Raises `ValueError` if *overhead* has no value.

    Unit: operations. Source: as named above, with t_o(W') as in Theorem 2.
    """

    def lacking(share: float) -> float:
        """Return by how much N processors with *share* of the work each are slower than *speed*, in s."""
        return one(share) + overhead.at(n, n * share) - share / speed

    steps = np.geomspace(float(one.work[0]) / _DOWN, float(one.work[-1]) * _UP, _STEPS)
    left = [lacking(float(share)) for share in steps]
    for place in range(_STEPS - 1):
        if left[place] > 0 >= left[place + 1]:
            share = scipy.optimize.brentq(
                lacking, steps[place], steps[place + 1], xtol=1e-12 * steps[place], rtol=1e-14
            )
            return n * float(share)
    return None


def predicted(made: Matrix, one: SequentialTime | None, overhead: Overhead | str, theorem: str) -> Matrix:
    """Return psi(N, N') of all pairs of *made* by eq. 5 (Theorem 1) or 9 (Theorem 2), with W' from eq. 7.

    *one* is T_1(w) of one processor; *overhead* t_o, or the reason why it is unknown; *theorem* its name for notes.
    Runs on several processors are used only through the overhead.

    Shape: (counts, counts). Unit: none (ratio). Source: as named above.
    """
    if made.bound != "speed":
        return _empty(made, f"{theorem} holds at a constant speed: choose the metric isospeed")
    if one is None:
        return _empty(made, f"{theorem} needs mu(w): runs of two or more sizes on one processor, with known work")
    if isinstance(overhead, str):
        return _empty(made, overhead)
    anchors = [_anchor(n, made.target, one, overhead, theorem) for n in made.processors]
    again = matrices.from_anchors(anchors, "isospeed", "speed", made.target, work_unit=made.work_unit)
    values, apart = dict(again.values), 0.0
    for low, high in combinations([anchor for anchor in anchors if anchor.known], 2):
        pair = (low.processors, high.processors)
        psi = _psi(low, high, one, overhead)
        if psi is not None:
            apart = max(apart, abs(psi / values[pair] - 1))
            values[pair] = psi
    doubts = overhead.doubts if one.grows else (*overhead.doubts, "mu(w) does not grow with w from run to run")
    notes = (
        f"{theorem}: {overhead.words}; mu(w) from {len(one.work)} runs on one processor.",
        f"The theorem's scalability and N' W/(N W') at its work W' agree to {significant(apart, 1)}.",
        *(f"{doubt[0].upper()}{doubt[1:]}." if not doubt.startswith(("t_", "mu")) else f"{doubt}." for doubt in doubts),
    )
    return replace(again, values=values, notes=notes)


def _empty(made: Matrix, why: str) -> Matrix:
    found = [Anchor(n, reason=why) for n in made.processors]
    return matrices.from_anchors(found, made.metric, made.bound, made.target, work_unit=made.work_unit)


def _anchor(n: int, speed: float, one: SequentialTime, overhead: Overhead, theorem: str) -> Anchor:
    try:
        work = solved_work(n, speed, one, overhead)
    except ValueError as error:
        return Anchor(n, reason=str(error))
    if work is None:
        return Anchor(n, reason=f"the speed is not reached on N = {n} with any work")
    lost = overhead.at(n, work)
    time = one(work / n) + lost
    if not time > 0:
        return Anchor(n, reason=f"the time on {n} processors is not above 0 by the runs on one")
    return Anchor(
        n,
        "predicted",
        work=work,
        latency_s=lost,
        time_s=time,
        unit_speed=speed,
        efficiency=one(work) / (n * time),
        labels=(f"{theorem}, eq. 7",),
    )


def _psi(low: Anchor, high: Anchor, one: SequentialTime, overhead: Overhead) -> float | None:
    """Return psi by eq. 5; ``None`` if nothing is lost on N', where eq. 5 divides by 0."""
    assert low.work is not None
    assert high.work is not None
    share, share2 = low.work / low.processors, high.work / high.processors
    lost, lost2 = (overhead.at(anchor.processors, anchor.work or math.nan) for anchor in (low, high))
    if not (lost2 > 0 and lost >= 0):
        return None
    return predicted_psi(one(share), lost, lost2, one.speed(share), one.speed(share2))
