"""What happened by cause, variable and class: from the runtime's records to those of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scalegraph.base.run import (
    Causes,
    LinePart,
    LineUser,
    ResourceCost,
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
from scalegraph.runtime.results import Records, Result

_SHOWN_VARIABLES = 400  # the others are one row
_SHOWN_USERS = 64  # of one line
# The runtime's own variables, for people.
_OWN_WORDS = {
    "various": "runtime's own",
    "barrier": "barrier variables",
    "lock": "lock variables",
    "queue": "lines that threads wait on in queue locks",
    "team": "team announcement",
    "loop": "loop counters",
    "task": "task queues",
}
_ASSIGNED = re.compile(r"([A-Za-z_][\w.\->\[\]]*)\s*=(?!=)[^=;]*$", re.DOTALL)
_BY_ADDRESS = re.compile(r"\bposix_memalign\s*\(\s*(?:\([^)]*\)\s*)?&\s*([A-Za-z_][\w.\->\[\]]*)")
_FORTRAN = re.compile(r"\ballocate\s*\(\s*([A-Za-z_][\w%]*)", re.IGNORECASE)
_CALL = re.compile(r"\b\w*(?:alloc|new)\w*\b")


def named(names: Sequence[str], values: Iterable[Any]) -> dict[str, int]:
    """Return the values that are not 0 by name."""
    return {name: int(value) for name, value in zip(names, values, strict=True) if value}


def by_cause(records: Records) -> Causes:
    """Return counters and stall cycles by cause, added up over the regions of *records* (CAUSE)."""
    found: Causes = {}
    for number in np.unique(records["cause"]):
        mine = records[records["cause"] == number]
        counters = named(CAUSE_COUNTERS, mine["counters"].sum(axis=0, dtype=np.int64))
        found[CAUSE_NAMES[number]] = counters | named(STALL_NAMES, mine["stalls"].sum(axis=0, dtype=np.int64))
    return found


def classes_by_cause(records: Records) -> Causes:
    """Return misses by cause and class, added up over the regions of *records* (CAUSE)."""
    found: Causes = {}
    for number in np.unique(records["cause"]):
        counts = records[records["cause"] == number]["classes"].sum(axis=0, dtype=np.int64)
        if counts.any():
            found[CAUSE_NAMES[number]] = named(CLASS_NAMES, counts)
    return found


def widths(records: Records) -> Widths:
    """Return the widths of invalidations by cause, added up over the regions of *records* (WIDTH)."""
    found: Widths = {}
    for record in records:
        part = found.setdefault(CAUSE_NAMES[int(record["cause"])], {})
        width = int(record["width"])
        part[width] = part.get(width, 0) + int(record["count"])
    return {cause: dict(sorted(part.items())) for cause, part in found.items()}


@dataclass(frozen=True)
class _Named:
    """A variable in the program's words."""

    kind: str
    name: str
    file: str = ""
    line: int = 0
    function: str = ""


class Variables:
    """Names the VARIABLE records of a result."""

    def __init__(self, build: Build, result: Result, collected: Sequence[str]) -> None:
        self._build = build
        self._records = result.variables
        self._collected = "classes" in collected
        self._texts = {source.file: source.text.splitlines() for source in build.sources}
        heap = [index for index, record in enumerate(self._records) if KIND_NAMES[int(record["kind"])] == "heap"]
        places = build.lines.lookup([int(self._records["address"][index]) for index in heap]) if heap else []
        self._places = dict(zip(heap, places, strict=True))

    def named(self, number: int) -> _Named:
        """Return what record *number* is."""
        record = self._records[number]
        kind = KIND_NAMES[int(record["kind"])]
        if kind == "global":
            return _Named(kind, self._build.variables.name(int(record["address"])))
        if kind == "heap":
            return self._allocated(number)
        if kind == "stack":
            return _Named(kind, "stack of the first thread" if record["number"] == 0 else "stacks of other threads")
        if kind == "runtime":
            return _Named(kind, _OWN_WORDS[OWN_NAMES[int(record["number"])]])
        return _Named(kind, "libraries and thread-local data")

    def _allocated(self, number: int) -> _Named:
        file, line, function = self._places[number]
        if not file:
            if function == "__wrap_main":
                return _Named("heap", "arguments of the program")
            return _Named("heap", f"allocated by {function}" if function else "allocated by libraries")
        if file.startswith("/usr/") and function:  # in a header of the compiler: a container's
            return _Named("heap", f"allocated in {function}")
        name = assigned(self._texts.get(file, ()), line)
        return _Named("heap", name or f"allocated at {file}:{line}", file, line, function)

    def costs(self) -> tuple[VariableCost, ...]:
        """Return the variables that anything happened to, the most expensive first, the many cheap ones as one."""
        sums: dict[_Named, np.ndarray[Any, np.dtype[np.int64]]] = {}
        fields = ("bytes", "blocks", "references", "misses", "remote", "upgrades", "invalidations", "cycles")
        for number, record in enumerate(self._records):
            if not (record["misses"] or record["references"] or record["cycles"]):
                continue
            row = np.array([*(record[field] for field in fields), *record["classes"]], np.int64)
            name = self.named(number)
            sums[name] = sums[name] + row if name in sums else row
        ranked = sorted(sums.items(), key=lambda item: (-int(item[1][7]), -int(item[1][3]), item[0].name))
        rows = [self._cost(name, row) for name, row in ranked[:_SHOWN_VARIABLES]]
        if len(ranked) > _SHOWN_VARIABLES:
            rest = ranked[_SHOWN_VARIABLES:]
            total = np.sum([row for _, row in rest], axis=0)
            rows.append(self._cost(_Named("other", f"{len(rest)} more variables"), total))
        return tuple(rows)

    def _cost(self, name: _Named, row: np.ndarray[Any, np.dtype[np.int64]]) -> VariableCost:
        size, blocks, references, misses, remote, upgrades, invalidations, cycles = (int(value) for value in row[:8])
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
    """Return what *text* assigns an allocation at *line* (from 1) to: ``a[i]`` of ``a[i] = malloc(n)``, or ""."""
    if not 1 <= line <= len(text):
        return ""
    statement = re.split(r"[;{}]", "\n".join(text[max(0, line - 4) : line - 1]))[-1] + "\n" + text[line - 1]
    for piece in re.split(r"[;{}]", statement):
        for pattern in (_BY_ADDRESS, _FORTRAN):
            if found := pattern.search(piece):
                return found[1]
        for call in _CALL.finditer(piece):
            if found := _ASSIGNED.search(piece[: call.start()]):
                return found[1]
    return ""


