"""Search for the size at which a measured quantity takes a wanted value (latency-metric.txt Fig. 11).

Pure: measurements go in, and the next size to measure comes out. The size is x = log2 W (W estimated, in any unit),
since efficiency and time are smooth in log W; but measurements are noisy and stepped: sizes are whole numbers, caches
overflow. So a bracket is kept, and halved if interpolation does not converge. Of several sizes that reach the goal the
smallest is wanted (definition 5 of scale-graph.txt asks how far the size must be increased; on a plateau near the goal
larger ones mean nothing), so a size that meets it is accepted only if a smaller one is known to stay below. The search
always ends, with a sentence that says why.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Why: TypeAlias = Literal["found", "too_low", "too_high", "no_size_between", "tries", "failed", "flat"]

_STEP = 3.0  # octaves of work per step without a bracket: 8 times the work
_FIRST_SLOPE = 0.7  # slope until two sizes are known: ln 2, as for work W with a constant overhead
_PROBE = 1.5  # octaves below a size that meets the goal, to check that smaller ones do not
_CUT_OFF = 30.0  # octaves: if extrapolation points farther than this, the quantity does not change


@dataclass(frozen=True)
class Goal:
    """The goal: *kind* of quantity, its *target*, and the relative *tolerance*."""

    kind: Literal["efficiency", "time", "speed"]
    target: float
    tolerance: float

    def distance(self, value: float) -> float:
        """Return the signed distance on a scale on which the quantity is nearly linear in log W.

        logit for an efficiency (E = 1/(1 + N L / T_seq): exactly linear with constant overhead), the logarithm for a
        time or a speed.
        """
        if self.kind == "efficiency":
            value = min(max(value, 1e-9), 1 - 1e-9)
            return math.log(value / (1 - value)) - math.log(self.target / (1 - self.target))
        return math.log(max(value, 1e-300) / self.target)

    def met(self, value: float) -> bool:
        """Whether *value* is within the tolerance."""
        return abs(value / self.target - 1) <= self.tolerance


@dataclass(frozen=True)
class Tried:
    """One measured size; *value* is None if its run failed."""

    x: float
    value: float | None


@dataclass(frozen=True)
class Found:
    """How a search ended: *best*: the nearest size measured, whether or not within the tolerance."""

    why: Why
    best: Tried | None
    tries: int
    sentence: str

    @property
    def met(self) -> bool:
        """Whether the goal was reached."""
        return self.why == "found"


class Search:
    """The state of one search, for one processor count.

    *size*: key of the whole-number size at x (equal keys are the same run); *lower* and *upper*: the ends of the line;
    *start*: where to begin without any measurement; *max_tries*: largest number of sizes requested.
    """

    def __init__(
        self,
        goal: Goal,
        size: Callable[[float], Hashable],
        limits: tuple[float, float],
        start: float,
        max_tries: int,
    ) -> None:
        self._goal = goal
        self._size = size
        self._lower, self._upper = self._limits = limits
        self._largest = "the largest size"
        self._start = min(max(start, self._lower), self._upper)
        self._max_tries = max_tries
        self._tried: dict[Hashable, Tried] = {}
        self._asked: set[Hashable] = set()
        self.result: Found | None = None

    def limit(self, x: float, largest: str) -> None:
        """Try nothing above *x* from now on; *largest*: description of the largest size."""
        self._upper = min(max(x, self._lower), self._limits[1])
        self._largest = largest if self._upper < self._limits[1] else "the largest size"

    def observe(self, x: float, value: float | None) -> None:
        """Record a measurement at *x*, requested or not; None if the run failed."""
        if value is not None and not (math.isfinite(value) and value > 0):
            value = None
        self._tried[self._size(x)] = Tried(x, value)

    def next(self) -> float | None:
        """Return the x to measure next, or None if the search is over (`result` says how)."""
        if self.result is not None:
            return None
        wanted = self._step()
        if wanted is None:
            return None
        if self._size(wanted) not in self._asked and len(self._asked) >= self._max_tries:
            if self._met() is not None:
                return self._end("found", "smaller sizes may reach it too")
            return self._end("tries", f"not near enough after {self._max_tries} sizes")
        self._asked.add(self._size(wanted))
        return wanted

    @property
    def tries(self) -> int:
        """Number of sizes requested."""
        return len(self._asked)

    def _step(self) -> float | None:
        good = sorted((t for t in self._tried.values() if t.value is not None), key=lambda tried: tried.x)
        if not good:
            return self._begin()
        points = [(tried.x, self._goal.distance(tried.value or 0.0)) for tried in good]
        pairs = [(a, b) for a, b in itertools.pairwise(points) if a[1] < 0 <= b[1]]
        met = self._met()
        if met is not None and not (pairs and pairs[0][1][0] < met.x):  # otherwise the goal is passed at a smaller size
            below = any(y < 0 and x < met.x for x, y in points)
            if below or self._goal.kind == "time" or self._size(self._lower) in self._tried:
                return self._end("found", "")  # a time increases with size, so no smaller one can meet it
            return self._down(points, _PROBE)
        if pairs:
            return self._inside(*pairs[0])
        if points[-1][1] < 0:
            return self._up(points)
        return self._down(points)

    def _met(self) -> Tried | None:
        """Return the smallest size within the tolerance; `analyze.bounds` uses the same one."""
        met = [tried for tried in self._tried.values() if tried.value is not None and self._goal.met(tried.value)]
        return min(met, key=lambda tried: tried.x, default=None)

    def _far(self, tried: Tried) -> float:
        return abs(self._goal.distance(tried.value or 0.0))

    def _begin(self) -> float | None:
        """Return the start; if runs fail there, a smaller size."""
        x = self._start
        while self._size(x) in self._tried:
            x -= _STEP
            if x < self._lower:
                return self._end("failed", "no size could be run")
        return x

    def _inside(self, low: tuple[float, float], high: tuple[float, float]) -> float | None:
        """Return a size between two on either side; halve if interpolation does not shrink the bracket.

        This depends on the sizes tried, not on their order: a resumed search continues like the first.
        """
        width = high[0] - low[0]
        known = [tried.x for tried in self._tried.values() if tried.value is not None]
        gaps = [low[0] - x for x in known if x < low[0]] + [x - high[0] for x in known if x > high[0]]
        slow = min(gaps, default=math.inf) < width / 2  # an end moved by less than half of what is left
        share = 0.5 if slow else -low[1] / (high[1] - low[1])
        # a distant end says little about the crossing; keep away from the ends themselves
        share = min(max(share, 0.08), 0.92)
        x = self._distinct(low[0], high[0], low[0] + share * width)
        if x is None:
            return self._end("no_size_between", "sizes are whole numbers, and there is none in between")
        return x

    def _distinct(self, low: float, high: float, x: float) -> float | None:
        """Return x, or the nearest point, by halving, with a size that differs from both ends' and was not tried."""
        ends = (self._size(low), self._size(high))
        for _ in range(60):
            here = self._size(x)
            if here not in ends and here not in self._tried:
                return x
            if here == ends[0]:
                low = x
            elif here == ends[1]:
                high = x
            else:  # failed there: search below
                high = x
            x = (low + high) / 2
        return None

    def _up(self, points: list[tuple[float, float]]) -> float | None:
        """Return a larger size: everything so far is below the goal."""
        x, y = points[-1]
        failed = [t.x for t in self._tried.values() if t.value is None and t.x > x]
        upper = min([self._upper, *failed])
        slope = _slope(points)
        wide = len(points) >= 3 and points[-1][0] - points[0][0] >= 2 * _STEP
        if self._goal.kind != "time" and wide and slope is not None and slope * _CUT_OFF < -y:
            return self._end("flat", f"it hardly rises with the size: {self._range(points)}")
        step = min(max(-y / (slope or _FIRST_SLOPE) * 1.05, 0.25), _STEP) if slope is None or slope > 0 else _STEP
        if failed:
            found = self._distinct(x, upper, min(x + step, (x + upper) / 2))
            return self._end("failed", "larger sizes could not be run") if found is None else found
        if self._size(upper) in self._tried:
            return self._end("too_low", f"even {self._largest} stays below: {self._range(points)}")
        step_to = min(x + step, upper)
        while self._size(step_to) in self._tried and step_to < upper:
            step_to = min(step_to + step, upper)
        return step_to

    def _down(self, points: list[tuple[float, float]], least: float = 0.25) -> float | None:
        """Return a smaller size, *least* octaves smaller: everything so far is above the goal, or on it."""
        x, y = points[0]
        slope = _slope(points[:3])
        step = min(max(y / (slope or _FIRST_SLOPE) * 1.05, least), _STEP) if slope is None or slope > 0 else _STEP
        if self._size(self._lower) in self._tried:
            return self._end("too_high", f"even the smallest size is above: {self._range(points)}")
        step_to = max(x - step, self._lower)
        while self._size(step_to) in self._tried and step_to > self._lower:
            step_to = max(step_to - step, self._lower)
        return step_to

    def _range(self, points: list[tuple[float, float]]) -> str:
        values = [t.value for t in self._tried.values() if t.value is not None]
        octaves = points[-1][0] - points[0][0]
        if len(values) == 1:
            return f"{values[0]:.3g}"
        return f"{min(values):.3g} to {max(values):.3g} while the work grew {2**octaves:.3g} times"

    def _best(self) -> Tried | None:
        good = [tried for tried in self._tried.values() if tried.value is not None]
        return min(good, key=self._far, default=None)

    def _end(self, why: Why, sentence: str) -> float | None:
        best = self._met() if why == "found" else self._best()
        self.result = Found(why, best, len(self._asked), sentence)
        return None


def _slope(points: list[tuple[float, float]]) -> float | None:
    """Return the slope over the last sizes (at most three): two neighbours alone are too noisy."""
    recent = points[-3:]
    if len(recent) < 2 or recent[-1][0] - recent[0][0] < 1e-6:
        return None
    return (recent[-1][1] - recent[0][1]) / (recent[-1][0] - recent[0][0])
