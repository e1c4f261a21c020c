"""Cube4: a directory of directories ``app.p4.n100.r1``, each with one profile or several repetitions."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector, Coordinate
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._names import parse_names
from scalegraph.measurements.readers._profiles import collect_profiles

PROFILES = "[!.]*.cubex"


def _recognises(path: Path, _head: bytes) -> bool:
    return any(path.glob(f"*/{PROFILES}"))


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    files = sorted(path.glob(f"*/{PROFILES}"))
    if not files:
        raise InputError(
            Fault("holds no directories with a .cubex file; expected app.p4.n100.r1/profile.cubex", str(path))
        )
    names = parse_names([file.parent.name for file in files], str(path))
    found = Collector(str(path), list(names[0].parameters))
    with_profile = {file.parent for file in files}
    for other in sorted(each for each in path.iterdir() if each not in with_profile):
        found.skip("entries", 1, "not a directory with a .cubex file", str(other))
    order = sorted(range(len(files)), key=lambda index: (*names[index].parameters.values(), names[index].repetition))
    placed: list[tuple[Path, tuple[Coordinate, ...]]] = [
        (files[index], tuple(names[index].parameters.values())) for index in order
    ]
    return collect_profiles(placed, found, path.name, (cancel, progress))


READER = Reader(
    "cube",
    "Cube4 directory",
    (),
    recognises=_recognises,
    read=_read,
    order=20,
    directory=True,
    looks="app.p4.n100.r1/profile.cubex, a directory a run",
)
