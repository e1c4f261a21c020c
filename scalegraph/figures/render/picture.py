"""Pictures of figures with matplotlib: the sheet, its caption, its panels. Leaves no global state (no pyplot)."""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Sheet
from matplotlib.layout_engine import ConstrainedLayoutEngine

from scalegraph.base.errors import InputError
from scalegraph.base.units import as_read
from scalegraph.figures.diagram import Diagram
from scalegraph.figures.figure import Field, Figure, Grid, Panel, Plot, Radar, Source, Surface, Table, Timeline
from scalegraph.figures.flames import Flame
from scalegraph.figures.palette import Theme, ink, paper
from scalegraph.figures.render import diagram as diagram_panel
from scalegraph.figures.render import field as field_panel
from scalegraph.figures.render import flame as flame_panel
from scalegraph.figures.render import grid as grid_panel
from scalegraph.figures.render import plot as plot_panel
from scalegraph.figures.render import radar as radar_panel
from scalegraph.figures.render import table as table_panel
from scalegraph.figures.render import timeline as timeline_panel
from scalegraph.figures.render.glyphs import legible
from scalegraph.figures.render.text import fitted, text_of, wrapped

CM = 1 / 2.54
CM_POINT = 2.54 / 72
_WIDTH = 16.0
_SMALLEST = (4.0, 3.0)
_LARGEST = 200.0
_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "hatch.linewidth": 0.4,
    "text.hinting": "no_hinting",  # hinting makes letters up to a sixth wider or narrower than measured
    "text.parse_math": False,  # a parameter called "$n$" is text
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "scalegraph",
}
_LEAST_OF_PANELS = 0.6  # share of the height: title, sentence and notes are dropped before the panels get less
_FULL_LETTERS, _SMALLEST_LETTERS = 11.0, 0.75  # width in cm from which letters have full size; smallest scale factor
_PDF: Final[dict[str, Any]] = {"CreationDate": None, "ModDate": None, "Creator": "ScaleGraph", "Producer": None}
_NO_ROOM = "constrained_layout not applied"
_LOCK = threading.Lock()  # rcParams are matplotlib's only unavoidable global state


class _NoRoom(Exception):  # noqa: N818 - says what there is too little of
    """The text around the panels leaves them too little room on the sheet."""


@dataclass
class Brush:
    """What panels need for drawing: the sheet, the theme, and work deferred until the layout is final."""

    sheet: Sheet
    theme: Theme
    later: list[Any] = field(default_factory=list)  # called after layout

    @property
    def ink(self) -> str:
        """Text colour."""
        return ink(self.theme)

    @property
    def paper(self) -> str:
        """Background colour."""
        return paper(self.theme)


def render(
    figure: Figure, ending: str, size_cm: tuple[float, float] | None, theme: Theme, dpi: int, *, caption: bool = True
) -> bytes:
    """Return the picture of *figure* as a file's bytes; see `scalegraph.figures.render.save`."""
    with composed(figure, size_cm, theme, dpi, caption=caption, glyphs=ending != "svg") as sheet:
        return _bytes(sheet, ending)


@contextmanager
def composed(
    figure: Figure,
    size_cm: tuple[float, float] | None,
    theme: Theme,
    dpi: int,
    *,
    caption: bool = True,
    glyphs: bool = True,
) -> Iterator[Sheet]:
    """Yield the finished sheet of *figure*, with matplotlib configured for it.

    *glyphs*: see `legible`.
    """
    figure = legible(figure, glyphs=glyphs)
    size = _checked(size_cm or _natural(figure))
    with _LOCK, mpl.rc_context(_style(size[0])), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        warnings.filterwarnings("error", message=_NO_ROOM)
        # in a small picture the notes are dropped first, then all text around the panels
        for words in (3, 2, 1, 0) if caption else (0,):
            try:
                sheet = _compose(figure, size, theme, dpi, words)
            except _NoRoom:
                continue
            except UserWarning as warning:
                if "constrained_layout" not in str(warning):
                    raise
            else:
                break
        else:
            warnings.filterwarnings("ignore", message=_NO_ROOM)
            sheet = _compose(figure, size, theme, dpi, 0)
        yield sheet


