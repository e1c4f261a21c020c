"""User choices for reading a table that have no effect."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scalegraph.base.errors import Fault
from scalegraph.measurements.table.guess import HEAD, TableChoices, guess_table
from scalegraph.measurements.table.text import read_lines

_CHECKED = 64 << 20  # bytes of a file that is compared as a whole
_FIELDS = ("encoding", "decimal", "comment")  # an absent delimiter or header line is refused elsewhere


def idle(paths: Sequence[Path], said: TableChoices) -> list[Fault]:
    """Return a fault for each of encoding, decimal sign and comment that has no effect in any of *paths*.

    *paths*: tables that can be read as *said*. Stating what would be detected anyway is accepted: the user may want the
    next file read in the same way.
    """
    faults = []
    for name in _FIELDS:
        if getattr(said, name) and not any(_applies(path, said, name) for path in paths):
            words = f"has no effect: {_lacking(said, name)}; leave it out"
            faults.append(Fault(words, file=str(paths[0]), key=f"--{name}"))
    return faults


def _applies(path: Path, said: TableChoices, name: str) -> bool:
    """Whether the field *name* of *said* affects anything in *path*."""
    size = path.stat().st_size
    if size > (HEAD if name == "decimal" else _CHECKED):  # the rest of the file was not examined
        return True
    if name == "encoding":
        return not path.read_bytes().isascii()
    if name == "comment":
        return any(line.lstrip().startswith(said.comment) for line in read_lines(path, said.encoding).lines)
    guess = guess_table(path, said)
    numeric = {column.index for column in guess.columns if column.kind in ("number", "count")}
    signs = {said.decimal, guess.thousands}
    return any(sign and sign in row[at] for row in guess.preview for at in numeric if at < len(row) for sign in signs)


def _lacking(said: TableChoices, name: str) -> str:
    """Return in words what the field *name* of *said* does not find."""
    if name == "comment":
        return f"no line begins with '{said.comment}'"
    return "all of the file is ASCII" if name == "encoding" else f"no number has a '{said.decimal}'"
