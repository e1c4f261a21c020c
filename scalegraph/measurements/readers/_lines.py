"""Formats with one JSON object per line, each a measurement: JSON lines and TaLPas, which differ in names and comma."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress
from scalegraph.measurements.readers._files import Checked, parse_json, read_text

STEP = 5000
MOST_KNOWN = 200_000

# A line that ends with its value, a plain number: the part before it is the same in all repetitions.
_ENDS_WITH_VALUE = re.compile(r'(.*"value"\s*:\s*)(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*\}\s*')


@dataclass(frozen=True)
class LineFormat:
    """Field names of a line. An empty default means that every line must have the field."""

    reader: str
    parameters: str
    call_path: str
    metric: str
    prepare: Callable[[str], str] = str


def read_lines(form: LineFormat, path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    """Return the set; refuse a line that is not a complete measurement."""
    lines = read_text(path).split("\n")
    found: Collector | None = None
    known: dict[str, tuple[int, int, int]] = {}  # series by the part before the value of a line
    for number, line in enumerate(lines, 1):
        if number % STEP == 0:
            cancel.check()
            progress(number / len(lines))
        if not line or line.isspace():
            continue
        plain = _ENDS_WITH_VALUE.fullmatch(line)
        place = known.get(plain[1]) if plain else None
        if plain and place and found is not None:
            found.add(*place, (float(plain[2]),))
            continue
        check = Checked(str(path), number)
        data = check.mapping(parse_json(form.prepare(line), str(path), number), "")
        if found is None:
            names = check.mapping(check.member(data, form.parameters, ""), form.parameters)
            found = Collector(str(path), list(names))
        place = _take(data, form, found, check)
        if plain and next(reversed(data)) == "value" and len(known) < MOST_KNOWN and not _others(data, form):
            known[plain[1]] = place
    if found is None:
        raise InputError(Fault("is empty; expected one JSON object a line", file=str(path)))
    notes = [
        f"The file names no {what}; it is called '{default}'."
        for what, default, names in (
            ("call path", form.call_path, [each.name for each in found.call_paths]),
            ("metric", form.metric, [each.name for each in found.metrics]),
        )
        if default and names == [default]
    ]
    return found.finish(form.reader, path.stem, notes=notes, complete=True)


def _take(data: dict[str, Any], form: LineFormat, found: Collector, check: Checked) -> tuple[int, int, int]:
    """Add the values of one line; return point, call path and metric."""
    pairs = check.mapping(check.member(data, form.parameters, ""), form.parameters)
    if len(pairs) != len(found.parameters) or not all(name in pairs for name in found.parameters):
        message = f"expected the parameters of the first line ({', '.join(found.parameters)}), found "
        check.refuse(form.parameters, message + (", ".join(pairs) or "none"))
    names = [check.text(data[name] if name in data else _default(name, form, check), name) for name in _NAMED]
    values = check.numbers(check.member(data, "value", ""), "value")
    point = found.point(tuple(check.coordinate(pairs[name], form.parameters) for name in found.parameters))
    place = point, found.call_path(names[0]), found.metric(names[1])
    found.add(*place, values)
    for other in _others(data, form):
        found.skip("entries", 1, f"'{other[:40]}' is not part of the format", f"{check.file}:{check.line}")
    return place


def _others(data: dict[str, Any], form: LineFormat) -> list[str]:
    return [name for name in data if name not in _NAMED and name not in (form.parameters, "value")]


_NAMED = ("callpath", "metric")


def _default(name: str, form: LineFormat, check: Checked) -> str:
    default = form.call_path if name == "callpath" else form.metric
    if not default:
        check.refuse("", f"'{name}' is missing; expected it in every line")
    return default
