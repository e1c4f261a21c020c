"""Figures: what a view shows, independent of any toolkit.

A view turns a study into a `Figure`; the window draws it with pyqtgraph, exports draw it with matplotlib, and tables
come from the same object. So screen, file and numbers cannot differ.

Colours are roles (``busy``, ..), never values: `scalegraph.figures.palette` defines them for light, dark and print.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from scalegraph.figures.diagram import Diagram
from scalegraph.figures.flames import Flame
from scalegraph.figures.way import Way

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.floating[Any]]]
Ints: TypeAlias = np.ndarray[Any, np.dtype[np.integer[Any]]]
Origin: TypeAlias = Literal["simulated", "measured", "imported", "predicted", "computed"]

# Units of shares, which name the whole: a plain "%" would leave the reader to guess (tests/views/test_bases.py).
PROCESSOR_TIME = "% of processor time"  # N T_para of the run, all groups including waiting
LOSS = "% of the loss"  # of N T_para - T_seq
MISSES = "% of misses"  # of the run
REFERENCES = "% of references"
PREDICTED_TIME = "% of predicted time"
ELAPSED_TIME = "% of elapsed time"  # T_para of the run
OPERATIONS = "% of operations"  # of all processors of the run
LOCATIONS_TIME = "% of the locations' time"  # of a trace: the interval shown times the number of locations
IDEAL = "% of the ideal"  # of an efficiency
EVIDENCE = "% of all fits"  # Akaike weights


@dataclass(frozen=True)
class Axis:
    """An axis: *label*, *unit* (SI symbol or empty), scale, and fixed ticks where needed."""

    label: str
    unit: str = ""
    scale: Literal["linear", "log2", "log10", "category"] = "linear"
    ticks: tuple[float, ...] = ()
    categories: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    bare: bool = False  # it has no numbers; its label names the picture for screen readers but is not drawn

    @property
    def title(self) -> str:
        """Label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Line:
    """A curve. Missing y is NaN. *low* and *high* give an interval (repetitions, confidence) at each point."""

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
    processors: tuple[int, ...] = ()  # the N of each point, for linked selection
    # draw low to high as a shaded region, as for predictions; otherwise as an error bar at each point
    band: bool = False


@dataclass(frozen=True)
class Bars:
    """Stacked bars, one stack per x; all series share *x*."""

    x: tuple[float, ...]
    series: tuple[tuple[str, str, tuple[float, ...]], ...]  # (name, role, heights)
    tips: tuple[tuple[str, ...], ...] = ()  # [series][x]
    processors: tuple[int, ...] = ()
    horizontal: bool = False


@dataclass(frozen=True)
class Mark:
    """An annotation: a vertical or horizontal line, or a point on a curve (p_x, L_max)."""

    text: str
    x: float | None = None
    y: float | None = None
    role: str = "mark"


@dataclass(frozen=True)
class Handle:
    """A line that can be dragged: on release, the view's *option* is set to its value.

    Every view with an option of that name follows. *axis* is the axis it moves along: ``y`` for a horizontal line,
    ``x`` for a vertical one, ``value`` for an iso-line of a field. *value* and *limits* are in axis units; *text*
    labels the line.
    """

    option: str
    axis: Literal["x", "y", "value"]
    value: float
    text: str = ""
    limits: tuple[float, float] | None = None
    role: str = "mark"


@dataclass(frozen=True)
class Plot:
    """Axes with curves, stacked bars, annotations and draggable lines."""

    x: Axis
    y: Axis
    lines: tuple[Line, ...] = ()
    bars: Bars | None = None
    marks: tuple[Mark, ...] = ()
    handles: tuple[Handle, ...] = ()


@dataclass(frozen=True)
class Dot:
    """A run on a field: its position, its value, and the exact numbers behind it."""

    x: float
    y: float
    value: float = float("nan")
    tip: str = ""
    processors: int | None = None  # its N, for linked selection
    origin: Origin = "simulated"


