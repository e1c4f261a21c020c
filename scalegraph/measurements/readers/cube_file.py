"""Cube4: one profile as one point, with the parameters in the name of its directory."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError
from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._cubex import is_cubex
from scalegraph.measurements.readers._names import parse_names
from scalegraph.measurements.readers._profiles import LOCATIONS, collect_profiles


def _recognises(_path: Path, head: bytes) -> bool:
    return is_cubex(head)


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    directory = path.absolute().parent
    try:
        parameters = parse_names([directory.name], str(directory.parent))[0].parameters
    except InputError:
        parameters = {}
    found = Collector(str(path), list(parameters) or [LOCATIONS])
    return collect_profiles([(path, tuple(parameters.values()))], found, path.stem, (cancel, progress), alone=True)


READER = Reader(
    "cube-file",
    "Cube4 profile",
    (".cubex",),
    recognises=_recognises,
    read=_read,
    order=20,
    looks="profile.cubex of Score-P or Scalasca, one point",
)
