"""Records of sources in object files, combined when the objects are linked.

Every instrumented object has two sections that take no memory when the program runs. ``.scalegraph.ids`` has a byte for
each region; the linker concatenates these sections at address 0, so the address of a region's byte is a number that no
other region of the program has, and the probes pass it as a constant. ``.scalegraph.units`` has a record: the number of
these bytes, the length of the text, and the text: a JSON document, compressed, in base64. The linker keeps the order of
objects in both, and as neither has a relocation it keeps both when it drops unused sections.

An executable linked by one of our compilers also has ``.scalegraph.link``: the words of that command.
"""

from __future__ import annotations

import base64
import json
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.source_regions import SourceRegion
from scalegraph.runtime.languages import Language

UNITS = ".scalegraph.units"
LINK = ".scalegraph.link"
RUNTIME = ".scalegraph.runtime"  # the digest of the simulator's sources, see csrc/start/sg_start.c
MONITOR = ".scalegraph.monitor"  # the same for the monitor, see runtime/monitor/sgm_core.c
_HEAD = struct.Struct("<II")
_WIDTH = 96  # characters of a line of assembler
_MOST = 256 << 20  # bytes of a unit's document, which holds a source twice; no real source is larger


@dataclass(frozen=True)
class Unit:
    """One compiled source. *file* as given to the compiler, relative to *directory*; its *regions* count from 1.

    *language*, *options*: of its compilation without hooks, so that `control.plain` can repeat it; a unit without
    options cannot be recompiled.
    """

    directory: str
    file: str
    text: str
    instrumented: str
    regions: tuple[SourceRegion, ...]
    remarks: tuple[str, ...] = ()
    language: Language = "c"
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class LinkCommand:
    """The *words* that linked an executable in *directory*, without the compiler and the executable's name."""

    directory: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class LinkedUnit:
    """A unit in a linked program: add *first* to its region numbers."""

    first: int
    unit: Unit


def assembler(unit: Unit) -> list[str]:
    """Return the assembler lines that put *unit* into an object; ``__scalegraph_ids`` is a name of its own."""
    document = json.dumps(
        {
            "directory": unit.directory,
            "file": unit.file,
            "text": unit.text,
            "instrumented": unit.instrumented if unit.instrumented != unit.text else None,
            "regions": [_without_file(region) for region in unit.regions],
            "remarks": unit.remarks,
            "language": unit.language,
            "options": unit.options,
        }
    )
    text = _packed(document)
    count = max((region.id for region in unit.regions), default=0)
    return [
        '.pushsection .scalegraph.ids,"",@progbits',
        "__scalegraph_ids:",
        f".zero {count}",
        ".popsection",
        f'.pushsection {UNITS},"",@progbits',
        f".long {count}, {len(text)}",
        *_ascii(text),
        ".popsection",
    ]


def link_record(command: LinkCommand) -> str:
    """Return an assembler source that puts *command* into the executable linked with it."""
    text = _packed(json.dumps({"directory": command.directory, "words": command.words}))
    stack = '.section .note.GNU-stack,"",%progbits'  # without it the stack would be executable
    return "\n".join([f'.section {LINK},"",%progbits', *_ascii(text), stack, ""])


def _packed(document: str) -> str:
    return base64.b64encode(zlib.compress(document.encode("utf-8", "surrogatepass"), 9)).decode()


def _ascii(text: str) -> list[str]:
    return [f'.ascii "{text[at : at + _WIDTH]}"' for at in range(0, len(text), _WIDTH)]


def embedded(unit: Unit) -> str:
    """Return the same as text to append to a C or C++ source."""
    lines = "\n".join('"' + line.replace('"', '\\"') + '\\n"' for line in assembler(unit))
    return (
        '\n#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored "-Woverlength-strings"\n'
        f"__asm__({lines});\n#pragma GCC diagnostic pop\n"
    )


def read_units(path: Path) -> list[LinkedUnit]:
    """Return the units of the linked executable at *path*; raise `InputError` if it is not one or is damaged."""
    data = section(path, UNITS)
    return list(_units(data, path)) if data is not None else []


def read_link(path: Path) -> LinkCommand | None:
    """Return the command that linked the executable at *path*, None if it is not recorded or damaged.

    Raises `InputError` as `section` does.
    """
    data = section(path, LINK)
    if data is None:
        return None
    try:
        document = json.loads(_unpacked(base64.b64decode(data, validate=True)).decode("utf-8", "surrogatepass"))
        return LinkCommand(str(document["directory"]), tuple(map(str, document["words"])))
    except (ValueError, KeyError, TypeError, zlib.error):
        return None


def section(path: Path, name: str) -> bytes | None:
    """Return the bytes of a section of the ELF file at *path*, None if it has no such section."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as stream:
            found = ELFFile(stream).get_section_by_name(name)
            if found is not None and found.compressed:  # nobody compresses ours, and unpacked it could fill memory
                raise InputError(Fault(f"has its section {name} compressed; link it without that", str(path)))
            if found is not None and found["sh_size"] > os.fstat(stream.fileno()).st_size:
                raise InputError(Fault(f"is cut off or damaged: its section {name} is longer than it", str(path)))
            return bytes(found.data()) if found is not None else None
    except (ELFError, OSError, ValueError, AssertionError, struct.error) as error:
        raise InputError(Fault("is not an executable of Linux (an ELF file was expected)", str(path))) from error


def _units(data: bytes, path: Path) -> Iterator[LinkedUnit]:
    at = first = 0
    try:
        while at < len(data):
            count, length = _HEAD.unpack_from(data, at)
            at += _HEAD.size
            document = _unpacked(base64.b64decode(data[at : at + length], validate=True))
            yield LinkedUnit(first, _unit(json.loads(document.decode("utf-8", "surrogatepass"))))
            at += length
            first += count
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, struct.error, zlib.error) as error:
        raise InputError(Fault("what ScaleGraph wrote into it is damaged; build it again", str(path))) from error


def _unpacked(data: bytes) -> bytes:
    """Return *data* unpacked; raise `ValueError` if it is cut off or larger than any unit."""
    inflater = zlib.decompressobj()
    document = inflater.decompress(data, _MOST)
    if not inflater.eof:
        raise ValueError("is cut off or too large")
    return document


def _without_file(region: SourceRegion) -> dict[str, Any]:
    return {name: value for name, value in region._asdict().items() if name != "file"}


def _checked(file: str, region: dict[str, Any]) -> SourceRegion:
    """Return a region of a record; raise what a wrong one raises as one of a run."""
    from scalegraph.base.run import Region

    return SourceRegion(**Region(file=file, **region).model_dump())


def _unit(document: dict[str, Any]) -> Unit:
    text, instrumented = document["text"], document["instrumented"]
    how = (document["language"], *document["options"])
    reported = (document["directory"], document["file"], text, instrumented or "", *document["remarks"], *how)
    if not all(isinstance(one, str) for one in reported):
        raise TypeError("texts were expected")
    return Unit(
        document["directory"],
        document["file"],
        text,
        text if instrumented is None else instrumented,
        tuple(_checked(document["file"], region) for region in document["regions"]),
        tuple(document["remarks"]),
        document["language"],
        tuple(document["options"]),
    )
