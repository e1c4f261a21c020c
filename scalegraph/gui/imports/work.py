"""Reads measurements for the import page, without Qt: what was found, open questions, resulting runs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import counted
from scalegraph.figures.figure import Column, Table
from scalegraph.gui.imports import preview
from scalegraph.gui.imports.state import (
    NONE,
    ImportState,
    choices,
    fault_places,
    meaning,
    without_options,
    words_of,
)
from scalegraph.measurements import asking, guessing
from scalegraph.measurements.mapping import Mapping as Meaning
from scalegraph.measurements.mapping import Question
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import readers
from scalegraph.measurements.runs import make_runs, serial_times
from scalegraph.measurements.table import TableChoices, TableGuess, guess_table, idle
from scalegraph.request.imports import sets as imports
from scalegraph.request.imports import tables
from scalegraph.store import Study

Share = Callable[[float], None]
_NOTHING = Table((Column(""),), ())
_TABLE = "table"  # the reader whose guesses can be changed
_SINGLE = frozenset({"cube", "cube-file", "gprof", "likwid", "mpip", "program-output"})  # one file per run
_READING = 0.85  # fraction of the work that is reading; the rest is making runs


@dataclass
class Source:
    """Files that make one set, or *study*: the study whose set it is. What was read is cached."""

    paths: tuple[Path, ...]
    study: Path | None = None
    known: MeasurementSet | None = None
    runs: Study | None = field(default=None, repr=False)  # of a table of runs in our own columns
    _read: tuple[str, MeasurementSet] | None = field(default=None, repr=False)

    @property
    def path(self) -> Path:
        """The first file."""
        return self.paths[0]

    @property
    def title(self) -> str:
        """Short name for display."""
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return (self.study or self.path).name + more

    def read(self, chosen: TableChoices, token: CancelToken, share: Share) -> MeasurementSet:
        """Return the set; read again only if other table choices are *chosen*."""
        if self.known is not None:
            return self.known
        key = chosen.model_dump_json()
        if self._read is None or self._read[0] != key:
            made = imports.read_set(self.paths, choices=chosen if self.is_table else None, cancel=token, progress=share)
            self._read = (key, made)
        return self._read[1]

    @property
    def is_table(self) -> bool:
        """Whether it is read as a table, whose guesses can be changed."""
        return self.known is None and not imports.are_logs(self.paths) and imports.reader_of(self.path).name == _TABLE


def sources(paths: Sequence[Path]) -> list[Source]:
    """Return *paths* as sources: single-run files make one set, and so do tables with the same columns.

    Every other file is a source of its own.
    """
    profiles: dict[tuple[str, ...], list[Path]] = {}
    made: list[Source] = []
    if imports.are_logs(paths):
        return [Source(tuple(paths))]
    for path in paths:
        name = _reader_of(path)
        if name in _SINGLE or (name and readers()[name].together is not None):
            profiles.setdefault((name,), []).append(path)
        elif name == _TABLE and len(paths) > 1 and not imports.is_run_table(path) and (titles := _titles(path)):
            profiles.setdefault((name, *titles), []).append(path)
        else:
            made.append(Source((path,)))
    return [*made, *(Source(tuple(mine)) for mine in profiles.values())]


def _titles(path: Path) -> tuple[str, ...]:
    """Return a table's column names, none if it cannot be read."""
    try:
        return tuple(column.title for column in guess_table(path).columns)
    except InputError:
        return ()


def _reader_of(path: Path) -> str:
    """Return the name of a file's reader; "" for a directory, or for a file that reading will refuse."""
    try:
        return "" if path.is_dir() else imports.reader_of(path).name
    except InputError:
        return ""


