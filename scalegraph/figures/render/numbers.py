"""The numbers of a figure as CSV, Parquet, LaTeX, Markdown or JSON. Does not need matplotlib."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import re
from typing import TYPE_CHECKING, Any

from scalegraph.base.errors import InputError
from scalegraph.base.text import visible
from scalegraph.base.units import as_read, significant, thousands
from scalegraph.figures.columns import cell_text, column_heading, column_measures
from scalegraph.figures.diagram import Diagram
from scalegraph.figures.figure import (
    Cell,
    Column,
    Field,
    Figure,
    Grid,
    Panel,
    Plot,
    Radar,
    Row,
    Source,
    Surface,
    Table,
    Timeline,
)
from scalegraph.figures.flames import Flame
from scalegraph.figures.render import trace_numbers
from scalegraph.figures.tips import Tips

if TYPE_CHECKING:
    import pandas as pd

Rows = list[list[Any]]
_QUOTED = '",\r\n'
_NOTHING = '""'  # a row with one empty cell must not become an empty line
# also as full-width characters
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def csv(figure: Figure, *, for_spreadsheets: bool = False) -> str:
    """Return the numbers of *figure* as CSV (RFC 4180, UTF-8, a header with units, missing values empty).

    Plots over the same axis are put side by side; a grid has one row per cell, a timeline one per lane and bin, arrow
    and tick; in a figure with a table or source code only that is written, since plots beside it show the same numbers.
    The rows of a figure of estimated runs say so in a last column, ``estimated``. *for_spreadsheets*: text that a
    spreadsheet would take for a formula gets a leading apostrophe.

    Raises:
        InputError: the figure is empty.

    """
    header, rows = _marked_rows(figure)
    if for_spreadsheets:
        header, rows = [_no_formula(name) for name in header], [[_no_formula(cell) for cell in row] for row in rows]
    texts = [["" if missing(cell) else _text(cell) for cell in row] for row in rows]
    return "".join(f"{','.join(map(_quoted, row)) or _NOTHING}\n" for row in (header, *texts))


def _quoted(text: str) -> str:
    """Return a cell quoted as in RFC 4180; Python's own writer leaves a carriage return unquoted."""
    if not any(character in text for character in _QUOTED):
        return text
    double = text.replace('"', '""')
    return f'"{double}"'


def as_json(figure: Figure) -> str:
    """Return the whole figure as one JSON document; missing numbers are null."""
    document = {
        "view": figure.view,
        "title": figure.title,
        "sentence": figure.sentence,
        "empty": figure.told,
        "estimated": figure.estimated or None,
        "notes": list(figure.remarks),
        "meta": dict(figure.meta),
        "panels": [{"kind": type(panel).__name__.lower(), **_plain(panel)} for panel in figure.panels],
    }
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def markdown(figure: Figure) -> str:
    """Return the figure as Markdown: a table for each of its `parts`, below title and sentence.

    Reasons for empty cells are footnotes.

    Raises:
        InputError: the figure is empty.

    """
    title, sentence = _markdown_text(figure.title), _markdown_text(figure.sentence)
    said = _markdown_text(figure.estimated)
    found = [f"## {title}" if title else "", sentence, *map(_markdown_table, parts(figure)), said]
    return "\n\n".join(part for part in found if part) + "\n"


def _markdown_table(figure: Figure) -> str:
    from tabulate import tabulate

    panel = main_panel(figure)
    notes: list[str] = []
    if isinstance(panel, Grid):
        numbered = reasons(panel)
        header = [f"{panel.row_label} \\ {panel.column_label}", *panel.columns]
        cells = [
            [name, *("" if cell is None else _marked(cell, numbered) for cell in row)]
            for name, row in zip(panel.rows, panel.cells, strict=True)
        ]
        notes = [f"Values: {' / '.join(panel.value_names)}.", *(f"[{n}] {reason}." for reason, n in numbered.items())]
        aligned = ["right"] * len(header)
    else:
        header, rows = for_page(figure)
        header, cells = written(figure, header, rows)
        texts = [any(isinstance(row[i], str) for row in rows) for i in range(len(header))]
        aligned = ["left" if text else "right" for text in texts]
    safe = [[_markdown_text(cell).replace("|", "\\|") for cell in row] for row in (header, *cells)]
    table = tabulate(safe[1:], safe[0], tablefmt="pipe", colalign=aligned if cells else None, disable_numparse=True)
    below = "  \n".join(map(_markdown_text, notes))
    return f"{table}\n\n{below}" if below else table


