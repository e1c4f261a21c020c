"""Tables, trees and source code: columns that fit their content, with cost bars behind the numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from scalegraph.base.measures import Measure
from scalegraph.base.units import counted, narrow, stacked
from scalegraph.figures.columns import cell_text, column_heading, column_measure, column_measures
from scalegraph.figures.figure import Column, Source, SourceLine, Table
from scalegraph.figures.palette import colour
from scalegraph.figures.render.text import fitted, measure

if TYPE_CHECKING:
    from scalegraph.figures.render.picture import Brush

_SIZE, _LEAST = 7.0, 4.0
_NARROWEST = 34.0  # points, of a column whose words are truncated
_GAP = 8.0  # points between columns
_MONO = "DejaVu Sans Mono"
_ROW = 1.62  # row height over font size
Values: TypeAlias = Sequence[float | int | str | None]
_Prepared: TypeAlias = tuple[str, list[str], list[float], str]  # heading, texts, shares for bars, role


def draw_table(brush: Brush, axes: Axes, table: Table) -> None:
    """Draw *table* on *axes*; the last line counts the rows that do not fit."""
    axes.set_axis_off()
    brush.later.append(lambda: _table(brush, axes, table))


def _prepared(table: Table) -> list[_Prepared]:
    cells = [[row.values[i] for row in table.rows] for i in range(len(table.columns))]
    made = zip(table.columns, cells, column_measures(table.columns, cells), strict=True)
    return [_prepare(column, values, how) for column, values, how in made]


def fitted_columns(table: Table, room: float) -> tuple[list[_Prepared], float, list[float]]:
    """Return the columns of *table* with font size and widths (points) for *room*.

    Headings are narrowed before words are truncated.
    """
    columns = _prepared(table)
    size, widths = _layout(table, columns, room)
    if size <= _LEAST:
        columns = [(narrow(heading), texts, shares, role) for heading, texts, shares, role in columns]
        size, widths = _layout(table, columns, room)
    return columns, size, widths


def _layout(table: Table, columns: list[_Prepared], room: float) -> tuple[float, list[float]]:
    """Return the font size and column widths (points) at which *table* fits into *room*."""
    depths = [row.depth for row in table.rows]
    size = _SIZE
    while True:
        widths = [_width(column, size, depths if i == 0 else []) for i, column in enumerate(columns)]
        excess = sum(widths) + _GAP * len(widths) - room
        if excess <= 0 or size <= _LEAST:
            break
        size -= 0.25
    words = [i for i in range(len(columns)) if any(isinstance(row.values[i], str) for row in table.rows)]
    if excess > 0:
        _narrow(widths, words or list(range(len(columns))), excess)
    return size, widths


def _narrow(widths: list[float], columns: Sequence[int], excess: float) -> None:
    """Take *excess* points from the widest of *columns*, down to one width for all that lose something."""
    order = sorted(columns, key=lambda i: -widths[i])
    total = 0.0
    for count, column in enumerate(order, 1):
        total += widths[column]
        common = max(_NARROWEST, (total - excess) / count)
        if count == len(order) or common >= widths[order[count]]:
            for i in order[:count]:
                widths[i] = min(widths[i], common)
            return


def fitting(table: Table, room: float) -> tuple[Table, int]:
    """Return *table* with as many of its first columns as fit into *room* points, and how many are left out."""
    count = len(table.columns)
    kept = table
    while count > 1:
        _, _, widths = fitted_columns(kept, room)
        if sum(widths) + _GAP * (len(widths) - 1) <= room + 1:
            break
        count -= 1
        rows = tuple(replace(row, values=row.values[:count]) for row in table.rows)
        kept = replace(table, columns=table.columns[:count], rows=rows)
    return kept, len(table.columns) - count


def table_height(table: Table, room: float) -> float:
    """Return the height in points of *table* at a width of *room* points."""
    columns, size, _ = fitted_columns(table, room)
    return (len(table.rows) + _head_rows(columns) + 0.3) * size * _ROW


def _table(brush: Brush, axes: Axes, table: Table) -> None:
    sheet = _Grid(brush, axes)
    table, without = fitting(table, sheet.width)
    numeric = [all(not isinstance(row.values[i], str) for row in table.rows) for i in range(len(table.columns))]
    depths = [row.depth for row in table.rows]
    columns, size, widths = fitted_columns(table, sheet.width)
    head = _head_rows(columns)
    most = max(1, int(sheet.height / (size * _ROW)) - head)
    shown = len(table.rows) if len(table.rows) + bool(without) <= most else max(0, most - 1)
    left = 0.0
    spare = max(0.0, sheet.width - sum(widths) - _GAP * len(widths)) / max(1, len(widths))
    for i, (heading, texts, shares, role) in enumerate(columns):
        width = widths[i] + (0.0 if i == 0 else min(spare, 14.0))
        right = numeric[i] and i > 0
        sheet.heading(left + (width if right else 0), head, heading, size, room=width, right=right)
        for r in range(shown):
            if role and shares[r] > 0:
                sheet.bar(left, r + head, width * shares[r], size, colour(role, brush.theme))
            indent = 7.0 * depths[r] if i == 0 else 0.0
            text = fitted(texts[r], size, width - indent, middle=i == 0)  # names differ at their ends
            sheet.text(left + (width if right else indent), r + head, text, size, right=right)
        left += width + _GAP
    sheet.rule(size, head)
    if shown < len(table.rows) or without:
        parts = [(len(table.rows) - shown, "row"), (without, "column")]
        more = " and ".join(counted(number, f"more {what}") for number, what in parts if number)
        sheet.text(0, shown + head, f"… and {more}; the data export has all of them.", size)


def _prepare(column: Column, values: Values, how: Measure | None) -> _Prepared:
    """Return heading, texts in the format *how*, shares of the largest (for bars) and the bars' role."""
    known = [float(v) for v in values if isinstance(v, int | float) and math.isfinite(v)]
    top = max((abs(v) for v in known), default=0.0)
    heading = stacked(column_heading(how, column.name, column.unit))
    texts = [cell_text(how, v) for v in values]
    shares = [max(0.0, float(v)) / top if isinstance(v, int | float) and top > 0 else 0.0 for v in values]
    return heading, texts, [share if math.isfinite(share) else 0.0 for share in shares], column.bar_role


