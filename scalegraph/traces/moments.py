"""Calls and marks in any order: stored as numbers, 17 bytes each, and sorted by time at the end."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from scalegraph.traces.builder import Builder
from scalegraph.traces.kinds import What

MARK = 0  # instead of the type of a call


class Moments:
    """Collects calls and marks."""

    def __init__(self) -> None:
        self._columns: tuple[array[Any], ...] = (array("q"), array("i"), array("b"), array("i"))

    def add(self, time: int, location: int, what: int, region: int) -> None:
        """Add one; *what*: enter, leave or `MARK`. Raises `OverflowError` for numbers that are too large."""
        for column, value in zip(self._columns, (time, location, what, region), strict=True):
            column.append(value)

    def finish(self, builder: Builder) -> None:
        """Add them to *builder* in time order; simultaneous ones keep the order in which they came."""
        time, location, what, region = (np.array(column) for column in self._columns)
        order = np.argsort(time, kind="stable")
        time, location, what, region = (column[order] for column in (time, location, what, region))
        calls, marks = what != MARK, what == MARK
        if calls.any():
            codes = np.where(what[calls] == What.ENTER, What.ENTER, What.LEAVE)
            builder.add("calls", time=time[calls], location=location[calls], what=codes, region=region[calls])
        if marks.any():
            builder.add("marks", time=time[marks], location=location[marks], region=region[marks], value=0)
