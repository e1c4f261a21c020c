"""Caliper: one ``.cali`` file is one point."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._caliper import is_caliper
from scalegraph.measurements.readers._calipers import read_streams


def _recognises(_path: Path, head: bytes) -> bool:
    return is_caliper(head)


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    return read_streams([path], cancel, progress)


READER = Reader(
    "caliper",
    "Caliper profile",
    (".cali",),
    recognises=_recognises,
    read=_read,
    order=20,
    looks="__rec=.., one point; globals are parameters",
    together=read_streams,
)