def shared_lines(build: Build, result: Result, variables: Variables) -> tuple[SharedLine, ...]:
    """Return the lines with false sharing, the worst first."""
    if len(result.shared_lines) == 0:
        return ()
    false = CLASS_NAMES.index("false_sharing")
    order = np.argsort(-result.shared_lines["classes"][:, false].astype(np.int64), kind="stable")
    return tuple(_shared_line(build, result, variables, result.shared_lines[index]) for index in order)


def _shared_line(build: Build, result: Result, variables: Variables, line: np.void) -> SharedLine:
    users = result.line_users[result.line_users["line"] == line["address"]]
    users = users[np.argsort(users["processor"], kind="stable")]
    writers = np.argsort(users["written"] == 0, kind="stable")[:_SHOWN_USERS]
    parts = result.line_parts[result.line_parts["line"] == line["address"]]
    words = _Words(build, result, variables, parts)
    return SharedLine(
        address=int(line["address"]),
        bytes=int(line["bytes"]),
        classes=named(CLASS_NAMES, line["classes"]),
        parts=tuple(_part(build, result, variables, part) for part in parts),
        users=tuple(_user(build, user, int(line["grain"]), words) for user in users[np.sort(writers)]),
        more_users=max(0, len(users) - _SHOWN_USERS),
    )


def _part(build: Build, result: Result, variables: Variables, part: np.void) -> LinePart:
    number, offset = int(part["variable"]), int(part["offset"])
    name = variables.named(number)
    file, line, element = name.file, name.line, ""
    if name.kind == "global":
        address = int(result.variables["address"][number])
        _, file, line = build.variables.variable(address)
        element = build.variables.element(address, offset)
    return LinePart(
        at=int(part["address"]) - int(part["line"]),
        bytes=int(part["bytes"]),
        variable=name.name,
        kind=name.kind,
        file=file,
        line=line,
        offset=offset,
        element=element,
    )


class _Words:
    """Names the bytes of a line, whose *parts* are LINE_PART records."""

    def __init__(self, build: Build, result: Result, variables: Variables, parts: Records) -> None:
        self._build, self._result, self._variables, self._parts = build, result, variables, parts

    def at(self, byte: int) -> str:
        """Return what lies at *byte* of the line: ``counts[3]``; "" if that is not known."""
        for part in self._parts:
            first = int(part["address"]) - int(part["line"])
            if first <= byte < first + int(part["bytes"]):
                return self._name(int(part["variable"]), int(part["offset"]) + byte - first)
        return ""

    def _offset(self, byte: int) -> int | None:
        """Return how far *byte* lies behind the beginning of its heap block; None elsewhere."""
        for part in self._parts:
            first = int(part["address"]) - int(part["line"])
            if first <= byte < first + int(part["bytes"]):
                inside = int(part["offset"]) + byte - first
                return inside if self._variables.named(int(part["variable"])).kind == "heap" else None
        return None

    def _name(self, number: int, offset: int) -> str:
        name = self._variables.named(number)
        element = ""
        if name.kind == "global":
            element = self._build.variables.element(int(self._result.variables["address"][number]), offset)
        return name.name + element

    def spans(self, mask: int, grain: int) -> tuple[str, ...]:
        """Return the names of the runs of set bits, those of several elements as ``a[0] .. a[3]``."""
        found = []
        for first, size in _spans(mask, grain):
            names = [self.at(byte) for byte in range(first, first + size, grain)]
            known = list(dict.fromkeys(name for name in names if name))
            if len(known) == 1 and (start := self._offset(first)) is not None:
                found.append(f"{known[0]} +{start} to +{start + size - 1}")
            elif known:
                found.append(known[0] if len(known) == 1 else f"{known[0]} .. {known[-1]}")
        return tuple(found)


def _user(build: Build, user: np.void, grain: int, words: _Words) -> LineUser:
    places = build.lines.lookup([int(user["reader"]), int(user["writer"])])
    where = [f"{file}:{line}" if file else "" for file, line, _ in places]
    read, written = int(user["read"]), int(user["written"])
    return LineUser(
        processor=int(user["processor"]),
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


def resources(records: Records) -> tuple[ResourceCost, ...]:
    """Return how busy the parts of the network and the memory were."""
    return tuple(
        ResourceCost(
            kind=record["kind"].decode("ascii", "replace"),
            name=record["name"].decode("ascii", "replace"),
            units=int(record["units"]),
            busy=int(record["busy"]),
            transactions=int(record["transactions"]),
            waiting=int(record["waiting"]),
        )
        for record in records
    )