_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|[`*\\]|&(?=[#\w]+;)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?<=\])\(")


def _markdown_text(text: str) -> str:
    """Return *text* on one line, escaped so that Markdown finds no HTML, link, code or emphasis in it."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", visible(text.replace("\n", " ")))


def for_page(figure: Figure) -> tuple[list[str], Rows]:
    """Return header and rows that fit a page: timelines summed over time, everything else unchanged."""
    if isinstance(main_panel(figure), Timeline):
        return trace_numbers.summary([panel for panel in figure.panels if isinstance(panel, Timeline)])
    return header_and_rows(figure)


def readable(figure: Figure) -> tuple[list[str], list[list[str]]]:
    """Return `header_and_rows` for display: each table column has one SI prefix, shown in its name.

    Raises:
        InputError: the figure is empty.

    """
    return written(figure, *header_and_rows(figure))


def written(figure: Figure, header: list[str], rows: Rows) -> tuple[list[str], list[list[str]]]:
    """Return header and rows for display, with units and prefixes in the column names."""
    panel = main_panel(figure)
    columns = list(panel.columns) if isinstance(panel, Table | Source) else []
    if not columns:
        return header, [[short(cell) for cell in row] for row in rows]
    first = next((i for i, name in enumerate(header) if name == _title(columns[0])), 0)  # after depth, line
    header, texts = list(header), [[short(cell) for cell in row] for row in rows]
    cells = [[row[place] for row in rows] for place in range(first, first + len(columns))]
    for place, (column, how) in enumerate(zip(columns, column_measures(columns, cells), strict=True), start=first):
        header[place] = column_heading(how, column.name, column.unit)
        for row, text in zip(rows, texts, strict=True):
            text[place] = cell_text(how, row[place])
    return header, texts


def _marked_rows(figure: Figure) -> tuple[list[str], Rows]:
    """Return `header_and_rows`, with a last column that says that they are estimates, if they are."""
    header, rows = header_and_rows(figure)
    if not figure.estimated:
        return header, rows
    return [*header, "estimated"], [[*row, figure.estimated] for row in rows]


def _title(column: Column) -> str:
    return f"{column.name} ({column.unit})" if column.unit else column.name


def _marked(cell: Cell, numbered: dict[str, int]) -> str:
    marks = "".join(f"[{numbered[reason]}]" for reason in cell_reasons(cell))
    return " / ".join(cell_texts(cell.values)) + (f" {marks}" if marks else "")


def frame(figure: Figure) -> pd.DataFrame:
    """Return the contents of `csv` as a DataFrame; a column with both text and numbers is text.

    Raises:
        InputError: the figure is empty.

    """
    import pandas as pd

    header, rows = _marked_rows(figure)
    columns: dict[str, Any] = {}
    for index, name in enumerate(header):
        cells = [None if missing(row[index]) else row[index] for row in rows]
        text = any(isinstance(cell, str) for cell in cells)
        title = _encodable(name if name not in columns else f"{name} ({index})")
        columns[title] = [None if cell is None else _encodable(str(cell)) for cell in cells] if text else cells
    return pd.DataFrame(columns)


def parquet(figure: Figure) -> bytes:
    """Return the numbers as Parquet, with the columns of `frame`; title and sentence are in the metadata.

    Raises:
        InputError: the figure is empty.

    """
    import pyarrow as pa
    from pyarrow import parquet as pq

    table = pa.Table.from_pandas(frame(figure), preserve_index=False)
    reported = {b"title": _encodable(figure.title).encode(), b"sentence": _encodable(figure.sentence).encode()}
    out = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), **reported}), out)
    return out.getvalue()


def _encodable(text: str) -> str:
    """Return *text* with invalid UTF-8 bytes and lone surrogates as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def of_table(name: str, title: str, table: pd.DataFrame) -> Figure:
    """Return an analysis table as a figure, so that it is written like any other."""
    columns = tuple(Column(str(column)) for column in table.columns)
    rows = tuple(Row(tuple(_cell(cell) for cell in row)) for row in table.itertuples(index=False))
    return Figure(title, panels=(Table(columns, rows),), view=name)


def _cell(cell: Any) -> float | int | str | None:
    value = cell.item() if hasattr(cell, "item") else cell
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value if isinstance(value, int | float | str) else str(value)


def reasons(grid: Grid) -> dict[str, int]:
    """Return the distinct reasons for missing values in a grid, numbered from 1 in reading order."""
    found: dict[str, int] = {}
    for row in grid.cells:
        for cell in row:
            for reason in cell_reasons(cell) if cell is not None else ():
                found.setdefault(reason, len(found) + 1)
    return found


def cell_reasons(cell: Cell) -> list[str]:
    """Return the reasons of a cell, which are separated by semicolons."""
    return [reason for reason in cell.reason.split("; ") if reason]


def cell_texts(values: tuple[float | None, ...]) -> list[str]:
    """Return a cell's values for display: two decimals below 10, a dash where missing."""
    return ["–" if missing(value) else _decimals(float(value or 0.0)) for value in values]


def _decimals(value: float) -> str:
    if value and abs(value) < 0.095:
        return significant(value, 2)
    return thousands(value, 2) if abs(value) < 10 else significant(value)


def main_panel(figure: Figure) -> Panel:
    """Return the panel with the numbers: the first table, grid or source, or else the first; raise `InputError`."""
    for panel in figure.panels:
        if isinstance(panel, Table | Grid | Source):
            return panel
    if not figure.panels:
        raise InputError(f"{figure.title}: there are no numbers to write. {figure.told}".strip())
    return figure.panels[0]


def parts(figure: Figure) -> list[Figure]:
    """Return the figure split into parts of one table each: first the one written by `csv`, then the others in order.

    Plots over one axis form one part, as do timelines; a diagram beside tables is left out.

    Raises:
        InputError: the figure is empty.

    """
    groups: dict[object, list[Panel]] = {}
    main = main_panel(figure)
    tables = any(isinstance(panel, Table | Grid | Source) for panel in figure.panels)
    for number, panel in enumerate(figure.panels):
        key: object = number
        if isinstance(panel, Plot):
            across = panel.y if panel.bars is not None and panel.bars.horizontal else panel.x
            key = ("plot", across.title, across.scale == "category" and across.categories)
        elif isinstance(panel, Timeline):
            key = "timelines"
        elif isinstance(panel, Diagram) and tables:
            continue
        groups.setdefault(key, []).append(panel)
    first = [group for group in groups.values() if any(panel is main for panel in group)]
    others = [group for group in groups.values() if not any(panel is main for panel in group)]
    return [dataclasses.replace(figure, panels=tuple(group)) for group in (*first, *others)]


def header_and_rows(figure: Figure) -> tuple[list[str], Rows]:
    """Return what `csv` writes: column names with units, and rows; a missing cell is None or NaN.

    Raises:
        InputError: the figure is empty.

    """
    panel = main_panel(figure)
    if isinstance(panel, Plot):
        return _plots([plot for plot in figure.panels if isinstance(plot, Plot)])
    if isinstance(panel, Grid):
        return _grid(panel)
    if isinstance(panel, Field):
        return _field(panel)
    if isinstance(panel, Surface):
        return _surface(panel)
    if isinstance(panel, Timeline):
        return trace_numbers.timelines([panel for panel in figure.panels if isinstance(panel, Timeline)])
    if isinstance(panel, Radar):
        return trace_numbers.radar(panel)
    if isinstance(panel, Flame):
        return _flame(panel)
    if isinstance(panel, Diagram):  # without a table beside it
        return ["name"], [[item.name] for item in panel.items]
    return _table(panel) if isinstance(panel, Table) else _source(panel)


def _plots(plots: list[Plot]) -> tuple[list[str], Rows]:
    """Columns by x, then every series of every plot; series with the same name get the name of their axis."""
    first = plots[0].bars
    across = plots[0].y if first is not None and first.horizontal else plots[0].x
    columns: dict[str, dict[float, float]] = {}
    for plot in plots:
        value = plot.x if plot.bars is not None and plot.bars.horizontal else plot.y
        for name, points in _series(plot):
            title = f"{name} ({value.unit})" if value.unit else name
            if title in columns and columns[title] != points:
                title = f"{value.label}: {title}"
            columns[title] = points
    xs = sorted({x for points in columns.values() for x in points})
    rows: Rows = []
    for x in xs:
        label: Any = x
        if across.scale == "category" and 0 <= round(x) < len(across.categories):
            label = across.categories[round(x)]
        rows.append([label, *(points.get(x) for points in columns.values())])
    return [across.title or "name", *columns], rows


def _series(plot: Plot) -> list[tuple[str, dict[float, float]]]:
    found = []
    for line in plot.lines:
        found.append((line.name, dict(zip(line.x, line.y, strict=True))))
        if line.low and line.high:
            found.append((f"{line.name}, lowest", dict(zip(line.x, line.low, strict=True))))
            found.append((f"{line.name}, highest", dict(zip(line.x, line.high, strict=True))))
    if plot.bars is not None:
        found.extend((name, dict(zip(plot.bars.x, heights, strict=True))) for name, _, heights in plot.bars.series)
    return found


def _grid(grid: Grid) -> tuple[list[str], Rows]:
    rows: Rows = []
    for name, row in zip(grid.rows, grid.cells, strict=True):
        for column, cell in zip(grid.columns, row, strict=True):
            if cell is not None:
                rows.append([name, column, *cell.values, cell.origin, cell.reason])
    return [grid.row_label, grid.column_label, *grid.value_names, "origin", "reason"], rows


def _field(field: Field) -> tuple[list[str], Rows]:
    """Return a row for every run, then for every node between them."""
    rows: Rows = [[dot.x, dot.y, dot.value, dot.origin] for dot in field.dots]
    runs = {(dot.x, dot.y) for dot in field.dots}
    for y, values in zip(field.rows, field.values, strict=True):
        rows.extend(
            [x, y, value, "computed"] for x, value in zip(field.columns, values, strict=True) if (x, y) not in runs
        )
    return [field.x.title, field.y.title, field.value.title, "origin"], rows


def _surface(surface: Surface) -> tuple[list[str], Rows]:
    rows: Rows = [
        [y, x, height]
        for y, heights in zip(surface.rows, surface.heights, strict=True)
        for x, height in zip(surface.columns, heights, strict=True)
        if math.isfinite(height)
    ]
    return [surface.y.title, surface.x.title, surface.z.title], rows


def _table(table: Table) -> tuple[list[str], Rows]:
    header = [_title(column) for column in table.columns]
    rows: Rows = [list(row.values) for row in table.rows]
    if any(row.depth for row in table.rows):
        header = ["depth", *header]
        rows = [[row.depth, *row.values] for row in table.rows]
    return header, rows


def _flame(flame: Flame) -> tuple[list[str], Rows]:
    """Return a row for every frame, with its whole path; for a difference with the values of both trees."""
    unit = f" ({flame.value.unit})" if flame.value.unit else ""
    paths: list[str] = []
    for frame in flame.frames:
        paths.append(f"{paths[frame.parent]};{frame.name}" if frame.parent >= 0 else frame.name)
    header = ["depth", "frame", "path", f"inclusive{unit}", f"exclusive{unit}"]
    rows: Rows = [
        [frame.depth, frame.name, path, frame.value, frame.own] for frame, path in zip(flame.frames, paths, strict=True)
    ]
    if flame.change is None:
        return [*header, f"share (% of {flame.base.removeprefix('the ')})"], [
            [*row, 100 * row[3] / flame.whole if flame.whole > 0 else None] for row in rows
        ]
    more = [[frame.before, frame.own_before, frame.change] for frame in flame.frames]
    header += [f"inclusive before{unit}", f"exclusive before{unit}", flame.change.title]
    return header, [[*row, *values] for row, values in zip(rows, more, strict=True)]


def _source(source: Source) -> tuple[list[str], Rows]:
    header = ["line", *(_title(column) for column in source.columns), "text", "instrumented"]
    width = len(source.columns)
    rows: Rows = []
    for line in source.lines:
        values = [*line.values, *([None] * (width - len(line.values)))]
        rows.append([line.number, *values, line.text, line.inserted])
    return header, rows


def _no_formula(cell: Any) -> Any:
    """Return a cell that no spreadsheet evaluates: text that looks like a formula gets an apostrophe; numbers stay."""
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip(" ").startswith(_FORMULA) else cell


def missing(value: Any) -> bool:
    """Whether a cell holds neither a finite number nor text."""
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return as_read(value)
    return str(value)


def short(value: Any) -> str:
    """Return a cell for display: four significant digits, empty where missing."""
    if missing(value):
        return ""
    return significant(value, 4) if isinstance(value, float) and not value.is_integer() else _text(value)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist"):  # an array
        value = value.tolist()
    if isinstance(value, tuple | list | Tips):
        return [_plain(item) for item in value]
    return None if missing(value) else value
