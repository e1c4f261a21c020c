"""What was said of how a table is read and changes nothing: it is read so without it, or nothing in it is meant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.table import layout
from scalegraph.measurements.table.guess import HEAD, TableChoices, TableGuess, guess_table
from scalegraph.measurements.table.text import read_lines

_CHECKED = 64 << 20  # bytes of a file that is compared as a whole
_FIELDS = {"encoding": "", "delimiter": "", "decimal": "", "comment": "", "header": None}


def idle(paths: Sequence[Path], said: TableChoices) -> list[Fault]:
    """Return a fault for each of encoding, delimiter, decimal sign, comment and header line that changes nothing.

    *paths* are tables that can be read as *said*. One that changes how any of them is read is none.
    """
    faults = []
    for name, empty in _FIELDS.items():
        if getattr(said, name) == empty:
            continue
        without = said.model_copy(update={name: empty})
        if not any(_changes(path, said, without, name) for path in paths):
            words = f"changes nothing: {_read_as(said, name)}; leave it out"
            faults.append(Fault(words, file=str(paths[0]), key=f"--{name}"))
    return faults


def _changes(path: Path, said: TableChoices, without: TableChoices, name: str) -> bool:
    """Whether *path* is read in another way *without* the field *name* of *said*, or cannot be read or asks then."""
    size = path.stat().st_size
    if name in ("encoding", "comment") and size > _CHECKED:
        return True
    if name in ("delimiter", "decimal") and size > HEAD:  # the rest of the file was not looked at
        return True
    try:
        mine, other = guess_table(path, said), guess_table(path, without)
        if name == "decimal" and not other.questions and not mine.thousands and mine.decimal != other.decimal:
            numeric = {column.index for column in mine.columns if column.kind in ("number", "count")}
            return any(said.decimal in cell for row in mine.preview for at, cell in enumerate(row) if at in numeric)
        if other.questions or _key(mine) != _key(other):
            return True
        if name == "encoding":
            return read_lines(path, said.encoding).lines != read_lines(path, without.encoding).lines
        if name == "comment":
            lines = read_lines(path, said.encoding).lines
            return any(layout.is_comment(line, said.comment) != layout.is_comment(line) for line in lines)
    except InputError:
        return True
    return False


def _key(guess: TableGuess) -> tuple[object, ...]:
    columns = tuple((column.title, column.role, column.unit, column.at) for column in guess.columns)
    return guess.delimiter, guess.decimal, guess.thousands, guess.header, guess.first, columns, guess.preview


def _read_as(said: TableChoices, name: str) -> str:
    """Return in words how the table is read without the field *name* of *said*."""
    if name == "comment":
        return f"no line begins with '{said.comment}' that is not left out without it"
    if name == "encoding":
        return "the file holds the same text without it"
    if name == "header":
        return "its names are found there without it" if said.header else "no line has names"
    if name == "decimal":
        return f"no number is read in another way without '{said.decimal}'"
    return "its cells are parted so without it"
