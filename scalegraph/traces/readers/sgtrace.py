"""Our own format."""

from __future__ import annotations

from pathlib import Path

from scalegraph.traces.container import MAGIC, SUFFIX, open_container
from scalegraph.traces.formats import Reader, Reading
from scalegraph.traces.model import Trace


def _recognises(path: Path, head: bytes) -> bool:
    return head.startswith(MAGIC) or path.name.endswith(SUFFIX)


def _read(reading: Reading) -> Trace:
    return open_container(reading.path, partial=reading.partial)


READER = Reader("sgtrace", "ScaleGraph trace", (SUFFIX,), _recognises, _read, order=10)
