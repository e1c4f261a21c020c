"""The sizes of a problem as one line: base parameters, and how they grow; a point on it is the *knob* k.

k = 1 is the base size (times the growth factors at N = 1), k = 8 the size grown for 8 processors; in between and below,
k is any positive number. Growth under a bound moves along this line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from scalegraph.base.expression import Expression
from scalegraph.base.run import Value
from scalegraph.request.model.programs import Parameter

SMALLEST = 2.0**-40
LARGEST = 2.0**40
_LARGEST_INTEGER = 2**31 - 1  # the limit for C programs, most of which use atoi
_STEPS = 64  # of a bisection in log k: 80 octaves to the last bit of a double


@dataclass(frozen=True)
class Family:
    """Sizes that differ in the growing parameters. *grow*: factors over N for the *base* values; the rest is fixed."""

    base: Mapping[str, Value]
    grow: Mapping[str, Expression] = field(default_factory=dict)
    described: Mapping[str, Parameter] = field(default_factory=dict)
    work_formula: Expression | None = None
    memory_formula: Expression | None = None

    @property
    def grows(self) -> bool:
        """Whether there is more than one size."""
        return bool(self.grow)

    def at(self, knob: float) -> dict[str, Value]:
        """Return the parameters at *knob*, rounded where they are whole numbers, and within their limits."""
        values = dict(self.base)
        for name in self.grow:
            low, high = self._limits(name)
            raw = min(max(self._raw(name, knob), low), high)
            values[name] = round(raw) if isinstance(self.base[name], int) else float(f"{raw:.12g}")
        return values

    def key(self, knob: float) -> tuple[tuple[str, Value], ...]:
        """Return a hashable key of the size at *knob*: equal for knobs that round to the same parameters."""
        return tuple(sorted(self.at(knob).items()))

    def work(self, knob: float) -> float:
        """Return a number proportional to the operations at *knob*; an estimate for steps and times only."""
        return self.work_of(self._smooth(knob))

    def work_of(self, parameters: Mapping[str, Value]) -> float:
        """Return the same for given *parameters*."""
        if self.work_formula is not None:
            try:
                return max(self.work_formula(_numeric(parameters)), 1e-30)
            except ValueError:
                pass
        product = 1.0  # unknown work is assumed linear in everything that grows
        for name in self.grow:
            product *= max(float(parameters[name]) / max(abs(float(self.base[name])), 1e-30), 1e-30)
        return product

    def memory_of(self, parameters: Mapping[str, Value]) -> float | None:
        """Return the bytes that the program allocates with *parameters* (M of scale-graph.txt eq. 14), if known."""
        if self.memory_formula is None:
            return None
        try:
            return self.memory_formula(_numeric(parameters))
        except ValueError:
            return None

    def memory_grows(self) -> bool:
        """Whether the memory changes along the line."""
        if self.memory_formula is None or not self.grow:
            return False
        return bool(self.memory_formula.names & set(self.grow))

    @cached_property
    def lowest(self) -> float:
        """The smallest knob with no growing parameter below its minimum."""
        return self._edge(lambda knob: all(self._raw(n, knob) >= self._limits(n)[0] for n in self.grow), rising=True)

    @cached_property
    def highest(self) -> float:
        """The largest knob with no growing parameter above its maximum."""
        return self._edge(lambda knob: all(self._raw(n, knob) <= self._limits(n)[1] for n in self.grow), rising=False)

    def knob_for_work(self, work: float) -> float:
        """Return the knob with that `work`, within `lowest` and `highest`."""
        return self._solve(self.work, work)

    def knob_for_memory(self, memory: float) -> float:
        """Return the knob at which the program allocates *memory* bytes (scale-graph.txt eq. 14), within the limits."""
        return self._solve(lambda knob: self.memory_of(self._smooth(knob)) or 0.0, memory)

    def knob_of(self, parameters: Mapping[str, Value]) -> float | None:
        """Return a knob that gives exactly *parameters*, or None if they are not on the line."""
        if set(parameters) != set(self.base) or any(
            parameters[name] != value for name, value in self.base.items() if name not in self.grow
        ):
            return None
        if not self.grow:
            return 1.0
        name = next(iter(self.grow))
        wanted = parameters[name]
        if isinstance(wanted, str):
            return None
        middle = self._solve(lambda knob: self._raw(name, knob), float(wanted))
        # another parameter may round differently within the span of this value, so its ends are checked, too
        spans = [self._solve(lambda knob: self._raw(name, knob), float(wanted) + off) for off in (-0.49, 0.49)]
        for knob in (middle, *(math.sqrt(middle * end) for end in spans), *spans):
            if self.at(knob) == dict(parameters):
                return knob
        return None

    def _limits(self, name: str) -> tuple[float, float]:
        whole = isinstance(self.base[name], int)
        low, high = (1.0, float(_LARGEST_INTEGER)) if whole else (-math.inf, math.inf)
        if name in self.described:
            known = self.described[name]
            low = known.minimum if known.minimum is not None else low
            high = known.maximum if known.maximum is not None else high
        return low, high

    def _raw(self, name: str, knob: float) -> float:
        """Return the unrounded value; a formula undefined at *knob* (log2 below 0) counts as below the line."""
        try:
            return float(self.base[name]) * self.grow[name]({"N": knob})
        except ValueError:
            return -math.inf if knob < 1 else math.inf

    def _smooth(self, knob: float) -> dict[str, Value]:
        values = dict(self.base)
        for name in self.grow:
            low, high = self._limits(name)
            values[name] = min(max(self._raw(name, knob), low), high)
        return values

    def _edge(self, inside: Callable[[float], bool], *, rising: bool) -> float:
        outer = SMALLEST if rising else LARGEST
        if not self.grow or inside(outer):
            return outer if self.grow else 1.0
        far, near = math.log2(outer), math.log2(LARGEST if rising else SMALLEST)
        if not inside(2.0**near):
            return 1.0
        for _ in range(_STEPS):
            middle = (far + near) / 2
            far, near = (far, middle) if inside(2.0**middle) else (middle, near)
        return float(2.0**near)

    def _solve(self, function: Callable[[float], float], target: float) -> float:
        """Return the knob within the limits at which the increasing *function* reaches *target*."""
        low, high = math.log2(self.lowest), math.log2(self.highest)
        if high <= low or function(2.0**low) >= target:
            return self.lowest
        if function(2.0**high) <= target:
            return self.highest
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if function(2.0**middle) < target else (low, middle)
        return float(2.0**high)


def _numeric(parameters: Mapping[str, Value]) -> dict[str, float]:
    return {name: float(value) for name, value in parameters.items() if not isinstance(value, str)}
