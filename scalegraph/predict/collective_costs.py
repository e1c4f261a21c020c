"""Costs of collective operations from a run of a program that does nothing else: ``collectives.c`` in this package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scalegraph.base.errors import RunError
from scalegraph.base.run import RunRecord

PROGRAM = Path(__file__).with_name("collectives.c")


@dataclass(frozen=True)
class CollectiveCosts:
    """Seconds of collective operations on one N, by bytes of data: *measured* has (bytes, s) for each operation."""

    measured: Mapping[str, tuple[tuple[int, float], ...]]

    def seconds(self, operation: str, size: float) -> float:
        """Return the seconds of *operation* on *size* bytes, interpolated; 0 for no bytes.

        Raises `KeyError` for an operation that was not measured.
        """
        known = self.measured[operation]
        if size <= 0:
            return 0.0
        return float(np.interp(size, [at for at, _ in known], [cost for _, cost in known]))

    @property
    def largest(self) -> int:
        """The largest size measured, in bytes."""
        return min((known[-1][0] for known in self.measured.values()), default=0)


def collective_costs(run: RunRecord) -> CollectiveCosts:
    """Return the costs printed by *run*; raise `RunError` if it failed."""
    if not run.ok:
        raise RunError(f"the program that measures operations failed on {run.point.label()}: {run.message}")
    found: dict[str, dict[int, float]] = {}
    for line in run.stdout.splitlines():
        operation, size, seconds = line.split()
        found.setdefault(operation, {})[int(size)] = max(0.0, float(seconds))
    if not found:
        raise RunError("the program that measures operations printed nothing")
    return CollectiveCosts({operation: tuple(sorted(known.items())) for operation, known in found.items()})
