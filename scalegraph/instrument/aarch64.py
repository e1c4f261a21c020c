"""aarch64 machine code for the block table; single instructions are in `aarch64_operations`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scalegraph.instrument.aarch64_operations import EXCLUSIVE_STORE, decode
from scalegraph.instrument.operations import BRANCH, INT_ALU, Operation

# Registers that carry function arguments.
ARGUMENTS: Final = tuple(f"x{number}" for number in range(8))
VOLATILE: Final = tuple(f"x{number}" for number in range(19))  # no value survives a call in them
_WORD: Final = 4
_CALL: Final = 0x94000000, 0xFC000000  # bl: bits and their mask
_PAGE_TO_X16: Final = 0x90000010, 0x9F00001F  # adrp x16, page
_LOAD_X17: Final = 0xF9400211, 0xFFC003FF  # ldr x17, [x16, #offset]
_LANDING: Final = 0xD503245F  # bti c
_SUM: Final = re.compile(r"(x\d+), (x\d+), #(\w+)")
_REFERENCE: Final = re.compile(r"\[(x\d+)(?:, #(\w+))?\]")


def disassemble(
    code: bytes, start: int, is_constant: Callable[[int], bool], _skipped: Sequence[tuple[int, int]] = ()
) -> Iterator[tuple[int, int, Operation]]:
    """Yield (address, size, operation) of a function's instructions; *is_constant* recognises read-only data."""
    import capstone  # imported late: a cached build is never disassembled

    engine = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
    engine.skipdata = True
    has_frame_pointer = False
    known: dict[str, int] = {}  # addresses assembled in registers
    status = ""  # register that says whether the preceding exclusive store failed
    for address, size, mnemonic, operands in engine.disasm_lite(code, start):
        if has_frame_pointer:
            operands = operands.replace("[x29", "[sp")
        has_frame_pointer |= operands == "x29, sp" or operands.startswith("x29, sp,")
        operation = decode(mnemonic, _without_constant(is_constant, known, operands))
        made = _address(mnemonic, operands, known)
        if made is not None and mnemonic == "add":
            operation = Operation((INT_ALU,), reads=operation.reads, writes=operation.writes, is_lea=True)
        if status and mnemonic == "cbnz" and operands.startswith(f"{status},"):
            operation = Operation((BRANCH,), reads=operation.reads)  # the retry is hardly ever taken
        status = operands.partition(",")[0] if EXCLUSIVE_STORE.fullmatch(mnemonic) else ""
        for register in VOLATILE if operation.is_call else operation.writes:
            known.pop(register, None)
        if made is not None:
            known[made[0]] = made[1]
        yield address, size, operation


def _address(mnemonic: str, operands: str, known: Mapping[str, int]) -> tuple[str, int] | None:
    """Return the register that ``adrp``, or an ``add`` to its result, sets, and the address."""
    if mnemonic in ("adr", "adrp"):
        register, _, value = operands.partition(", #")
        return register, int(value, 0)
    match = _SUM.fullmatch(operands) if mnemonic == "add" else None
    if match is None or match[2] not in known:
        return None
    return match[1], known[match[2]] + int(match[3], 0)


def _without_constant(is_constant: Callable[[int], bool], known: Mapping[str, int], operands: str) -> str:
    """Return *operands* with a reference to read-only data written as a frame slot.

    Hooks force the compiler to reload a constant that it would otherwise keep in a register.
    """
    match = _REFERENCE.search(operands)
    if match is None or match[1] not in known or not is_constant(known[match[1]] + int(match[2] or "0", 0)):
        return operands
    return f"{operands[: match.start()]}[sp]{operands[match.end() :]}"


def call_sites(code: bytes, start: int, targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return addresses of all words in *code* that are direct calls to one of *targets*."""
    words = _words(code)
    at = np.flatnonzero((words & _CALL[1]) == _CALL[0]).astype(np.int64)
    distance = words[at] & 0x03FFFFFF
    distance -= (distance >> 25) << 26
    addresses = at * _WORD + start
    calls: NDArray[np.int64] = addresses[np.isin(addresses + distance * _WORD, targets)]
    return calls


def stubs(code: bytes, start: int, slots: Mapping[int, str]) -> dict[int, str]:
    """Return the functions of shared libraries by the address of their stub in a procedure linkage table.

    *slots*: names by the address that the dynamic linker fills in.
    """
    found: dict[int, str] = {}
    words = [int(word) for word in _words(code)]
    for number, (page, load) in enumerate(itertools.pairwise(words)):
        if page & _PAGE_TO_X16[1] != _PAGE_TO_X16[0] or load & _LOAD_X17[1] != _LOAD_X17[0]:
            continue
        address = start + number * _WORD
        pages = (page >> 29 & 3) | (page >> 5 & 0x7FFFF) << 2
        pages -= pages >> 20 << 21
        slot = (address >> 12) + pages << 12
        slot += (load >> 10 & 0xFFF) * 8
        if slot in slots:
            has_landing = number > 0 and words[number - 1] == _LANDING
            found[address - _WORD * has_landing] = slots[slot]
    return found


def _words(code: bytes) -> NDArray[np.int64]:
    return np.frombuffer(code, dtype="<u4", count=len(code) // _WORD).astype(np.int64)
