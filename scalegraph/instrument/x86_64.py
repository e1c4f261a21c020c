"""x86-64 machine code for the block table; single instructions are in `operations`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scalegraph.instrument.operations import Operation, decode

# Registers that carry arguments of the instrumentation's functions.
ARGUMENTS: Final = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
VOLATILE: Final = (*ARGUMENTS, "rax", "r10", "r11")  # no value survives a call in them
_CALL_OPCODE: Final = 0xE8
_JUMP_THROUGH_SLOT: Final = b"\xff\x25"  # jmp *slot(%rip)
_STUB_SIZE: Final = 16


def disassemble(
    code: bytes, start: int, is_constant: Callable[[int], bool], skipped: Sequence[tuple[int, int]] = ()
) -> Iterator[tuple[int, int, Operation]]:
    """Yield (address, size, operation) of a function's instructions; *is_constant* recognises read-only data.

    It is asked for each operand that is addressed from the instruction pointer, just before its instruction. Code
    between the addresses in *skipped*, which are sorted, is left out.
    """
    import capstone  # imported late: a cached build is never disassembled

    engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    engine.skipdata = True
    has_frame_pointer = False
    low = start
    for high, following in [*skipped, (start + len(code), 0)]:
        for address, size, mnemonic, operands in engine.disasm_lite(code[low - start : high - start], low):
            if has_frame_pointer:
                operands = operands.replace("[rbp", "[rsp")
            elif mnemonic == "mov" and operands == "rbp, rsp":
                has_frame_pointer = True
            if "[rip " in operands:
                operands = _without_constant(is_constant, mnemonic, operands, address + size)
            yield address, size, decode(mnemonic, operands)
        low = following


def _without_constant(is_constant: Callable[[int], bool], mnemonic: str, operands: str, following: int) -> str:
    """Return *operands* with a reference to read-only data written as a frame slot.

    Hooks force the compiler to reload a constant that it would otherwise keep in a register.
    """
    start = operands.find("[rip ")
    end = operands.index("]", start)
    sign, _, distance = operands[start + len("[rip ") : end].partition(" ")
    fixed = is_constant(following + int(sign + distance, 16))
    return f"{operands[:start]}[rsp{operands[end:]}" if fixed and mnemonic != "lea" else operands


def call_sites(code: bytes, start: int, targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return addresses of all byte sequences in *code* that are direct calls to one of *targets*."""
    data = np.frombuffer(code, dtype=np.uint8)
    at = np.flatnonzero(data[:-4] == _CALL_OPCODE) if data.size > 4 else np.zeros(0, dtype=np.int64)
    displacement = np.zeros(at.size, dtype=np.int64)
    for byte in range(4):
        displacement |= data[at + 1 + byte].astype(np.int64) << (8 * byte)
    displacement -= (displacement >> 31) << 32
    addresses = at.astype(np.int64) + start
    calls: NDArray[np.int64] = addresses[np.isin(addresses + 5 + displacement, targets)]
    return calls


def stubs(code: bytes, start: int, slots: Mapping[int, str]) -> dict[int, str]:
    """Return the functions of shared libraries by the address of their stub in a procedure linkage table.

    *slots*: names by the address that the dynamic linker fills in.
    """
    found: dict[int, str] = {}
    at = code.find(_JUMP_THROUGH_SLOT)
    while at >= 0:
        following = at + len(_JUMP_THROUGH_SLOT) + 4
        slot = start + following + int.from_bytes(code[following - 4 : following], "little", signed=True)
        if slot in slots:
            found[start + at // _STUB_SIZE * _STUB_SIZE] = slots[slot]
        at = code.find(_JUMP_THROUGH_SLOT, following)
    return found
