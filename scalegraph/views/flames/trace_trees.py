"""The call tree of a part of a trace, from the calls recorded."""

from __future__ import annotations

from typing import Final

import numpy as np

from scalegraph.analyze.calltree import CallTree, merged
from scalegraph.analyze.trace import profile
from scalegraph.base.measures import percent
from scalegraph.figures.figure import Axis
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums, trace_choices
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.views.flames.building import Grown
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import lasting as trace_lasting
from scalegraph.views.trace import sums as trace_sums

METRIC: Final = Option(
    "value", "Frame value", "choice", "time", ("time", "visits"), description="processor time, or how often it began"
)


NEEDS = (trace_sums.NO_CALLS, trace_lasting.TOO_SHORT, trace_sums.NOT_ENTERED)


def grown(data: TraceData, value: object = "time", duration: object = None, **options: object) -> Grown | Need:
    """Return the call tree of the chosen part and the meaning of its values, or the need that is not met.

    Raises:
        InputError: an invalid choice.

    """
    if none := trace_lasting.nothing(data, duration, "calls"):
        return none
    said = trace_lasting.told(data, duration)
    data = trace_choices.lasting(data, duration)
    chosen = trace_window.window(data, **options)
    sums = interval_sums.call_sums(chosen)
    tree = _tree(data, sums, visits=str(value) == "visits", regions=chosen.regions)
    if not len(tree):
        return trace_sums.NOT_ENTERED.of(words=chosen.words)
    counted = str(value) == "visits"
    notes = (
        f"Shown: {chosen.words}.",
        *(one for one in said if one),
        "Of a call cut by the interval, the part inside counts; a visit counts where it begins.",
        *(() if counted else (_covered(data, tree, sums),)),
        *trace_sums.call_notes(data),
        *trace_common.usual_notes(data),
    )
    axis = Axis("visits") if counted else Axis("processor time", "s")
    whole = tree.whole if counted else _available(data, sums)
    base = "all visits" if counted else f"the time of {trace_sums.located(data.trace, len(sums.locations))}"
    percent = f"% of {base.removeprefix('the ')}"
    return Grown(tree, axis, whole, base, chosen.words, notes=notes, roles=roles(data), percent=percent)


def _available(data: TraceData, sums: profile.CallSums) -> float:
    """Return the total time of all locations in seconds, which shares refer to in every view."""
    return float(sums.available / data.trace.meta.ticks_per_second)


def _covered(data: TraceData, tree: CallTree, sums: profile.CallSums) -> str:
    """Return a note on how much of the locations' time has frames: time outside of all regions has none."""
    part = tree.whole / (_available(data, sums) or 1.0)
    return f"Frames cover {percent(part)} of the time of {trace_sums.located(data.trace, len(sums.locations))}."


def _tree(data: TraceData, sums: profile.CallSums, *, visits: bool, regions: frozenset[int] | None) -> CallTree:
    paths, second = sums.paths, data.trace.meta.ticks_per_second
    counts = sums.visits.sum(axis=1).astype(np.float64)
    own = counts if visits else np.maximum(sums.exclusive.sum(axis=1), 0) / second
    if regions is not None:  # keep paths on or below a chosen region, and their ancestors
        own = np.where(_on(paths.region, paths.parent, regions), own, 0.0)
    defined = data.trace.definitions.regions
    known = [defined[n] if 0 <= n < len(defined) else None for n in paths.region.tolist()]
    tree = CallTree(
        tuple(data.region_name(n) for n in paths.region.tolist()),
        tuple(paths.parent.tolist()),
        own,
        counts,
        tuple(str(n) for n in paths.region.tolist()),
        tuple(trace_sums.place(region.file, region.line) if region else "" for region in known),
    )
    return merged(tree)


def _on(region: np.ndarray, parent: np.ndarray, wanted: frozenset[int]) -> np.ndarray:
    """Return which paths contain one of the regions *wanted*."""
    chosen = np.isin(region, list(wanted))
    found, above = chosen.copy(), parent.copy()
    while (up := np.flatnonzero(above >= 0)).size:
        found[up] |= chosen[above[up]]
        above[up] = parent[above[up]]
    return found


def roles(data: TraceData) -> dict[str, str]:
    """Return the colours of regions by name, the same in all views of a trace."""
    layer = data.timeline.layers.get("region")
    if layer is None:
        return {}
    keys = trace_common.region_keys(layer.codes, trace_window.working((data, *data.others)))
    return {key.name: key.colour or key.role for key in keys}
