"""Counts by cause, variable and class: from the runtime's records to the run's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scalegraph.base.patterns import pattern
from scalegraph.base.resource_costs import ResourceCosts
from scalegraph.base.run import (
    Causes,
    LinePart,
    LineUser,
    SharedLine,
    VariableCost,
    Widths,
)
from scalegraph.link.build import Build
from scalegraph.runtime.format import (
    CAUSE_COUNTERS,
    CAUSE_NAMES,
    CLASS_NAMES,
    KIND_NAMES,
    OWN_NAMES,
    STALL_NAMES,
)
from scalegraph.runtime.layout import Row
from scalegraph.runtime.results import Result

_SHOWN_VARIABLES = 400  # the rest are one row
_SHOWN_USERS = 64  # of one line
# The runtime's own variables, for display.
_OWN_WORDS = {
    "various": "runtime's own",
    "barrier": "barrier variables",
    "lock": "lock variables",
    "queue": "lines that threads wait on in queue locks",
    "team": "team announcement",
    "loop": "loop counters",
    "task": "task queues",
}
_ASSIGNED = pattern(r"([A-Za-z_][\w.\->\[\]]*)\s*=(?!=)[^=;]*$", re.DOTALL)
_BY_ADDRESS = pattern(r"\bposix_memalign\s*\(\s*(?:\([^)]*\)\s*)?&\s*([A-Za-z_][\w.\->\[\]]*)")
_FORTRAN = pattern(r"\ballocate\s*\(\s*([A-Za-z_][\w%]*)", re.IGNORECASE)
_CALL = pattern(r"\b\w*(?:alloc|new)\w*\b")


def named(names: Sequence[str], values: Iterable[int]) -> dict[str, int]:
    """Return the nonzero values by name."""
    return {name: value for name, value in zip(names, values, strict=True) if value}


def sums(rows: Sequence[Row], field: str) -> list[int]:
    """Sum the array *field* over *rows*, which must not be empty."""
    return [sum(values) for values in zip(*(row[field] for row in rows), strict=True)]


def grouped(rows: Iterable[Row], field: str) -> dict[int, list[Row]]:
    """Group *rows* by the number in *field*, in ascending order."""
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row[field], []).append(row)
    return dict(sorted(found.items()))


def by_cause(records: Iterable[Row]) -> Causes:
    """Return counters and stall cycles by cause, summed over the regions of *records* (CAUSE)."""
    return {
        CAUSE_NAMES[number]: named(CAUSE_COUNTERS, sums(mine, "counters")) | named(STALL_NAMES, sums(mine, "stalls"))
        for number, mine in grouped(records, "cause").items()
    }


def classes_by_cause(records: Iterable[Row]) -> Causes:
    """Return misses by cause and class, summed over the regions of *records* (CAUSE)."""
    found = {
        CAUSE_NAMES[number]: named(CLASS_NAMES, sums(mine, "classes"))
        for number, mine in grouped(records, "cause").items()
    }
    return {cause: counts for cause, counts in found.items() if counts}


def widths(records: Iterable[Row]) -> Widths:
    """Return the widths of invalidations by cause, summed over the regions of *records* (WIDTH)."""
    found: Widths = {}
    for record in records:
        part = found.setdefault(CAUSE_NAMES[record["cause"]], {})
        part[record["width"]] = part.get(record["width"], 0) + record["count"]
    return {cause: dict(sorted(part.items())) for cause, part in found.items()}


@dataclass(frozen=True)
class _Named:
    """A variable as the program names it."""

    kind: str
    name: str
    file: str = ""
    line: int = 0
    function: str = ""


class Variables:
    """Names for the VARIABLE records of a result."""

    def __init__(self, build: Build, result: Result, collected: Sequence[str]) -> None:
        self._build = build
        self._records = result.rows("VARIABLES")
        self._collected = "classes" in collected
        self._texts = {source.file: source.text.splitlines() for source in build.sources}
        heap = [index for index, record in enumerate(self._records) if KIND_NAMES[record["kind"]] == "heap"]
        places = build.lines.lookup([self._records[index]["address"] for index in heap]) if heap else []
        self._places = dict(zip(heap, places, strict=True))

    def named(self, number: int) -> _Named:
        """Return the variable of record *number*."""
        record = self._records[number]
        kind = KIND_NAMES[record["kind"]]
        if kind == "global":
            return _Named(kind, self._build.variables.name(record["address"]))
        if kind == "heap":
            return self._allocated(number)
        if kind == "stack":
            return _Named(kind, "stack of the first thread" if record["number"] == 0 else "stacks of other threads")
        if kind == "runtime":
            return _Named(kind, _OWN_WORDS[OWN_NAMES[record["number"]]])
        return _Named(kind, "libraries and thread-local data")

    def _allocated(self, number: int) -> _Named:
        file, line, function = self._places[number]
        if not file:
            if function == "__wrap_main":
                return _Named("heap", "arguments of the program")
            return _Named("heap", f"allocated by {function}" if function else "allocated by libraries")
        if file.startswith("/usr/") and function:  # in a header of the compiler, so it belongs to a container
            return _Named("heap", f"allocated in {function}")
        name = assigned(self._texts.get(file, ()), line)
        return _Named("heap", name or f"allocated at {file}:{line}", file, line, function)

    def costs(self) -> tuple[VariableCost, ...]:
        """Return the variables with any events, the most expensive first; the many cheap ones become one row."""
        found: dict[_Named, list[int]] = {}
        fields = ("bytes", "blocks", "references", "misses", "remote", "upgrades", "invalidations", "cycles")
        for number, record in enumerate(self._records):
            if not (record["misses"] or record["references"] or record["cycles"]):
                continue
            row = [*(record[field] for field in fields), *record["classes"]]
            name = self.named(number)
            found[name] = list(map(int.__add__, found[name], row)) if name in found else row
        ranked = sorted(found.items(), key=lambda item: (-item[1][7], -item[1][3], item[0].name))
        rows = [self._cost(name, row) for name, row in ranked[:_SHOWN_VARIABLES]]
        if len(ranked) > _SHOWN_VARIABLES:
            rest = ranked[_SHOWN_VARIABLES:]
            total = [sum(values) for values in zip(*(row for _, row in rest), strict=True)]
            rows.append(self._cost(_Named("other", f"{len(rest)} more variables"), total))
        return tuple(rows)

    def _cost(self, name: _Named, row: Sequence[int]) -> VariableCost:
        size, blocks, references, misses, remote, upgrades, invalidations, cycles = row[:8]
        return VariableCost(
            kind=name.kind,
            name=name.name,
            file=name.file,
            line=name.line,
            function=name.function,
            bytes=size,
            blocks=blocks,
            references=references if self._collected else None,
            misses=misses,
            remote=remote,
            upgrades=upgrades,
            invalidations=invalidations,
            stall=cycles,
            classes=named(CLASS_NAMES, row[8:]),
        )


def assigned(text: Sequence[str], line: int) -> str:
    """Return the target of the assignment at *line* (from 1) of *text*: ``a[i]`` in ``a[i] = malloc(n)``, or ""."""
    if not 1 <= line <= len(text):
        return ""
    statement = re.split(r"[;{}]", "\n".join(text[max(0, line - 4) : line - 1]))[-1] + "\n" + text[line - 1]
    for piece in re.split(r"[;{}]", statement):
        for known in (_BY_ADDRESS, _FORTRAN):
            if found := known.search(piece):
                return found[1]
        for call in _CALL.finditer(piece):
            if found := _ASSIGNED.search(piece[: call.start()]):
                return found[1]
    return ""


def shared_lines(build: Build, result: Result, variables: Variables) -> tuple[SharedLine, ...]:
    """Return the lines with false sharing, the worst first."""
    false = CLASS_NAMES.index("false_sharing")
    lines = sorted(enumerate(result.rows("SHARED_LINES")), key=lambda line: -int(line[1]["classes"][false]))
    users = grouped(result.rows("LINE_USERS"), "shared")
    once = {(part["line"], part["address"]): part for part in result.rows("LINE_PARTS")}
    parts = grouped(list(once.values()), "line")
    return tuple(
        _shared_line(build, result, variables, line, (users.get(place, []), parts.get(line["address"], [])))
        for place, line in lines
    )


def _shared_line(
    build: Build, result: Result, variables: Variables, line: Row, known: tuple[Sequence[Row], Sequence[Row]]
) -> SharedLine:
    """Return the shared line of one LINE record; *known*: its LINE_USER and LINE_PART records."""
    users, parts = sorted(known[0], key=lambda user: user["processor"]), known[1]
    writers = sorted(range(len(users)), key=lambda number: users[number]["written"] == 0)[:_SHOWN_USERS]
    words = _Words(build, result, variables, parts)
    return SharedLine(
        address=line["address"],
        bytes=line["bytes"],
        classes=named(CLASS_NAMES, line["classes"]),
        parts=tuple(_part(build, result, variables, part) for part in parts),
        users=tuple(_user(build, users[number], line["grain"], words) for number in sorted(writers)),
        more_users=max(0, len(users) - _SHOWN_USERS),
    )


def _part(build: Build, result: Result, variables: Variables, part: Row) -> LinePart:
    number, offset = part["variable"], part["offset"]
    name = variables.named(number)
    file, line, element = name.file, name.line, ""
    if name.kind == "global":
        address = result.rows("VARIABLES")[number]["address"]
        _, file, line = build.variables.variable(address)
        element = build.variables.element(address, offset)
    return LinePart(
        at=part["address"] - part["line"],
        bytes=part["bytes"],
        variable=name.name,
        kind=name.kind,
        file=file,
        line=line,
        offset=offset,
        element=element,
    )


class _Words:
    """Names for the bytes of a line, whose *parts* are LINE_PART records."""

    def __init__(self, build: Build, result: Result, variables: Variables, parts: Sequence[Row]) -> None:
        self._build, self._result, self._variables, self._parts = build, result, variables, parts

    def at(self, byte: int) -> str:
        """Return the element at *byte* of the line: ``counts[3]``; "" if unknown."""
        for part in self._parts:
            first = part["address"] - part["line"]
            if first <= byte < first + part["bytes"]:
                return self._name(part["variable"], part["offset"] + byte - first)
        return ""

    def _offset(self, byte: int) -> int | None:
        """Return the distance of *byte* from the beginning of its heap block; None outside the heap."""
        for part in self._parts:
            first = part["address"] - part["line"]
            if first <= byte < first + part["bytes"]:
                inside = part["offset"] + byte - first
                return inside if self._variables.named(part["variable"]).kind == "heap" else None
        return None

    def _name(self, number: int, offset: int) -> str:
        name = self._variables.named(number)
        element = ""
        if name.kind == "global":
            element = self._build.variables.element(self._result.rows("VARIABLES")[number]["address"], offset)
        return name.name + element

    def spans(self, mask: int, grain: int) -> tuple[str, ...]:
        """Return the names of the runs of set bits; several elements are named ``a[0] .. a[3]``."""
        found = []
        for first, size in _spans(mask, grain):
            names = [self.at(byte) for byte in range(first, first + size, grain)]
            known = list(dict.fromkeys(name for name in names if name))
            if len(known) == 1 and (start := self._offset(first)) is not None:
                found.append(f"{known[0]} +{start} to +{start + size - 1}")
            elif known:
                found.append(known[0] if len(known) == 1 else f"{known[0]} .. {known[-1]}")
        return tuple(found)


def _user(build: Build, user: Row, grain: int, words: _Words) -> LineUser:
    places = build.lines.lookup([user["reader"], user["writer"]])
    where = [f"{file}:{line}" if file else "" for file, line, _ in places]
    read, written = user["read"], user["written"]
    return LineUser(
        processor=user["processor"],
        wrote=words.spans(written, grain),
        used=words.spans(read & ~written, grain),
        read=_spans(read, grain),
        written=_spans(written, grain),
        reader=where[0] if user["reader"] else "",
        writer=where[1] if user["writer"] else "",
    )


def _spans(mask: int, grain: int) -> tuple[tuple[int, int], ...]:
    """Return (first byte, bytes) of the runs of set bits."""
    text = bin(mask)[:1:-1]
    return tuple((found.start() * grain, len(found[0]) * grain) for found in re.finditer("1+", text))


def resources(columns: Mapping[str, Sequence[Any]]) -> ResourceCosts:
    """Return how busy the parts of the network and the memory were, from columns of RESOURCE records."""
    texts = {name: [text.decode("ascii", "replace") for text in columns[name]] for name in ("kind", "name")}
    return ResourceCosts({**columns, **texts})