def _width(column: _Prepared, size: float, depths: Sequence[int]) -> float:
    heading, texts, _, _ = column
    indents = list(depths) or [0] * len(texts)
    body = max((measure(text, size) + 7.0 * depth for text, depth in zip(texts, indents, strict=True)), default=0.0)
    return max(_heading_width(heading, size), body, 14.0) + 2


def _heading_width(heading: str, size: float) -> float:
    return max(measure(line, size, "bold") for line in heading.split("\n"))


def _head_rows(columns: Sequence[_Prepared]) -> int:
    return 1 + max((heading.count("\n") for heading, *_ in columns), default=0)


def source_rows(source: Source) -> int:
    """Return the number of rows: one per line, plus one where something is inserted."""
    return sum(2 if line.inserted else 1 for line in source.lines) + 2 * any("% of" in c.unit for c in source.columns)


def draw_source(brush: Brush, axes: Axes, source: Source) -> None:
    """Draw source code with inserted probes and cost bars; for a long file, the part around the hottest line."""
    axes.set_axis_off()
    brush.later.append(lambda: _source(brush, axes, source))


def _source(brush: Brush, axes: Axes, source: Source) -> None:
    sheet = _Grid(brush, axes)
    size = 5.6
    first, last = _window(source, max(4, int(sheet.height / (size * _ROW)) - 3))
    lines = source.lines[first:last]
    digits = measure("0" * len(str(max((line.number for line in source.lines), default=1))), size, family=_MONO)
    columns = []
    for i, column in enumerate(source.columns):
        values = [line.values[i] if i < len(line.values) else None for line in source.lines]
        if any(value for value in values):
            heading, texts, shares, role = _prepare(column, values, column_measure(values, column.unit))
            texts = ["" if value is None else text for value, text in zip(values, texts, strict=True)]
            columns.append((narrow(heading), texts[first:last], shares[first:last], role))
    left = 0.0
    head = _head_rows(columns)
    for heading, texts, shares, role in columns:
        width = max(_heading_width(heading, size), *(measure(text, size) for text in texts), 16.0) + 2
        sheet.heading(left + width, head, heading, size, right=True)
        row = head
        for line, text, share in zip(lines, texts, shares, strict=True):
            if role and share > 0:
                sheet.bar(left, row, width * share, size, colour(role, brush.theme))
            sheet.text(left + width, row, text, size, right=True)
            row += 2 if line.inserted else 1
        left += width + 6
    _program(sheet, source, lines, (left, head), digits, size)
    sheet.rule(size, head)
    if len(lines) < len(source.lines):
        text = f"Lines {lines[0].number} to {lines[-1].number} of {len(source.lines)}; the data export has all of them."
        sheet.text(0, head + sum(2 if line.inserted else 1 for line in lines), text, size)


