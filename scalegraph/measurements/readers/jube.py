"""JUBE's result tables in CSV (``jube result``, style ``csv``): patterns by parameters, a row for each work package."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Coordinate, as_number
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._benchmarks import Measured, as_coordinate, collect_benchmarks
from scalegraph.measurements.readers._files import Checked, first_line, read_text

HOW = "columns of parameters beside those of patterns"
PROGRAM = "program"
_COLUMN = re.compile(r"(?P<name>[^\[\]]+?)\s*(?:\[(?P<unit>[^\[\]]*)\])?")
_STATISTIC = re.compile(r"_(avg|min|max|std|cnt|sum|first|last)$")  # added by JUBE for a pattern found repeatedly
_OWN = "jube_"  # variables of JUBE itself: numbers of the benchmark, the step, the work package
_SEPARATORS = ",;\t|"


def _recognises(_path: Path, head: bytes) -> bool:
    names = re.split(f"[{_SEPARATORS}]", first_line(head).strip())
    return len(names) > 2 and any(name.strip().startswith(_OWN) for name in names)


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    lines = read_text(path).splitlines() or [""]
    names = [column for cell in _cells(lines[0]) if (column := _COLUMN.fullmatch(cell)) is not None]
    if len(names) != len(_cells(lines[0])):
        raise InputError(Fault("expected names of columns, as in nodes,tasks,time[s]", file=str(path), line=1))
    if twice := sorted({name[0] for name in names if [other[0] for other in names].count(name[0]) > 1}):
        raise InputError(Fault(f"column '{twice[0]}' comes twice", file=str(path), line=1))
    measured: dict[tuple[Coordinate, ...], Measured] = {}
    failed = 0
    for number, line in enumerate(lines[1:], 2):
        cancel.check()
        progress(number / len(lines))
        if not line.strip():
            continue
        cells = _cells(line)
        if len(cells) != len(names):
            message = f"expected {len(names)} cells, found {len(cells)}"
            raise InputError(Fault(message, file=str(path), line=number))
        failed += not _add(measured, names, cells, number)
    found = collect_benchmarks(list(measured.values()), Checked(str(path)), HOW)
    if failed:
        found.skip("work packages", failed, "none of their patterns was found", str(path))
    return found.finish("jube", path.stem)


def _cells(line: str) -> list[str]:
    separator = max(_SEPARATORS, key=line.count)
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]


def _is_pattern(column: re.Match[str]) -> bool:
    """Whether a column is measured: it has a unit, or is one of JUBE's statistics."""
    return column["unit"] is not None or _STATISTIC.search(column["name"]) is not None


def _add(
    measured: dict[tuple[Coordinate, ...], Measured], names: list[re.Match[str]], cells: list[str], number: int
) -> bool:
    """Add a work package; equal parameters make it a repetition. Return whether anything was measured."""
    values = {
        name: value
        for name, cell in zip(names, cells, strict=True)
        if _is_pattern(name) and (value := as_number(cell)) is not None
    }
    if not values:
        return False
    parameters = {
        name["name"]: as_coordinate(cell)
        for name, cell in zip(names, cells, strict=True)
        if not _is_pattern(name) and not name["name"].startswith(_OWN)
    }
    each = measured.setdefault(tuple(parameters.values()), Measured(PROGRAM, f"line {number}", parameters, {}))
    for name, value in values.items():
        each.values.setdefault(name["name"], []).append(value)
        each.units[name["name"]] = name["unit"] or ""
    return True


READER = Reader(
    "jube",
    "JUBE result table (CSV)",
    (".csv", ".dat", ".txt"),
    recognises=_recognises,
    read=_read,
    order=45,
    looks="jube_wp_id,nodes,tasks,time[s]: a column jube_.., patterns with units",
)
