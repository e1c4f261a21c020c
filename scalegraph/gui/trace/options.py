"""Options of a trace's views: visible time, selected interval, filter, selected place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scalegraph.gui.state.selection_state import Selection
from scalegraph.gui.state.time_window import TimeWindow
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.subjects.option import OptionValue
from scalegraph.views import View
from scalegraph.views.trace.places import place_of

SHARED: Final = ("begin", "end", "locations", "region", "duration", "width")  # the same for all views of a trace
_LEAST_WIDTH: Final = 64
_FURNITURE: Final = 130  # pixels beside the lanes: names, scroll bar, margins
_MOST_WIDTH: Final = 8000


def trace_options(
    view: View, trace: TraceHandle, selection: Selection, width: int, window: TimeWindow | None = None
) -> dict[str, OptionValue]:
    """Return the default options of *view* from the window's state; *width* is the picture's in pixels.

    *window* is the time it shows, by default that of all views of the trace.
    """
    window = window or trace.window
    known = {option.name for option in view.options}
    mine = selection.study == trace.key
    wanted: dict[str, OptionValue] = dict(trace.filter.current.options())
    if view.window:
        if not window.whole:
            wanted["begin"], wanted["end"] = window.shown
        wanted["width"] = min(_MOST_WIDTH, max(_LEAST_WIDTH, width - _FURNITURE))
    elif mine and selection.interval is not None and selection.interval[1] > selection.interval[0]:
        wanted["begin"], wanted["end"] = (max(0.0, trace.seconds(tick)) for tick in selection.interval)
    if trace.replay.shown:
        wanted["at"] = trace.replay.now
    data = trace.data()
    if mine and data is not None and selection.region is not None and "file" in known:
        regions = data.trace.definitions.regions
        if 0 <= selection.region < len(regions) and regions[selection.region].file:
            wanted["file"] = regions[selection.region].file
    if mine and data is not None and selection.region is not None and "function" in known:
        wanted["function"] = data.region_name(selection.region)
    return {name: value for name, value in wanted.items() if name in known}


def trace_row_keys(selection: Selection, trace: str) -> Sequence[str]:
    """Return the keys of the rows that *selection* highlights."""
    if selection.study != trace:
        return ()
    keys: list[str] = []
    if selection.interval is not None:
        begin, end = selection.interval
        for location in dict.fromkeys((selection.location, -1)):
            for region in dict.fromkeys((selection.region, -1)):
                numbers = (-1 if value is None else value for value in (location, region))
                keys.append(":".join(map(str, ("at", begin, end, *numbers))))
    if selection.region is not None:
        keys += [f"region:{selection.region}", str(selection.region)]
    if selection.location is not None:
        keys += [f"location:{selection.location}", f"location {selection.location}"]
    return keys


def selected_trace_row(key: str) -> dict[str, object]:
    """Return what a click on the row *key* selects; nothing for a place, which is jumped to instead."""
    if place_of(key) is not None:
        return {}
    what, _, number = key.replace(" ", ":").rpartition(":")
    if number.isdecimal() and what in ("", "region"):
        return {"region": int(number)}
    if number.isdecimal() and what == "location":
        return {"location": int(number)}
    return {}
