"""Overview of a trace: run, locations, events, and which data in the file was not understood."""

from __future__ import annotations

from scalegraph.base.units import si, thousands
from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.subjects.trace import TraceData
from scalegraph.traces.kinds import KINDS
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.view import View

_TITLE = "Overview of the trace"
_MOST = 200  # locations listed by name
_PROPERTIES = 12
_LONG = 200  # characters of a property


def _make(data: TraceData) -> Figure:
    meta, definitions = data.trace.meta, data.trace.definitions
    counts = data.trace.counts()
    events, rate = sum(counts.values()), meta.ticks_per_second
    rows = [
        ("program", meta.program or "not recorded"),
        ("file", meta.source or data.path.name),
        ("format", meta.format or "not recorded"),
        ("written by", meta.creator or "not recorded"),
        ("length of the run", si(data.length, "s", 6)),
        ("clock", f"{thousands(rate)} ticks a second, one tick is {si(1 / rate, 's')}"),
        ("begins at", f"tick {thousands(meta.begin + meta.offset)} of the source's clock"),
        ("locations", trace_sums.located(data.trace, len(definitions.locations))),
        ("groups", thousands(len(definitions.groups))),
        ("regions", thousands(len(definitions.regions))),
        ("metrics", ", ".join(metric.name for metric in definitions.metrics[:_PROPERTIES]) or "none"),
        *((name, text) for name, text in list(meta.properties.items())[:_PROPERTIES] if len(text) <= _LONG),
    ]
    notes = (*meta.notes, *getattr(data.timeline, "notes", ()))
    left = [Row((note.what, note.count)) for note in notes if note.count]
    text = (
        f"{meta.program or data.name or 'The program'} ran {si(data.length, 's')} on"
        f" {trace_sums.located(data.trace, len(definitions.locations))}; the trace holds {thousands(events)}"
        f" event{'s' if events != 1 else ''}"
    )
    if meta.damage:
        text += ", as far as it could be read"
    text += (
        f"; {len(left)} kind{'s of things were' if len(left) != 1 else ' of thing was'} not understood."
        if left
        else "."
    )
    tables = [
        Table((Column("what"), Column("value")), tuple(Row(row) for row in rows)),
        Table(
            (Column("kind of event"), Column("count", "", "busy"), Column("meaning")),
            tuple(Row((kind, count, KINDS[kind].text), key=kind) for kind, count in counts.items()),
        ),
        _locations(data),
    ]
    if left:
        tables.append(Table((Column("skipped or converted"), Column("count")), tuple(left)))
    remarks = tuple(Row((note.what,)) for note in notes if not note.count)
    tables.append(Table((Column("remark"),), remarks))
    return Figure(
        trace_common.title(data, _TITLE),
        text,
        tuple(table for table in tables if table.rows),
        notes=trace_common.usual_notes(data),
    )


def _locations(data: TraceData) -> Table:
    definitions = data.trace.definitions
    rows = []
    for number, location in enumerate(definitions.locations[:_MOST]):
        group = definitions.groups[location.group].name if 0 <= location.group < len(definitions.groups) else ""
        rows.append(Row((number, data.location_name(number), location.kind, group), key=f"location {number}"))
    if len(definitions.locations) > _MOST:
        rows.append(Row((None, f"and {thousands(len(definitions.locations) - _MOST)} more", "", "")))
    return Table((Column("number"), Column("location"), Column("kind"), Column("group")), tuple(rows))


VIEW = View(
    "trace-overview",
    _TITLE,
    "Program, clock, locations and events of a trace, and the parts of it that were not understood.",
    _make,
    group="Trace",
    order=100,
    without=True,
    subject="trace",
)
