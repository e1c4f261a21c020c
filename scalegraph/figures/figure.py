"""The language of the pictures: what a view shows, free of any toolkit.

A view turns a study into a `Figure`; the window draws it with pyqtgraph, exports draw it with
matplotlib, tables come from the same object. So the screen, the file and the numbers cannot differ.

Colours are roles (``busy``, ..), never values: `scalegraph.figures.palette` has them for light, dark and print.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from scalegraph.figures.diagram import Diagram
from scalegraph.figures.way import Way

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.floating[Any]]]
Ints: TypeAlias = np.ndarray[Any, np.dtype[np.integer[Any]]]
Origin: TypeAlias = Literal["simulated", "measured", "imported", "predicted", "computed"]

# Units of shares, which say of what: a "%" alone would leave a reader to guess (tests/views/test_bases.py).
PROCESSOR_TIME = "% of processor time"  # N T_para of the run, all groups, waiting included
LOSS = "% of the loss"  # of N T_para - T_seq
MISSES = "% of misses"  # of the run
REFERENCES = "% of references"
PREDICTED_TIME = "% of predicted time"
ELAPSED_TIME = "% of elapsed time"  # T_para of the run
OPERATIONS = "% of operations"  # of all processors of the run
LOCATIONS_TIME = "% of the locations' time"  # of a trace: the time shown times the locations
IDEAL = "% of the ideal"  # of an efficiency
EVIDENCE = "% of all fits"  # Akaike weights


@dataclass(frozen=True)
class Axis:
    """One axis: *label* in words, *unit* (SI symbol or empty), scale, and fixed ticks where they matter."""

    label: str
    unit: str = ""
    scale: Literal["linear", "log2", "log10", "category"] = "linear"
    ticks: tuple[float, ...] = ()
    categories: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    bare: bool = False  # it has no numbers, and its label names the picture but is not drawn

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
    band: bool = False  # low to high is a shaded region, as for what is predicted; otherwise a bar at each point


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
    a handle on ``value`` is an iso-line that stands out. `scalegraph.figures.contours` has the geometry.
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

    *azimuth* and *elevation* (degrees) are the direction of view; `scalegraph.figures.projection` makes the polygons.
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
    compared: bool = False  # all of a table that are, and have one unit, are written in one multiple of it


@dataclass(frozen=True)
class Row:
    """A row of a table; *depth* indents a tree; *key* identifies what it stands for (a region id, a run key)."""

    values: tuple[float | int | str | None, ...]
    depth: int = 0
    key: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Table:
    """A table or tree of numbers. *title* is its name where a figure has several and room for one."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""


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


@dataclass(frozen=True)
class Key:
    """What a colour on a timeline stands for. *role* is one of the palette's, *colour* (``#rrggbb``) goes before it.

    *seconds* is how much of the visible time of all lanes it took, NaN where that is not counted: keys are listed with
    the largest first. *number* is the state or region of the trace, -1 if it is neither.
    """

    name: str
    role: str = "muted"
    colour: str = ""
    seconds: float = float("nan")
    number: int = -1


@dataclass(frozen=True, eq=False)
class Arrows:
    """Lines from one lane to another: messages, lock hand-overs. All arrays have one entry for each arrow.

    Arrow i leads from lane *lane0[i]* at *x0[i]* (s) to *lane1[i]* at *x1[i]*. Lanes are indices of the track; one
    that is not shown is -1 (above the track) or the number of lanes (below it). *value* colours them along
    *scale* (viridis; sizes in bytes); without it they have the colour of *role*. *total* counts the arrows that the
    visible time has: those that are not drawn are named in a note.
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
    """A path through the lanes, drawn thick: the critical path.

    Segment i is on lane *lane[i]* (-1: not shown) from *x0[i]* to *x1[i]* (s); segments are in the order of time
    and each is joined to the next by a connector. *role* is one role for all, *roles* one for each segment.
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
    """Moments: barriers, marks, bookmarks. A tick is at *x* (s) on *lane*; lane -1 is the height of the track."""

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
    """Activity bars, one lane for each location, the first on top.

    *edges* (B + 1 times in seconds, rising) bound the bins. Of bin b of lane l the share *shares[l, b, k]* (0 to 1)
    of its time went to *key[codes[l, b, k]]*; code -1 is none. *covered[l, b]* is the share of which anything is known;
    what of it the codes do not name is "other". A bin has one colour, the mean of its parts' colours by share
    (`scalegraph.figures.timelines.mixed`), never that of its last event. *locations* are the trace's numbers.
    *scale*, if given, says that the key is a ramp along it (speed), whose legend is then a bar.
    """

    names: tuple[str, ...]
    locations: tuple[int, ...]
    edges: Floats
    codes: Ints  # [L, B, K]
    shares: Floats  # [L, B, K]
    key: tuple[Key, ...]
    covered: Floats | None = None  # [L, B]; None: what the shares add up to
    title: str = ""
    overlays: tuple[Overlay, ...] = ()
    scale: Axis | None = None
    tips: tuple[str, ...] = ()  # of the lanes
    groups: tuple[str, ...] = ()  # of the lanes, such as processes of threads; () where that is no information

    @property
    def height(self) -> int:
        """How many lanes."""
        return len(self.names)


