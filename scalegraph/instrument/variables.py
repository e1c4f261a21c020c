"""Data addresses to variables and their elements, from the symbol table and the debug information."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scalegraph.instrument.places import Span

if TYPE_CHECKING:
    from scalegraph.instrument.declared import Declared, Type


class Variable(NamedTuple):
    """A variable with a fixed address; file "" and line 0 without debug information."""

    name: str
    file: str
    line: int


class VariableMap:
    """The variables of the executable at *path* by address; files named relative to *root* as by `lines`.

    *known*: its symbols, if already available; the executable is read only for other addresses.
    """

    def __init__(self, path: Path, root: str = "", known: Sequence[Span] | None = None) -> None:
        self._path = path
        self._root = root
        self._known = known

    def name(self, address: int) -> str:
        """Return the source-level name of the symbol at *address*, or the address itself."""
        return self._names.get(address, f"0x{address:x}")

    def variable(self, address: int) -> Variable:
        """Return the variable that begins at *address*."""
        found = self._declared.get(address)
        if found is None:
            return Variable(self.name(address), "", 0)
        return Variable(found.name or self.name(address), found.file, found.line)

    def element(self, address: int, offset: int) -> str:
        """Return the element *offset* bytes after *address* in the program's notation: ``[3].hits``; "" if unknown."""
        found = self._declared.get(address)
        return "" if found is None or found.type is None else _element(found.type, offset)

    def named(self, name: str) -> list[tuple[int, int]]:
        """Return begin and end of the variables called *name*: none, one, or one per static of that name.

        *name* is the symbol or, for mangled C++ symbols, the source name.
        """
        found = [(start, end) for start, end, known in self._symbols if known == name]
        return found or [(start, end) for start, end, _ in self._symbols if self.variable(start).name == name]

    def all_names(self) -> list[str]:
        """Return the source names of all variables with a fixed address."""
        return sorted({self.variable(start).name for start, _, _ in self._symbols})

    @cached_property
    def _names(self) -> dict[int, str]:
        names: dict[int, str] = {}
        for start, _, name in self._symbols:
            names.setdefault(start, name)
        return names

    @cached_property
    def _symbols(self) -> Sequence[Span]:
        if self._known is not None:
            return self._known
        from scalegraph.instrument.declared import symbols

        return symbols(self._path)

    @cached_property
    def _declared(self) -> dict[int, Declared]:
        from scalegraph.instrument.declared import declared

        return declared(self._path, self._root)


def _element(kind: Type, offset: int) -> str:
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
