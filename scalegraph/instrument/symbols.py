"""Variables of an executable by name and address, from its symbol table."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection


class Symbol(NamedTuple):
    """A variable: *end* is the address behind its last byte."""

    name: str
    start: int
    end: int


class Variables:
    """The variables of the executable at *path*, by name and by address; thread-local ones have no fixed address."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            found = {
                Symbol(symbol.name, symbol["st_value"], symbol["st_value"] + symbol["st_size"])
                for table in elf.iter_sections()
                if isinstance(table, SymbolTableSection)
                for symbol in table.iter_symbols()
                if symbol["st_info"]["type"] == "STT_OBJECT"
                and symbol["st_shndx"] != "SHN_UNDEF"
                and symbol["st_value"]
                and symbol["st_size"]
            }
        self.all: Sequence[Symbol] = sorted(found, key=lambda symbol: (symbol.start, -symbol.end))
        self._starts = [symbol.start for symbol in self.all]

    def named(self, name: str) -> list[Symbol]:
        """Return the variables called *name*: none, one, or one for each file that has such a static variable.

        A static variable inside a function is found without the number that the compiler appends.
        """
        return [symbol for symbol in self.all if symbol.name == name or symbol.name.split(".")[0] == name]

    def at(self, address: int) -> Symbol | None:
        """Return the variable that *address* lies in."""
        place = bisect.bisect_right(self._starts, address) - 1
        while place >= 0 and self.all[place].start > address - 2**40:
            if address < self.all[place].end:
                return self.all[place]
            if place > 0 and self.all[place - 1].end <= self.all[place].start:
                return None
            place -= 1
        return None
