"""Caliper: a directory of ``.cali`` files, whose globals distinguish the points."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._caliper import read_stream
from scalegraph.measurements.readers._calipers import collect_calipers

FILES = "[!.]*.cali"


def _recognises(path: Path, _head: bytes) -> bool:
    return any(path.glob(FILES))


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    files = sorted(path.glob(FILES))
    if not files:
        raise InputError(Fault("holds no .cali file; expected one for each run", file=str(path)))
    profiles = []
    for number, file in enumerate(files, 1):
        cancel.check()
        profiles.append(read_stream(file, cancel))
        progress(number / len(files))
    return collect_calipers(profiles, str(path), path.name)


READER = Reader(
    "caliper-directory",
    "Caliper directory",
    (),
    recognises=_recognises,
    read=_read,
    order=20,
    directory=True,
    looks="*.cali, a file a run; globals are parameters",
)
