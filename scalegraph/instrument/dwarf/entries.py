"""The entries of a compilation unit, as far as inlined calls need them: without making an object of each.

A unit of C++ has some hundred thousand entries, and most are types. Units with forms that are not known here
(`Unfamiliar`), such as those of split debug information, are left to pyelftools.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from scalegraph.instrument.dwarf.numbers import signed, unsigned

SUBPROGRAM, NAMESPACE, INLINED, BLOCK = 0x2E, 0x39, 0x1D, 0x0B
SIBLING, NAME, LOW_PC, HIGH_PC, RANGES, CALL_FILE, CALL_LINE = 0x01, 0x03, 0x11, 0x12, 0x55, 0x58, 0x59
_WANTED: Final = frozenset((SIBLING, NAME, LOW_PC, HIGH_PC, RANGES, CALL_FILE, CALL_LINE))
ADDRESS, OFFSET = 0x01, 0x17
_IMPLICIT, _STRING, _BLOCK, _SIGNED, _UNSIGNED, _REFERENCE = 0x21, 0x08, 0x09, 0x0D, 0x0F, 0x15
_EXPRESSION, _STRP, _LINE_STRP = 0x18, 0x0E, 0x1F
_STRINGS: Final = {_STRP: "debug_str_sec", _LINE_STRP: "debug_line_str_sec"}
_SIZED_BLOCKS: Final = {0x0A: 1, 0x03: 2, 0x04: 4}
_FIXED: Final = {
    ADDRESS: 8, 0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16, 0x0C: 1, 0x19: 0, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8,
    0x20: 8, _IMPLICIT: 0, _STRP: 4, _LINE_STRP: 4, OFFSET: 4, 0x10: 4,
}  # fmt: skip


_NAMES: Final = {
    "DW_AT_low_pc": LOW_PC,
    "DW_AT_high_pc": HIGH_PC,
    "DW_AT_ranges": RANGES,
    "DW_AT_call_file": CALL_FILE,
    "DW_AT_call_line": CALL_LINE,
}
_TAGS: Final = {
    "DW_TAG_subprogram": SUBPROGRAM,
    "DW_TAG_namespace": NAMESPACE,
    "DW_TAG_inlined_subroutine": INLINED,
    "DW_TAG_lexical_block": BLOCK,
}
_FORMS: Final = {"DW_FORM_addr": ADDRESS, "DW_FORM_sec_offset": OFFSET}


class Unfamiliar(Exception):  # noqa: N818
    """A form of debug information that only pyelftools reads."""


class Entry(NamedTuple):
    """An entry: *has* are its attributes that are wanted, each with its form and value; *within*: of its children."""

    tag: int
    has: dict[int, tuple[int, int]]
    within: int
    has_children: bool
    die: Any = None  # pyelftools' entry


class _Kind(NamedTuple):
    """What entries of one abbreviation have; *steps*: bytes to skip, or an attribute with form and implicit value."""

    tag: int
    has_children: bool
    steps: tuple[int | tuple[int, int, int], ...]


class Entries:
    """The entries of pyelftools' *unit* in the file with *dwarf*; raises `Unfamiliar`."""

    def __init__(self, dwarf: Any, unit: Any) -> None:
        header = unit.header
        if unit.structs.dwarf_format != 32 or header["address_size"] != _FIXED[ADDRESS] or header["version"] < 3:
            raise Unfamiliar
        self._dwarf, self._data = dwarf, _section(dwarf, "debug_info_sec")
        self._unit: int = unit.cu_offset
        self._kinds = _kinds(_section(dwarf, "debug_abbrev_sec"), header["debug_abbrev_offset"])
        self._top = unit.cu_die_offset
        self._ends: dict[int, int] = {}  # of the children of entries that were walked, by where those begin

    def top(self) -> Entry:
        """Return the entry of the unit itself."""
        entry = self._entry(self._top)
        assert entry is not None
        return entry

    def children(self, of: Entry) -> Iterator[Entry]:
        """Yield the children of an entry."""
        at = of.within
        while of.has_children and (entry := self._entry(at)) is not None:
            yield entry
            behind = self._behind(entry)
            if behind <= at:
                raise ValueError("entries of debug information that go in circles")
            at = behind

    def name(self, entry: Entry) -> bytes | None:
        """Return the name of *entry*, if it has one."""
        form, value = entry.has.get(NAME, (0, 0))
        if form == _STRING:
            data, at = self._data, value
        elif form in _STRINGS:
            data, at = _section(self._dwarf, _STRINGS[form]), value
        else:
            return None
        return data[at : data.index(b"\0", at)]

    def _behind(self, entry: Entry) -> int:
        """Return where the entry after *entry* and all in it begins."""
        if not entry.has_children:
            return entry.within
        if SIBLING in entry.has:
            return self._unit + entry.has[SIBLING][1]
        if entry.within not in self._ends:
            at = entry.within
            while (child := self._entry(at)) is not None:
                at = self._behind(child)
            self._ends[entry.within] = at + 1
        return self._ends[entry.within]

    def _entry(self, at: int) -> Entry | None:
        """Return the entry at offset *at*; None at the end of a list of children."""
        data = self._data
        number, at = unsigned(data, at)
        if number == 0:
            return None
        tag, has_children, steps = self._kinds[number]
        has: dict[int, tuple[int, int]] = {}
        for step in steps:
            if isinstance(step, int):
                at += step
                continue
            attribute, form, implicit = step
            value, at = _value(data, at, form)
            if attribute:
                has[attribute] = form, implicit if form == _IMPLICIT else value
        return Entry(tag, has, at, has_children)


