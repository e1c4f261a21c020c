"""Combines Cube4 profiles at points of a parameter space into one set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.collecting import Collector, Coordinate
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.names import metric_kind
from scalegraph.measurements.reader import Progress
from scalegraph.measurements.readers._cubex import TIME, Floats, Profile, Values, read_profile
from scalegraph.measurements.readers._waiting import BUSIEST, BUSY, BUSY_WORDS, ELAPSED, is_waiting

LOCATIONS = "locations"  # parameter or metric: number of threads of all processes
_KINDS = {"occ": "count", "#": "count", "sec": "time", "bytes": "bytes"}
NOTE = (
    "Values are exclusive and summed over the locations (threads of all processes); metrics that end in _max and _mean "
    "are of the location that has most and of the average one; 'elapsed' is the longest inclusive time of a location, "
    "'busy' is time outside of communication and synchronisation, 'busiest' the longest of a location."
)


def collect_profiles(
    files: Sequence[tuple[Path, tuple[Coordinate, ...]]],
    found: Collector,
    title: str,
    steps: tuple[CancelToken, Progress],
    *,
    alone: bool = False,
) -> MeasurementSet:
    """Return the set of *files*, each at its coordinates. Without parameters it is one point, by its locations.

    *alone*: other sets may be combined with it, so it gets every metric that they may have.
    """
    cancel, progress = steps
    profiles: list[Profile] = []
    for number, (path, _) in enumerate(files):
        cancel.check()
        profiles.append(read_profile(path))
        progress((number + 1) / len(files))
    several = alone or any(profile.locations > 1 for profile in profiles)
    waiting = alone or (several and any(is_waiting(node.name) for profile in profiles for node in profile.nodes))
    for profile, (path, coordinates) in zip(profiles, files, strict=True):
        point = found.point(coordinates if found.parameters != (LOCATIONS,) else (profile.locations,))
        _add(profile, point, found, several=several, waiting=waiting)
        for metric, reason in profile.left_out:
            found.skip(f"metric {metric}", 1, reason, str(path))
    return found.finish("cube", title, files=[str(path) for path, _ in files], notes=[NOTE] if several else [])


def _add(profile: Profile, point: int, found: Collector, *, several: bool, waiting: bool) -> None:
    places: list[int] = []
    for node in profile.nodes:
        parent = None if node.parent is None else places[node.parent]
        places.append(found.child(parent, node.name, node.file, node.line))
    for values in profile.metrics:
        for name, column, extent, description in _metrics(values, profile.locations, several=several, waiting=waiting):
            kind = _KINDS.get(values.unit.lower()) or metric_kind(values.name, values.unit)
            metric = found.metric(name, values.unit, kind=kind, extent=extent, description=description)
            for index in np.flatnonzero(~np.isnan(column)):
                found.add(point, places[index], metric, (float(column[index]),))
    if several and found.parameters != (LOCATIONS,):
        metric = found.metric(LOCATIONS, kind="count", extent="inclusive", description="threads of all processes")
        found.add(point, places[0], metric, (float(profile.locations),))


def _metrics(values: Values, locations: int, *, several: bool, waiting: bool) -> list[tuple[str, Floats, str, str]]:
    """Return name, values by call path, extent and description of the metrics made from a stored one."""
    made = [(values.name, values.total, values.extent, values.description)]
    if several and values.largest is not None and values.inclusive is not None:
        made.append((f"{values.name}_max", values.largest, "exclusive", "of the location that has most"))
        made.append((f"{values.name}_mean", values.total / locations, "exclusive", "of the average location"))
        if values.name == TIME:
            made.append((ELAPSED, values.inclusive, "inclusive", "longest time of a location"))
    if waiting and values.useful is not None:
        useful = values.useful
        made.append((BUSY, useful.total, "exclusive", BUSY_WORDS))
        made.append((f"{BUSY}_max", useful.largest, "exclusive", "of the location that has most"))
        made.append((BUSIEST, useful.inclusive, "inclusive", "longest time outside of communication of a location"))
    return made
