"""Original and instrumented program side by side, for the user to read."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from scalegraph.instrument.insertions import Insertion
from scalegraph.instrument.source import Instrumented


@dataclass(frozen=True, slots=True)
class Mark:
    """Inserted text: columns [start, end) of `Row.instrumented`, and the region that it opens or closes."""

    start: int
    end: int
    region: int
    opens: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the instrumented program next to the line it comes from.

    *line* is the original's line number; None for an inserted line (*original* is then "").
    """

    line: int | None
    original: str
    instrumented: str
    marks: tuple[Mark, ...] = ()


def side_by_side(program: Instrumented) -> list[Row]:
    """Return the rows of *program*, top to bottom, without the ``#line`` in front of the whole text."""
    data = program.original.encode("utf-8", "surrogateescape")
    pieces = {offset: list(group) for offset, group in groupby(program.insertions, key=lambda i: i.offset)}
    offsets = sorted(pieces)
    rows: list[Row] = []
    start, at = 0, 0
    for number, raw in enumerate(_lines(data), 1):
        end = start + len(raw)
        is_last = end == len(data)
        here: list[Insertion] = []
        while at < len(offsets) and (offsets[at] < end or (is_last and offsets[at] == end)):
            here += pieces[offsets[at]]
            at += 1
        rows += _rows(number, raw, start, here)
        start = end
    return rows


def instrumented_text(program: Instrumented) -> str:
    """Return the instrumented program for display and export: without the leading ``#line``."""
    return program.text.partition("\n")[2]


def _lines(data: bytes) -> list[bytes]:
    """Split at newlines only: form feeds and the like do not end a line in C."""
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def _rows(number: int, raw: bytes, start: int, insertions: list[Insertion]) -> list[Row]:
    """Return the row of an original line, preceded by rows for whole lines inserted before it."""
    before = [i for i in insertions if "\n" in i.text and i.offset == start]
    after = [i for i in insertions if "\n" in i.text and i.offset != start]
    rows = [row for insertion in before for row in _whole_lines(insertion)]
    text, done = "", 0
    marks: list[Mark] = []
    for insertion in (i for i in insertions if "\n" not in i.text):
        text += _decode(raw[done : insertion.offset - start])
        done = insertion.offset - start
        marks.append(Mark(len(text), len(text) + len(insertion.text), insertion.region, insertion.opens))
        text += insertion.text
    text += _decode(raw[done:])
    rows.append(Row(number, _decode(raw).rstrip("\r\n"), text.rstrip("\r\n"), tuple(marks)))
    return rows + [row for insertion in after for row in _whole_lines(insertion)]


def _whole_lines(insertion: Insertion) -> list[Row]:
    return [
        Row(None, "", line, (Mark(0, len(line), insertion.region, insertion.opens),))
        for line in insertion.text.strip("\n").split("\n")
    ]


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
