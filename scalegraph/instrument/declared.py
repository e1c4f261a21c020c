"""Variables as described by an executable's symbol table and debug information."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from elftools.dwarf.descriptions import describe_form_class
from elftools.elf.elffile import ELFFile

from scalegraph.instrument.debuginfo import files_of, lines
from scalegraph.instrument.places import Places, Span, save, source_name
from scalegraph.instrument.symbols import OBJECT, defined

_ADDRESS = 0x03  # DW_OP_addr
_TRANSPARENT = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_atomic_type")
_RECORDS = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
_DEPTH = 8  # of nested structures


class Declared(NamedTuple):
    """A variable with debug information; *name* is empty if unnamed, *type* None if unknown."""

    name: str
    file: str
    line: int
    type: Type | None


class Type(NamedTuple):
    """A type, as far as names of elements need it: an array has *lengths* and *of*, a structure *members*."""

    size: int
    of: Type | None = None
    lengths: tuple[int, ...] = ()
    members: tuple[tuple[int, str, Type | None], ...] = ()


def places(path: Path, root: str = "") -> Places:
    """Return the line table and variables of the executable at *path*; files are named as by `lines`."""
    return Places(lines(path, root), tuple(symbols(path)))


def symbols(path: Path) -> list[Span]:
    """Return the variables in the symbol table of the executable at *path*: first address, end, source-level name."""
    with path.open("rb") as stream:
        return [
            (symbol.address, symbol.address + symbol.size, source_name(symbol.name))
            for symbol in defined(ELFFile(stream))
            if symbol.kind == OBJECT and symbol.size
        ]


def declared(path: Path, root: str) -> dict[int, Declared]:
    """Return the variables with debug information by address; files are named relative to *root* as by `lines`."""
    found: dict[int, Declared] = {}
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        if not elf.has_dwarf_info():
            return found
        dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False)
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            files = files_of(unit, program.header, root) if program is not None else {}
            for address, die in _located(unit):
                origin = _declaration(die)
                place = origin.attributes.get("DW_AT_decl_file"), origin.attributes.get("DW_AT_decl_line")
                file = files.get(place[0].value, "") if place[0] is not None else ""
                line = int(place[1].value) if place[1] is not None else 0
                found[address] = Declared(_text(origin, "DW_AT_name"), file, line, _type(origin, _DEPTH))
    return found


def _located(unit: Any) -> Iterator[tuple[int, Any]]:
    """Yield (address, entry) of every variable of *unit* with a fixed address."""
    for die in unit.iter_DIEs():
        if die.tag != "DW_TAG_variable" or "DW_AT_location" not in die.attributes:
            continue
        attribute = die.attributes["DW_AT_location"]
        value = attribute.value
        if describe_form_class(attribute.form) == "exprloc" and len(value) >= 9 and value[0] == _ADDRESS:
            yield int.from_bytes(bytes(value[1:9]), "little"), die


def _declaration(die: Any) -> Any:
    for link in ("DW_AT_specification", "DW_AT_abstract_origin"):
        if link in die.attributes and "DW_AT_name" not in die.attributes:
            return die.get_DIE_from_attribute(link)
    return die


def _text(die: Any, attribute: str) -> str:
    found = die.attributes.get(attribute)
    return found.value.decode("utf-8", "replace") if found is not None and isinstance(found.value, bytes) else ""


def _number(die: Any, attribute: str) -> int | None:
    found = die.attributes.get(attribute)
    return found.value if found is not None and isinstance(found.value, int) else None


def _type(die: Any, depth: int) -> Type | None:
    """Return the type that *die* refers to, without typedefs and qualifiers; None if unknown."""
    while "DW_AT_type" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_type")
        if die.tag not in _TRANSPARENT:
            break
    else:
        return None
    if depth == 0:
        return None
    if die.tag == "DW_TAG_array_type":
        return _array(die, depth)
    size = _number(die, "DW_AT_byte_size") or 0
    if die.tag not in _RECORDS:
        return Type(size)
    members = tuple(
        (_number(child, "DW_AT_data_member_location") or 0, _text(child, "DW_AT_name"), _type(child, depth - 1))
        for child in die.iter_children()
        if child.tag == "DW_TAG_member"
    )
    return Type(size, members=members)


def _array(die: Any, depth: int) -> Type | None:
    of = _type(die, depth - 1)
    lengths = []
    for child in die.iter_children():
        if child.tag == "DW_TAG_subrange_type":
            upper, length = _number(child, "DW_AT_upper_bound"), _number(child, "DW_AT_count")
            lower = _number(child, "DW_AT_lower_bound") or 0
            lengths.append(length if length is not None else 0 if upper is None else upper - lower + 1)
    if of is None or not of.size or not lengths or 0 in lengths[1:]:
        return None
    size = of.size
    for length in lengths:
        size *= length
    return Type(size, of, tuple(lengths))


if __name__ == "__main__":
    save(places(Path(sys.argv[1]), sys.argv[2]), Path(sys.argv[3]))
