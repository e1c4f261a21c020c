"""The linked executable: its code, its function symbols and the calls into the instrumentation."""

from __future__ import annotations

import bisect
import zlib
from collections.abc import Callable
from dataclasses import dataclass
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

PROBE: Final = "__sanitizer_cov_trace_pc"
_HOOK_PREFIXES: Final = ("__tsan_", "__sanitizer_", "__scalegraph_", "__ubsan_", "__asan_")
_EXECUTABLE: Final = 0x4  # SHF_EXECINSTR
_CALL_OPCODE: Final = 0xE8
_JUMP_THROUGH_SLOT: Final = b"\xff\x25"  # jmp *slot(%rip)
_STUB_SIZE: Final = 16


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
    """What the block table needs from an ELF executable.

    Raises `InputError` if *path* is not an x86-64 ELF executable.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as stream:
            try:
                elf = ELFFile(stream)
            except ELFError as error:
                raise InputError(Fault(f"expected an ELF executable: {error}", str(path))) from error
            if elf["e_machine"] != "EM_X86_64":
                raise InputError(Fault(f"expected x86-64 code, found {elf['e_machine']}", str(path)))
            if elf["e_type"] != "ET_EXEC":
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
            symbols = [
                (symbol["st_value"], symbol["st_size"], symbol.name, symbol["st_info"]["type"])
                for table in elf.iter_sections()
                if isinstance(table, SymbolTableSection)
                for symbol in table.iter_symbols()
                if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_value"]
            ]
            self.imports = _imports(elf)
        self.hooks = {address: name for address, _, name, _ in symbols if name.startswith(_HOOK_PREFIXES)}
        self.names = {address: name for address, _, name, kind in symbols if kind == "STT_FUNC"}
        self.functions = _functions(symbols)
        self._starts = [function.start for function in self.functions]

    def is_constant(self, address: int) -> bool:
        """Return whether *address* is in read-only data."""
        return any(start <= address < end for start, end in self.constants)

    def function_at(self, address: int) -> Function | None:
        """Return the function whose code contains *address*."""
        at = bisect.bisect_right(self._starts, address) - 1
        if at < 0 or address >= self.functions[at].end:
            return None
        return self.functions[at]

    def calls_to(self, wanted: Callable[[str], bool]) -> NDArray[np.int64]:
        """Return addresses of all byte sequences that are direct calls to hooks whose name is *wanted*, sorted.

        A data byte may look like a call; whoever disassembles finds out.
        """
        targets = np.array(sorted(a for a, name in self.hooks.items() if wanted(name)), dtype=np.int64)
        found = [_calls(code, targets) for code in self.codes]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)

    def bytes_of(self, function: Function) -> bytes:
        """Return the machine code of *function*."""
        for code in self.codes:
            if code.address <= function.start < code.address + len(code.data):
                return code.data[function.start - code.address : function.end - code.address]
        return b""


def _code_checksum(elf: ELFFile) -> int:
    """Return the Adler-32 checksum of the code segment: tells an executable from one compiled otherwise."""
    segments = (s for s in elf.iter_segments("PT_LOAD") if s["p_flags"] & P_FLAGS.PF_X)
    return zlib.adler32(next((s.data() for s in segments), b""))


def _imports(elf: ELFFile) -> dict[int, str]:
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
        if not section.name.startswith(".plt"):
            continue
        data, start = section.data(), section["sh_addr"]
        at = data.find(_JUMP_THROUGH_SLOT)
        while at >= 0:
            following = at + len(_JUMP_THROUGH_SLOT) + 4
            slot = start + following + int.from_bytes(data[following - 4 : following], "little", signed=True)
            if slot in slots:
                stubs[start + at // _STUB_SIZE * _STUB_SIZE] = slots[slot]
            at = data.find(_JUMP_THROUGH_SLOT, following)
    return stubs


def _calls(code: Code, targets: NDArray[np.int64]) -> NDArray[np.int64]:
    data = np.frombuffer(code.data, dtype=np.uint8)
    at = np.flatnonzero(data[:-4] == _CALL_OPCODE) if data.size > 4 else np.zeros(0, dtype=np.int64)
    displacement = np.zeros(at.size, dtype=np.int64)
    for byte in range(4):
        displacement |= data[at + 1 + byte].astype(np.int64) << (8 * byte)
    displacement -= (displacement >> 31) << 32
    addresses = at.astype(np.int64) + code.address
    calls: NDArray[np.int64] = addresses[np.isin(addresses + 5 + displacement, targets)]
    return calls


def _functions(symbols: list[tuple[int, int, str, str]]) -> list[Function]:
    """Return functions by address, one for each address (the largest of several names)."""
    best: dict[int, Function] = {}
    for address, size, name, kind in symbols:
        if kind == "STT_FUNC" and size and (address not in best or best[address].end < address + size):
            best[address] = Function(name, address, address + size)
    return [best[address] for address in sorted(best)]