@dataclass(frozen=True)
class Field:
    """Values over two axes as a heat map with iso-lines (isospeed.txt Fig. 5, 13).

    *columns* and *rows* are the positions of the nodes on *x* and *y*, ascending; *values* is [row][column], NaN if
    unknown. Values are interpolated linearly along both axes, in logarithms on logarithmic ones. *levels* get
    iso-lines; a handle on ``value`` is a highlighted iso-line. `scalegraph.figures.contours` has the geometry.
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
    """Heights over two axes, drawn as shaded polygons (isospeed.txt Fig. 6); *heights* is [row][column], NaN for gaps.

    *azimuth* and *elevation* (degrees) give the direction of view; `scalegraph.figures.projection` makes the polygons.
    *tips* has the same layout as *heights*.
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
    """A cell of a grid. *values* are the numbers it shows (three for scale-graph.txt Fig. 14), None if missing."""

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
    compared: bool = False  # columns with this set and the same unit share one SI prefix within a table


@dataclass(frozen=True)
class Row:
    """A row of a table; *depth* indents a tree; *key* identifies what it represents (a region id, a run key)."""

    values: tuple[float | int | str | None, ...]
    depth: int = 0
    key: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Table:
    """A table or tree of numbers. *title* is shown if a figure has several tables and there is room."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""


@dataclass(frozen=True)
class SourceLine:
    """A source line with its costs. *inserted* is the instrumentation added to it."""

    number: int
    text: str
    inserted: str = ""
    values: tuple[float | None, ...] = ()
    region: int | None = None


@dataclass(frozen=True)
class Source:
    """Source code beside its instrumentation, with the cost of every line."""

    file: str
    columns: tuple[Column, ...]
    lines: tuple[SourceLine, ...]


@dataclass(frozen=True)
class Key:
    """The meaning of a colour on a timeline. *role* is from the palette; *colour* (``#rrggbb``) overrides it.

    *seconds* is its share of the visible time of all lanes, NaN if not counted: keys are listed largest first. *number*
    is the state or region in the trace, -1 for neither.
    """

    name: str
    role: str = "muted"
    colour: str = ""
    seconds: float = float("nan")
    number: int = -1


@dataclass(frozen=True, eq=False)
class Arrows:
    """Arrows between lanes: messages, lock hand-overs. All arrays have one entry per arrow.

    Arrow i goes from lane *lane0[i]* at *x0[i]* (s) to *lane1[i]* at *x1[i]*. Lanes are indices into the track; a
    hidden one is -1 (above the track) or the number of lanes (below it). *value* colours them along *scale* (viridis;
    sizes in bytes); otherwise they have the colour of *role*. *total* counts all arrows in the visible time: a note
    tells how many are not drawn.
    """

    kind: Literal["message", "lock", "other"]
    name: str
    x0: Floats
    lane0: Ints
    x1: Floats
    lane1: Ints
    value: Floats | None = None
    scale: Axis = field(default_factory=lambda: Axis("size", "B", "log2"))
    role: str = "mark"
    tips: Sequence[str] = ()
    total: int = 0


@dataclass(frozen=True, eq=False)
class PathLine:
    """A thick path through the lanes: the critical path.

    Segment i is on lane *lane[i]* (-1: hidden) from *x0[i]* to *x1[i]* (s); segments are in time order, joined by
    connectors. *role* is one role for all, *roles* one per segment.
    """

    name: str
    x0: Floats
    x1: Floats
    lane: Ints
    role: str = "mark"
    roles: tuple[str, ...] = ()
    tips: Sequence[str] = ()
    connectors: bool = True


@dataclass(frozen=True, eq=False)
class Ticks:
    """Moments: barriers, markers, bookmarks. A tick is at *x* (s) on *lane*; with lane -1 it spans the track."""

    kind: Literal["barrier", "mark", "bookmark", "wait"]
    name: str
    x: Floats
    lane: Ints
    role: str = "mark"
    tips: Sequence[str] = ()
    total: int = 0


Overlay: TypeAlias = Arrows | PathLine | Ticks


@dataclass(frozen=True, eq=False)
class LaneTrack:
    """Activity bars, one lane per location, the first on top.

    *edges* (B + 1 times in seconds, ascending) bound the bins. In bin b of lane l, the share *shares[l, b, k]* (0 to 1)
    of the time belongs to *key[codes[l, b, k]]*; code -1 is none. *covered[l, b]* is the known share; its part not
    named by the codes is "other". A bin's colour is the mean of its parts' colours weighted by share
    (`scalegraph.figures.timelines.mixed`), never that of its last event. *locations* are numbers in the trace. *scale*,
    if given, means that the key is a colour ramp along it (speed), with a bar as legend.
    """

    names: tuple[str, ...]
    locations: tuple[int, ...]
    edges: Floats
    codes: Ints  # [L, B, K]
    shares: Floats  # [L, B, K]
    key: tuple[Key, ...]
    covered: Floats | None = None  # [L, B]; None: the sum of the shares
    title: str = ""
    overlays: tuple[Overlay, ...] = ()
    scale: Axis | None = None
    tips: tuple[str, ...] = ()  # of the lanes
    groups: tuple[str, ...] = ()  # of the lanes, such as the processes of threads; () if that adds nothing

    @property
    def height(self) -> int:
        """Number of lanes."""
        return len(self.names)


@dataclass(frozen=True, eq=False)
class Area:
    """A series over the bins of an `AreaTrack`: *values* [B], NaN if unknown; *low* and *high* bound a band."""

    name: str
    role: str
    values: Floats
    low: Floats | None = None
    high: Floats | None = None
    colour: str = ""
    number: int = -1


@dataclass(frozen=True, eq=False)
class AreaTrack:
    """Values over time below or above the lanes: utilisation, speed, counters.

    *kind* ``stack`` stacks the series as filled steps, one per bin, ``band`` draws each as a line with its band from
    *low* to *high*, ``step`` as a stepped line. *limits* of *y* fix the height. *marks* are labelled horizontal lines.
    """

    name: str
    y: Axis
    edges: Floats
    series: tuple[Area, ...]
    kind: Literal["stack", "band", "step"] = "stack"
    marks: tuple[Mark, ...] = ()
    weight: float = 1.0  # height relative to other such tracks


Track: TypeAlias = LaneTrack | AreaTrack


@dataclass(frozen=True, eq=False)
class Timeline:
    """Tracks stacked above a common time axis *x* (seconds); visible is *begin* to *end*.

    *limits* are the first and last possible moment. *key* is the legend of all lane tracks, largest first; it may
    include keys that no track has (a message without size, a barrier). *clock* relates the axis to the clock of the
    subject's run: the run's second at 0, and axis units per second. With several runs on one axis, that may start
    elsewhere or count in %.
    """

    x: Axis
    begin: float
    end: float
    tracks: tuple[Track, ...]
    key: tuple[Key, ...] = ()
    limits: tuple[float, float] | None = None
    notes: tuple[str, ...] = ()
    clock: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class Polygon:
    """A closed line of a `Radar`: a value per spoke, NaN if unknown; *location* is the one it represents, or -1."""

    name: str
    role: str
    values: tuple[float, ...]
    tips: tuple[str, ...] = ()
    location: int = -1
    filled: bool = True


@dataclass(frozen=True)
class Radar:
    """A Kiviat diagram: *spokes* clockwise from the top, all along the axis *value*, with polygons on them.

    *value.limits* are the centre and the rim.
    """

    spokes: tuple[str, ...]
    value: Axis
    polygons: tuple[Polygon, ...]
    locations: tuple[int, ...] = ()  # the spokes' locations, if each spoke is one


Panel: TypeAlias = Plot | Grid | Table | Source | Field | Surface | Timeline | Radar | Flame | Diagram


@dataclass(frozen=True)
class Figure:
    """What a view shows: a title, a sentence with the message of the picture, and one or more panels.

    *empty* says what is missing and how to get it; there are no panels then. *notes* are shown below the picture.
    *estimated* says how much of the runs behind it was not simulated, and the interval of their times; every form of
    the figure states it. *ways* are next steps: buttons in the window, options on the command line (`told`, `remarks`).
    *view* built it.
    """

    title: str
    sentence: str = ""
    panels: tuple[Panel, ...] = ()
    empty: str = ""
    notes: tuple[str, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)
    ways: tuple[Way, ...] = ()
    view: str = ""
    answers: bool = False  # the sentence is the point of the view, so the window gives it more room
    estimated: str = ""

    @property
    def told(self) -> str:
        """The sentence of an empty figure, with the command line options of its next steps."""
        return " ".join(part for part in (self.empty, *(way.words for way in self.ways)) if part) if self.empty else ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """All notes, with the command line options of the next steps."""
        return (*self.below, *(way.words for way in self.ways if way.words)) if not self.empty else self.notes

    @property
    def below(self) -> tuple[str, ...]:
        """The notes below the picture; the first says that numbers are estimates, if they are."""
        return (*((self.estimated,) if self.estimated else ()), *self.notes)
