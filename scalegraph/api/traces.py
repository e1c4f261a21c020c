"""A trace in scripts: its contents, columns as tables, contradictions, quantities and pictures."""

from __future__ import annotations

import weakref
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scalegraph.api import notebook, words
from scalegraph.api.opened import Opened
from scalegraph.api.picture import PathLike, Picture
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.units import thousands
from scalegraph.request.results import trace_quantities
from scalegraph.request.run.session import Session
from scalegraph.subjects.option import OptionValue
from scalegraph.traces import checking
from scalegraph.traces.kinds import KINDS, NO_TIME

_TABLES = ("groups", "locations", "regions", "metrics", "states", "communicators")
# columns that refer to a definition are recognised by name: column -> table
_NAMED = {
    "location": "locations",
    "holder": "locations",
    "sender": "locations",
    "receiver": "locations",
    "root": "locations",
    "region": "regions",
    "state": "states",
    "metric": "metrics",
    "communicator": "communicators",
}


class Trace(Opened):
    """A trace of any format, created by `trace`; a ``with`` closes its file at the end.

    Columns are read on demand. Times are seconds from the start of the run unless ticks are requested.
    """

    def __init__(self, path: PathLike, *, partial: bool = False) -> None:
        self._data = Session().open_trace(Path(path), partial=partial)
        self._finalizer = weakref.finalize(self, self._data.trace.close)

    @property
    def name(self) -> str:
        """Short name: of the file.

        Example:
            >>> title = trace.name

        """
        return self._data.name

    @property
    def counts(self) -> dict[str, int]:
        """Number of rows of each kind that has any.

        Example:
            >>> calls = trace.counts["calls"]

        """
        return self._data.trace.counts()

    @property
    def seconds(self) -> float:
        """Length of the run in seconds.

        Example:
            >>> length = trace.seconds

        """
        return self._data.trace.seconds

    @property
    def properties(self) -> dict[str, str]:
        """Other properties of the run in the trace, as strings by name; ``accounting`` is JSON.

        Example:
            >>> machine = trace.properties.get("machine")

        """
        return dict(self._data.trace.meta.properties)

    @property
    def notes(self) -> list[str]:
        """What was not understood or not recorded, and where the file is damaged.

        Example:
            >>> remarks = trace.notes

        """
        meta = self._data.trace.meta
        return [*(note.words for note in meta.notes), *meta.damage]

    def definitions(self, table: str = "locations") -> pd.DataFrame:
        """Return the definitions that events refer to by number: ``locations``, ``regions``, ``states``, ..

        Raises `InputError` for another name.

        Example:
            >>> places = trace.definitions("regions")[["name", "file", "line"]]

        """
        if table not in _TABLES:
            hint = near(table, _TABLES)
            raise InputError(Fault(f"unknown table '{table}'{hint or '; known: ' + ', '.join(_TABLES)}", key="table"))
        return pd.DataFrame([vars(item) for item in getattr(self._data.trace.definitions, table)])

    def columns(
        self,
        kind: str,
        begin: float | None = None,
        end: float | None = None,
        *,
        ticks: bool = False,
        numbers: bool = False,
    ) -> pd.DataFrame:
        """Return the rows of *kind* (``calls``, ``waits``, ..) that overlap *begin* to *end* (s).

        Time columns are named like ``time_s``, unknown times are NaN; with *ticks* they stay integer ticks. Locations,
        regions and other definitions are given by name; with *numbers* by number. Raises `InputError` for an unknown
        kind.

        Example:
            >>> waits = trace.columns("waits", end=0.001)
            >>> longest = (waits["end_s"] - waits["begin_s"]).max()

        """
        if kind not in KINDS:
            hint = near(kind, KINDS)
            raise InputError(Fault(f"unknown kind '{kind}'{hint or '; known: ' + ', '.join(KINDS)}", key="kind"))
        low, high = (None if time is None else self._data.ticks(time) for time in (begin, end))
        made: dict[str, Any] = {}
        for name, values in self._data.trace.columns(kind, begin=low, end=high).items():
            if name in KINDS[kind].times and not ticks:
                seconds = self._data.seconds(np.where(values == NO_TIME, 0, values))
                made[f"{name}_s"] = np.where(values == NO_TIME, np.nan, seconds)
            elif name in _NAMED and not numbers:
                made[name] = self._names(_NAMED[name], values)
            else:
                made[name] = values
        return pd.DataFrame(made)

    def _names(self, table: str, numbers: Any) -> pd.Categorical:
        """Return *numbers* as names; names may repeat, and -1 and unknown numbers are missing."""
        names = [item.name for item in getattr(self._data.trace.definitions, table)]
        distinct = list(dict.fromkeys(names))
        where = {name: index for index, name in enumerate(distinct)}
        code = np.array([*(where[name] for name in names), -1], np.int64)
        inside = (numbers >= 0) & (numbers < len(names))
        codes: list[int] = code[np.where(inside, numbers, len(names))].tolist()
        return pd.Categorical.from_codes(codes, pd.Index(distinct, dtype=object))

    def check(self) -> list[str]:
        """Return a sentence for each rule that the trace violates; see docs/TRACES.md.

        Example:
            >>> assert trace.check() == []

        """
        return [violation.sentence() for violation in checking.check(self._data.trace).violations]

    def quantity(self, name: str, **options: OptionValue) -> pd.DataFrame:
        """Return a quantity of the trace, with units in the column names; *options*: begin, end (s), locations, ..

        Raises `InputError` for an unknown name or option, listing the known ones.

        Example:
            >>> table = trace.quantity("events", end=0.001)

        """
        with words.keywords():
            return trace_quantities.compute(self._data, name, options)

    def view(self, name: str, **options: Any) -> Picture:
        """Return the view *name* of traces with its options. Raises `InputError` for an unknown name or option.

        Example:
            >>> picture = trace.view("spacetime", end=0.001)

        """
        with words.keywords():
            return Picture(Session().trace_view(self._data, name, **options))

    def close(self) -> None:
        """Close the file.

        Example:
            >>> trace.close()

        """
        self._finalizer()

    @cached_property
    def _picture(self) -> Picture | None:
        return notebook.picture_of_trace(self._data)

    def _repr_html_(self) -> str:
        """Show the length, contents and picture of the trace."""
        return notebook.trace(self._data, self._picture)

    def __repr__(self) -> str:
        counts = ", ".join(f"{thousands(count)} {kind}" for kind, count in self.counts.items())
        return f"<Trace '{self.name}': {counts or 'empty'}>"


def trace(path: PathLike, *, partial: bool = False) -> Trace:
    """Open a trace of any format: ScaleGraph's, OTF2, Paraver, Chrome, PICL, CSV; *partial* accepts damaged files.

    Other formats than ScaleGraph's own are converted once and cached. Raises `InputError` or `WorkError` with file,
    place and what was expected.

    Example:
        >>> with sg.trace("run.sgtrace") as run:
        ...     table = run.columns("calls")

    """
    with words.keywords():
        return Trace(path, partial=partial)
