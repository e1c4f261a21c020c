"""Calling-context profiles of sampling tools: lines and instructions are folded into their function or loop."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import Floats
from scalegraph.measurements.names import metric_kind
from scalegraph.measurements.readers._ranks import Locations, collect, place

PROGRAM: Final = "<program>"
_ROUNDING: Final = 1e-9  # relative rounding error allowed in a difference
_UNITS: Final = {"sec": 1.0, "s": 1.0, "msec": 1e-3, "ms": 1e-3, "usec": 1e-6, "us": 1e-6, "nsec": 1e-9, "ns": 1e-9}
_TIME: Final = re.compile(r"(?P<name>REALTIME|CPUTIME|WALLCLOCK)(?: \((?P<unit>\w+)\))?", re.IGNORECASE)


@dataclass
class Contexts:
    """Calling contexts, each after its parent: the parent's row, and a name; unnamed ones are part of the parent.

    The first row is the program.
    """

    parents: list[int] = field(default_factory=lambda: [-1])
    names: list[str] = field(default_factory=lambda: [PROGRAM])

    def add(self, parent: int, name: str) -> int:
        """Return the row of a new context below the row *parent*."""
        self.parents.append(parent)
        self.names.append(name)
        return len(self.names) - 1

    def paths(self) -> tuple[list[tuple[str, ...]], np.ndarray[tuple[int], np.dtype[np.int64]]]:
        """Return the call paths, and the number of each context's path. Shape of the second: (contexts,)."""
        known: dict[tuple[int, str], int] = {}
        paths: list[tuple[str, ...]] = []
        rows = np.zeros(len(self.names), np.int64)
        for row, (parent, name) in enumerate(zip(self.parents, self.names, strict=True)):
            above = int(rows[parent]) if row else -1
            if row and not name:
                rows[row] = above
                continue
            if (above, name) not in known:
                known[above, name] = len(paths)
                paths.append((*paths[above], name) if row else (name,))
            rows[row] = known[above, name]
        return paths, rows


def time_unit(metric: str) -> float | None:
    """Return the seconds per unit of *metric* (``CPUTIME (usec)``), None if it is not a time."""
    found = _TIME.fullmatch(metric.strip())
    return None if found is None else _UNITS.get((found["unit"] or "sec").lower())


def own(inclusive: Floats, parents: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
    """Return the exclusive values of contexts. Shape: (contexts,) each."""
    made = inclusive.copy()
    with np.errstate(invalid="ignore"):  # of damaged files; non-finite values are left out, and counted
        np.subtract.at(made, parents[1:], inclusive[1:])
        made[made < np.abs(inclusive) * _ROUNDING] = 0.0
    return made


class Threads:
    """Values of threads by call path. *columns*: for each thread, exclusive values of its contexts by metric.

    The time metric, preferably wall time rather than processor time, becomes seconds. Threads without it (streams of a
    GPU) are not threads of a processor. Metrics without any value are left out. Shape of each column: (contexts,).
    """

    def __init__(self, contexts: Contexts, columns: Iterable[Mapping[str, Floats]]) -> None:
        self._paths, rows = contexts.paths()
        sums: dict[str, list[Floats]] = {}
        self.count = 0
        for column in columns:
            self.count += 1
            for metric, values in column.items():
                if values.any():
                    sums.setdefault(metric, []).append(np.bincount(rows, values, len(self._paths)).astype(np.float64))
        times = sorted((name for name in sums if time_unit(name)), key=lambda name: not name.upper().startswith("REAL"))
        self._seconds = np.stack(sums.pop(times[0]), axis=1) * (time_unit(times[0]) or 1.0) if times else None
        self.count = self.count if self._seconds is None else self._seconds.shape[1]
        self._sums = {metric: np.sum(held, axis=0) for metric, held in sums.items()}

    def collect(self, found: Collector, point: int) -> None:
        """Add everything to *found* at *point*."""
        if self._seconds is not None:
            ranks = Locations(self.count)
            ranks.seconds.update(zip(self._paths, self._seconds, strict=True))
            collect(found, point, ranks)
        for metric, values in self._sums.items():
            column = found.metric(metric, kind=metric_kind(metric, ""), extent="exclusive")
            for path, value in zip(self._paths, values, strict=True):
                found.add(point, place(found, path), column, (float(value),))
