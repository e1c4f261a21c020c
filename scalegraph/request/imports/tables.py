"""Tables of runs as CSV in ScaleGraph's own columns, read back as a study."""

from __future__ import annotations

import csv
import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scalegraph.base import toml
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.run import RunPoint, RunRecord, Value
from scalegraph.runtime.format import CATEGORY_GROUPS
from scalegraph.store import Manifest, Study

_NEEDED = ("processors", "time_s")
_TEXTS = ("program", "machine", "status")
_NUMBERS: dict[str, type[int | float]] = {
    "time_s": float,
    "time_cycles": int,
    "clock_hz": float,
    "work_ops": int,
    "work_flops": int,
    "busy_s": float,
    "memory_stall_s": float,
    "idle_s": float,
    "primitive_s": float,
    "references": int,
    "misses": int,
    "invalidations": int,
    "host_s": float,
}
_CATEGORY = "leaf."
MEMORY = "memory_bytes"  # of the program with the run's parameters; kept as a fact of the study
SERIAL = "serial_s"  # time of the serial program for the run's problem, as opposed to the run on one processor
_FACTS = (MEMORY, SERIAL)
_PREFIXES = {"param.": "parameters", _CATEGORY: "categories", "count.": "counters"}
_KNOWN = (*_NEEDED, *_TEXTS, *_NUMBERS, "repetition", "key", "source", *_FACTS)
_MOST_ROWS = 100_000


def are_runs(path: Path) -> bool:
    """Return whether the columns of the CSV *path* are those of `RunRecord.row`, apart from slips in their names."""
    try:
        with path.open("rb") as file:
            line = file.readline(100_000).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return False  # the reader of tables reports the fault
    columns = next(csv.reader(line.splitlines()[:1]), [])
    return all(name in columns for name in _NEEDED) and all(
        name in _KNOWN or name.startswith(tuple(_PREFIXES)) or bool(difflib.get_close_matches(name, _KNOWN, 1, 0.8))
        for name in columns
    )


def read_runs(path: Path) -> Study:
    """Return the runs of the CSV file *path* as a study in memory; their source is ``imported``.

    Columns: ``processors`` and ``time_s`` (s), and any others of `RunRecord.row` (``param.NAME`` for the program's
    parameters). Raises `InputError` with every fault and its line.
    """
    text = toml.read_text(path)
    rows = csv.DictReader(text.splitlines())
    columns = list(rows.fieldnames or ())
    faults = _column_faults(columns, str(path))
    if faults:
        raise InputError(faults)
    records: dict[str, RunRecord] = {}
    facts: dict[str, dict[str, float]] = {name: {} for name in _FACTS}
    for row in rows:
        if len(records) >= _MOST_ROWS:
            raise InputError(Fault(f"has more than {_MOST_ROWS} rows", file=str(path)))
        record, wrong = _record(row, path, rows.line_num)
        faults += wrong
        if record is None:
            continue
        while record.point.key in records:  # the same point again: a repetition that the table does not number
            point = record.point.model_copy(update={"repetition": record.point.repetition + 1})
            record = record.model_copy(update={"point": point})
        records[record.point.key] = record
        _add_facts(facts, row, record.point.key)
    if not records and not faults:
        faults.append(Fault("holds no run; a row for each run was expected", file=str(path), line=2))
    faults += _mixed(records.values(), str(path))
    if faults:
        raise InputError(faults)
    first = next(iter(records.values()))
    study = Study.memory(Manifest.new(title=path.stem, program=first.program, machine=first.machine))
    for record in records.values():
        study.add_run(record)
    for name, values in facts.items():
        if values:
            study.set_facts(name, values)
    return study


def _add_facts(facts: dict[str, dict[str, float]], row: Mapping[str, Any], key: str) -> None:
    """Add the facts in a row that are not part of the record."""
    for name, values in facts.items():
        if (row.get(name) or "").strip():
            values[key] = float(str(row[name]))


def _column_faults(columns: list[str], file: str) -> list[Fault]:
    if not columns:
        return [Fault("is empty; a line with the names of the columns was expected", file=file, line=1)]
    faults = [
        Fault(f"has no column '{name}'{near(name, columns)}", file=file, line=1)
        for name in _NEEDED
        if name not in columns
    ]
    for name in columns:
        if name not in _KNOWN and not name.startswith(tuple(_PREFIXES)):
            expected = near(name, _KNOWN) or "; parameters of the program are called param.NAME"
            faults.append(Fault(f"unknown column '{name}'{expected}", file=file, line=1))
        elif name.startswith(_CATEGORY) and name.removeprefix(_CATEGORY) not in CATEGORY_GROUPS:
            hint = near(name.removeprefix(_CATEGORY), CATEGORY_GROUPS)
            faults.append(Fault(f"unknown category of the accounts in column '{name}'{hint}", file=file, line=1))
    return faults


def _mixed(records: Iterable[RunRecord], file: str) -> Iterable[Fault]:
    """Yield a fault if there are runs of several programs or machines: a study compares runs of one."""
    for column, found in (
        ("program", sorted({record.program for record in records})),
        ("machine", sorted({record.machine for record in records})),
    ):
        if len(found) > 1:
            listed = ", ".join(found[:5]) + (", .." if len(found) > 5 else "")
            yield Fault(f"holds runs of several {column}s ({listed}); one was expected", file=file, key=column)


def _record(row: Mapping[str, str | None], path: Path, line: int) -> tuple[RunRecord | None, list[Fault]]:
    values: dict[str, Any] = {"source": "imported", "program": path.stem, "machine": "unknown"}
    groups: dict[str, dict[str, Any]] = {name: {} for name in _PREFIXES.values()}
    point: dict[str, Any] = {}
    faults: list[Fault] = []
    if None in row or any(cell is None for cell in row.values()):
        return None, [Fault(f"does not have {len(row) - (None in row)} fields", file=str(path), line=line)]
    for name, cell in row.items():
        text = (cell or "").strip()
        prefix = next((prefix for prefix in _PREFIXES if name.startswith(prefix)), "")
        try:
            if not text:
                continue
            if prefix:
                kept = _value(text) if prefix == "param." else _number(text, int)
                groups[_PREFIXES[prefix]][name.removeprefix(prefix)] = kept
            elif name in ("processors", "repetition"):
                point[name] = _number(text, int)
            elif name in _NUMBERS:
                values[name] = _number(text, _NUMBERS[name])
            elif name in _FACTS:
                _number(text, float)
            elif name in _TEXTS:
                values[name] = text
        except ValueError as error:
            faults.append(Fault(str(error), file=str(path), line=line, key=name))
    if faults:
        return None, faults
    try:
        made = RunPoint(**point, parameters=groups["parameters"])
        return RunRecord(**values, point=made, categories=groups["categories"], counters=groups["counters"]), []
    except ValidationError as error:
        return None, [replace(fault, line=line) for fault in toml.faults_of(error, RunRecord, str(path), {})]


def _number(text: str, kind: type[int | float]) -> int | float:
    """Return a number of at least 0; whole ones may be written as ``12.0``, as pandas does."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0 or (kind is int and number != int(number)):
        expected = "a whole number" if kind is int else "a number"
        raise ValueError(f"{expected} of 0 or more was expected, got '{text[:40]}'")
    if kind is float:
        return number
    return int(text) if text.isdigit() else int(number)


def _value(text: str) -> Value:
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if -(2**63) <= number < 2**63 if kind is int else math.isfinite(number):
            return number
    return text
