"""Caliper: a directory of ``.cali`` files, possibly nested, whose globals distinguish the points."""

from __future__ import annotations

import os
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._calipers import read_streams

_LOOKED_AT = 2000  # directories searched for the first file


def _recognises(path: Path, _head: bytes) -> bool:
    for number, (_at, below, files) in enumerate(os.walk(path)):
        if any(name.endswith(".cali") and name[0] != "." for name in files):
            return True
        below[:] = sorted(name for name in below if name[0] != ".")
        if number >= _LOOKED_AT:
            break
    return False


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    return read_streams([path], cancel, progress)


READER = Reader(
    "caliper-directory",
    "Caliper directory",
    (),
    recognises=_recognises,
    read=_read,
    order=20,
    directory=True,
    looks="*.cali, a file a run, also in directories below; globals are parameters",
    together=read_streams,
)
