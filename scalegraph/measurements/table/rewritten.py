"""Texts that hold a table in another form than lines of cells, rewritten as one."""

from __future__ import annotations

from collections.abc import Sequence

from scalegraph.base.units import counted
from scalegraph.measurements.table import blocks, latex, markdown, one_line, sections, turned

_TABLES = (".csv", ".tsv", ".tab", ".psv")  # extensions of files that are not logs


def as_table(lines: Sequence[str], ending: str, *, cut: bool) -> tuple[list[str], tuple[str, ...]] | None:
    """Return *lines* as a table, and notes for the user; None if they are one already, or nothing of the kind.

    *ending*: of the file's name; *cut*: whether the lines are only the beginning of the file.
    """
    if (made := latex.as_table(lines)) is not None:
        return made, ("the first table of the LaTeX text was read",)
    if (made := markdown.as_table(lines)) is not None:
        return made, ()
    if not cut and (made := sections.as_table(lines)) is not None:
        return made, ("what the comments above the blocks of rows say is a column of its own",)
    if ending not in _TABLES and (made := blocks.as_table(lines)) is not None:
        said = ["lines of `key: value` were taken as a table: a row for each block, a column for each key"]
        if not cut and lines[-1].strip():
            end = lines[-1].strip()[-40:]
            said.append(f"the last line ('{end}') has no end: if the file was cut off, so is its value")
        return made, tuple(said)
    if not cut and (made := turned.as_table(lines)) is not None:
        return made, ("a row for each quantity: rows and columns were exchanged, so line 2 is the first run",)
    if ending not in _TABLES and (pairs := one_line.as_table(lines)) is not None:
        made, left = pairs
        more = f"; {counted(left, 'other line')} left out" if left else ""
        return made, (f"each line of `key=value` pairs was taken as a run{more}",)
    return None
