"""Extra-P's JSON lines: ``{"params": {"p": 4}, "callpath": "main", "metric": "time", "value": [1.5, 1.6]}``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from scalegraph.measurements.collecting import METRIC, ROOT
from scalegraph.measurements.reader import Reader
from scalegraph.measurements.readers._files import first_line
from scalegraph.measurements.readers._lines import LineFormat, read_lines

FORM = LineFormat("extrap-lines", "params", call_path=ROOT, metric=METRIC)


def _recognises(_path: Path, head: bytes) -> bool:
    line = first_line(head)
    # `machine_info` is first in pytest-benchmark's JSON, whose benchmarks have parameters, too
    return line.startswith("{") and '"params"' in line and '"machine_info"' not in line


READER = Reader(
    "extrap-lines",
    "Extra-P JSON lines",
    (".jsonl", ".json"),
    recognises=_recognises,
    read=partial(read_lines, FORM),
    order=25,
    looks='{"params": {"p": 4}, "value": [1.5, 1.6]} a line',
)