def _compose(figure: Figure, size: tuple[float, float], theme: Theme, dpi: int, words: int) -> Sheet:
    """Return the sheet with the first *words* of title, sentence and notes, and with the panels placed."""
    engine = ConstrainedLayoutEngine()
    sheet = Sheet(figsize=(size[0] * CM, size[1] * CM), dpi=dpi, layout=engine)
    FigureCanvasAgg(sheet)
    brush = Brush(sheet, theme)
    sheet.set_facecolor(brush.paper)
    notes = (*figure.below, *_reasons(figure)) if words > 2 else (figure.estimated,) if figure.estimated else ()
    title, sentence = figure.title if words else "", figure.sentence if words > 1 else ""
    top, bottom = _caption(brush, title, sentence, notes) if title or notes else (1.0, 0.0)
    if words and figure.panels and top - bottom < _LEAST_OF_PANELS and size[0] < _FULL_LETTERS:
        raise _NoRoom
    engine.set(rect=(0.008, bottom, 0.984, top - bottom), w_pad=0.05, h_pad=0.05, wspace=0.03, hspace=0.03)
    if figure.panels:
        _panels(brush, figure.panels)
    else:
        _empty(brush, figure, (top + bottom) / 2)
    if sheet.axes:
        engine.execute(sheet)  # without drawing everything, as `draw_without_rendering` would
    sheet.set_layout_engine("none")  # the layout is final now; deferred work fits into what room is left
    for work in brush.later:
        work()
    return sheet


def _style(width: float) -> dict[Any, Any]:
    """Return the style of panels, with smaller letters in a picture of column *width* (cm)."""
    scale = min(1.0, max(_SMALLEST_LETTERS, width / _FULL_LETTERS))
    return {key: value * scale if key.endswith("size") else value for key, value in _STYLE.items()}


def _checked(size: tuple[float, float]) -> tuple[float, float]:
    fits = all(low <= value <= _LARGEST for low, value in zip(_SMALLEST, size, strict=True))
    if not fits:
        raise InputError(
            f"size: a picture is at least {as_read(_SMALLEST[0])} x {as_read(_SMALLEST[1])} cm and at most"
            f" {as_read(_LARGEST)} cm a side, got {as_read(size[0])} x {as_read(size[1])} cm"
        )
    return size


def _natural(figure: Figure) -> tuple[float, float]:
    """Return a natural size: wide enough to read, high enough for the rows."""
    plots = all(isinstance(panel, Plot) and not _sideways(panel) for panel in figure.panels)
    heights = [_high(panel, _WIDTH) for panel in figure.panels]
    height = (max(heights, default=2.0) if plots else sum(heights)) + 2.0
    notes = len(figure.below) + sum(len(grid_panel.footnotes(p)) for p in figure.panels if isinstance(p, Grid))
    return _WIDTH, max(4.0, min(60.0, height + 0.36 * notes))


def _high(panel: Panel, width: float) -> float:
    """Return the height in cm that *panel* needs at a width of *width* cm."""
    if isinstance(panel, Table):
        return min(24.0, table_panel.table_height(panel, width / CM_POINT - 16) * CM_POINT + 0.4)
    if isinstance(panel, Source):
        return min(24.0, 1.5 + 0.33 * table_panel.source_rows(panel))
    if isinstance(panel, Grid):
        return max(5.0, min(20.0, 1.6 + 0.95 * len(panel.rows)))
    if isinstance(panel, Field):
        return 9.0
    if isinstance(panel, Surface):
        return 10.5
    if isinstance(panel, Timeline):
        return timeline_panel.height_cm(panel, width)
    if isinstance(panel, Radar):
        return 9.0
    if isinstance(panel, Flame):
        return flame_panel.height_cm(panel)
    if isinstance(panel, Diagram):
        return diagram_panel.height_cm(panel, width)
    if panel.bars is not None and panel.bars.horizontal:
        return 1.8 + 0.55 * max(2, len(panel.bars.x))
    return 7.3


def _sideways(panel: Panel) -> bool:
    return isinstance(panel, Plot) and panel.bars is not None and panel.bars.horizontal


def _caption(brush: Brush, title: str, sentence: str, notes: Sequence[str]) -> tuple[float, float]:
    """Write title and sentence above, notes below; return the free range as shares of the height."""
    sheet = brush.sheet
    width, height = sheet.get_size_inches() * 72  # points
    room = width - 14
    y = height - 8
    scale = mpl.rcParams["font.size"] / _STYLE["font.size"]
    for text, full, weight in ((title, 9.5, "bold"), (sentence, 8.0, "normal")):
        size = full * scale
        lines = wrapped(text, size, room, weight)
        if scale < 1 and len(lines) > 3:
            raise _NoRoom  # half a sentence is worse than none
        for line in lines[:3]:
            sheet.text(
                7 / width,
                y / height,
                text_of(line),
                parse_math=True,
                size=size,
                weight=weight,
                color=brush.ink,
                va="top",
            )
            y -= size * 1.32
        y -= 2
    below = [(line, 6.2) for note in notes if note for line in wrapped(note, 6.2, room)]
    most = max(1, int(0.3 * height / (6.2 * 1.3)))
    if len(below) > most:
        below = [*below[: most - 1], ("… and more: the data export has all notes and reasons.", 6.2)]
    bottom = 5.0
    for line, size in reversed(below):
        sheet.text(
            7 / width,
            bottom / height,
            text_of(line),
            parse_math=True,
            size=size,
            color=brush.ink,
            alpha=0.75,
            va="bottom",
        )
        bottom += size * 1.3
    return max(y / height, 0.4), min((bottom + 2) / height, 0.35)


