"""TaLPas: one measurement per line, JSON with ``;`` instead of commas."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from scalegraph.measurements.reader import Reader
from scalegraph.measurements.readers._files import first_line
from scalegraph.measurements.readers._lines import LineFormat, read_lines

_TEXT_OR_SEMICOLON = re.compile(r'"(?:[^"\\]|\\.)*"|;')


def _with_commas(line: str) -> str:
    """Return a line with commas for the semicolons outside strings."""
    return _TEXT_OR_SEMICOLON.sub(lambda match: "," if match[0] == ";" else match[0], line)


FORM = LineFormat("talpas", "parameters", call_path="", metric="", prepare=_with_commas)


_PARAMETERS = re.compile(r'"parameters"\s*:\s*\{')  # a list in Extra-P's documents


def _recognises(_path: Path, head: bytes) -> bool:
    line = first_line(head)
    return line.startswith("{") and _PARAMETERS.search(line) is not None and '"value"' in line


READER = Reader(
    "talpas",
    "TaLPas",
    (".txt",),
    recognises=_recognises,
    read=partial(read_lines, FORM),
    order=25,
    looks='{"parameters":{"p":4};"metric":..;"value":1.5} a line',
)
