"""Identity of a linked program: what it does and how costs are attributed, not when or how it was linked."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from scalegraph.base.errors import Fault, InputError
from scalegraph.instrument.units import LinkedUnit

_BUILD_ID = ".note.gnu.build-id"
_ALLOCATED = 0x2  # SHF_ALLOC
_ASKED = re.compile(r"\b__(?:DATE|TIME|TIMESTAMP)__\b")
_MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_TIME = rb"[0-2]\d:[0-5]\d:[0-6]\d"
_STAMP = re.compile(
    rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) " + _MONTH + rb" [ \d]\d " + _TIME + rb" \d{4}"
    rb"|" + _MONTH + rb" [ \d]\d \d{4}|" + _TIME
)  # as compilers write __TIMESTAMP__, __DATE__ and __TIME__


def content_digest(path: Path, units: Iterable[LinkedUnit]) -> str:
    """Return a digest of the executable at *path* that stays the same if the same sources are linked again.

    All its sections count, except the build id and, in programs whose *units* ask the compiler for the date or time,
    texts in their data that are one. If such a text makes the linker order string literals differently, the digests
    differ: the constants are then not known to be the same. Raises `InputError` for a damaged file.
    """
    asked = any(_ASKED.search(linked.unit.text) for linked in units)
    total = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            for part in ELFFile(stream).iter_sections():
                if part.name == _BUILD_ID:
                    continue
                data = b""
                if part["sh_type"] != "SHT_NOBITS":
                    stream.seek(part["sh_offset"])  # as in the file: compressed sections stay compressed
                    data = stream.read(part["sh_size"])
                if asked and part["sh_flags"] & _ALLOCATED:
                    data = _STAMP.sub(lambda found: b"?" * len(found[0]), data)
                total.update(f"{part.name} {part['sh_addr']} {part['sh_size']} {part['sh_flags']}\n".encode() + data)
    except (ELFError, OSError, ValueError, OverflowError, AssertionError, struct.error) as error:
        raise InputError(Fault("is not an executable of Linux (an ELF file was expected)", str(path))) from error
    return total.hexdigest()
