"""Maps values to axis positions, with ticks. Independent of Qt."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalegraph.base.measures import Measure, axis_measure, exact, needs_powers, tick_text
from scalegraph.base.units import thousands
from scalegraph.figures.axis_titles import drawn
from scalegraph.figures.bar_names import every
from scalegraph.figures.figure import Axis

_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Tick:
    """A tick at *place* (drawn coordinate) with its *text*."""

    place: float
    text: str


class Scale:
    """The mapping of one `Axis`. *values* are all values drawn along it."""

    def __init__(self, axis: Axis, values: Iterable[float]) -> None:
        self.axis = axis
        data = np.asarray(list(values), dtype=float)
        self._data = data[np.isfinite(data)]
        self._measure: Measure = axis_measure(self._data.tolist(), axis.unit, logarithmic=self.logarithmic)
        self._powers_of_ten = needs_powers((self._data / self._measure.divisor).tolist(), axis.scale)

    @property
    def logarithmic(self) -> bool:
        """Whether positions are logarithms."""
        return self.axis.scale in ("log2", "log10")

    @property
    def title(self) -> str:
        """The axis title: label, and unit with the ticks' prefix."""
        return "" if self.axis.bare else drawn(self.axis, self._measure.heading(self.axis.label))

    def place(self, values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return drawn coordinates; NaN for values without a logarithm on such an axis."""
        data = np.asarray(values, dtype=float)
        if not self.logarithmic:
            return data
        out = np.full(data.shape, np.nan)
        good = np.isfinite(data) & (data > 0)
        out[good] = np.log2(data[good]) if self.axis.scale == "log2" else np.log10(data[good])
        return out

    def at(self, value: float) -> float:
        """Return the drawn coordinate of one value."""
        return float(self.place([value])[0])

    def value(self, place: float) -> float:
        """Return the value at one drawn coordinate: the inverse of `at`."""
        if not self.logarithmic:
            return place
        return float((2.0 if self.axis.scale == "log2" else 10.0) ** place)

    def text(self, value: float) -> str:
        """Return *value* with its unit, for tooltips."""
        if self.axis.scale == "category":
            index = round(value)
            return self.axis.categories[index] if 0 <= index < len(self.axis.categories) else str(index)
        return exact(value, self.axis.unit)

    def short(self, value: float) -> str:
        """Return *value* as the axis's ticks show it, without the unit, which is in the title."""
        if self.logarithmic:
            return self._label(value)
        return f"{value / self._measure.divisor:.4g}" if self.axis.scale != "category" else self.text(value)

    def extent(self) -> tuple[float, float]:
        """Return the drawn range of all values; never empty."""
        limits = self.axis.limits
        places = self.place(limits) if limits else self.place(self._data)
        places = places[np.isfinite(places)]
        if places.size == 0:
            return (0.0, 1.0)
        low, high = float(places.min()), float(places.max())
        if self.axis.scale == "linear" and not limits and low > 0 and low < 0.5 * high:
            low = 0.0
        if high - low < 1e-12 * max(1.0, abs(high)):
            return (low - 0.5, high + 0.5) if self.axis.scale != "linear" else _around(low)
        return (low, high)

    def ticks(self, low: float, high: float, room: int, first: int = -1) -> list[Tick]:
        """Return at most about *room* ticks between positions *low* and *high*.

        If there are more categories, the one at position *first* is among the named.
        """
        if self.axis.bare:
            return []
        room = max(2, room)
        if self.axis.scale == "category":
            names = self.axis.categories
            inside = sum(1 for i in range(len(names)) if low <= i <= high)
            step = max(1, math.ceil(inside / room))
            return [Tick(float(i), names[i]) for i in every(len(names), step, first) if low <= i <= high]
        if self.axis.ticks:
            given = self._given(low, high, room)
            if len(given) >= 2 or high - low > 1:
                return given
        if self.axis.scale == "log2":
            return self._powers(low, high, room, 2) or self._inside(low, high, room)
        if self.axis.scale == "log10":
            ticks = self._powers(low, high, room, 10)
            return ticks if len(ticks) >= 4 else self._inside(low, high, room)
        return self._linear(low, high, room)

    def _given(self, low: float, high: float, room: int) -> list[Tick]:
        places = self.place(self.axis.ticks)
        inside = [
            (float(p), v)
            for p, v in zip(places, self.axis.ticks, strict=True)
            if low - 1e-9 <= p <= high + 1e-9 and math.isfinite(p)
        ]
        gap = (high - low) / room
        if not self.logarithmic and _are_lanes(self.axis.ticks):
            step = max(1, math.ceil(gap - 1e-9))
            return [Tick(place, self._label(value)) for place, value in inside if value % step == 0]
        kept: list[tuple[float, float]] = []
        # round numbers first: powers of two may displace other values, never the reverse
        for place, value in sorted(inside, key=lambda pair: _roundness(pair[1])):
            if all(abs(place - other) >= gap for other, _ in kept):
                kept.append((place, value))
        return [Tick(place, self._label(value)) for place, value in sorted(kept)]

    def _powers(self, low: float, high: float, room: int, base: int) -> list[Tick]:
        first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
        step = max(1, math.ceil((last - first + 1) / room))
        return [Tick(float(p), self._label(float(base) ** p)) for p in range(first, last + 1) if p % step == 0]

    def _inside(self, low: float, high: float, room: int) -> list[Tick]:
        if self.axis.scale == "log10" and high - low > 0.6:
            return self._one_two_five(low, high, room)
        base = 2.0 if self.axis.scale == "log2" else 10.0
        values = _round_steps(base**low, base**high, room)
        return [Tick(self.at(v), self._label(v)) for v in values if v > 0]

    def _one_two_five(self, low: float, high: float, room: int) -> list[Tick]:
        decades = range(math.floor(low), math.ceil(high) + 1)
        steps = ((1, 2, 5), (1, 3), (1,))
        for factors in steps:
            values = [f * 10.0**p for p in decades for f in factors if low <= math.log10(f) + p <= high]
            if len(values) <= room or factors == steps[-1]:
                break
        return [Tick(math.log10(v), self._label(v)) for v in values]

    def _linear(self, low: float, high: float, room: int) -> list[Tick]:
        divisor = self._measure.divisor
        values = _round_steps(low / divisor, high / divisor, room)
        step = values[1] - values[0] if len(values) > 1 else 1.0
        places = max(0, min(9, -math.floor(math.log10(step) + 1e-9))) if step > 0 else 0
        if any(abs(round(v, places) - v) > 1e-6 * step for v in values):
            places += 1
        return [Tick(v * divisor, thousands(v, places)) for v in values]

    def _label(self, value: float) -> str:
        return tick_text(value / self._measure.divisor, powers=self._powers_of_ten)


def _around(value: float) -> tuple[float, float]:
    if value == 0:
        return (0.0, 1.0)
    return (0.0, 1.25 * value) if value > 0 else (1.25 * value, 0.0)


def _are_lanes(values: Sequence[float]) -> bool:
    """Return whether *values* are 0, 1, 2 .."""
    return all(value == number for number, value in enumerate(values))


def _roundness(value: float) -> tuple[int, float]:
    power = math.log2(value) if value > 0 else 0.5
    exponent = round(power)
    if abs(power - exponent) > 1e-9:
        return (99, value)
    even = 0
    while exponent and exponent % 2 == 0:
        exponent //= 2
        even += 1
    return (0 if exponent == 0 else 8 - even, value)


def _round_steps(low: float, high: float, room: int) -> list[float]:
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [low]
    raw = span / room
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(nice * size for nice in _NICE if nice * size >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]
