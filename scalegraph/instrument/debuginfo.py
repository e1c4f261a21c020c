"""Code addresses to source places, from DWARF 4 and 5."""

from __future__ import annotations

import bisect
import posixpath
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.elf.elffile import ELFFile

from scalegraph.instrument import inlining
from scalegraph.instrument.image import Image

_NOWHERE = -1


class Place(NamedTuple):
    """A source place; file "" and line 0 where nothing is known. *file* is as the compiler was told."""

    file: str
    line: int
    function: str


class LineMap:
    """Line table of an executable, made by `lines`."""

    def __init__(self, image: Image, rows: Sequence[tuple[int, int, int]], files: Sequence[str]) -> None:
        ordered = np.array(sorted(rows, key=lambda row: (row[0], row[2] != 0)) or [(0, 0, 0)], dtype=np.int64)
        self._addresses, self._files, self._lines = ordered.T
        self._names = list(files)
        self._image = image

    def lookup(self, addresses: Sequence[int]) -> list[Place]:
        """Return the place of each of *addresses*, which are return addresses: the call before each is looked up."""
        calls = np.asarray(addresses, dtype=np.int64) - 1
        at = np.searchsorted(self._addresses, calls, side="right") - 1
        places = []
        for call, row in zip(calls.tolist(), at.tolist(), strict=True):
            file, line = (int(self._files[row]), int(self._lines[row])) if row >= 0 else (0, 0)
            places.append(Place(self._names[file] if line else "", line, self.function(call)))
        return places

    def files(self) -> list[str]:
        """Return the names of the files that code was made from, as the compiler was told."""
        return sorted({self._names[number] for number in set(self._files.tolist())} - {""})

    def ranges(self, file: str, first: int, last: int) -> list[tuple[int, int]]:
        """Return the code of lines *first* to *last* of *file*, a name of `files`, as ranges (low, high).

        They are ranges of return addresses, each of which belongs to the line that `lookup` says.
        """
        wanted = [number for number, name in enumerate(self._names) if name == file]
        chosen = np.isin(self._files, wanted) & (self._lines >= first) & (self._lines <= last)
        found: list[tuple[int, int]] = []
        for row in np.flatnonzero(chosen[:-1]).tolist():
            low, high = int(self._addresses[row]) + 1, int(self._addresses[row + 1]) + 1
            if found and found[-1][1] == low:
                found[-1] = (found[-1][0], high)
            elif high > low:
                found.append((low, high))
        return found

    def function(self, address: int) -> str:
        """Return the source-level name of the function whose code contains *address*, or ""."""
        function = self._image.function_at(address)
        return source_name(function.name) if function is not None else ""


def source_name(symbol: str) -> str:
    """Return *symbol* without what the compiler appends to it: ``solve._omp_fn.0`` is ``solve``."""
    return symbol.split(".")[0] or symbol


def shown_name(directory: str, file: str, root: str) -> str:
    """Return how the source *file*, compiled in *directory*, is called: as told, or relative to *root* if it is given.

    Files outside of *root* keep their whole path.
    """
    if not root:
        return file
    whole = posixpath.normpath(posixpath.join(directory, file))
    inside = root.rstrip("/") + "/"
    return whole[len(inside) :] if whole.startswith(inside) else whole


def lines(path: Path | str, root: str = "") -> LineMap:
    """Return the line map of the executable at *path*; without debug information it knows functions only.

    Files are named as the compiler was told, or relative to *root*, see `shown_name`.

    Raises `InputError` if *path* is not an executable of a known architecture.
    """
    image = Image(Path(path))
    files: list[str] = [""]
    rows: list[tuple[int, int, int]] = []
    with Path(path).open("rb") as stream:
        elf = ELFFile(stream)
        if elf.has_dwarf_info():
            for unit_rows in _programs(elf.get_dwarf_info(), files, root):
                rows.extend(unit_rows)
    return LineMap(image, rows, files)


def _programs(dwarf: DWARFInfo, files: list[str], root: str) -> Iterator[list[tuple[int, int, int]]]:
    """Yield (address, file, line) of every compilation unit; appends to *files*.

    What was inlined from headers of the compiler or the system has the line of the program that calls it.
    """
    known: dict[str, int] = {}
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        names = files_of(unit, program.header, root)
        rows = _rows(program, names)
        foreign = {number for number, name in names.items() if inlining.is_foreign(name)}
        if any(row[1] in foreign for row in rows):
            rows = inlining.climbed(rows, foreign, inlining.calls(dwarf, unit))
        numbers: dict[int, int] = {_NOWHERE: 0}
        for number in {row[1] for row in rows} - {_NOWHERE}:
            name = names.get(number, "")
            if name not in known:
                known[name] = len(files)
                files.append(name)
            numbers[number] = known[name]
        yield [(address, numbers[file], line) for address, file, line in rows]


def _rows(program: Any, names: dict[int, str]) -> list[tuple[int, int, int]]:
    """Return (address, number of the file in the unit, line) of a line program; the end of code has no file."""
    rows = []
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if state.end_sequence:
            rows.append((state.address, _NOWHERE, 0))
        elif not names.get(state.file, "").endswith("/sg_probe.h"):  # probes stand for the line they are planted in
            rows.append((state.address, state.file, state.line))
    return rows


def files_of(unit: Any, header: Any, root: str) -> dict[int, str]:
    """Return the file names of a compilation unit, whose line program has *header*, by their number."""
    names = _file_names(header)
    if not root:
        return names
    compiled_in = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
    directory = _text(compiled_in.value) if compiled_in is not None else ""
    return {number: shown_name(directory, name, root) for number, name in names.items()}


def _file_names(header: Any) -> dict[int, str]:
    """Return file names by their number, joined with their directory unless that is the one compiled in."""
    directories = [_text(d) for d in header["include_directory"]]
    first = 0 if header["version"] >= 5 else 1
    names: dict[int, str] = {}
    for number, entry in enumerate(header["file_entry"], first):
        index = entry.dir_index
        directory = directories[index - first] if index and index - first < len(directories) else ""
        names[number] = posixpath.join(directory, _text(entry.name))
    return names


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return str(value)


def unoptimised(path: Path) -> Callable[[int], bool]:
    """Return a function that says whether the code at an address was compiled with -O0, after its debug information."""
    spans: list[tuple[int, int]] = []
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        if elf.has_dwarf_info():
            dwarf = elf.get_dwarf_info()
            for unit in dwarf.iter_CUs():
                top = unit.get_top_DIE()
                producer = top.attributes.get("DW_AT_producer")
                if producer is not None and _is_unoptimised(_text(producer.value)):
                    spans += _ranges(dwarf, unit)
    spans.sort()
    starts = [start for start, _ in spans]

    def answer(address: int) -> bool:
        at = bisect.bisect_right(starts, address) - 1
        return at >= 0 and address < spans[at][1]

    return answer


def _is_unoptimised(producer: str) -> bool:
    """Return whether the last -O option among the recorded compiler options is -O0, or there is none."""
    if not producer.startswith("GNU C"):
        return False
    levels = [word for word in producer.split() if word.startswith("-O")]
    return not levels or levels[-1] == "-O0"


def _ranges(dwarf: DWARFInfo, unit: Any) -> list[tuple[int, int]]:
    """Return the address ranges of a compilation unit."""
    table = dwarf.get_aranges()
    if table is None:
        return []
    return [(e.begin_addr, e.begin_addr + e.length) for e in table.entries if e.info_offset == unit.cu_offset]
