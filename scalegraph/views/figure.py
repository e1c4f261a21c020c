"""The language of the pictures: what a view shows, free of any toolkit.

A view turns a study into a `Figure`; the window draws it with pyqtgraph, exports draw it with
matplotlib, tables come from the same object. So the screen, the file and the numbers cannot differ.

Colours are roles (``busy``, ``memory_stall``, ..), never values: each renderer takes them from
`scalegraph.views.palette` for light, dark or print.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Origin: TypeAlias = Literal["simulated", "measured", "imported", "predicted", "computed"]


@dataclass(frozen=True)
class Axis:
    """One axis: *label* in words, *unit* (SI symbol or empty), scale, and fixed ticks where they matter."""

    label: str
    unit: str = ""
    scale: Literal["linear", "log2", "log10", "category"] = "linear"
    ticks: tuple[float, ...] = ()
    categories: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None

    @property
    def title(self) -> str:
        """Label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Line:
    """A curve. Missing y is NaN. *low* / *high* give an interval (repetitions, confidence) per point."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    role: str
    origin: Origin = "simulated"
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    style: Literal["solid", "dashed", "thin"] = "solid"
    markers: bool = True
    tips: tuple[str, ...] = ()  # exact values and the run behind each point
    processors: tuple[int, ...] = ()  # the N each point stands for: linked selection


@dataclass(frozen=True)
class Bars:
    """Bars stacked on one another, one stack per x; series share *x*."""

    x: tuple[float, ...]
    series: tuple[tuple[str, str, tuple[float, ...]], ...]  # (name, role, heights)
    tips: tuple[tuple[str, ...], ...] = ()  # [series][x]
    processors: tuple[int, ...] = ()
    horizontal: bool = False


@dataclass(frozen=True)
class Mark:
    """A named place: a vertical or horizontal line, or a point on a curve (p_x, L_max)."""

    text: str
    x: float | None = None
    y: float | None = None
    role: str = "mark"


@dataclass(frozen=True)
class Handle:
    """A line that can be dragged: the view's *option* becomes the value at which it is let go.

    Every view with an option of that name follows. *axis* is the one along which it moves: a horizontal line on
    ``y``, a vertical one on ``x``, an iso-line of a field on ``value``. *value* and *limits* are in the unit of the
    axis; *text* names the line.
    """

    option: str
    axis: Literal["x", "y", "value"]
    value: float
    text: str = ""
    limits: tuple[float, float] | None = None
    role: str = "mark"


@dataclass(frozen=True)
class Plot:
    """Axes with curves, stacked bars, marks, and lines to drag."""

    x: Axis
    y: Axis
    lines: tuple[Line, ...] = ()
    bars: Bars | None = None
    marks: tuple[Mark, ...] = ()
    handles: tuple[Handle, ...] = ()


@dataclass(frozen=True)
class Dot:
    """A run on a field: its place, its value, and the exact numbers behind it."""

    x: float
    y: float
    value: float = float("nan")
    tip: str = ""
    processors: int | None = None  # the N it stands for: linked selection
    origin: Origin = "simulated"


@dataclass(frozen=True)
class Field:
    """Values over two axes as a heat map with iso-lines (isospeed.txt Fig. 5, 13).

    *columns* and *rows* are the places of the nodes on *x* and *y*, rising; *values* is [row][column], NaN where it is
    not known. Between nodes it is linear along both axes, in logarithms on logarithmic ones. *levels* get iso-lines;
    a handle on ``value`` is an iso-line that stands out. Geometry for all renderers is in `scalegraph.views.contours`.
    """

    x: Axis
    y: Axis
    value: Axis
    columns: tuple[float, ...]
    rows: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    levels: tuple[float, ...] = ()
    dots: tuple[Dot, ...] = ()
    handles: tuple[Handle, ...] = ()


@dataclass(frozen=True)
class Surface:
    """Heights over two axes, drawn as shaded polygons (isospeed.txt Fig. 6); *heights* is [row][column], NaN a gap.

    *azimuth* and *elevation* (degrees) are where one looks from; `scalegraph.views.projection` makes the polygons.
    *tips* is like *heights*.
    """

    x: Axis
    y: Axis
    z: Axis
    columns: tuple[float, ...]
    rows: tuple[float, ...]
    heights: tuple[tuple[float, ...], ...]
    azimuth: float = -52.0
    elevation: float = 28.0
    tips: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Cell:
    """One cell of a grid. *values* are what it shows (three for scale-graph.txt Fig. 14), None is missing."""

    values: tuple[float | None, ...]
    reason: str = ""  # why a value is missing
    tip: str = ""
    origin: Origin = "simulated"


@dataclass(frozen=True)
class Grid:
    """A matrix with named rows and columns, coloured by *colour_by* of each cell's values."""

    row_label: str
    column_label: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell | None, ...], ...]  # None: outside (below the diagonal)
    value_names: tuple[str, ...]
    colour_by: int = 0
    limits: tuple[float, float] = (0.0, 1.0)
    row_processors: tuple[int, ...] = ()
    column_processors: tuple[int, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column of a table. *bar_role* draws a bar behind the number, relative to the column's largest."""

    name: str
    unit: str = ""
    bar_role: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a table; *depth* indents a tree; *key* identifies what it stands for (a region id, a run key)."""

    values: tuple[float | int | str | None, ...]
    depth: int = 0
    key: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Table:
    """A table or tree of numbers."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class SourceLine:
    """A line of program text with its costs. *inserted* is the instrumented text of the same line."""

    number: int
    text: str
    inserted: str = ""
    values: tuple[float | None, ...] = ()
    region: int | None = None


@dataclass(frozen=True)
class Source:
    """Program text beside its instrumentation and the cost of every line."""

    file: str
    columns: tuple[Column, ...]
    lines: tuple[SourceLine, ...]


Panel: TypeAlias = Plot | Grid | Table | Source | Field | Surface


@dataclass(frozen=True)
class Figure:
    """What a view shows: a title, a sentence that says what the picture says, and one or more panels.

    *empty* is the sentence of an empty state (what is missing, and how to get it); panels are then absent.
    *notes* are said below the picture: assumptions, skipped runs, residuals.
    """

    view: str
    title: str
    sentence: str = ""
    panels: tuple[Panel, ...] = ()
    empty: str = ""
    notes: tuple[str, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)
