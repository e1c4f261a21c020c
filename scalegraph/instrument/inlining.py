"""Maps code from compiler and system headers to the program's line that it was inlined into, from DWARF."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.dwarf.ranges import BaseAddressEntry

from scalegraph.instrument.dwarf.entries import (
    ADDRESS,
    BLOCK,
    CALL_FILE,
    CALL_LINE,
    HIGH_PC,
    INLINED,
    LOW_PC,
    NAMESPACE,
    OFFSET,
    RANGES,
    SUBPROGRAM,
    Entry,
    entries_of,
)
from scalegraph.runtime.compiler import is_foreign as is_foreign

_SCOPES = (BLOCK, INLINED)

Row = tuple[int, int, int]


class Call(NamedTuple):
    """Inlined code: *low* to *high*, called at *line* of *file* (a number in the unit); deeper calls lie within."""

    low: int
    high: int
    depth: int
    file: int
    line: int


def calls(dwarf: DWARFInfo, unit: Any) -> list[Call]:
    """Return the calls inlined into the functions of *unit*.

    Only functions with code are searched; this skips the declarations in headers, by far the majority.
    """
    return list(_Search(dwarf, unit).calls())


def climbed(rows: Sequence[Row], foreign: set[int], inlined: Iterable[Call]) -> list[Row]:
    """Return *rows* (address, file, line) of a line table with inlined code moved to its callers.

    A row of a file in *foreign* gets the place of the innermost enclosing call in another file, and is split where such
    calls begin and end; without one it stays. File numbers are the unit's. The rows are in order.
    """
    wanted = sorted((call for call in inlined if call.file not in foreign and call.line), key=lambda call: call.depth)
    if not wanted or all(row[1] not in foreign for row in rows):
        return list(rows)
    edges = sorted({edge for call in wanted for edge in (call.low, call.high)})
    around: list[Call | None] = [None] * len(edges)  # from each edge to the next
    for call in wanted:  # deeper calls come later
        low, high = bisect_left(edges, call.low), bisect_left(edges, call.high)
        around[low:high] = [call] * (high - low)
    made: list[Row] = []
    for row, behind in zip(rows, [*rows[1:], None], strict=True):
        address, file, line = row
        if file not in foreign or line == 0:
            made.append(row)
            continue
        end = behind[0] if behind is not None else address
        first = bisect_right(edges, address)
        starts = [address, *edges[first : max(first, bisect_left(edges, end))]]
        for start, place in zip(starts, range(first - 1, first - 1 + len(starts)), strict=True):
            found = around[place] if place >= 0 else None
            made.append((start, found.file, found.line) if found is not None else (start, file, line))
    return made


class _Search:
    """A search for inlined calls in the entries of a unit."""

    def __init__(self, dwarf: DWARFInfo, unit: Any) -> None:
        self._dwarf, self._unit = dwarf, unit
        self._entries = entries_of(dwarf, unit)
        _, self._base = self._entries.top().has.get(LOW_PC, (0, 0))

    def calls(self) -> Iterator[Call]:
        """Yield the calls inlined into the unit's functions."""
        for function in self._functions(self._entries.top()):
            if _has_code(function):
                yield from self._within(function, 0)
                continue
            # a function that the compiler outlines from a template for threads counts as inside it
            for one in self._entries.children(function):
                if one.tag == SUBPROGRAM and one.has_children and _has_code(one):
                    yield from self._within(one, 0)

    def _functions(self, scope: Entry) -> Iterator[Entry]:
        """Yield the functions of *scope* and of its namespaces, except the compiler's library."""
        for one in self._entries.children(scope):
            if one.tag == SUBPROGRAM and one.has_children:
                yield one
            elif one.tag == NAMESPACE and one.has_children and not self._is_of_library(one):
                yield from self._functions(one)

    def _is_of_library(self, scope: Entry) -> bool:
        name = self._entries.name(scope)
        return name is not None and (name == b"std" or name.startswith(b"__"))

    def _within(self, scope: Entry, depth: int) -> Iterator[Call]:
        for one in self._entries.children(scope):
            if one.tag not in _SCOPES:
                continue
            inner = depth
            if one.tag == INLINED:
                inner += 1
                if CALL_FILE in one.has and CALL_LINE in one.has:
                    for low, high in self._ranges(one):
                        yield Call(low, high, inner, one.has[CALL_FILE][1], one.has[CALL_LINE][1])
            if one.has_children:
                yield from self._within(one, inner)

    def _ranges(self, one: Entry) -> list[tuple[int, int]]:
        """Return the address ranges of the code of *one*."""
        if LOW_PC in one.has and HIGH_PC in one.has:
            low, (form, high) = one.has[LOW_PC][1], one.has[HIGH_PC]
            return [(low, high if form == ADDRESS else low + high)]
        form, place = one.has.get(RANGES, (0, 0))
        table = self._dwarf.range_lists()
        if table is None or form != OFFSET:
            return []
        found, base = [], self._base
        for entry in table.get_range_list_at_offset(place, self._unit):
            if isinstance(entry, BaseAddressEntry):
                base = entry.base_address
                continue
            shift = 0 if entry.is_absolute else base
            found.append((entry.begin_offset + shift, entry.end_offset + shift))
        return found


def _has_code(entry: Entry) -> bool:
    return LOW_PC in entry.has or RANGES in entry.has
