"""Lines of text below a table: a note, a source, further paragraphs of a README."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from scalegraph.measurements.table.layout import Layout, is_number

MOST = 200  # lines at the end that are looked at
_WORD = re.compile(r"[^\W\d_]{2,}")


def start(rows: Sequence[tuple[int, Sequence[str]]], count: int) -> int:
    """Return the index in *rows*, line numbers and their cells, from which they are text; their length for none.

    *count*: of the table's columns. Such a line has two words or more and no number as a cell, and either one cell or
    other cells than the table has; with more than one, an empty line parts it from the table.
    """
    at, alone = len(rows), True
    while at > 1:
        filled = [cell for cell in rows[at - 1][1] if cell.strip()]
        words = sum(len(_WORD.findall(cell)) for cell in filled)
        one = len(filled) == 1
        if words < 2 or any(map(is_number, filled)) or not (one or len(rows[at - 1][1]) != count):
            break
        at, alone = at - 1, alone and one
    if at == len(rows) or alone:
        return at
    return at if rows[at][0] > rows[at - 1][0] + 1 else len(rows)


def without(found: Layout) -> Layout:
    """Return a table without the text below its first lines, if it ends there."""
    rows = list(zip(found.lines, found.rows, strict=True))
    count = len(found.names) or Counter(map(len, found.rows)).most_common(1)[0][0]
    end = start(rows, count)
    return found if end == len(rows) else replace(found, rows=found.rows[:end], lines=found.lines[:end])
