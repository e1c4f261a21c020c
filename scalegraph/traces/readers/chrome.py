"""Trace events of Chrome and Perfetto in JSON: an object with traceEvents, or an array; plain or gzip.

Times are microseconds with fractions; they become nanoseconds, or the ticks of a trace that ScaleGraph wrote.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import counted
from scalegraph.traces.chrome_events import ForeignEvents, OwnEvents
from scalegraph.traces.formats import Reader, Reading
from scalegraph.traces.jsonstream import JsonStream
from scalegraph.traces.model import Definitions, Meta, Trace


def _recognises(path: Path, head: bytes) -> bool:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    name = path.name.lower()
    if start[:1] == b"[":
        return b'"ph"' in head or name.endswith((".json", ".json.gz"))
    return start[:1] == b"{" and (b'"traceEvents"' in head or b'"ph"' in head or name.endswith((".json", ".json.gz")))


class _Document:
    """The file's content besides events, in order."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.events: ForeignEvents | OwnEvents | None = None
        self.properties: dict[str, str] = {}
        self.seen = False
        self.elements = 0
        self.objects = 0  # number of objects among the elements: every event is one

    def value(self, key: str, value: Any) -> None:
        """Store a member of the outer object other than traceEvents."""
        own = value.get("scalegraph") if isinstance(value, dict) else None
        if key == "otherData" and isinstance(own, str) and self.events is None:
            try:
                data = json.loads(own)
                self.reading.builder.adopt(Definitions.from_data(data["definitions"]), Meta.from_data(data["meta"]))
            except (ValueError, TypeError, KeyError):
                self.reading.builder.note("definitions of ScaleGraph that are damaged")
            else:
                self.events = OwnEvents(self.reading)
        elif isinstance(value, str | int | float | bool):
            self.properties[key] = str(value)
        elif isinstance(value, dict) and key in {"otherData", "metadata"}:
            self.properties.update({str(k): str(v) for k, v in value.items() if isinstance(v, str | int | float)})
        else:
            self.reading.builder.note(f"'{key}' beside the events")

    def event(self, event: Any) -> None:
        """Add one event."""
        self.elements += 1
        self.objects += isinstance(event, dict)
        if self.events is None:
            self.events = ForeignEvents(self.reading)
        self.events.add(event)

    def finish(self) -> Trace:
        """Sort everything."""
        builder = self.reading.builder
        if isinstance(self.events, OwnEvents):
            return self.events.finish()
        builder.meta.properties = self.properties
        return (self.events or ForeignEvents(self.reading)).finish()


def _read(reading: Reading) -> Trace:
    document = _Document(reading)
    stream = JsonStream(reading)
    first = stream.peek()
    if first == "[":
        _events(stream, document)  # the closing bracket may be missing: a killed program cannot write it
    elif first == "{":
        _object(stream, document)
    else:
        reading.broken("an object or an array of trace events was expected", line=stream.line)
    if not stream.broken and stream.peek() and document.seen:
        reading.builder.note("files with data after the end of the trace, which is left out")
    if not document.seen and not stream.broken:
        reading.broken("no traceEvents were found")
    if document.elements and not document.objects:
        count = f"{counted(document.elements, 'element')}"
        raise InputError(Fault(f"is not a trace: none of its {count} is an event", file=str(reading.path)))
    return document.finish()


def _object(stream: JsonStream, document: _Document) -> None:
    stream.take("{")
    while not stream.broken:
        if stream.peek() == "}":
            stream.take("}")
            return
        key = stream.value()
        if stream.broken or not stream.expect(":"):
            return
        if key == "traceEvents" and stream.peek() == "[":
            if not _events(stream, document):
                stream.fail("the file is cut off within traceEvents")
                return
        else:
            value = stream.value()
            if not stream.broken:
                document.value(str(key), value)
        if stream.peek() == ",":
            stream.take(",")
        elif stream.peek() != "}":
            stream.fail("the file is cut off" if not stream.peek() else "',' or '}' was expected")


def _events(stream: JsonStream, document: _Document) -> bool:
    """Read an array of events; return whether its end was seen."""
    document.seen = True
    stream.take("[")
    for event in stream.elements():
        document.event(event)
    if stream.broken:
        return True
    if stream.peek() == "]":
        stream.take("]")
        return True
    return False


READER = Reader("chrome", "Chrome and Perfetto JSON", (".json", ".json.gz"), _recognises, _read, order=50)
