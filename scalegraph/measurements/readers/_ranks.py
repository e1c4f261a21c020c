"""Combines the times of one run's processes, as for Cube profiles: sums, the longest, and useful time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import Floats
from scalegraph.measurements.readers._waiting import BUSIEST, BUSY, BUSY_WORDS, ELAPSED, is_waiting

NOTE = (
    "Values are exclusive and summed over the processes and threads; 'elapsed' is the longest of one, 'busy' is time "
    "outside of communication and synchronisation, 'busiest' the longest of one."
)
Path = tuple[str, ...]  # names from the outermost


@dataclass
class Locations:
    """Exclusive seconds and calls of every call path, shape (locations,), by its names from the outermost."""

    count: int
    seconds: dict[Path, Floats] = field(default_factory=dict)
    calls: dict[Path, Floats] = field(default_factory=dict)

    def add(self, location: int, path: Path, seconds: float, calls: float | None = None) -> None:
        """Add a location's values at a path, creating its ancestors."""
        for depth in range(1, len(path)):
            self.seconds.setdefault(path[:depth], np.zeros(self.count))
        self.seconds.setdefault(path, np.zeros(self.count))[location] += seconds
        if calls is not None:
            self.calls.setdefault(path, np.zeros(self.count))[location] += calls


def collect(found: Collector, point: int, ranks: Locations) -> None:
    """Add the metrics of *ranks* at *point*: time, calls, elapsed, busy and busiest."""
    places = {path: place(found, path) for path in sorted(ranks.seconds, key=len)}
    time = found.metric("time", "s", kind="time", extent="exclusive")
    busy = found.metric(BUSY, "s", kind="time", extent="exclusive", description=BUSY_WORDS)
    most = found.metric(f"{BUSY}_max", "s", kind="time", extent="exclusive", description="of the one that has most")
    useful = {path: values * (not any(map(is_waiting, path))) for path, values in ranks.seconds.items()}
    for path, values in ranks.seconds.items():
        found.add(point, places[path], time, (float(values.sum()),))
        found.add(point, places[path], busy, (float(useful[path].sum()),))
        found.add(point, places[path], most, (float(useful[path].max()),))
    for name, values_of in ((ELAPSED, ranks.seconds), (BUSIEST, useful)):
        column = found.metric(name, "s", kind="time", extent="inclusive", description="longest time of one")
        for path, inside in _inclusive(values_of).items():
            found.add(point, places[path], column, (float(inside.max()),))
    if ranks.calls:
        calls = found.metric("calls", kind="count", extent="exclusive")
        for path, values in ranks.calls.items():
            found.add(point, places[path], calls, (float(values.sum()),))


def _inclusive(seconds: Mapping[Path, Floats]) -> dict[Path, Floats]:
    """Return the inclusive seconds of every path."""
    made = {path: values.copy() for path, values in seconds.items()}
    for path in sorted(seconds, key=len, reverse=True):
        if path[:-1] in made:
            made[path[:-1]] += made[path]
    return made


def place(found: Collector, path: Sequence[str]) -> int:
    """Return the position of the call path *path*, creating its ancestors."""
    position: int | None = None
    for name in path:
        position = found.child(position, name)
    assert position is not None
    return position
