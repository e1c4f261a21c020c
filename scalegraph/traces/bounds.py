"""Limits of the numbers in a row: references to existing definitions, and times and sizes that can be summed.

A checksum shows that a file is as it was written, not that its content makes sense. So each column that refers to
definitions, or that is summed, is checked when it is first requested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from scalegraph.base.errors import Fault, InputError
from scalegraph.traces.kinds import KINDS, NO_TIME, NOBODY, Array
from scalegraph.traces.model import Definitions, Part, SomeRows, Trace

MOST_TICKS: Final = 2**62  # so that a duration fits into 64 bits
MOST_BYTES: Final = 2**53  # of a message: so that floating-point sums are exact to the byte
MOST_LINES: Final = 2**31 - 1  # of a source file
_SIZES: Final[Mapping[str, tuple[str, ...]]] = {"messages": ("size",), "collectives": ("sent", "received")}


class Limits(NamedTuple):
    """The minimum and maximum of a column; *lacking*: `NO_TIME` is allowed, too."""

    least: int
    most: int
    lacking: bool = False

    def broken(self, values: Array) -> Array:
        """Return which of *values* are outside the limits."""
        outside: Array = (values < self.least) | (values > self.most)
        return outside & (values != NO_TIME) if self.lacking else outside


def references(kind: str, definitions: Definitions) -> dict[str, Limits]:
    """Return the limits of each column of *kind* that refers to definitions."""
    spec = KINDS[kind]
    last = len(definitions.locations) - 1
    found = {name: Limits(0 if name == "location" else NOBODY, last) for name in spec.whose}
    return found | {
        name: Limits(NOBODY, len(getattr(definitions, table)) - 1) for name, table in (spec.refers or {}).items()
    }


def limits(kind: str, definitions: Definitions) -> dict[str, Limits]:
    """Return the limits of each column of *kind* that has any."""
    spec = KINDS[kind]
    found = {name: Limits(-MOST_TICKS, MOST_TICKS, name in spec.lacking) for name in spec.times}
    if kind == "shares":
        found["ticks"] = Limits(-MOST_TICKS, MOST_TICKS)
    found |= {name: Limits(-1, MOST_BYTES) for name in _SIZES.get(kind, ())}
    return found | references(kind, definitions)


class Bounded:
    """Rows of another part, whose columns are checked against their limits when they are first requested."""

    def __init__(self, part: Part, kind: str, within: Mapping[str, Limits], path: Path, row: int) -> None:
        self._part, self._kind, self._within, self._path, self._row = part, kind, within, path, row
        self._sound: set[str] = set()
        self.rows, self.first, self.last = part.rows, part.first, part.last

    def forget(self) -> None:
        """Release memory that can be filled again."""
        self._part.forget()

    def column(self, name: str) -> Array:
        """Return a column, read-only. Raises `InputError` naming the first row outside its limits."""
        values = self._part.column(name)
        if name in self._within and name not in self._sound:
            bad = np.flatnonzero(self._within[name].broken(values))
            if len(bad):
                raise InputError(Fault(self._sentence(name, values, bad), file=str(self._path)))
            self._sound.add(name)
        return values

    def _sentence(self, name: str, values: Array, bad: Array) -> str:
        least, most, _ = self._within[name]
        expected = f"a number from {least} to {most}" if least <= most else "no row, as there is nothing of the kind,"
        return f"{self._kind}: row {self._row + int(bad[0])} has {name} {values[bad[0]]}; {expected} was expected"

    def kept(self) -> tuple[Part, str]:
        """Return the rows whose numbers are all within their limits, and a sentence about the others, if any."""
        keep, said = np.ones(self.rows, bool), ""
        for name, within in self._within.items():
            values = self._part.column(name)
            bad = within.broken(values)
            if bad.any():
                said = said or self._sentence(name, values, np.flatnonzero(bad))
                keep &= ~bad
        return (SomeRows(self._part, keep), said) if said else (self, "")


def bound(trace: Trace, path: Path, *, partial: bool) -> None:
    """Make *trace* check every column against its limits; *path*: the file named in errors.

    With *partial*, rows outside the limits are dropped now, and the damage names the first of each part; an impossible
    line number of a region becomes 0. Otherwise such a line raises `InputError`.
    """
    for number, region in enumerate(trace.definitions.regions):
        if not 0 <= region.line <= MOST_LINES:
            said = f"region '{region.name}' is at line {region.line}; a number from 0 to {MOST_LINES} was expected"
            if not partial:
                raise InputError(Fault(said, file=str(path)))
            trace.meta.damage.append(f"{path}: {said}")
            trace.definitions.regions[number] = replace(region, line=0)
    for kind, parts in trace.parts.items():
        within, row, found = limits(kind, trace.definitions), 0, []
        for part in parts:
            made: Part = Bounded(part, kind, within, path, row)
            if partial:
                made, said = Bounded(part, kind, within, path, row).kept()
                if said:
                    trace.meta.damage.append(f"{path}: {said}")
            found.append(made)
            row += part.rows
        trace.parts[kind] = tuple(found)
