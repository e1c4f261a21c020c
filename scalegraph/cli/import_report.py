"""The output of ``scalegraph import``: formats, a preview, and the resulting files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalegraph.base.errors import InputError
from scalegraph.base.measures import percent
from scalegraph.base.units import counted, thousands
from scalegraph.cli.output import echo, print_json, print_rows

if TYPE_CHECKING:
    from scalegraph.measurements.guessing import Guess
    from scalegraph.measurements.model import MeasurementSet
    from scalegraph.measurements.table import TableChoices, TableGuess
    from scalegraph.store import Study

_SHOWN = 8  # columns and rows of a preview on the terminal
_MOST = 1000  # columns of a preview in a document


def show_formats() -> None:
    """Print every readable format."""
    from scalegraph.request.imports import sets as imports

    rows = []
    for reader in imports.formats():
        endings = "a directory" if reader.directory else " ".join(reader.endings)
        rows.append([reader.name, reader.title, endings, reader.looks])
    rows.append(["-", "Table of runs in ScaleGraph's own columns", ".csv", "processors, time_s, param.n, .."])
    rows.append(["-", "Study of ScaleGraph", ".sgstudy", ""])
    print_rows(("format", "what it is", "files", "looks like"), rows, left=(0, 1, 2, 3))


def show_preview(
    sources: Sequence[Path], name: str, choices: TableChoices, answers: dict[str, Any], *, as_json: bool
) -> None:
    """Print how files would be read, the assumed meaning of their names, and what is uncertain; write nothing.

    A table with a bad cell is printed before the `InputError` that names it is raised.
    """
    from scalegraph.measurements import asking
    from scalegraph.measurements.table import guess_table
    from scalegraph.request.imports import sets as imports

    reader = imports.reader_of(sources[0], name)
    choices = imports.with_roles(choices, answers, sources[0], name)
    answers = dict(imports.named(choices, answers, sources[0], name))
    table = guess_table(sources[0], choices) if reader.name == "table" else None
    measured = guess = fault = None
    read_as = asking.assumed(choices, table.questions) if table is not None and table.questions else choices
    if read_as is not None:
        try:
            measured = imports.read_set(sources, name=name, choices=read_as if table else None)
            guess, _ = asking.complete(measured, answers)
        except InputError as error:
            if table is None:
                raise
            fault = error
    if as_json:
        print_json(
            {
                "files": [str(source) for source in sources],
                "format": reader.name,
                "table": None if table is None else _table(table),
                **({} if measured is None else _contents(measured)),
                "mapping": None if guess is None else guess.mapping.model_dump(mode="json"),
                "questions": [asdict(item) | {"said": item.answer} for item in _questions(table, guess)],
                "notes": _notes(measured, guess) if measured else list(table.notes if table else ()),
            }
        )
    else:
        _show_all(reader.title, table, measured, guess)
    if fault is not None:
        raise fault


def _show_all(title: str, table: TableGuess | None, measured: MeasurementSet | None, guess: Guess | None) -> None:
    from scalegraph.measurements.mapping import Unanswered

    echo(f"format: {title}")
    if table is not None:
        _show_table(table)
    if measured is not None and guess is not None:
        _show_set(measured, guess)
    questions = _questions(table, guess)
    for question in questions:
        echo(f"open: {question}{question.reason}")
    if (together := Unanswered(questions, "").together) and questions:
        echo(f"to take every guess: {together}")


def _questions(table: TableGuess | None, guess: Guess | None) -> list[Any]:
    from scalegraph.measurements import asking

    return asking.distinct([*(table.questions if table else ()), *(guess.questions if guess else ())])


def _table(table: TableGuess) -> dict[str, Any]:
    made = asdict(table)
    made["columns"] = made["columns"][:_MOST]
    made["preview"] = [row[:_MOST] for row in made["preview"]]
    return {**made, "form": table.form, "confidence": table.confidence}


def _show_table(table: TableGuess) -> None:
    from scalegraph.measurements.table.layout import DELIMITER_NAMES

    parted = DELIMITER_NAMES.get(table.delimiter, f"'{table.delimiter}'")
    names = f"line {table.header}" if table.header else "no line"
    echo(f"table: {table.form}, {table.encoding}, separated by {parted}, decimal '{table.decimal}', names in {names}")
    rows = []
    for column in table.columns[:_SHOWN]:
        role: str = "region" if column.role == "call_path" else column.role
        if column.at is not None:
            role = f"{table.across} = {column.at}"
        elif column.repetition is not None:
            role = f"{role}, repetition {column.repetition + 1}"
        cells = ", ".join(row[column.index] for row in table.preview[:4] if column.index < len(row))
        rows.append([column.title or column.name, role, column.unit, percent(column.confidence, 0), column.why, cells])
    print_rows(("column", "role", "unit", "sure", "because of", "cells"), rows, left=(0, 1, 2, 4, 5))
    if len(table.columns) > _SHOWN:
        echo(f".. and {len(table.columns) - _SHOWN} more columns")


def _show_set(measured: MeasurementSet, guess: Guess) -> None:
    echo(amount(measured))
    mapping = guess.mapping
    if mapping.processors:
        echo(f"processors: {mapping.processors}")
    if mapping.time:
        unit = f" in {mapping.unit}" if mapping.unit else ""
        total = f" at {'all call paths together' if mapping.total == '*' else mapping.total}" if mapping.total else ""
        echo(f"time: {mapping.time}{unit}{total}{', summed over the processors' if mapping.summed else ''}")
    if mapping.scaling:
        echo(f"scaling: {mapping.scaling}")
    for note in _notes(measured, guess):
        echo(f"note: {note}")
    for skipped in measured.skipped:
        echo(f"skipped: {skipped}")


def _notes(measured: MeasurementSet, guess: Guess | None) -> list[str]:
    return list(
        dict.fromkeys([*measured.notes, *(guess.measured.remarks if guess else ()), *(guess.notes if guess else ())])
    )


def amount(measured: MeasurementSet) -> str:
    """Return the size of a set: ``1,000 values of 2 metrics at 10 points of p, n and 50 call paths``."""
    parameters = f" of {', '.join(measured.parameters)}" if measured.parameters else ""
    return (
        f"{thousands(len(measured.values))} values of {counted(len(measured.metrics), 'metric')} at "
        f"{counted(len(measured.points), 'point')}{parameters} and {counted(len(measured.call_paths), 'call path')}"
    )


def _contents(measured: MeasurementSet) -> dict[str, Any]:
    return {
        "parameters": list(measured.parameters),
        "points": len(measured.points),
        "call_paths": len(measured.call_paths),
        "metrics": [asdict(metric) for metric in measured.metrics],
        "values": len(measured.values),
        "skipped": [asdict(skipped) for skipped in measured.skipped],
    }


def describe(study: Study, target: Path) -> dict[str, Any]:
    """Return what was imported, as a document."""
    from scalegraph.request.imports import sets as imports

    measured, mapping = study.measurements(), study.mapping()
    made: dict[str, Any] = {"study": str(target), "runs": len(study)}
    if measured is not None:
        made |= {"format": measured.format, "files": list(measured.files), **_contents(measured)}
        made["notes"] = imports.notes(study)
        made["mapping"] = None if mapping is None else mapping.model_dump(mode="json")
    return made


def report(study: Study, target: Path) -> None:
    """Print what was imported, what was skipped, and notes."""
    from scalegraph.request.imports import sets as imports

    echo(f"{counted(len(study), 'run')} in {target}")
    measured = study.measurements()
    if measured is None:
        return
    echo(amount(measured))
    for note in imports.notes(study):
        echo(f"note: {note}")
    for skipped in measured.skipped:
        echo(f"skipped: {skipped}")


def no_runs(study: Study) -> None:
    """Print why measurements contain no runs; the command then fails with that."""
    from scalegraph.request.imports import sets as imports

    why = imports.why_no_runs(study)
    for note in why or ["there are no runs: 0 points have both a number of processors and a time"]:
        echo(f"scalegraph: 0 runs: {note}", err=True)
