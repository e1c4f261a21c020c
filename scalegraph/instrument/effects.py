"""What x86-64 instructions read and write, including vector registers, flags and memory.

`operations` names only general registers, which is enough to find what serves the instrumentation. The pipeline model
needs every dependence, so this reads capstone's register sets.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Final

from scalegraph.instrument.flow import Instruction
from scalegraph.instrument.operations import REGISTERS

_VECTOR: Final = re.compile(r"[xyz]mm(\d+)")
_UNSEEN: Final = frozenset(("rip", "eip", "fs", "gs", "ds", "es", "ss", "cs", "fpsw", "fpcw"))
_ZEROING: Final = frozenset(("xor", "sub", "pxor", "xorps", "xorpd", "vpxor", "vxorps", "vxorpd", "pcmpeqd"))
_FLAGS: Final = "flags"
_HERE: Final = "the next instruction"  # base of a place that is given by its distance
_mutex: Final = threading.Lock()  # one thread at a time uses capstone's engine
_WHOLE_BYTES: Final = 4  # an operand of at least this many bytes replaces the whole register
# Macro-fusion: processors join these with the branch after them, unless they compare memory with a constant.
_FUSED: Final = frozenset(("cmp", "test", "add", "sub", "and", "inc", "dec"))
_SELECTING: Final = frozenset((
    "shl", "sal", "shr", "sar", "rol", "ror", "rcl", "rcr", "shlx", "shrx", "sarx", "rorx", "bt", "bts", "btr", "btc",
    "adc", "sbb",
))  # fmt: skip
_COMPARING: Final = frozenset(("comisd", "comiss", "ucomisd", "ucomiss"))
_MERGING: Final = frozenset(
    (  # scalar operations that keep the upper part of the register they write
        "cvtsi2sd",
        "cvtsi2ss",
        "cvtss2sd",
        "cvtsd2ss",
        "sqrtsd",
        "sqrtss",
        "roundsd",
        "roundss",
        "rcpss",
        "rsqrtss",
    )
)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in memory: *base* + *index* x *scale* + *offset*; an empty name means no register."""

    base: str
    index: str
    scale: int
    offset: int