@dataclass(frozen=True, eq=False)
class Area:
    """A series over the bins of an `AreaTrack`: *values* [B], NaN where not known; *low* and *high* bound a band."""

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

    *kind* ``stack`` stacks the series as filled areas (steps, one for each bin), ``band`` draws each as a line with
    its band from *low* to *high*, ``step`` as a line of steps. *limits* of *y* fix the height. *marks* are named
    horizontal lines.
    """

    name: str
    y: Axis
    edges: Floats
    series: tuple[Area, ...]
    kind: Literal["stack", "band", "step"] = "stack"
    marks: tuple[Mark, ...] = ()
    weight: float = 1.0  # height relative to that of other such tracks


Track: TypeAlias = LaneTrack | AreaTrack


@dataclass(frozen=True, eq=False)
class Timeline:
    """Tracks one above the other that share the time axis *x* (seconds); visible is *begin* to *end*.

    *limits* are the first and last moment there is. *key* is the legend of all lane tracks, the largest first; a key
    that no track has (a message without size, a barrier) may be in it too. *clock* says where on the axis a moment
    of the subject's run is: the second of the run at 0, and places for each second. Where several runs are on one
    axis, that may begin elsewhere or count in %.
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
    """One closed line of a `Radar`: a value for each spoke, NaN where not known; *location* it stands for, or -1."""

    name: str
    role: str
    values: tuple[float, ...]
    tips: tuple[str, ...] = ()
    location: int = -1
    filled: bool = True


@dataclass(frozen=True)
class Radar:
    """A Kiviat diagram: *spokes* from a centre, clockwise from the top, all along the axis *value*; polygons on them.

    *value.limits* are the centre and the rim.
    """

    spokes: tuple[str, ...]
    value: Axis
    polygons: tuple[Polygon, ...]
    locations: tuple[int, ...] = ()  # the spokes' locations, where each spoke is one


@dataclass(frozen=True)
class Frame:
    """A frame of a `Flame`: one call path. *parent* is the number of the frame below it in the stack, -1 for a root.

    *start* and *width* place it on the value axis. *value* is inclusive, *own* exclusive. In a difference these are of
    the second tree, *before* and *own_before* of the first, and *change* colours it. *key* selects as that of a `Row`.
    """

    name: str
    parent: int
    depth: int
    start: float
    width: float
    value: float
    own: float
    role: str = "muted"
    tip: str = ""
    key: str = ""
    before: float = float("nan")
    own_before: float = float("nan")
    change: float = float("nan")


@dataclass(frozen=True)
class Flame:
    """A flame graph: frames stacked on their callers, parents before children, as wide as their *value*.

    Shares are of *whole*, called *base* (``the processor time of the run``). *change* is the axis of the diverging
    colours of a difference, its limits symmetrical; *icicle* puts the roots on top; *legend* names colours that are not
    names'.
    """

    frames: tuple[Frame, ...]
    value: Axis
    whole: float
    base: str
    change: Axis | None = None
    icicle: bool = False
    legend: tuple[Key, ...] = ()


Panel: TypeAlias = Plot | Grid | Table | Source | Field | Surface | Timeline | Radar | Flame | Diagram


@dataclass(frozen=True)
class Figure:
    """What a view shows: a title, a sentence that says what the picture says, and one or more panels.

    *empty* says what is missing, and how to get it; panels are then absent. *notes* are said below the picture. *ways*
    lead on: buttons of the window, switches of the command line (`told`, `remarks`). *view*: which one built it.
    """

    title: str
    sentence: str = ""
    panels: tuple[Panel, ...] = ()
    empty: str = ""
    notes: tuple[str, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)
    ways: tuple[Way, ...] = ()
    view: str = ""
    answers: bool = False  # the sentence is what the view is opened for, so a window shows more of it

    @property
    def told(self) -> str:
        """The sentence of an empty state with the switches that its ways on have on the command line."""
        return " ".join(part for part in (self.empty, *(way.words for way in self.ways)) if part) if self.empty else ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, with the switches that the ways on have on the command line."""
        return (*self.notes, *(way.words for way in self.ways if way.words)) if not self.empty else self.notes
