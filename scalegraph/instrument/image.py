"""The linked executable: its code, its function symbols and the calls into the instrumentation."""

from __future__ import annotations

import bisect
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.constants import P_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection
from numpy.typing import NDArray

from scalegraph.base.errors import Fault, InputError
from scalegraph.instrument.architecture import ARCHITECTURES, Architecture
from scalegraph.instrument.symbols import FUNCTION, Symbol, defined

PROBE: Final = "__sanitizer_cov_trace_pc"
_HOOK_PREFIXES: Final = ("__tsan_", "__sanitizer_", "__scalegraph_", "__ubsan_", "__asan_")
_EXECUTABLE: Final = 0x4  # SHF_EXECINSTR
# Inlined hooks, as toolchain/csrc/rewriting.c writes them: each ends with a call of this kind, made only if needed.
_LATE: Final = "_late"
_TABLE: Final = ".debug_scalegraph"
_INLINED: Final = np.dtype(
    [("start", "<u8"), ("length", "<u4"), ("slot", "<u4"), ("kind", "<u4"), ("name", "<u2"), ("pad", "<u2")]
)
_SEGMENT: Final = 4
_KIND_LEFT_OUT: Final = 5
LEFT_OUT: Final = ("__tsan_func_entry", "__tsan_func_exit")
CALL_BYTES: Final = 5  # of the call at the end of an inlined hook


@dataclass(frozen=True, slots=True)
class Code:
    """One executable section."""

    address: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Function:
    """A function symbol; *end* is the address after its last byte."""

    name: str
    start: int
    end: int