@dataclass(frozen=True, slots=True)
class Effects:
    """Registers that an instruction *reads* as values and *writes*, and the *place* in memory that it accesses.

    *copies*: (to, from, constant) if it only sets a 64-bit register to another one plus a constant. *fuses*: whether it
    forms one operation with a conditional branch after it; *selects*: whether it is a conditional move, a set by flags,
    a shift or an addition with carry, which processors execute in the branch units. *compares*: whether it compares
    floating-point numbers and sets flags.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    place: Place | None = None
    copies: tuple[str, str, int] | None = None
    fuses: bool = False
    selects: bool = False
    compares: bool = False


def effects(
    code: bytes, start: int, wanted: Iterable[Instruction], is_constant: Callable[[int], bool]
) -> dict[int, Effects]:
    """Return the effects of the *wanted* instructions, by address; read-only data, per *is_constant*, is not a place.

    *code*: of their function, which begins at *start*. Calls of hooks have none.
    """
    found: dict[int, Effects] = {}
    for one in wanted:
        if one.hook:
            continue
        effect = _of_bytes(code[one.address - start : one.address - start + one.size])
        if effect.place is not None and effect.place.base == _HERE:
            address = one.address + one.size + effect.place.offset
            effect = replace(effect, place=None if is_constant(address) else Place("", "", 1, address))
        found[one.address] = effect
    return found


@lru_cache(maxsize=1 << 16)
def _of_bytes(code: bytes) -> Effects:
    """Return the effects of the instruction *code* anywhere: a place relative to its end has the base `_HERE`."""
    engine = _engine()
    with _mutex:
        instruction = next(engine.disasm(code, 0, 1))
        return _effects(instruction, _register_name) if instruction.id else Effects()


@cache
def _engine() -> Any:
    import capstone

    engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    engine.detail = True
    engine.skipdata = True
    return engine


@cache
def _register_name(number: int) -> str:
    return _canonical(_engine().reg_name(number) or "")


def _canonical(name: str) -> str:
    """Return the whole register that *name* is a part of; empty if it carries no dependence."""
    if match := _VECTOR.fullmatch(name):
        return f"v{match[1]}"
    if name in ("rflags", "eflags", "flags"):
        return _FLAGS
    return "" if name in _UNSEEN else REGISTERS.get(name, name)


def _effects(instruction: Any, canonical: Callable[[int], str]) -> Effects:
    import capstone
    from capstone import x86

    seen, written = instruction.regs_access()
    writes = frozenset(canonical(number) for number in written) - {"", "rsp"}
    operands = instruction.operands
    named = [canonical(one.reg) for one in operands if one.type == x86.X86_OP_REG]
    if instruction.mnemonic in _ZEROING and len(named) == len(operands) and len(set(named[-2:])) == 1:
        return Effects(writes=writes)
    values = {canonical(one.reg) for one in operands if one.type == x86.X86_OP_REG and one.access & capstone.CS_AC_READ}
    place, in_address = None, set[str]()
    for operand in operands:
        if operand.type == x86.X86_OP_MEM and instruction.mnemonic != "nop":
            in_address = {canonical(number) for number in (operand.mem.base, operand.mem.index) if number}
            if instruction.mnemonic == "lea":
                values |= in_address
            else:
                place = _place(operand.mem, canonical)
    implied = {canonical(number) for number in seen} - in_address - set(named)
    return Effects(
        frozenset((values | implied | _merged(instruction, canonical)) - {"", "rsp"}),
        writes,
        place,
        _copies(instruction, named, canonical),
        instruction.mnemonic in _FUSED and {x86.X86_OP_MEM, x86.X86_OP_IMM} - {one.type for one in operands} != set(),
        instruction.mnemonic in _SELECTING or instruction.mnemonic.startswith(("cmov", "set")),
        instruction.mnemonic.removeprefix("v") in _COMPARING,
    )


def _merged(instruction: Any, canonical: Callable[[int], str]) -> set[str]:
    """Return the registers that an instruction writes only in part, so that it depends on their old value."""
    import capstone
    from capstone import x86

    written = [one for one in instruction.operands if one.type == x86.X86_OP_REG and one.access & capstone.CS_AC_WRITE]
    keeps = instruction.mnemonic in _MERGING
    return {canonical(one.reg) for one in written if keeps or one.size < _WHOLE_BYTES}


def _place(memory: Any, canonical: Callable[[int], str]) -> Place:
    """Return the address of a memory operand."""
    base = canonical(memory.base) if memory.base else ""
    if memory.base and not base:
        return Place(_HERE, "", 1, memory.disp)
    return Place(base, canonical(memory.index) if memory.index else "", memory.scale, memory.disp)


def _copies(instruction: Any, registers: list[str], canonical: Callable[[int], str]) -> tuple[str, str, int] | None:
    """Return what a move, an addition of a constant or an address with one register copies."""
    from capstone import x86

    operands = instruction.operands
    if not operands or operands[0].type != x86.X86_OP_REG or operands[0].size != 8:
        return None
    to, name, last = registers[0], instruction.mnemonic, operands[-1]
    if name == "mov" and len(registers) == 2:
        return to, registers[1], 0
    if name in ("add", "sub") and last.type == x86.X86_OP_IMM:
        return to, to, last.imm if name == "add" else -last.imm
    if name in ("inc", "dec"):
        return to, to, 1 if name == "inc" else -1
    if name == "lea" and last.type == x86.X86_OP_MEM and last.mem.base and not last.mem.index:
        source = canonical(last.mem.base)
        return (to, source, last.mem.disp) if source else None
    return None
