"""Timing of code: what the pipeline model says of the blocks of a program, or of one of its functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from scalegraph.instrument.pipeline import Origins


@dataclass(frozen=True)
class Timing:
    """Timing of blocks, by return address of their probes.

    *cycles*: of each, empty where operations have fixed costs; *predicted*: blocks entered from a branch that may also
    go elsewhere, and the loads that the branch waits for. *loads*: memory references, by return address of their hooks.
    *briefs*: blocks that are loops by themselves. *turns*: cycles that a predicted block takes more, or less, after
    another predicted one, by that one and by itself.
    """

    cycles: dict[int, float]
    predicted: dict[int, Origins]
    loads: dict[int, Load]
    briefs: dict[int, Brief]
    turns: dict[int, Turns]

    def add(self, other: Timing) -> None:
        """Add the timing of other blocks."""
        self.cycles.update(other.cycles)
        self.predicted.update(other.predicted)
        self.loads.update(other.loads)
        self.briefs.update(other.briefs)
        self.turns.update(other.turns)

    def moved(self, by: int) -> Timing:
        """Return the timing of the same code at addresses that are greater *by* this."""
        return Timing(
            {at + by: cycles for at, cycles in self.cycles.items()},
            {at + by: _moved(origins, by) for at, origins in self.predicted.items()},
            {at + by: Load(one.ahead, _moved(one.origins, by), one.recurs) for at, one in self.loads.items()},
            {at + by: one for at, one in self.briefs.items()},
            {at + by: _moved(turns, by) for at, turns in self.turns.items()},
        )

    def numbers(self) -> list[Any]:
        """Return it as lists of numbers, for `of_numbers`."""
        return [
            [*self.cycles.items()],
            [(at, [*origins.items()]) for at, origins in self.predicted.items()],
            [(at, one.ahead, [*one.origins.items()], one.recurs) for at, one in self.loads.items()],
            [(at, one.cycles, one.reach, one.early) for at, one in self.briefs.items()],
            [(at, [*turns.items()]) for at, turns in self.turns.items()],
        ]

    @classmethod
    def of_numbers(cls, numbers: Sequence[Any]) -> Timing:
        """Return the timing whose `numbers` these are."""
        cycles, predicted, loads, briefs, turns = numbers
        return cls(
            dict(cycles),
            {at: dict(origins) for at, origins in predicted},
            {at: Load(ahead, dict(found), recurs) for at, ahead, found, recurs in loads},
            {at: Brief(number, reach, early) for at, number, reach, early in briefs},
            {at: dict(found) for at, found in turns},
        )


def _moved(of: Mapping[int, float], by: int) -> dict[int, float]:
    return {at + by: number for at, number in of.items()}


Turns: TypeAlias = dict[int, float]


@dataclass(frozen=True)
class Brief:
    """An iteration of a loop that ends before the window is full, so that its next visit overlaps with this one.

    *cycles*: of the iteration; *reach*: iterations that fit into the window; *early*: see `pipeline.Round`.
    """

    cycles: float
    reach: int
    early: float


@dataclass(frozen=True)
class Load:
    """A reference: cycles until the window behind it is full, and the loads that its address depends on."""

    ahead: float
    origins: Origins
    recurs: float = 0.0  # see `pipeline.Round`
