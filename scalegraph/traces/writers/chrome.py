"""Trace events in JSON, for Perfetto and Chrome, with ScaleGraph's definitions added so that nothing is lost."""

from __future__ import annotations

import gzip
import io
import json
import math
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from scalegraph.traces.atomic import replacing
from scalegraph.traces.formats import Writer, Writing
from scalegraph.traces.kinds import KINDS, NO_TIME, NOBODY, What
from scalegraph.traces.model import Trace

_EXACT = 2**51  # ticks up to this survive conversion to a double of microseconds
_OWN = "scalegraph."


def _write(writing: Writing) -> None:
    trace = writing.trace
    with replacing(writing.path) as temporary:
        raw = temporary.open("wb")
        packed: Any = gzip.GzipFile("", "wb", 6, raw, mtime=0) if writing.path.name.endswith(".gz") else raw
        with raw, packed, io.TextIOWrapper(packed, encoding="utf-8", errors="replace") as out:
            _document(writing, trace, out)


def _document(writing: Writing, trace: Trace, out: TextIO) -> None:
    own = json.dumps({"definitions": trace.definitions.as_data(), "meta": trace.meta.as_data()}, ensure_ascii=True)
    out.write('{"displayTimeUnit":"ns","otherData":' + json.dumps({"scalegraph": own}) + ',"traceEvents":[\n')
    out.write(",\n".join(json.dumps(event) for event in _names(trace)) or "{}")
    total, done = sum(trace.counts().values()) or 1, 0
    for kind in KINDS:
        make = _MAKERS.get(kind, _rows)
        for columns in trace.chunks(kind):
            rows = zip(*(values.tolist() for values in columns.values()), strict=True)
            names = list(columns)
            for events in make(trace, kind, (dict(zip(names, row, strict=True)) for row in rows)):
                out.write(",\n")
                out.write(events)
            done += len(columns[names[0]])
            writing.step(done / total)
    out.write("\n]}\n")


def _names(trace: Trace) -> Iterator[dict[str, Any]]:
    for number, group in enumerate(trace.definitions.groups):
        yield {"ph": "M", "name": "process_name", "pid": number, "args": {"name": group.name}}
    for number, location in enumerate(trace.definitions.locations):
        yield {"ph": "M", "name": "thread_name", "pid": location.group, "tid": number, "args": {"name": location.name}}


def _clock(trace: Trace) -> Callable[[int], dict[str, Any]]:
    micro = 1e6 / trace.meta.ticks_per_second

    def moment(tick: int) -> dict[str, Any]:
        exact = {} if abs(tick) < _EXACT and micro > 1e-6 else {"tick": tick}
        return {"ts": tick * micro, **exact}

    return moment


def _place(trace: Trace, number: int) -> dict[str, Any]:
    locations = trace.definitions.locations
    return {"pid": locations[number].group if 0 <= number < len(locations) else NOBODY, "tid": number}


def _calls(trace: Trace, _kind: str, rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    moment, regions = _clock(trace), trace.definitions.regions
    names = [json.dumps(region.name) for region in regions]
    cats = [json.dumps(region.kind) for region in regions]
    groups = [location.group for location in trace.definitions.locations]
    for row in rows:
        what, region, where = row["what"], row["region"], row["location"]
        if not (0 <= region < len(names) and 0 <= where < len(groups) and what in (What.ENTER, What.LEAVE)):
            yield from _rows(trace, "calls", iter([row]))
            continue
        time = ",".join(f'"{key}":{value!r}' for key, value in moment(row["time"]).items())
        phase = "B" if what == What.ENTER else "E"
        yield (
            f'{{"ph":"{phase}","name":{names[region]},"cat":{cats[region]},{time},"pid":{groups[where]},'
            f'"tid":{where},"region":{region}}}'
        )


def _counters(trace: Trace, _kind: str, rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    moment, metrics = _clock(trace), trace.definitions.metrics
    for row in rows:
        value, metric = row["value"], row["metric"]
        exact = value == row["exact"]
        if not (0 <= metric < len(metrics) and math.isfinite(value) and (exact or row["exact"] == 0)):
            yield from _rows(trace, "counters", iter([row]))
            continue
        value = row["exact"] if (exact and math.copysign(1, value) == 1) or row["exact"] else value
        data = {
            "ph": "C",
            "name": metrics[metric].name,
            **moment(row["time"]),
            **_place(trace, row["location"]),
            "metric": metric,
            "exact": exact and isinstance(value, int),
            "args": {"value": value},
        }
        yield json.dumps(data)


def _rows(trace: Trace, kind: str, rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    """Yield events with the whole row in args; those with two ends as asynchronous spans, messages as flows."""
    moment, spec = _clock(trace), KINDS[kind]
    for number, row in enumerate(rows):
        args = {name: _plain(value) for name, value in row.items()}
        place = _place(trace, row[spec.whose[0]])
        data = {"name": _title(trace, kind, row), "cat": f"{_OWN}{kind}", **_when(moment, row[spec.begin]), **place}
        if kind == "messages" and NO_TIME not in (row["sent"], row["received"]):
            key = {"id": f"m{row['sent']}.{row['sender']}.{number}"}
            yield json.dumps({"ph": "s", **data, **key, "args": args})
            end = {**data, **_when(moment, row["received"]), **_place(trace, row["receiver"])}
            yield json.dumps({"ph": "f", "bp": "e", **end, **key})
        elif "end" in row:
            key = {"id": f"{kind[0]}{row['location']}.{number}"}
            yield json.dumps({"ph": "b", **data, **key, "args": args})
            yield json.dumps({"ph": "e", **data, **key, **_when(moment, row["end"])})
        else:
            yield json.dumps({"ph": "i", "s": "t", **data, "args": args})


def _when(moment: Callable[[int], dict[str, Any]], tick: int) -> dict[str, Any]:
    return {"ts": moment(tick)["ts"] if tick != NO_TIME else 0}


def _plain(value: Any) -> Any:
    """Return *value* in a form that JSON can hold: non-finite numbers as words that `float` accepts."""
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _title(trace: Trace, kind: str, row: dict[str, Any]) -> str:
    tables = {"states": ("states", "state"), "shares": ("states", "state"), "marks": ("regions", "region")}
    if kind in tables:
        table, column = tables[kind]
        items = getattr(trace.definitions, table)
        if 0 <= row[column] < len(items):
            return str(items[row[column]].name)
    return kind


_MAKERS: dict[str, Callable[[Trace, str, Iterator[dict[str, Any]]], Iterator[str]]] = {
    "calls": _calls,
    "counters": _counters,
}

WRITER = Writer("chrome", "Chrome and Perfetto JSON", (".json", ".json.gz"), _write)