class Image:
    """An ELF executable, as far as the block table needs it.

    *moves*: allow position-independent executables; addresses are then those in the file.

    Raises `InputError` if *path* is not an ELF executable of a known architecture.
    """

    def __init__(self, path: Path, *, moves: bool = False) -> None:
        self.path = path
        with path.open("rb") as stream:
            try:
                elf = ELFFile(stream)
            except ELFError as error:
                raise InputError(Fault(f"expected an ELF executable: {error}", str(path))) from error
            if elf["e_machine"] not in ARCHITECTURES:
                known = " or ".join(architecture.name for architecture in ARCHITECTURES.values())
                raise InputError(Fault(f"expected {known} code, found {elf['e_machine']}", str(path)))
            self.architecture = ARCHITECTURES[elf["e_machine"]]
            if elf["e_type"] != "ET_EXEC" and not moves:
                raise InputError(Fault("expected an executable at a fixed address (link with -no-pie)", str(path)))
            self.checksum = _code_checksum(elf)
            self.codes = [
                Code(section["sh_addr"], section.data())
                for section in elf.iter_sections()
                if section["sh_flags"] & _EXECUTABLE and section["sh_type"] == "SHT_PROGBITS"
            ]
            self.constants = [
                (section["sh_addr"], section["sh_addr"] + section["sh_size"])
                for section in elf.iter_sections()
                if section.name.startswith(".rodata") and section["sh_addr"]
            ]
            symbols = list(defined(elf))
            self.imports = _imports(elf, self.architecture)
            self.inlined = _inlined(elf)
        self.hooks = {s.address: s.name.removesuffix(_LATE) for s in symbols if s.name.startswith(_HOOK_PREFIXES)}
        self.names = {s.address: s.name for s in symbols if s.kind == FUNCTION}
        self.functions = _functions(symbols)
        self._inlined = sorted(self.inlined)
        self._starts = [function.start for function in self.functions]

    @cached_property
    def libraries(self) -> dict[int, str]:
        """Functions without probes linked into an executable with probes, by address."""
        probed = {f.start for a in self.calls_to(PROBE.__eq__) if (f := self.function_at(int(a))) is not None}
        return {address: name for address, name in self.names.items() if address not in probed} if probed else {}

    def is_constant(self, address: int) -> bool:
        """Return whether *address* is in read-only data."""
        return any(start <= address < end for start, end in self.constants)

    def function_at(self, address: int) -> Function | None:
        """Return the function whose code contains *address*."""
        at = bisect.bisect_right(self._starts, address) - 1
        if at < 0 or address >= self.functions[at].end:
            return None
        return self.functions[at]

    def inlined_in(self, function: Function) -> list[tuple[int, int]]:
        """Return first address and end of the hooks inlined in *function*, sorted."""
        low, high = (bisect.bisect_left(self._inlined, at) for at in (function.start, function.end))
        return [(start, self.inlined[start].end) for start in self._inlined[low:high]]

    def calls_to(self, wanted: Callable[[str], bool]) -> NDArray[np.int64]:
        """Return addresses of all byte sequences that are direct calls to the hooks in *wanted*, sorted.

        Data may look like a call; disassembling shows whether it is one.
        """
        targets = np.array(sorted(a for a, name in self.hooks.items() if wanted(name)), dtype=np.int64)
        found = [self.architecture.call_sites(code.data, code.address, targets) for code in self.codes]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)

    def hook_sites(self) -> NDArray[np.int64]:
        """Return where all hooks that the code may call return to, sorted; the ends of inlined hooks are among them.

        These are all places where four bytes could be the distance to a hook.
        """
        hooks = np.array(sorted(self.hooks), dtype=np.int64)
        found = [np.array([one.end for one in self.inlined.values()], dtype=np.int64)]
        for code in self.codes:
            data = np.frombuffer(code.data, dtype=np.uint8)
            for first in range(4):  # an array of distances for each alignment
                distances = data[first : first + (len(data) - first) // 4 * 4].view("<i4").astype(np.int64)
                ends = code.address + first + 4 + 4 * np.arange(distances.size, dtype=np.int64)
                found.append(ends[np.isin(ends + distances, hooks)])
        return np.unique(np.concatenate(found))

    def bytes_of(self, function: Function) -> bytes:
        """Return the machine code of *function*."""
        for code in self.codes:
            if code.address <= function.start < code.address + len(code.data):
                return code.data[function.start - code.address : function.end - code.address]
        return b""


@dataclass(frozen=True, slots=True)
class Inlined:
    """Code of an inlined hook, up to *end*; *hook* is its name if it makes no call, None if it is not a hook at all."""

    end: int
    hook: str | None = ""


def _inlined(elf: ELFFile) -> dict[int, Inlined]:
    """Return the hooks inlined into the program's code, by their first address."""
    section = elf.get_section_by_name(_TABLE)
    if section is None:
        return {}
    found: dict[int, Inlined] = {}
    for row in np.frombuffer(section.data(), dtype=_INLINED):
        start, kind = int(row["start"]), int(row["kind"])
        hook = None if kind == _SEGMENT else LEFT_OUT[int(row["name"])] if kind == _KIND_LEFT_OUT else ""
        if start:
            found[start] = Inlined(start + int(row["length"]), hook)
    return found


def _code_checksum(elf: ELFFile) -> int:
    """Return the Adler-32 checksum of the code segment, which identifies the compiled code."""
    segments = (s for s in elf.iter_segments("PT_LOAD") if s["p_flags"] & P_FLAGS.PF_X)
    return zlib.adler32(next((s.data() for s in segments), b""))


def _imports(elf: ELFFile, architecture: Architecture) -> dict[int, str]:
    """Return the functions of shared libraries by the address of their stub in the procedure linkage table."""
    slots: dict[int, str] = {}
    for table in elf.iter_sections():
        if isinstance(table, RelocationSection):
            symbols = elf.get_section(table["sh_link"])
            if isinstance(symbols, SymbolTableSection):
                for entry in table.iter_relocations():
                    slots[entry["r_offset"]] = symbols.get_symbol(entry["r_info_sym"]).name
    stubs: dict[int, str] = {}
    for section in elf.iter_sections():
        if section.name.startswith(".plt"):
            stubs |= architecture.stubs(section.data(), section["sh_addr"], slots)
    return stubs


def _functions(symbols: list[Symbol]) -> list[Function]:
    """Return functions by address, one per address (the largest of several)."""
    best: dict[int, Function] = {}
    for name, address, size, kind in symbols:
        if kind == FUNCTION and size and (address not in best or best[address].end < address + size):
            best[address] = Function(name, address, address + size)
    return [best[address] for address in sorted(best)]
