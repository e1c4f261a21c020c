"""Ready-made arrangements of views, as data, and the placing of docks by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow

Direction: TypeAlias = Literal["beside", "below"]


@dataclass(frozen=True)
class Tabs:
    """Views in one place as tabs, the first on top. Unknown names are skipped."""

    views: tuple[str, ...]
    weight: int = 1


@dataclass(frozen=True)
class Split:
    """Parts beside or below one another."""

    direction: Direction
    parts: tuple[Tabs | Split, ...]
    weight: int = 1


Layout: TypeAlias = Tabs | Split
COMPARE: Final = "Compare"

ARRANGEMENTS: Final[dict[str, Layout]] = {
    "Overview": Split(
        "beside",
        (
            Tabs(("matrix",), 5),
            Split("below", (Tabs(("time", "speedup")), Tabs(("overheads", "runs"))), 4),
        ),
    ),
    "Scalability": Split(
        "beside",
        (
            Split("below", (Tabs(("matrix",), 3), Tabs(("matrix-row",), 2)), 5),
            Split("below", (Tabs(("speedup", "time")), Tabs(("latency",))), 4),
        ),
    ),
    "Lost time": Split(
        "beside",
        (
            Split("below", (Tabs(("overheads", "breakdown", "latency-sources")), Tabs(("processors",)))),
            Split("below", (Tabs(("profile", "flame", "lines")), Tabs(("source",)))),
        ),
    ),
    "Cache and memory": Split(
        "beside",
        (
            Split("below", (Tabs(("remote-causes", "hit-rates", "miss-latency")), Tabs(("variables", "hot-spots")))),
            Split("below", (Tabs(("miss-classes", "invalidations", "widths")), Tabs(("source", "false-sharing")))),
        ),
    ),
    "Models": Split(
        "beside",
        (
            Split("below", (Tabs(("fit", "laws")), Tabs(("back-test", "serial-fraction")))),
            Split("below", (Tabs(("region-models",)), Tabs(("isoefficiency", "advise")))),
        ),
    ),
    "Isospeed": Split(
        "beside",
        (
            Split("below", (Tabs(("isospeed-speed",)), Tabs(("efficiency-contour", "isospeed-contour")))),
            Split("below", (Tabs(("matrix",)), Tabs(("scalability-surface",)))),
        ),
    ),
    "Regions": Split(
        "beside",
        (
            Split("below", (Tabs(("verdicts",)), Tabs(("pop", "profile", "flame", "callers")))),
            Split("below", (Tabs(("region-models",)), Tabs(("source", "lines")))),
        ),
    ),
    "Choose": Split(
        "beside",
        (
            Split("below", (Tabs(("choose",), 3), Tabs(("points",), 2)), 5),
            Split("below", (Tabs(("choice-curves", "choice-map")), Tabs(("two-points", "parallel"))), 4),
        ),
    ),
}
# in the order of their number keys
NAMES: Final = (*(name for name in ARRANGEMENTS if name != "Choose"), COMPARE, "Choose")
# in menu order: Choose beside Scalability
OFFERED: Final = (*NAMES[:2], "Choose", *NAMES[2:-1])
TRACE_ARRANGEMENTS: Final[dict[str, Layout]] = {
    "Timeline": Split(
        "beside",
        (
            Split("below", (Tabs(("spacetime", "gantt"), 9), Tabs(("utilisation", "counters", "speed"), 2)), 5),
            Split("below", (Tabs(("waits", "trace-profile", "messages"), 3), Tabs(("trace-source",), 2)), 3),
        ),
    ),
    "Critical path": Split(
        "beside",
        (
            Split("below", (Tabs(("critical-path", "spacetime"), 5), Tabs(("utilisation",), 3)), 5),
            Split("below", (Tabs(("waits", "trace-profile"), 3), Tabs(("trace-source",), 2)), 4),
        ),
    ),
    "Time by region": Split(
        "beside",
        (
            Split("below", (Tabs(("spacetime",), 3), Tabs(("task-summary",), 2)), 5),
            Split(
                "below",
                (
                    Tabs(("trace-profile", "trace-flame", "trace-call-tree", "trace-callers"), 3),
                    Tabs(("trace-source",), 2),
                ),
                4,
            ),
        ),
    ),
    "Communication": Split(
        "beside",
        (
            Split("below", (Tabs(("spacetime",), 4), Tabs(("communication-matrix",), 5)), 5),
            Split("below", (Tabs(("messages", "trace-overview")), Tabs(("waits",))), 3),
        ),
    ),
    "Balance": Split(
        "beside",
        (
            Split("below", (Tabs(("gantt", "spacetime")), Tabs(("utilisation", "speed")))),
            Split("below", (Tabs(("kiviat",)), Tabs(("task-summary", "trace-profile")))),
        ),
    ),
    "Compare traces": Split(
        "below",
        (
            Tabs(("trace-compare",), 4),
            Split(
                "beside",
                (
                    Tabs(("trace-compare-profile", "trace-flame-difference"), 3),
                    Tabs(("task-summary", "trace-profile"), 2),
                ),
                3,
            ),
        ),
    ),
}
_SHORT: Final = {  # in a low window the lanes need the height, so views from below them become tabs behind them
    "Timeline": Split(
        "beside",
        (
            Tabs(("spacetime", "gantt", "utilisation", "counters", "speed"), 5),
            Split("below", (Tabs(("waits", "trace-profile", "messages"), 3), Tabs(("trace-source",), 2)), 3),
        ),
    ),
    "Compare traces": Split(
        "beside",
        (
            Tabs(("trace-compare",), 5),
            Tabs(("trace-compare-profile", "trace-flame-difference", "task-summary", "trace-profile"), 4),
        ),
    ),
}
SHORT_BELOW: Final = 1150  # a window less high (pixels) is low
# .. and one less high for only two views: with four, plots are less than 200 pixels high and tables have 3 rows
TWO_BELOW: Final = 1000
_FIRST_OF_SET: Final = Split(  # for measured times, which have no cycle accounting
    "beside",
    (
        Tabs(("matrix",), 5),
        Split("below", (Tabs(("time", "speedup")), Tabs(("verdicts", "runs"))), 4),
    ),
)
_REGIONS_OF_SET: Final = Split("below", (Tabs(("region-models",)), Tabs(("verdicts", "pop"))))
_WITHOUT_RUNS: Final = Tabs(("region-models",))
COMPARED: Final = ("speedup", "overheads")  # one per study
TOGETHER: Final = ("compare", "flame-difference", "compare-matrix")  # one for all open studies


def key_of(name: str) -> int:
    """Return the number key of an arrangement, 0 if it has none."""
    names = tuple(TRACE_ARRANGEMENTS) if name in TRACE_ARRANGEMENTS else NAMES
    return names.index(name) + 1 if name in names else 0


def layout_of(name: str, *, imported: bool, runs: bool, short: bool = False) -> Layout:
    """Return the arrangement *name*.

    *imported*: for a study made from a measurement set; without *runs* (no parameter is known to count processors) only
    the models over its parameters have content. *short*: for a low window.
    """
    if imported and not runs and name in ("Overview", "Models", "Regions"):
        return _WITHOUT_RUNS
    if short and name in _SHORT:
        return _SHORT[name]
    if name in TRACE_ARRANGEMENTS:
        return TRACE_ARRANGEMENTS[name]
    of_set = {"Overview": _FIRST_OF_SET, "Regions": _REGIONS_OF_SET}
    return of_set[name] if imported and name in of_set else ARRANGEMENTS[name]


def filled_first(layout: Layout, empty: Callable[[str], bool]) -> Layout:
    """Return *layout* with *empty* views behind those that show something."""
    if isinstance(layout, Tabs):
        return Tabs(tuple(sorted(layout.views, key=empty)), layout.weight)
    return Split(layout.direction, tuple(filled_first(part, empty) for part in layout.parts), layout.weight)


def two_views(layout: Layout) -> Layout:
    """Return *layout* as two large tab groups beside one another: below one another, tables would have 4 rows.

    In each group the top view of every original place comes first.
    """
    if isinstance(layout, Tabs):
        return layout
    first, *rest = layout.parts
    halves = (_as_tabs((first,), first.weight), _as_tabs(rest, sum(part.weight for part in rest)))
    return Split("beside", halves, layout.weight)


def _as_tabs(parts: Sequence[Layout], weight: int) -> Tabs:
    places = [place for part in parts for place in _places(part)]
    return Tabs(
        tuple(dict.fromkeys([place.views[0] for place in places] + [v for p in places for v in p.views])), weight
    )


def _places(layout: Layout) -> list[Tabs]:
    return [layout] if isinstance(layout, Tabs) else [place for part in layout.parts for place in _places(part)]


def views_of(layout: Layout) -> list[str]:
    """Return the names of all views of *layout*."""
    if isinstance(layout, Tabs):
        return list(layout.views)
    return [name for part in layout.parts for name in views_of(part)]


class Placer:
    """Places a window's docks by a `Layout`. *make* returns the dock of a view's name, or ``None``."""

    def __init__(self, window: QMainWindow, make: Callable[[str], QDockWidget | None]) -> None:
        self._window = window
        self._made: dict[str, QDockWidget | None] = {}
        self._make = make

    def place(self, layout: Layout) -> list[QDockWidget]:
        """Place all docks and return them in layout order."""
        lead = self._lead(layout)
        if lead is None:
            return []
        self._window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, lead)
        self._fill(layout, lead)
        for direction in (Qt.Orientation.Horizontal, Qt.Orientation.Vertical):
            self._weigh(layout, direction)
        return [dock for dock in self._made.values() if dock is not None]

    def _dock(self, name: str) -> QDockWidget | None:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _lead(self, layout: Layout) -> QDockWidget | None:
        """Return the dock in the upper left corner of *layout*."""
        parts: Sequence[str | Layout] = layout.views if isinstance(layout, Tabs) else layout.parts
        for part in parts:
            dock = self._dock(part) if isinstance(part, str) else self._lead(part)
            if dock is not None:
                return dock
        return None

    def _fill(self, layout: Layout, lead: QDockWidget) -> None:
        if isinstance(layout, Tabs):
            for name in layout.views:
                dock = self._dock(name)
                if dock is not None and dock is not lead:
                    self._window.tabifyDockWidget(lead, dock)
                    dock.show()
            lead.show()
            lead.raise_()
            return
        along = Qt.Orientation.Horizontal if layout.direction == "beside" else Qt.Orientation.Vertical
        parts = [(part, self._lead(part)) for part in layout.parts]
        there = [(part, dock) for part, dock in parts if dock is not None]
        before = lead
        for _, dock in there[1:]:
            self._window.splitDockWidget(before, dock, along)
            before = dock
        for part, dock in there:
            self._fill(part, dock)

    def _weigh(self, layout: Layout, along: Qt.Orientation) -> None:
        if isinstance(layout, Tabs):
            return
        wanted = "beside" if along == Qt.Orientation.Horizontal else "below"
        if layout.direction == wanted:
            pairs = [(self._lead(part), part.weight) for part in layout.parts]
            docks = [dock for dock, _ in pairs if dock is not None]
            weights = [100 * weight for dock, weight in pairs if dock is not None]
            if len(docks) > 1:
                self._window.resizeDocks(docks, weights, along)
        for part in layout.parts:
            self._weigh(part, along)


def apart(window: QMainWindow, dock: QDockWidget, other: QDockWidget, docks: Sequence[QDockWidget]) -> None:
    """Move *other* out of the tabs it shares with *dock*, so that both are visible.

    It joins the tabs of the largest of the other visible *docks*, or gets a place of its own beside all.
    """
    behind = window.tabifiedDockWidgets(dock)
    if other not in behind:
        return
    inside = [one for one in docks if one is not other and not one.isFloating()]
    elsewhere = [one for one in inside if one is not dock and one not in behind and not one.visibleRegion().isEmpty()]
    if elsewhere:
        window.tabifyDockWidget(max(elsewhere, key=lambda one: one.width() * one.height()), other)
    else:
        by_name = {one.objectName(): one for one in (dock, *(one for one in inside if one is not dock), other)}
        for one in by_name.values():
            window.removeDockWidget(one)
        *kept, last = by_name
        Placer(window, by_name.get).place(Split("beside", (Tabs(tuple(kept), 3), Tabs((last,), 2))))
        for one in by_name.values():
            one.show()
    dock.raise_()
    other.raise_()


def tiles(names: Sequence[str]) -> Layout:
    """Return a layout with a tile for each of *names*, in about as many columns as rows."""
    columns = max(1, math.ceil(math.sqrt(len(names))))
    rows = [names[i : i + columns] for i in range(0, len(names), columns)]
    # by columns, so that an incomplete last row leaves no hole
    heads = [tuple(row[c] for row in rows if c < len(row)) for c in range(min(columns, len(names)))]
    return Split("beside", tuple(Split("below", tuple(Tabs((name,)) for name in column)) for column in heads))