def _reasons(figure: Figure) -> list[str]:
    return [line for panel in figure.panels if isinstance(panel, Grid) for line in grid_panel.footnotes(panel)]


def _panels(brush: Brush, panels: Sequence[Panel]) -> None:
    plots = all(isinstance(panel, Plot) for panel in panels)
    width, height = brush.sheet.get_size_inches()
    beside = plots and len(panels) > 1 and width / height > 1.15
    weights = None if beside else [_high(panel, width / CM) for panel in panels]
    rows, columns = (1, len(panels)) if beside else (len(panels), 1)
    # separate sheets, so that the margins of a plot do not narrow the table above it
    parts = brush.sheet.subfigures(rows, columns, height_ratios=weights, squeeze=False)
    for part, panel in zip(parts.flat, panels, strict=True):
        part.set_facecolor(brush.paper)
        if isinstance(panel, Timeline):
            timeline_panel.draw(brush, part, panel)
            continue
        axes = part.add_subplot()
        axes.set_facecolor(brush.paper)
        if isinstance(panel, Plot):
            plot_panel.draw(brush, axes, panel)
        elif isinstance(panel, Grid):
            grid_panel.draw(brush, axes, panel)
        elif isinstance(panel, Table):
            table_panel.draw_table(brush, axes, panel)
        elif isinstance(panel, Field):
            field_panel.draw(brush, axes, panel)
        elif isinstance(panel, Surface):
            field_panel.draw_surface(brush, axes, panel)
        elif isinstance(panel, Radar):
            radar_panel.draw(brush, axes, panel)
        elif isinstance(panel, Flame):
            flame_panel.draw(brush, axes, panel)
        elif isinstance(panel, Diagram):
            diagram_panel.draw(brush, axes, panel)
        else:
            table_panel.draw_source(brush, axes, panel)


def _empty(brush: Brush, figure: Figure, middle: float) -> None:
    width = float(brush.sheet.get_size_inches()[0]) * 72
    text = "\n".join(wrapped(figure.empty or "Nothing to show.", 9.0, width * 0.8))
    brush.sheet.text(0.5, middle, text, size=9, color=brush.ink, ha="center", va="center")


class Pages:
    """Pictures as the pages of a PDF, which embeds each font only once."""

    def __init__(self) -> None:
        from matplotlib.backends.backend_pdf import PdfPages

        self._out = io.BytesIO()
        self._pages = PdfPages(self._out, metadata=_PDF)

    def add(self, figure: Figure) -> tuple[float, float]:
        """Add a page with *figure*, without title and notes; return its width and height in mm."""
        from matplotlib.backends.backend_pdf import FigureCanvasPdf

        with composed(figure, None, "print", 200, caption=False) as sheet:
            FigureCanvasPdf(sheet).print_pdf(self._pages)
            width, height = sheet.get_size_inches()
        return float(width) * 25.4, float(height) * 25.4

    def finish(self) -> bytes:
        """Return the complete document, after which no page can be added. Empty without pages."""
        with _LOCK, mpl.rc_context(_style(_FULL_LETTERS)):  # the font type is needed when fonts are written
            self._pages.close()
        return self._out.getvalue()


def _bytes(sheet: Sheet, ending: str) -> bytes:
    out = io.BytesIO()
    # no dates and no program version: the same figure gives the same bytes
    nothing: dict[str, dict[str, Any]] = {
        "png": {"Software": None},
        "svg": {"Date": None, "Creator": "ScaleGraph"},
        "pdf": _PDF,
    }
    # savefig would draw everything again to compute a layout that is final already
    if ending == "svg":
        FigureCanvasSVG(sheet).print_svg(out, metadata=nothing[ending])
    elif ending == "pdf":
        from matplotlib.backends.backend_pdf import FigureCanvasPdf  # its import takes a third of a second

        FigureCanvasPdf(sheet).print_pdf(out, metadata=nothing[ending])
    else:
        FigureCanvasAgg(sheet).print_png(out, metadata=nothing[ending])
    return out.getvalue()


__all__ = ["Brush", "Pages", "fitted", "render"]
