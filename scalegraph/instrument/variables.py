"""Data addresses to variables and their elements, from the symbol table and the debug information."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from elftools.dwarf.descriptions import describe_form_class
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from scalegraph.instrument.debuginfo import files_of, source_name

_ADDRESS = 0x03  # DW_OP_addr
_TRANSPARENT = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_atomic_type")
_RECORDS = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
_DEPTH = 8  # of structures within structures


class Variable(NamedTuple):
    """A variable with a fixed address; file "" and line 0 where there is no debug information."""

    name: str
    file: str
    line: int


class VariableMap:
    """The variables of the executable at *path* by their address; files named relative to *root* as by `lines`."""

    def __init__(self, path: Path, root: str = "") -> None:
        self._path = path
        self._root = root

    def name(self, address: int) -> str:
        """Return the source-level name of the symbol that begins at *address*, or its address."""
        return self._names.get(address, f"0x{address:x}")

    def variable(self, address: int) -> Variable:
        """Return the variable that begins at *address*."""
        found = self._declared.get(address)
        if found is None:
            return Variable(self.name(address), "", 0)
        return found[0]

    def element(self, address: int, offset: int) -> str:
        """Return what lies *offset* bytes behind *address* in the program's words: ``[3].hits``; "" if not known."""
        found = self._declared.get(address)
        return "" if found is None or found[1] is None else _element(found[1], offset)

    def named(self, name: str) -> list[tuple[int, int]]:
        """Return where the variables called *name* begin and end: none, one, or one for each static of that name.

        *name* is the symbol's or, as C++ mangles symbols, that of the source.
        """
        found = [(start, end) for start, end, known in self._symbols if known == name]
        return found or [(start, end) for start, end, _ in self._symbols if self.variable(start).name == name]

    def all_names(self) -> list[str]:
        """Return the names in the source of all variables with a fixed address."""
        return sorted({self.variable(start).name for start, _, _ in self._symbols})

    @cached_property
    def _names(self) -> dict[int, str]:
        names: dict[int, str] = {}
        for start, _, name in self._symbols:
            names.setdefault(start, name)
        return names

    @cached_property
    def _symbols(self) -> list[tuple[int, int, str]]:
        found = []
        with self._path.open("rb") as stream:
            for table in ELFFile(stream).iter_sections():
                if isinstance(table, SymbolTableSection):
                    for symbol in table.iter_symbols():
                        start, size = symbol["st_value"], symbol["st_size"]
                        if symbol["st_info"]["type"] == "STT_OBJECT" and size and start:
                            found.append((start, start + size, source_name(symbol.name)))
        return found

    @cached_property
    def _declared(self) -> dict[int, tuple[Variable, _Type | None]]:
        """Variables with debug information by address, with their types."""
        found: dict[int, tuple[Variable, _Type | None]] = {}
        with self._path.open("rb") as stream:
            elf = ELFFile(stream)
            if not elf.has_dwarf_info():
                return found
            dwarf = elf.get_dwarf_info()
            for unit in dwarf.iter_CUs():
                program = dwarf.line_program_for_CU(unit)
                files = files_of(unit, program.header, self._root) if program is not None else {}
                for address, die in _located(unit):
                    origin = _declaration(die)
                    name = _text(origin, "DW_AT_name") or self.name(address)
                    place = origin.attributes.get("DW_AT_decl_file"), origin.attributes.get("DW_AT_decl_line")
                    file = files.get(place[0].value, "") if place[0] is not None else ""
                    line = int(place[1].value) if place[1] is not None else 0
                    found[address] = Variable(name, file, line), _type(origin, _DEPTH)
        return found


class _Type(NamedTuple):
    """As much of a type as names elements: an array has *lengths* and *of*, a structure *members*."""

    size: int
    of: _Type | None = None
    lengths: tuple[int, ...] = ()
    members: tuple[tuple[int, str, _Type | None], ...] = ()


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


def _type(die: Any, depth: int) -> _Type | None:
    """Return the type that *die* refers to, without typedefs and qualifiers; None when nothing is known of it."""
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
        return _Type(size)
    members = tuple(
        (_number(child, "DW_AT_data_member_location") or 0, _text(child, "DW_AT_name"), _type(child, depth - 1))
        for child in die.iter_children()
        if child.tag == "DW_TAG_member"
    )
    return _Type(size, members=members)


def _array(die: Any, depth: int) -> _Type | None:
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
    return _Type(size, of, tuple(lengths))


def _element(kind: _Type, offset: int) -> str:
    if kind.of is not None:
        index, rest = divmod(offset, kind.of.size)
        words = ""
        for length in reversed(kind.lengths[1:]):
            index, place = divmod(index, length)
            words = f"[{place}]{words}"
        return f"[{index}]{words}" + _element(kind.of, rest)
    inside = [member for member in kind.members if member[0] <= offset]
    if not inside:
        return ""
    at, name, of = max(inside, key=lambda member: member[0])
    return (f".{name}" if name else "") + (_element(of, offset - at) if of is not None else "")
