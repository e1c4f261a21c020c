"""Code addresses to source places and data addresses to symbols: looked up after every run, and kept in files.

Reading a program's debug information takes longer than a short run; `save` keeps the result with a build.
"""

from __future__ import annotations

import json
import posixpath
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

Span: TypeAlias = tuple[int, int, str]  # first address, address after the last byte, name


class Place(NamedTuple):
    """A source place; file "" and line 0 if unknown. *file* is as given to the compiler."""

    file: str
    line: int
    function: str


class LineMap:
    """Line table of an executable: *rows* are (address, number in *files*, line), *functions* by address."""

    def __init__(self, rows: Sequence[tuple[int, int, int]], files: Sequence[str], functions: Sequence[Span]) -> None:
        ordered = sorted(rows, key=lambda row: (row[0], row[2] != 0)) or [(0, 0, 0)]
        self._addresses, self._files, self._lines = (array("q", column) for column in zip(*ordered, strict=True))
        self.names = list(files)
        self.functions = list(functions)
        self._starts = [start for start, _, _ in self.functions]
        self._by = 0

    def moved(self, by: int) -> LineMap:
        """Return a map whose `lookup` adds *by* to the addresses."""
        assert self._known  # made once for all maps that are moved
        other = copy(self)
        other._by = by
        return other

    def lookup(self, addresses: Sequence[int]) -> list[Place]:
        """Return the places of the calls before *addresses*, which are return addresses."""
        places = []
        for given in addresses:
            address = given + self._by
            row = bisect_right(self._addresses, address - 1) - 1
            file, line = (self._files[row], self._lines[row]) if row >= 0 else (0, 0)
            places.append(Place(self.names[file] if line else "", line, self.function(address - 1)))
        return places

    def lines_at(self, addresses: Sequence[int]) -> list[tuple[str, int]]:
        """Return file and line of each place that `lookup` returns for *addresses*, in a fraction of its time."""
        starts, by, known = self._addresses, self._by - 1, self._known
        return [known[bisect_right(starts, address + by)] for address in addresses]

    def lines_between(self, first: int, end: int) -> set[tuple[str, int]]:
        """Return file and line of all places that `lines_at` may return for addresses from *first* + 1 to *end*."""
        starts, by = self._addresses, self._by
        return set(self._known[bisect_right(starts, first + by) : bisect_right(starts, end - 1 + by) + 1])

    @cached_property
    def _known(self) -> list[tuple[str, int]]:
        """File and line of each row, behind those of addresses before the first."""
        rows = zip(self._files, self._lines, strict=True)
        return [("", 0), *((self.names[file] if line else "", line) for file, line in rows)]

    def files(self) -> list[str]:
        """Return the files with code, named as given to the compiler."""
        return sorted({self.names[number] for number in set(self._files)} - {""})

    def ranges(self, file: str, first: int, last: int) -> list[tuple[int, int]]:
        """Return the code of lines *first* to *last* of *file*, a name from `files`, as ranges (low, high).

        They are ranges of return addresses, consistent with `lookup`.
        """
        wanted = {number for number, name in enumerate(self.names) if name == file}
        found: list[tuple[int, int]] = []
        for row in range(len(self._addresses) - 1):
            if self._files[row] not in wanted or not first <= self._lines[row] <= last:
                continue
            low, high = self._addresses[row] + 1, self._addresses[row + 1] + 1
            if found and found[-1][1] == low:
                found[-1] = (found[-1][0], high)
            elif high > low:
                found.append((low, high))
        return found

    def begun(self, file: str, first: int, last: int) -> list[tuple[int, int]]:
        """Return ranges, as `ranges` does, of code that begins these lines but has another line's number.

        Compilers may give the call that begins a statement the line of the enclosing code. That call lies between a row
        without code, which marks these lines, and the rest of their code.
        """
        wanted = {number for number, name in enumerate(self.names) if name == file}
        rows = list(zip(self._addresses, self._files, self._lines, strict=True))
        found: list[tuple[int, int]] = []
        mark: int | None = None
        for (address, number, line), after in pairwise(rows):
            if number in wanted and first <= line <= last:
                if mark is not None and mark < address and self.function(mark) == self.function(address):
                    found.append((mark + 1, address + 1))
                mark = address if after[0] == address else None
            elif line >= first:
                mark = None
        return found

    def function(self, address: int) -> str:
        """Return the source-level name of the function whose code contains *address*, or ""."""
        at = bisect_right(self._starts, address) - 1
        if at < 0 or address >= self.functions[at][1]:
            return ""
        return source_name(self.functions[at][2])

    def rows(self) -> list[tuple[int, int, int]]:
        """Return (address, number of the file, line), ordered by address."""
        return list(zip(self._addresses, self._files, self._lines, strict=True))


@dataclass(frozen=True)
class Places:
    """What `save` keeps of an executable: its line table, and its variables by address as (first, end, name)."""

    lines: LineMap
    variables: tuple[Span, ...]


def source_name(symbol: str) -> str:
    """Return *symbol* without the compiler's suffix: ``solve._omp_fn.0`` becomes ``solve``."""
    return symbol.split(".")[0] or symbol


def shown_name(directory: str, file: str, root: str) -> str:
    """Return the display name of the source *file*, compiled in *directory*: as given, or relative to *root* if given.

    Files outside *root* keep their whole path.
    """
    if not root:
        return file
    whole = posixpath.normpath(posixpath.join(directory, file))
    inside = root.rstrip("/") + "/"
    return whole[len(inside) :] if whole.startswith(inside) else whole


def save(places: Places, path: Path) -> None:
    """Write *places* to *path*."""
    addresses, files, lines = zip(*places.lines.rows(), strict=True)
    document = {
        "names": places.lines.names,
        "addresses": addresses,
        "files": files,
        "lines": lines,
        "functions": places.lines.functions,
        "variables": places.variables,
    }
    path.write_text(json.dumps(document), encoding="utf-8")


def load(path: Path) -> Places:
    """Return the places that `save` wrote to *path*."""
    found = json.loads(path.read_text(encoding="utf-8"))
    rows = list(zip(found["addresses"], found["files"], found["lines"], strict=True))
    functions = [(first, end, name) for first, end, name in found["functions"]]
    variables = tuple((first, end, name) for first, end, name in found["variables"])
    return Places(LineMap(rows, found["names"], functions), variables)