@dataclass(frozen=True)
class Preview:
    """The result of one preview. *faults* reject the user's input; *questions* must be answered first."""

    words: str
    guess: TableGuess | None = None
    measured: MeasurementSet | None = None
    mapping: Meaning = field(default_factory=Meaning)
    questions: tuple[Question, ...] = ()
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    rows: Table = _NOTHING
    heads: tuple[str, ...] = ()  # the role of each column in the first rows
    runs: Table = _NOTHING
    runs_words: str = ""
    is_runs: bool = False  # a table of runs in our own columns: no questions

    @property
    def ready(self) -> bool:
        """Whether a study can be made."""
        return (self.measured is not None or self.is_runs) and not self.questions and not self.faults

    @cached_property
    def faults_by_field(self) -> dict[str, str]:
        """Errors, and open questions that the panel does not list, by the key of their field."""
        asked = {} if self.listed else {question.key: question.message for question in self.questions}
        return asked | fault_places(self.faults)

    @property
    def listed(self) -> bool:
        """Whether every open question has choices, so that one panel asks all of them."""
        return bool(self.questions) and all(one.choices and one.key != "columns" for one in self.questions)

    @cached_property
    def bad_cells(self) -> dict[tuple[int, int], str]:
        """What is wrong in cells of the first rows, by row and column."""
        lines = {} if self.guess is None else {line: row for row, line in enumerate(self.guess.lines)}
        found = {}
        for fault in self.faults:
            number = re.match(r"column (\d+)", fault.key)
            if number and fault.line in lines:
                found[lines[fault.line], int(number[1]) - 1] = without_options(fault.message)
        return found

    @property
    def open_questions(self) -> list[str]:
        """Sentences shown above the page: errors and questions without a field."""
        table = {"delimiter", "decimal", "header", "names", "across"}
        fields = table | {"processors", "time", "unit", "clock_hz", "total", "extent", "scaling", "sizes", "rate"}
        reported = [
            without_options(str(replace(fault, file=Path(fault.file).name)))
            for fault in self.faults
            if fault.key.lstrip("-") not in fields
        ]
        asked = [] if self.listed else [question.message for question in self.questions if question.key not in fields]
        return [*reported, *(f"{message[:1].upper()}{message[1:]}." for message in asked)]


def preview_of(source: Source, state: ImportState, token: CancelToken, share: Share) -> Preview:
    """Return what *source* contains when read according to *state*; raise `InputError` if that is impossible.

    Open questions about columns are answered with guesses, so that all questions come at once.
    """
    said = choices(state)
    if source.known is None and imports.is_run_table(source.path):
        return _run_table(source)
    guess: TableGuess | None = None
    chosen: TableChoices | None = TableChoices()
    if source.is_table:
        try:
            chosen = imports.with_roles(TableChoices(**said), _answers(state), source.path, "")
            guess = guess_table(source.path, chosen)
        except InputError as error:
            if not said:
                raise
            return Preview(source.title, faults=error.faults)
        if guess.questions:
            chosen = asking.assumed(chosen, guess.questions)
    token.check()
    measured = None
    if chosen is not None:
        try:
            measured = source.read(chosen, token, lambda part: share(_READING * part))
        except InputError as error:
            if guess is None or not (guess.questions or _in_cells(error)):
                raise
            if not guess.questions:  # the user can mark the cell with one click
                words = (
                    f"{source.title} is a table with cells that cannot be read: click one to leave it or its row out."
                )
                guess = preview.with_lines(guess, source.path, [fault.line for fault in error.faults if fault.line])
                rows, heads = preview.rows_of_table(guess), preview.roles_of_table(guess, None)
                return Preview(words, guess, faults=error.faults, notes=guess.notes, rows=rows, heads=heads)
    if guess is not None and measured is None:
        words = f"{source.title} is a table; not all of it is clear."
        return Preview(words, guess, questions=guess.questions, notes=guess.notes, rows=preview.rows_of_table(guess))
    assert measured is not None
    return _meant(source, state, guess, measured, lambda part: share(_READING + (1 - _READING) * part), token)


def _in_cells(error: InputError) -> bool:
    """Return whether all errors concern single cells."""
    return all(fault.line and fault.key.startswith("column ") for fault in error.faults)


