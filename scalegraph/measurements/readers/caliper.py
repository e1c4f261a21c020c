"""Caliper: one ``.cali`` file is one point."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._caliper import is_caliper, read_stream
from scalegraph.measurements.readers._calipers import collect_calipers


def _recognises(_path: Path, head: bytes) -> bool:
    return is_caliper(head)


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    profile = read_stream(path, cancel)
    progress(1.0)
    return collect_calipers([profile], str(path), path.stem)


READER = Reader(
    "caliper",
    "Caliper profile",
    (".cali",),
    recognises=_recognises,
    read=_read,
    order=20,
    looks="__rec=.., one point; globals are parameters",
)
