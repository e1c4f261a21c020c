"""Tables without a line of names: the question for them, with names that the numbers suggest."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING

from scalegraph.measurements.mapping import Question
from scalegraph.measurements.table import values

if TYPE_CHECKING:
    from scalegraph.measurements.table.columns import Column

_SHOWN = 60  # names in the printed answer
_GAIN = 1.2  # of the times, from the fewest processors to the most
_COUNTS, _SPENT = "processors", "time"


def question(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Question:
    """Return the question for the names of *columns*, with a guess.

    Whole numbers along with which another column falls are taken as processors, and that column as the time.
    """
    found = [f"column {column.index + 1}" for column in columns]
    because = ""
    pair = _falling(columns, rows)
    if pair is not None:
        found[pair[0]], found[pair[1]] = _COUNTS, _SPENT
        because = f"is likely, as the numbers of column {pair[1] + 1} fall while those of column {pair[0] + 1} rise"
    names = ",".join(found[:_SHOWN])
    message = "no line has names of the columns"
    if len(found) > _SHOWN:
        return Question("names", message, f"--names with {len(found)} names, separated by commas")
    return Question("names", message, f"--names {quote(names)}, with your names", (names,), because)


def _falling(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """Return the only pair of columns of which the first holds whole numbers that rise while the second falls."""
    found = []
    for one in columns:
        for two in columns:
            if one is two or one.kind != "count" or two.kind not in ("count", "number", "duration"):
                continue
            known = sorted(values.numbers([one, two], rows))
            if (
                len(known) > 1
                and known[0][0] >= 1
                and known[-1][0] > known[0][0]
                and known[0][1] > _GAIN * known[-1][1]
            ):
                found.append((one.index, two.index))
    return found[0] if len(found) == 1 else None