def _program(
    sheet: _Grid, source: Source, lines: Sequence[SourceLine], start: tuple[float, int], digits: float, size: float
) -> None:
    left, row = start
    sheet.text(left + digits + 6, row - 1, source.file, size, bold=True)
    room = sheet.width - left - digits - 8
    for line in lines:
        sheet.text(left + digits, row, str(line.number), size, right=True, mono=True, role="muted")
        sheet.text(left + digits + 6, row, fitted(line.text, size, room, _MONO), size, mono=True)
        row += 1
        if line.inserted:
            sheet.text(left + digits, row, "+", size, right=True, mono=True, role="mark")
            text = fitted(line.inserted, size, room, _MONO)
            sheet.text(left + digits + 6, row, text, size, mono=True, role="mark")
            row += 1


def _window(source: Source, most: int) -> tuple[int, int]:
    """Return the range of lines to show: all, or as many as fit around the most expensive."""
    if source_rows(source) <= most:
        return 0, len(source.lines)
    cost = [line.values[0] or 0.0 if line.values else 0.0 for line in source.lines]
    first = last = max(0, cost.index(max(cost)) if cost else 0)
    used = 0
    while True:
        grown = False
        for side in (-1, 1):
            index = first - 1 if side < 0 else last
            if 0 <= index < len(source.lines):
                rows = 2 if source.lines[index].inserted else 1
                if used + rows <= most:
                    used, grown = used + rows, True
                    first, last = (index, last) if side < 0 else (first, index + 1)
        if not grown:
            return first, max(last, first + 1)


class _Grid:
    """Rows and positions in points inside *axes*, without visible axes."""

    def __init__(self, brush: Brush, axes: Axes) -> None:
        self.brush = brush
        self.axes = axes
        pixel = 72 / brush.sheet.dpi
        extent = axes.get_window_extent()
        self.width, self.height = extent.width * pixel, extent.height * pixel
        axes.set_xlim(0, self.width)
        axes.set_ylim(self.height, 0)

    def text(
        self,
        x: float,
        row: float,
        text: str,
        size: float,
        *,
        right: bool = False,
        bold: bool = False,
        mono: bool = False,
        role: str = "ink",
    ) -> None:
        """Write *text* at *x* (points) in *row*."""
        if text:
            self.axes.text(
                x,
                (row + 0.5) * size * _ROW,
                text,
                size=size,
                ha="right" if right else "left",
                va="center_baseline",
                color=colour(role, self.brush.theme),
                weight="bold" if bold else "normal",
                family=_MONO if mono else "DejaVu Sans",
                clip_on=False,
            )

    def bar(self, x: float, row: float, width: float, size: float, shade: str) -> None:
        """Draw a cost bar behind a number."""
        self.axes.add_patch(
            Rectangle((x, row * size * _ROW + 0.8), width, size * _ROW - 1.6, facecolor=shade, alpha=0.32, linewidth=0)
        )

    def heading(
        self, x: float, rows: int, text: str, size: float, *, room: float = math.inf, right: bool = False
    ) -> None:
        """Write a heading of one or more lines, ending on the last of *rows*."""
        lines = text.split("\n")
        for row, line in enumerate(lines, start=rows - len(lines)):
            self.text(x, row, line if room == math.inf else fitted(line, size, room), size, right=right, bold=True)

    def rule(self, size: float, rows: int) -> None:
        """Draw the rule below the *rows* of headings."""
        self.axes.plot([0, self.width], [rows * size * _ROW] * 2, color=self.brush.ink, linewidth=0.6, clip_on=False)
