"""Code addresses to source places, from DWARF 4 and 5."""

from __future__ import annotations

import bisect
import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.elf.elffile import ELFFile

from scalegraph.instrument import inlining
from scalegraph.instrument.dwarf.rows import rows_of
from scalegraph.instrument.image import Image
from scalegraph.instrument.places import LineMap, shown_name

_NOWHERE = -1


def lines(path: Path | str, root: str = "", *, moves: bool = False) -> LineMap:
    """Return the line map of the executable at *path*; without debug information it has only functions.

    Files are named as given to the compiler, or relative to *root*, see `shown_name`. *moves*: see `Image`.

    Raises `InputError` if *path* is not an executable of a known architecture.
    """
    image = Image(Path(path), moves=moves)
    files: list[str] = [""]
    rows: list[tuple[int, int, int]] = []
    with Path(path).open("rb") as stream:
        elf = ELFFile(stream)
        if elf.has_dwarf_info():
            for unit_rows in _programs(elf.get_dwarf_info(relocate_dwarf_sections=False), files, root):
                rows.extend(unit_rows)
    return LineMap(rows, files, [(function.start, function.end, function.name) for function in image.functions])


def _programs(dwarf: DWARFInfo, files: list[str], root: str) -> Iterator[list[tuple[int, int, int]]]:
    """Yield (address, file, line) for every compilation unit; appends to *files*.

    Code inlined from headers of the compiler or system gets the program's line that calls it.
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
    """Return (address, file number in the unit, line) from a line program; the end of code has no file."""
    probes = {number for number, name in names.items() if name.endswith("/sg_probe.h")}
    return [  # probes take the line in which they are planted
        (address, _NOWHERE, 0) if ends else (address, file, line)
        for address, file, line, ends in rows_of(program)
        if ends or file not in probes
    ]


def files_of(unit: Any, header: Any, root: str) -> dict[int, str]:
    """Return the file names of a compilation unit by number; *header*: of its line program."""
    names = _file_names(header)
    if not root:
        return names
    compiled_in = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
    directory = _text(compiled_in.value) if compiled_in is not None else ""
    return {number: shown_name(directory, name, root) for number, name in names.items()}


def _file_names(header: Any) -> dict[int, str]:
    """Return file names by number, joined with their directory unless that is the compilation directory."""
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
    """Return a function that tells, from debug information, whether the code at an address was compiled with -O0."""
    spans: list[tuple[int, int]] = []
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        if elf.has_dwarf_info():
            dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False)
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
    """Return whether the last -O among the recorded compiler options is -O0, or there is none."""
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
