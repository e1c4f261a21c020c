"""Shared parts of trace views: options, selection of events, colours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scalegraph.base.units import counted, thousands
from scalegraph.figures.figure import Key, Origin
from scalegraph.figures.palette import name_slots
from scalegraph.runtime.format import CATEGORY_GROUPS
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window, works
from scalegraph.traces.model import Metric
from scalegraph.views.common import CATEGORY_WORDS, category_role


def region_keys(codes: Sequence[Any], names: Iterable[str] = ()) -> tuple[Key, ...]:
    """Return a key for each code of the region layer (`traces.lod`).

    The colour of a work region depends on its name, so it is the same in every view and trace. Regions that wait,
    communicate or manage have a shade of that activity's colour. *names* are all work regions of the picture, most
    important first (`working`); no two get the same colour while there are unused ones.
    """
    slots = name_slots([*names, *sorted(code.name for code in codes if works(code))])
    return tuple(
        Key(code.name, f"name:{slots[code.name]}" if works(code) else code.role, number=code.number) for code in codes
    )


def code_keys(codes: Iterable[Any]) -> tuple[Key, ...]:
    """Return a key for each code of an activity or state layer (`traces.lod`).

    Categories of a simulated run have the same names and shades in all views, other states a shade of their activity. A
    state outside of all activities has the colour given in the trace.
    """
    made: list[Key] = []
    for code in codes:
        if code.key in CATEGORY_GROUPS:
            made.append(Key(CATEGORY_WORDS.get(code.key, code.name), category_role(code.key), number=code.number))
        else:
            colour = code.colour if code.role in ("muted", "other") else ""
            made.append(Key(code.name, code.role, colour, number=code.number))
    return tuple(made)


def unit_of(metric: Metric) -> str:
    """Return the unit of *metric*, or its name if it has none."""
    known = {"flops": "flop", "ops": "op"}
    return metric.unit or known.get(metric.name, metric.name)


def of_others(chosen: Window) -> str:
    """Return a note if *chosen* is part of a run and is compared with other traces."""
    return "Other traces: the whole of each." if chosen.data.others and not chosen.whole_run else ""


def processors(data: TraceData) -> int:
    """Return the run's number of processors if known, else the number of locations with events."""
    return int(data.facts.get("processors") or len(data.active))


def title(data: TraceData, what: str) -> str:
    """Return the title of a view: ``Spacetime diagram: pipeline``."""
    return f"{what}: {data.name}" if data.name else what


def usual_notes(data: TraceData) -> tuple[str, ...]:
    """Return the notes below every picture of a trace: what was damaged or not understood."""
    meta = data.trace.meta
    notes = [f"Only a part could be read: {sentence.rstrip('.')}." for sentence in meta.damage[:2]]
    if len(meta.damage) > 2:
        notes.append(f"And {len(meta.damage) - 2} more places that could not be read.")
    notes.extend(f"In the timeline: {note.words}." for note in data.timeline.notes[:3])
    silent = len(data.trace.definitions.locations) - len(data.active)
    if silent:
        notes.append(
            f"{counted(silent, 'location')} with nothing to draw "
            f"{'are' if silent > 1 else 'is'} not shown unless named."
        )
    spans = data.trace.count("states")
    if spans and "state" not in data.timeline.layers:
        one = spans == 1
        notes.append(
            f"{thousands(spans)} asynchronous span{'' if one else 's'} of no thread {'is' if one else 'are'} not drawn."
        )
    return tuple(notes)


def origin(data: TraceData) -> Origin:
    """Return the origin of a trace's times: simulated or measured."""
    kinds = {location.kind for location in data.trace.definitions.locations}
    return "simulated" if "processor" in kinds else "measured"
