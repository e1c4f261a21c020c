"""A report as PDF: pages of text and tables, with the pictures as vector graphics."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import scalegraph
from scalegraph.base.cancel import CancelToken
from scalegraph.base.text import visible
from scalegraph.figures.figure import Table
from scalegraph.figures.render import picture

if TYPE_CHECKING:
    from scalegraph.request.results.report import Contents, Numbers, Part

_FONT: Final = "DejaVu"
_MM: Final = 72 / 25.4  # points
_MARGIN: Final = 18.0  # mm
_MUTED: Final = (90, 98, 112)
_WIDEST: Final = 9  # columns of a table across the page; more columns go into further tables below
_PADDING: Final = 1.2  # mm, beside a cell
_PARTS: Final = 2  # tables per panel
_ROWS: Final = 12  # of the numbers below a picture


def pdf(found: Contents, cancel: CancelToken | None = None) -> bytes:
    """Return the report *found* as the bytes of a PDF of A4 pages. Raises `Cancelled`."""
    made = _Report(found, cancel or CancelToken())
    made.write()
    return made.whole()


class _Report:
    """Writes text with fpdf; the space for a picture stays free, and matplotlib's PDF of it is placed there."""

    def __init__(self, found: Contents, cancel: CancelToken) -> None:
        from fpdf import FPDF

        class Pages(FPDF):
            def footer(self) -> None:
                self.set_y(-13)
                self.set_font(_FONT, "", 8)
                self.set_text_color(*_MUTED)
                half = self.epw / 2
                self.cell(half, 5, f"ScaleGraph {scalegraph.__version__}")
                self.cell(half, 5, f"{self.page_no()} of {{nb}}", align="R")

        self._found, self._cancel = found, cancel
        self._pictures: list[tuple[int, float, float, float]] = []  # page, left, top and width in mm
        self._drawn = picture.Pages()
        self._pdf: Any = Pages(format="A4")
        self._pdf.set_auto_page_break(True, margin=18)
        self._pdf.set_margins(_MARGIN, 16)
        folder = _fonts()
        for style, name in (("", "DejaVuSans"), ("B", "DejaVuSans-Bold"), ("I", "DejaVuSans-Oblique")):
            self._pdf.add_font(_FONT, style, str(folder / f"{name}.ttf"))
        self._pdf.add_font("Mono", "", str(folder / "DejaVuSansMono.ttf"))
        self._pdf.set_title(visible(found.title))
        self._pdf.set_creator(f"ScaleGraph {scalegraph.__version__}")
        self._pdf.set_author(visible(found.author))
        self._pdf.set_creation_date(datetime.now(UTC))

    def write(self) -> None:
        """Make all pages."""
        found = self._found
        self._first_page(found)
        for section in found.sections:
            self._pdf.add_page()
            self._heading(section.title, 15, 0)
            for part in section.parts:
                self._part(part)
        if found.absent:
            self._heading("Not shown", 13, 0)
            for text in found.absent:
                self._text(text, 9, muted=True, after=0.5)
        if found.request:
            self._pdf.add_page()
            self._heading("How it was made", 15, 0)
            self._code(found.request)
            self._heading("Machine", 12, 1)
            self._code(found.machine)

    def _first_page(self, found: Contents) -> None:
        self._pdf.add_page()
        self._text(found.title, 18, "B", after=2)
        if found.author:
            self._text(f"by {found.author}", 10, muted=True, after=2)
        self._facts(found.facts)
        if found.note:
            self._text(found.note, 10, after=2)
        for text in found.verdicts:
            self._text(f"\u2022  {text}", 10, after=0.8)
        for item in found.outcomes:
            self._text(f"{item.statement}: {item.word}{': ' if item.said else ''}{item.said}", 9, after=0.5)
        if found.times is not None:
            self._pdf.ln(2)
            self._table(found.times.header, found.times.rows, [False] * len(found.times.header), 8.5)
            if found.times.left_out:
                self._text(found.times.left_out, 8, muted=True)
        if found.front is not None:
            self._part(found.front, front=True)

    def whole(self) -> bytes:
        """Return the pages with their pictures, each embedded as a form."""
        from pypdf import PdfReader, PdfWriter

        writer = PdfWriter(clone_from=io.BytesIO(bytes(self._pdf.output())))
        if self._pictures:
            drawn = PdfReader(io.BytesIO(self._drawn.finish()))
            for picture, (page, left, top, width) in zip(drawn.pages, self._pictures, strict=True):
                self._cancel.check()
                _put(writer, writer.pages[page - 1], picture, (left * _MM, top * _MM, width * _MM))
        made = io.BytesIO()
        writer.write(made)
        return made.getvalue()

    # on the pages

    def _text(self, text: str, size: float, style: str = "", *, after: float = 1.0, muted: bool = False) -> None:
        self._pdf.set_font(_FONT, style, size)
        self._pdf.set_text_color(*(_MUTED if muted else (0, 0, 0)))
        self._pdf.multi_cell(0, size * 0.48, visible(text), align="L", new_x="LMARGIN", new_y="NEXT")
        self._pdf.ln(after)

    def _heading(self, text: str, size: float, level: int) -> None:
        self._pdf.start_section(visible(text), level=level)
        self._text(text, size, "B", after=1)

    def _facts(self, facts: Sequence[tuple[str, str]]) -> None:
        for name, value in facts:
            top = self._pdf.get_y()
            self._pdf.set_font(_FONT, "", 9)
            self._pdf.set_text_color(*_MUTED)
            self._pdf.cell(26, 4.6, name)
            self._pdf.set_text_color(0, 0, 0)
            self._pdf.set_xy(_MARGIN + 26, top)
            self._pdf.multi_cell(0, 4.6, visible(value), align="L", new_x="LMARGIN", new_y="NEXT")
        self._pdf.ln(2)

    def _part(self, part: Part, *, front: bool = False) -> None:
        self._cancel.check()
        if all(isinstance(panel, Table) for panel in part.figure.panels):
            self._tables(part)
            return
        width, height = self._fitting(*self._drawn.add(part.figure))
        needed = height + 22
        if self._pdf.get_y() + needed > self._pdf.page_break_trigger:
            room = self._pdf.page_break_trigger - self._pdf.get_y() - 22
            if front and room > 45:  # the first page shows the plot, smaller if necessary
                width, height = width * room / height, room
            else:
                self._pdf.add_page()
        self._pdf.ln(2)
        self._heading(part.title, 12, 1 if not front else 0)
        if part.sentence:
            self._text(part.sentence, 9.5, after=1)
        if self._pdf.get_y() + height > self._pdf.page_break_trigger:
            self._pdf.add_page()
        left = _MARGIN + (self._pdf.epw - width) / 2
        self._pictures.append((self._pdf.page, left, self._pdf.get_y(), width))
        self._pdf.set_y(self._pdf.get_y() + height + 1)
        for note in part.notes:
            self._text(note, 8, muted=True, after=0.3)
        if not front:
            for table in part.tables:
                self._numbers(table)

    def _tables(self, part: Part) -> None:
        """Write a part that consists of tables, without a picture."""
        if self._pdf.get_y() + 40 > self._pdf.page_break_trigger:
            self._pdf.add_page()
        self._pdf.ln(2)
        self._heading(part.title, 12, 1)
        if part.sentence:
            self._text(part.sentence, 9.5, after=1)
        for table in part.tables:
            self._numbers(table)
        for note in part.notes:
            self._text(note, 8, muted=True, after=0.3)

    def _fitting(self, width: float, height: float) -> tuple[float, float]:
        """Return width and height in mm of a picture: no wider than the text, no higher than most of a page."""
        scale = min(1.0, self._pdf.epw / width, 200 / height)
        return width * scale, height * scale

    def _numbers(self, table: Numbers) -> None:
        if not table.rows or not table.header:
            return
        for first in range(0, min(len(table.header), _PARTS * _WIDEST), _WIDEST):
            last = first + _WIDEST
            keys = [0] if first else []  # the key columns are repeated in every part
            chosen = [*keys, *range(first, min(last, len(table.header)))]
            rows = [[row[index] for index in chosen] for row in table.rows[:_ROWS]]
            header = [table.header[index] for index in chosen]
            self._pdf.ln(1.5)
            self._table(header, rows, [table.texts[index] for index in chosen], 7.5)
        shown = []
        if len(table.rows) > _ROWS or table.left_out:
            shown.append(f"{min(_ROWS, len(table.rows))} rows")
        if len(table.header) > _PARTS * _WIDEST:
            shown.append(f"{_PARTS * _WIDEST} columns")
        if shown:
            self._text(f"The first {' and '.join(shown)}; `scalegraph export` writes all.", 7.5, muted=True)

    def _table(self, header: Sequence[str], rows: Sequence[Sequence[str]], texts: Sequence[bool], size: float) -> None:
        from fpdf.fonts import FontFace

        self._pdf.set_text_color(0, 0, 0)
        self._pdf.set_font(_FONT, "", size)
        widths = self._widths(header, rows)
        if self._fits(header, rows, widths):
            self._lines(header, rows, texts, widths, size)
            return
        with self._pdf.table(
            width=sum(widths),
            col_widths=tuple(widths),
            align="LEFT",
            text_align=tuple("LEFT" if text else "RIGHT" for text in texts),
            borders_layout="HORIZONTAL_LINES",
            line_height=size * 0.5,
            headings_style=FontFace(emphasis="BOLD"),
            padding=(0.4, _PADDING),
        ) as table:
            for row in [header, *rows]:
                cells = table.row()
                for cell in row:
                    cells.cell(visible(cell))

    def _fits(self, header: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[float]) -> bool:
        """Whether every cell is one line in its column, in bold letters even."""
        self._pdf.set_font(style="B")
        fits = all(
            "\n" not in cell and self._pdf.get_string_width(visible(cell)) <= width - 2 * _PADDING
            for row in [header, *rows]
            for cell, width in zip(row, widths, strict=True)
        )
        self._pdf.set_font(style="")
        return fits

    def _lines(
        self,
        header: Sequence[str],
        rows: Sequence[Sequence[str]],
        texts: Sequence[bool],
        widths: Sequence[float],
        size: float,
    ) -> None:
        """Write a table whose cells are one line each, with the header again on every page.

        fpdf2's tables look for line breaks in every cell, twice, which takes ten times as long.
        """
        height, margin = size * 0.5 + 0.8, self._pdf.c_margin
        self._pdf.c_margin = 0
        for number, row in enumerate([header, *rows]):
            again = number > 0 and self._pdf.will_page_break(height)
            for cells in [header, row] if again else [row]:
                if cells is header and again:
                    self._pdf.add_page()
                self._line(cells, texts, widths, height, head=cells is header)
        self._pdf.c_margin = margin

    def _line(
        self, cells: Sequence[str], texts: Sequence[bool], widths: Sequence[float], height: float, *, head: bool
    ) -> None:
        left, top = self._pdf.l_margin, self._pdf.get_y()
        if head:
            self._pdf.set_font(style="B")
        for cell, text, width in zip(cells, texts, widths, strict=True):
            self._pdf.set_x(left + _PADDING)
            self._pdf.cell(width - 2 * _PADDING, height, visible(cell), align="L" if text else "R")
            left += width
        self._pdf.set_xy(self._pdf.l_margin, top + height)
        if head:
            self._pdf.set_font(style="")
        self._pdf.set_draw_color(0, 0, 0)
        self._pdf.line(self._pdf.l_margin, top + height, left, top + height)

    def _widths(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[float]:
        """Return the column widths in mm by content; the widest shrink if the page is narrower."""
        wanted = []
        for index, name in enumerate(header):
            cells = [name, *(row[index] for row in rows)]
            wanted.append(4 + 1.08 * max(self._pdf.get_string_width(visible(cell)) for cell in cells))
        room = self._pdf.epw
        if sum(wanted) <= room:
            return wanted
        limit = room / len(wanted)
        narrow = sum(min(width, limit) for width in wanted)
        spare = max(0.0, room - narrow) / max(
            1e-9, sum(wanted) - narrow
        )  # what those above the limit lack is shared among them
        made = [min(width, limit) + spare * max(0.0, width - limit) for width in wanted]
        return [width * 0.9999 * room / sum(made) for width in made]

    def _code(self, text: str) -> None:
        self._pdf.set_font("Mono", "", 7)
        self._pdf.set_text_color(0, 0, 0)
        self._pdf.multi_cell(
            0, 3.4, "\n".join(visible(line) for line in text.splitlines()), align="L", new_x="LMARGIN", new_y="NEXT"
        )
        self._pdf.ln(2)


def _put(writer: Any, sheet: Any, drawn: Any, place: tuple[float, float, float]) -> None:
    """Make the page *sheet* draw the page *drawn* of another document at *place*: left, top and width in points.

    Its content is embedded unchanged, as a form (ISO 32000-1, 8.10), without parsing it.
    """
    from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, FloatObject, NameObject

    left, top, width = place
    wide, high = float(drawn.mediabox.width), float(drawn.mediabox.height)
    scale = width / wide
    form = DecodedStreamObject()
    form.set_data(drawn.get_contents().get_data())
    form.update(
        {
            NameObject("/Type"): NameObject("/XObject"),
            NameObject("/Subtype"): NameObject("/Form"),
            NameObject("/BBox"): ArrayObject([FloatObject(0), FloatObject(0), FloatObject(wide), FloatObject(high)]),
            NameObject("/Resources"): drawn["/Resources"].clone(writer),
        }
    )
    resources = sheet["/Resources"].get_object()
    known = resources.setdefault(NameObject("/XObject"), DictionaryObject()).get_object()
    name = f"/Picture{len(known) + 1}"
    known[NameObject(name)] = writer._add_object(form.flate_encode())
    below = float(sheet.mediabox.height) - top - high * scale
    before, after = DecodedStreamObject(), DecodedStreamObject()
    before.set_data(b"q\n")
    moved = f"{round(scale, 6)} 0 0 {round(scale, 6)} {round(left, 4)} {round(below, 4)} cm"
    after.set_data(f"\nQ q {moved} {name} Do Q\n".encode())
    written = sheet["/Contents"]
    parts = (
        [one.indirect_reference for one in written]
        if isinstance(written, ArrayObject)
        else [written.indirect_reference]
    )
    content = [writer._add_object(before), *parts, writer._add_object(after)]
    sheet[NameObject("/Contents")] = ArrayObject(content)


def _fonts() -> Path:
    """Return the directory of fonts bundled with matplotlib."""
    import matplotlib as mpl

    return Path(mpl.get_data_path()) / "fonts" / "ttf"