def _meant(
    source: Source,
    state: ImportState,
    guess: TableGuess | None,
    measured: MeasurementSet,
    share: Share,
    token: CancelToken,
) -> Preview:
    """Return the meaning of a set's names, open questions, and the runs as far as guesses give them."""
    words = words_of(source.title, measured)
    rows = preview.rows_of_set(measured) if guess is None else preview.rows_of_table(guess)
    notes = (*(guess.notes if guess is not None else ()), *measured.notes)
    try:
        found, likely = asking.complete(measured, _answers(state))
    except InputError as error:
        return Preview(words, guess, measured, faults=error.faults, notes=notes, rows=rows)
    notes = (*notes, *_idle(source, state, guess, found))
    questions = asking.distinct([*(guess.questions if guess is not None else ()), *found.questions])
    shown = likely if questions else found
    reported = tuple(dict.fromkeys((*notes, *shown.measured.remarks, *shown.notes)))
    base = Preview(words, guess, shown.measured, shown.mapping, tuple(questions), notes=reported, rows=rows)
    if guess is not None:
        base = replace(base, heads=preview.roles_of_table(guess, shown.mapping))
    if not questions:
        return _with_runs(base, token, share)
    if not all(one.guess and one.key != "columns" for one in questions) or shown.questions:
        return replace(base, runs_words="Answer the marked questions on the left; the runs then appear here.")
    made = _with_runs(base, token, share)
    return replace(made, runs_words=f"If the guesses are right: {made.runs_words}")


def _idle(source: Source, state: ImportState, guess: TableGuess | None, found: guessing.Guess) -> list[str]:
    """Return one sentence per choice that has no effect."""
    faults = guessing.unused(_answers(state), found) if source.known is None else []
    if guess is not None and state.table:
        faults += idle(source.paths, TableChoices(**choices(state)))
    return [f"{fault.key.lstrip('-').capitalize()}: {fault.message}" for fault in faults]


def placed(key: str, value: str) -> tuple[str, str, Any]:
    """Return part, key and value of the state for the answer *value* to the question *key*."""
    part, _, title = key.partition(".")
    if title:
        return "columns", title, value
    if part == "names":
        return "table", part, tuple(name.strip() for name in value.split(","))
    return ("table" if part in TableChoices.model_fields else "meaning"), part, value


def _run_table(source: Source) -> Preview:
    if source.runs is None:
        source.runs = tables.read_runs(source.path)
    count = len(source.runs)
    return Preview(f"{source.title}: {counted(count, 'run')} in ScaleGraph's columns.", is_runs=True)


def _answers(state: ImportState) -> dict[str, Any]:
    said = meaning(state)
    return {key: guessing.NONE if value in ("", ()) else value for key, value in said.items()}


def _with_runs(base: Preview, token: CancelToken, share: Share) -> Preview:
    """Return *base* with the resulting runs, or with the reason why there are none."""
    from scalegraph.subjects.study import StudyData

    assert base.measured is not None
    try:
        runs, _memory = make_runs(base.measured, base.mapping, token, share)
    except InputError as error:
        return replace(base, faults=error.faults)
    if not runs:
        return replace(base, runs_words=_no_runs(base))
    data = StudyData.from_runs(runs)
    if serial := serial_times(base.measured, base.mapping, runs):
        data = replace(data, table=data.table.assign(serial_s=[serial.get(run.point.key, math.nan) for run in runs]))
    scaling = data.scaling
    known = {column.removeprefix("param.") for column in map(str, scaling.columns) if column.startswith("param.")}
    sizes = [name for name in (*base.measured.parameters, *sorted(known)) if name in known]
    sizes = list(dict.fromkeys(sizes))
    return replace(base, runs=preview.runs_table(scaling, sizes), runs_words=preview.runs_words(scaling, sizes))


def _no_runs(base: Preview) -> str:
    lacking = "parameter that counts processors" if not base.mapping.processors else "metric that is an elapsed time"
    return f"There is no {lacking}, so it yields no runs; models over the parameters still work."


def state_of(mapping: Meaning | None) -> ImportState:
    """Return the answers with which a set became a study, to be changed."""
    if mapping is None:
        return ImportState()
    fields = mapping.model_dump()
    said: list[tuple[str, Any]] = [(key, fields[key] or NONE) for key in ("processors", "time", "total")]
    said += [(key, fields[key]) for key in ("unit", "clock_hz", "scaling") if fields[key]]
    said += [("summed", mapping.summed)] if mapping.summed else []
    said += [("sizes", tuple(mapping.sizes)), ("columns", dict(mapping.columns))]
    return ImportState(meaning=tuple(said))


def keep(source: Source, seen: Preview, target: Path, token: CancelToken, share: Share) -> Path:
    """Make the study *target* from a preview, or change the meaning of its set's names; return its path."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.runs is not None:
        source.runs.save_as(target)
        return target
    assert seen.measured is not None
    with imports.study_of(seen.measured, seen.mapping, cancel=token, progress=share) as study:
        token.check()
        study.save_as(target)
    return target
