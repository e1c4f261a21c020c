"""Messages by sender and receiver; for shared memory, waits by waiter and holder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scalegraph.analyze.trace import messages
from scalegraph.analyze.trace.messages import Matrix
from scalegraph.base.measures import exact, percent
from scalegraph.base.units import counted, si, thousands
from scalegraph.figures import timelines
from scalegraph.figures.columns import known
from scalegraph.figures.figure import Cell, Figure, Grid
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.traces.kinds import Array, Wait
from scalegraph.views import ways
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.view import View

_TITLE = "Communication matrix"
_MOST = 64
_MANY = 12  # more locations are shown without silent ones
_OF = ("auto", "messages", "waits", *(one.name.lower() for one in Wait))
_NO_MESSAGES = Need(
    "This trace has no messages.",
    ways.traced("waits"),
    "The program communicates through shared memory: run it with waits in its trace.",
    "Traces of MPI programs have them (Score-P, Extrae).",
)
_NO_WAITS = Need(
    "This trace does not record which location each wait was for.",
    ways.traced("waits"),
    "Run the program with waits in its trace, or choose messages.",
    "Choose messages.",
)
_WAITS_INSTEAD = Need(
    "This trace has no messages: its program communicates through shared memory. Choose waits to see who waited for"
    " whom."
)
NEEDS = (_NO_MESSAGES, _NO_WAITS, _WAITS_INSTEAD)
_VALUES = {"bytes": 0, "count": 1, "size": 2, "time": 3}


def _make(data: TraceData, of: object = "auto", value: object = None, **options: object) -> Figure | Need:
    chosen = trace_window.window(data, **options)
    what = str(of)
    if what == "auto":
        what = "messages" if data.trace.count("messages") or not data.trace.count("waits") else "waits"
    if not data.trace.count("messages" if what == "messages" else "waits"):
        return need(data, what)
    names = interval_sums.location_names(data)
    if what == "messages":
        sent = messages.sent_messages(data.trace, chosen.begin, chosen.end)
        chosen, silent = _talking(chosen, np.union1d(sent["sender"], sent["receiver"]))
        found = messages.message_matrix(data.trace, sent, chosen.locations, _MOST, names)
        usual = "bytes" if found.size.any() or not found.count.any() else "count"  # the trace may not record sizes
        figure = _messages(chosen, found, str(value or usual))
        return replace(figure, notes=(*figure.notes, *silent))
    why = None if what == "waits" else [int(Wait[what.upper()])]
    made = messages.wait_matrix(data.trace, chosen.begin, chosen.end, chosen.locations, why, _MOST, names)
    return _waits(chosen, made, what, str(value or "time"))


def _talking(chosen: Window, ends: Array) -> tuple[Window, tuple[str, ...]]:
    """Return the window without silent locations if those are the majority of many, and a note."""
    there = set(ends.tolist())
    talking = tuple(number for number in chosen.locations if number in there)
    left = len(chosen.locations) - len(talking)
    if len(chosen.locations) < _MANY or not 0 < 2 * len(talking) <= len(chosen.locations):
        return chosen, ()
    return replace(chosen, locations=talking), (f"{left} locations that neither send nor receive are left out.",)


def need(data: TraceData, what: str) -> Need:
    """Return what a trace without messages, or without waits, lacks, and how to get it."""
    if what == "messages" and data.trace.count("waits"):
        return _WAITS_INSTEAD
    if what == "messages":
        return _NO_MESSAGES
    return _NO_WAITS


def _messages(chosen: Window, made: Matrix, value: str) -> Figure:
    second = chosen.data.trace.meta.ticks_per_second
    with np.errstate(all="ignore"):
        columns = [
            made.size.astype(float),
            made.count.astype(float),
            made.size / made.count,
            np.where(made.known > 0, made.time / made.known / second, np.nan),
        ]
    names = (("size", "B"), ("messages", ""), ("mean size", "B"), ("mean time", "s"))
    total = int(made.count.sum())
    text = f"No message was sent in {chosen.words}."
    if total:
        row, column = np.unravel_index(int(made.size.argmax()), made.size.shape)
        size = int(made.size.sum())
        text = f"{counted(total, 'message')}"
        text += f" carry {si(size, 'B')}" if size else "; the trace does not record their sizes"
        if size:
            share = float(made.size[row, column]) / size
            text += f"; most goes from {made.names[row]} to {made.names[column]}: {percent(share)}"
        pairs = int(np.count_nonzero(made.count))
        text += f". {pairs} of {len(made.names) ** 2} pairs {'talks' if pairs == 1 else 'talk'} to each other."
    order = _VALUES.get(value, 0)
    tips = ("{1} messages, {0}", "mean size {2}", "mean time {3}")
    note = "A message counts in the interval in which it was sent; its time is from there to its receipt."
    return _figure(chosen, made, columns, names, order, ("sender", "receiver"), text, tips, note)


def _waits(chosen: Window, made: Matrix, what: str, value: str) -> Figure:
    second = chosen.data.trace.meta.ticks_per_second
    with np.errstate(all="ignore"):
        time = made.time / second
        columns = [time, made.count.astype(float), np.where(made.count > 0, time / made.count, np.nan)]
    names = (("time", "s"), ("waits", ""), ("time a wait", "s"))
    total = float(time.sum())
    kind = "waits" if what == "waits" else f"waits ({what})"
    text = f"No location waited for another in {chosen.words}." if not total else ""
    if total:
        row, column = np.unravel_index(int(made.time.argmax()), made.time.shape)
        held = time.sum(axis=0)
        text = (
            f"{thousands(int(made.count.sum()))} {kind} take {si(total, 's')} of all locations' time;"
            f" {made.names[row]} waits"
            f" longest for {made.names[column]} ({si(float(time[row, column]), 's')}), and"
            f" {made.names[int(held.argmax())]} keeps others waiting most"
            f" ({percent(float(held.max()) / total)})."
        )
    order = {"time": 0, "count": 1}.get(value, 0)
    tips = ("{0} in {1} waits", "{2} a wait")
    note = "Only waits whose holder the trace records; of a wait cut by the interval, the part inside counts."
    return _figure(chosen, made, columns, names, order, ("who waits", "for whom"), text, tips, note)


def _figure(
    chosen: Window,
    made: Matrix,
    columns: list[Array],
    names: tuple[tuple[str, str], ...],
    by: int,
    labels: tuple[str, str],
    text: str,
    tips: tuple[str, ...],
    note: str,
) -> Figure:
    values = columns[by][np.isfinite(columns[by])]
    factor, unit = trace_sums.prefix(float(values.max()) if len(values) else 0.0, names[by][1])
    top = float(values.max()) / factor if len(values) and values.max() > 0 else 1.0
    size = len(made.names)

    def cell(row: int, column: int) -> Cell | None:
        if not made.count[row, column] and not made.time[row, column]:
            return None
        numbers = [float(values[row, column]) for values in columns]
        texts = [exact(number, unit) for number, (_, unit) in zip(numbers, names, strict=True)]
        lines = [f"{made.names[row]} → {made.names[column]}", *(line.format(*texts) for line in tips)]
        return Cell((known(numbers[by] / factor),), origin="computed", tip="\n".join(lines))

    what, short = timelines.lane_names(made.names)
    labels = (f"{labels[0]} ({what})", f"{labels[1]} ({what})") if what else labels
    grouped = any(len(members) > 1 for members in made.members)
    return Figure(
        trace_common.title(chosen.data, _TITLE),
        text,
        (
            Grid(
                labels[0],
                labels[1],
                tuple(short),
                tuple(short),
                tuple(tuple(cell(row, column) for column in range(size)) for row in range(size)),
                (f"{names[by][0]} ({unit})" if unit else names[by][0],),
                limits=(0.0, top),
            ),
        ),
        notes=trace_sums.notes(chosen, note, f"{len(chosen.locations)} locations in {size} groups." if grouped else ""),
    )


VIEW = View(
    "communication-matrix",
    _TITLE,
    "Bytes, messages, their mean size and time from every sender to every receiver; or waiters and holders.",
    _make,
    (
        *trace_window.COMMON[:3],
        Option(
            "of",
            "Of",
            "choice",
            "auto",
            _OF,
            description="messages, all waits or waits for one reason; otherwise what the trace has",
        ),
        Option(
            "value",
            "Value",
            "choice",
            None,
            tuple(_VALUES),
            description="what the cells show; otherwise bytes, or time of waits",
        ),
    ),
    needs=(*NEEDS,),
    subject="trace",
)
