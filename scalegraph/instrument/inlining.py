"""Maps code from compiler and system headers to the program's line that it was inlined into, from DWARF."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from elftools.dwarf.descriptions import describe_form_class
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.dwarf.ranges import BaseAddressEntry

from scalegraph.runtime.compiler import is_foreign as is_foreign

_SCOPES = ("DW_TAG_lexical_block", "DW_TAG_inlined_subroutine")

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
    top = unit.get_top_DIE()
    base = _address(top, "DW_AT_low_pc") or 0
    found: list[Call] = []
    for die in _functions(top):
        if _has_code(die):
            found += _within(dwarf, unit, base, die, 0)
        else:  # a function that the compiler outlines from a template for threads counts as inside it
            inner = (one for one in die.iter_children() if one.tag == "DW_TAG_subprogram" and one.has_children)
            found += [call for one in inner if _has_code(one) for call in _within(dwarf, unit, base, one, 0)]
    return found


def _functions(scope: Any) -> Iterator[Any]:
    """Yield the functions of *scope* and of its namespaces, except the compiler's library."""
    for die in scope.iter_children():
        if die.tag == "DW_TAG_subprogram" and die.has_children:
            yield die
        elif die.tag == "DW_TAG_namespace" and die.has_children and not _is_of_library(die):
            yield from _functions(die)


def _is_of_library(die: Any) -> bool:
    name = die.attributes.get("DW_AT_name")
    return name is not None and (name.value == b"std" or name.value.startswith(b"__"))


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


def _within(dwarf: DWARFInfo, unit: Any, base: int, die: Any, depth: int) -> Iterator[Call]:
    for child in die.iter_children():
        if child.tag not in _SCOPES:
            continue
        inner = depth
        if child.tag == "DW_TAG_inlined_subroutine":
            inner += 1
            file, line = (child.attributes.get(f"DW_AT_call_{what}") for what in ("file", "line"))
            if file is not None and line is not None:
                for low, high in _ranges(dwarf, unit, base, child):
                    yield Call(low, high, inner, file.value, line.value)
        if child.has_children:
            yield from _within(dwarf, unit, base, child, inner)


def _has_code(die: Any) -> bool:
    return "DW_AT_low_pc" in die.attributes or "DW_AT_ranges" in die.attributes


def _address(die: Any, name: str) -> int | None:
    found = die.attributes.get(name)
    return found.value if found is not None and isinstance(found.value, int) else None


def _ranges(dwarf: DWARFInfo, unit: Any, base: int, die: Any) -> list[tuple[int, int]]:
    """Return the address ranges of the code of *die*."""
    low = _address(die, "DW_AT_low_pc")
    if low is not None and "DW_AT_high_pc" in die.attributes:
        high = die.attributes["DW_AT_high_pc"]
        return [(low, high.value if describe_form_class(high.form) == "address" else low + high.value)]
    listed, table = die.attributes.get("DW_AT_ranges"), dwarf.range_lists()
    if listed is None or table is None or listed.form != "DW_FORM_sec_offset":
        return []
    found = []
    for entry in table.get_range_list_at_offset(listed.value, unit):
        if isinstance(entry, BaseAddressEntry):
            base = entry.base_address
            continue
        shift = 0 if entry.is_absolute else base
        found.append((entry.begin_offset + shift, entry.end_offset + shift))
    return found