def _value(data: bytes, at: int, form: int) -> tuple[int, int]:
    """Return an attribute's number, or where its text begins, and the offset after it."""
    size = _FIXED.get(form)
    if size is not None:
        return int.from_bytes(data[at : at + size], "little"), at + size
    if form in (_UNSIGNED, _REFERENCE):
        return unsigned(data, at)
    if form == _SIGNED:
        return signed(data, at)
    if form == _STRING:
        return at, data.index(b"\0", at) + 1
    if form in (_EXPRESSION, _BLOCK):
        size, at = unsigned(data, at)
        return 0, at + size
    width = _SIZED_BLOCKS[form]
    return 0, at + width + int.from_bytes(data[at : at + width], "little")


def _kinds(data: bytes, at: int) -> dict[int, _Kind]:
    """Return the abbreviations of a unit, by number."""
    found: dict[int, _Kind] = {}
    while True:
        number, at = unsigned(data, at)
        if number == 0:
            return found
        tag, at = unsigned(data, at)
        has_children = data[at] != 0
        at += 1
        steps: list[int | tuple[int, int, int]] = []
        while True:
            attribute, at = unsigned(data, at)
            form, at = unsigned(data, at)
            implicit = 0
            if form == _IMPLICIT:
                implicit, at = signed(data, at)
            if attribute == form == 0:
                break
            _add(steps, attribute if attribute in _WANTED else 0, form, implicit)
        found[number] = _Kind(tag, has_children, tuple(steps))


def _add(steps: list[int | tuple[int, int, int]], attribute: int, form: int, implicit: int) -> None:
    size = _FIXED.get(form)
    if attribute == 0 and size is not None:
        if steps and isinstance(last := steps[-1], int):
            steps[-1] = last + size
        else:
            steps.append(size)
    elif size is not None or form in (_UNSIGNED, _REFERENCE, _SIGNED, _STRING, _EXPRESSION, _BLOCK, *_SIZED_BLOCKS):
        steps.append((attribute, form, implicit))
    else:
        raise Unfamiliar


class Slow:
    """The same for units that `Entries` cannot read."""

    def __init__(self, unit: Any) -> None:
        self._unit = unit

    def top(self) -> Entry:
        """Return the entry of the unit itself."""
        return self._entry(self._unit.get_top_DIE())

    def children(self, of: Entry) -> Iterator[Entry]:
        """Yield the children of an entry."""
        yield from map(self._entry, of.die.iter_children())

    def name(self, entry: Entry) -> bytes | None:
        """Return the name of *entry*, if it has one."""
        found = entry.die.attributes.get("DW_AT_name")
        return found.value if found is not None and isinstance(found.value, bytes) else None

    def _entry(self, die: Any) -> Entry:
        has: dict[int, tuple[int, int]] = {}
        for name, number in _NAMES.items():
            if (found := die.attributes.get(name)) is not None and isinstance(found.value, int):
                has[number] = _FORMS.get(found.form, 0), found.value
        return Entry(_TAGS.get(die.tag, 0), has, 0, die.has_children, die)


def entries_of(dwarf: Any, unit: Any) -> Entries | Slow:
    """Return a reader of the entries of pyelftools' *unit*."""
    try:
        return Entries(dwarf, unit)
    except Unfamiliar:
        return Slow(unit)


def _section(dwarf: Any, name: str) -> bytes:
    """Return the bytes of a section of debug information, which units share."""
    read = _read.setdefault(dwarf, {})
    if name not in read:
        section = getattr(dwarf, name)
        if section is None:
            raise Unfamiliar
        section.stream.seek(0)
        read[name] = section.stream.read()
    return read[name]


_read: WeakKeyDictionary[Any, dict[str, bytes]] = WeakKeyDictionary()
