"""Studies and traces in notebooks: a sentence, a table, a picture, as self-contained HTML."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

import numpy as np

from scalegraph.analyze import series as series_
from scalegraph.api.picture import Picture
from scalegraph.base.units import counted, si, significant, thousands
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from scalegraph.views import everything as views_

_ROWS: Final = 12  # of a table; the others are counted
_FIRST: Final = ("speedup", "time", "region-models", "flame", "runs")  # the first non-empty one is the picture
_OF_TRACE: Final = ("spacetime", "utilisation", "messages")
_COLUMNS: Final = {  # of `metrics.scaling`: title, unit
    "processors": ("N", ""),
    "time_s": ("time", "s"),
    "speedup": ("speedup", ""),
    "efficiency": ("efficiency", ""),
    "latency_s": ("average latency", "s"),
}


def picture_of_study(data: StudyData) -> Picture | None:
    """Return the picture for a study: its speedup, or the first other non-empty view."""
    return _first(_FIRST, lambda name: Picture(views_()[name].build(data)))


def picture_of_trace(data: TraceData) -> Picture | None:
    """Return the picture for a trace: its locations over time."""
    return _first(_OF_TRACE, lambda name: Picture(views_()[name].build(data)))


def _first(names: Iterable[str], make: Any) -> Picture | None:
    for name in names:
        picture: Picture = make(name)
        if not picture.figure.empty:
            return picture
    return None


def study(data: StudyData, picture: Picture | None) -> str:
    """Return a study as HTML: its verdicts, its numbers by processor count, its picture."""
    title = f"{data.name}: {counted(len(data.table), 'run')}"
    return _page(title, picture.sentence if picture is not None else "", _numbers(data), picture)


def _numbers(data: StudyData) -> tuple[list[str], list[list[str]]]:
    """Return header and rows for the problem with most processor counts, with the known columns."""
    found = None if data.table.empty else series_.main_series(data.scaling)
    rows = data.scaling if found is None else found.rows
    names = [name for name in _COLUMNS if name in rows.columns and rows[name].notna().any()]
    cells = [[_cell(row[name], _COLUMNS[name][1]) for name in names] for row in rows.to_dict("records")]
    return [_COLUMNS[name][0] for name in names], cells


def _cell(value: Any, unit: str) -> str:
    number = float(value)
    if not np.isfinite(number):
        return "–"
    return si(number, unit) if unit else str(int(number)) if number.is_integer() else significant(number)


def trace(data: TraceData, picture: Picture | None) -> str:
    """Return a trace as HTML: its length, contents and picture."""
    counts = data.trace.counts()
    title = f"{data.name}: {si(data.length, 's')} of {thousands(len(data.trace.definitions.locations))} locations"
    rows = [[kind, thousands(count)] for kind, count in counts.items()]
    return _page(title, picture.sentence if picture is not None else "", (["kind", "rows"], rows), picture)


def _page(
    title: str, sentence: str, table: tuple[Sequence[str], Sequence[Sequence[str]]], picture: Picture | None
) -> str:
    heads, rows = table
    parts = [f"<p><b>{escape(title)}</b></p>"]
    if sentence:
        parts.append(f"<p>{escape(sentence)}</p>")
    if rows:
        head = "".join(f"<th>{escape(name)}</th>" for name in heads)
        lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows[:_ROWS]]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        if len(rows) > _ROWS:
            parts.append(f"<p>… and {thousands(len(rows) - _ROWS)} more rows</p>")
    content = None if picture is None else picture.png
    if content is not None and picture is not None:
        text = base64.b64encode(content).decode()
        parts.append(f'<img alt="{escape(picture.figure.title)}" src="data:image/png;base64,{text}">')
    return "\n".join(parts)
