"""How far the references of a loop move per iteration, found by symbolic execution.

A register's value is a linear form: symbols, each times a constant, plus a constant. A symbol stands for a register's
value before the loop, for a value loaded from a fixed place, or for an unknown result. The iteration is executed twice;
a value with the same symbols both times has moved by the difference of the constants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scalegraph.instrument.operations import REGISTERS
from scalegraph.instrument.x86_64 import ARGUMENTS, VOLATILE

_WIDEST: Final = 8  # bytes of a general register
_LONGEST_CODE: Final = 15  # bytes of an instruction
_LONGEST: Final = 200  # characters of a symbol; a longer one comes from a chain of loads, which moves irregularly
_STEPS: Final = {"add": 1, "sub": -1, "inc": 1, "dec": -1}
_STORES: Final = re.compile(r"v?(?:p?mov|p?mask|p?extract|p?scatter|p?compress|cvtps2ph|set)")
_COPIES: Final = frozenset(("mov", "movabs", "movsxd", "movzx", "movsx", "cdqe"))


@dataclass(frozen=True, slots=True)
class Form:
    """A linear form: *constant* and *terms*, symbols with their factors."""

    constant: int = 0
    terms: tuple[tuple[str, int], ...] = ()

    def plus(self, other: Form, factor: int = 1) -> Form:
        """Return this form plus *factor* times the *other*."""
        terms = dict(self.terms)
        for symbol, times in other.terms:
            terms[symbol] = terms.get(symbol, 0) + factor * times
        kept = tuple(sorted((symbol, times) for symbol, times in terms.items() if times))
        return Form(self.constant + factor * other.constant, kept)

    def __str__(self) -> str:
        return "+".join([str(self.constant), *(f"{times}*{symbol}" for symbol, times in self.terms)])


@dataclass(frozen=True, slots=True)
class Reference:
    """A memory reference in a loop.

    *address*: the one after the instruction, for lookup in line tables; *size*: bytes; *stride*: bytes from one
    iteration to the next, None if unknown or not constant.
    """

    address: int
    size: int
    stores: bool
    stride: int | None


@dataclass
class _Round:
    """Values of registers and stack slots while an iteration is executed."""

    number: int
    values: dict[str, Form] = field(default_factory=dict)
    seen: list[tuple[int, int, bool, Form]] = field(default_factory=list)  # address after it, size, stores, where

    def value(self, register: str) -> Form:
        return self.values.setdefault(register, Form(0, ((register, 1),)))

    def unknown(self, register: str, address: int) -> None:
        self.values[register] = Form(0, ((f"{register}@{address}.{self.number}", 1),))


class Decoded:
    """Instructions with operands of a function's *code*, which begins at *start*, decoded when they are needed."""

    def __init__(self, code: bytes, start: int) -> None:
        import capstone

        self._code, self._start = code, start
        self._known: dict[int, Any] = {}
        self._engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        self._engine.detail = True
        self._engine.skipdata = True

    def get(self, address: int) -> Any:
        """Return capstone's instruction at *address*; None if there is none."""
        if address not in self._known:
            at = address - self._start
            one = next(self._engine.disasm(self._code[at : at + _LONGEST_CODE], address, 1), None)
            self._known[address] = one if one is not None and one.id else None
        return self._known[address]


def references(
    body: Sequence[int], known: Decoded, hooks: Mapping[int, tuple[int, int, bool]] | None = None
) -> list[Reference]:
    """Return the references of the loop whose iteration executes the instructions at the addresses in *body*, in order.

    *known*: of its function. *hooks*: if the references are those reported by hooks, by the hook's address: the address
    after its call, bytes, whether it stores; otherwise they are the operands of the instructions.
    """
    first = _Round(1)
    _execute(first, body, known, hooks)
    second = _Round(2, first.values)
    _execute(second, body, known, hooks)
    found = []
    for (address, size, stores, before), (_, _, _, after) in zip(first.seen, second.seen, strict=True):
        stride = after.constant - before.constant if after.terms == before.terms else None
        found.append(Reference(address, size, stores, stride))
    return found


def _execute(
    state: _Round, body: Sequence[int], known: Decoded, hooks: Mapping[int, tuple[int, int, bool]] | None
) -> None:
    for address in body:
        if hooks is not None and address in hooks:
            behind, size, stores = hooks[address]
            if size:
                state.seen.append((behind, size, stores, state.value(ARGUMENTS[0])))
            _forget(state, address)
        elif (instruction := known.get(address)) is not None:
            _instruction(state, instruction, note=hooks is None)


def _forget(state: _Round, address: int) -> None:
    for register in VOLATILE:
        state.unknown(register, address)


def _instruction(state: _Round, instruction: Any, *, note: bool) -> None:
    """Execute one instruction; *note* its references."""
    from capstone import x86

    if note and instruction.mnemonic not in ("lea", "nop"):
        for number, one in enumerate(instruction.operands):
            if one.type == x86.X86_OP_MEM and not _slot(instruction, one):
                behind, place = instruction.address + instruction.size, _place(state, instruction, one)
                loads, stores = _ways(instruction.mnemonic, is_first=number == 0)
                state.seen += [(behind, one.size, False, place)] * loads + [(behind, one.size, True, place)] * stores
    if instruction.mnemonic == "call":
        _forget(state, instruction.address)
        return
    found = _result(state, instruction)
    if found is not None:
        state.values[found[0]] = found[1]
        return
    for register in _written(instruction):
        state.unknown(register, instruction.address)


def _ways(name: str, *, is_first: bool) -> tuple[bool, bool]:
    """Return whether an instruction loads, and whether it stores, its memory operand, the first one or not.

    Capstone lists vector stores as loads.
    """
    stores = is_first and not name.startswith(("cmp", "test", "mul", "div", "imul", "idiv", "push", "call", "jmp"))
    return not (stores and _STORES.match(name)), stores


def _written(instruction: Any) -> Iterator[str]:
    _, written = instruction.regs_access()
    for number in written:
        name = instruction.reg_name(number)
        if name in REGISTERS:
            yield REGISTERS[name]
    first = next(iter(instruction.operands), None)
    if first is not None and (slot := _slot(instruction, first)) and instruction.mnemonic not in ("cmp", "test"):
        yield slot


def _result(state: _Round, instruction: Any) -> tuple[str, Form] | None:
    """Return the general register or slot that an instruction writes, and its value; None if unknown."""
    operands, name = instruction.operands, instruction.mnemonic
    if name == "cdqe":
        return "rax", state.value("rax")
    to = _named(instruction, operands[0]) if operands else ""
    if not to:
        return None
    old = state.value(to)
    last = operands[-1]
    if name == "lea":
        return to, _place(state, instruction, last)
    if name in ("inc", "dec"):
        return to, old.plus(Form(_STEPS[name]))
    value = _value(state, instruction, last) if len(operands) == 2 else None
    if value is None:
        return None
    if name in _COPIES:
        return to, value
    if name in ("add", "sub"):
        return to, old.plus(value, _STEPS[name])
    if name == "xor" and _named(instruction, last) == to:
        return to, Form()
    if name in ("shl", "sal") and not value.terms and 0 <= value.constant < _WIDEST:
        return to, Form().plus(old, 1 << value.constant)
    return None


def _named(instruction: Any, operand: Any) -> str:
    """Return the register or stack slot that *operand* is; "" for anything else, and for parts of them."""
    from capstone import x86

    if operand.size < _WIDEST // 2:
        return ""
    if operand.type == x86.X86_OP_REG:
        return REGISTERS.get(instruction.reg_name(operand.reg), "")
    return _slot(instruction, operand)


def _slot(instruction: Any, operand: Any) -> str:
    from capstone import x86

    if operand.type != x86.X86_OP_MEM or operand.mem.index or instruction.reg_name(operand.mem.base) != "rsp":
        return ""
    return f"rsp{operand.mem.disp:+d}"


def _value(state: _Round, instruction: Any, operand: Any) -> Form | None:
    from capstone import x86

    if operand.type == x86.X86_OP_IMM:
        return Form(operand.imm)
    if named := _named(instruction, operand):
        return state.value(named)
    if operand.type != x86.X86_OP_MEM:
        return None
    loaded = f"[{_place(state, instruction, operand)}]"
    return Form(0, ((loaded, 1),)) if len(loaded) < _LONGEST else None


def _place(state: _Round, instruction: Any, operand: Any) -> Form:
    """Return the address of a memory operand."""
    memory = operand.mem
    found = Form(memory.disp)
    if memory.base:
        name = instruction.reg_name(memory.base)
        if name == "rip":
            return Form(memory.disp + instruction.address + instruction.size)
        found = found.plus(state.value(REGISTERS.get(name, name)))
    if memory.index:
        name = instruction.reg_name(memory.index)
        if name not in REGISTERS:  # a gather or scatter: each element has its own address
            state.unknown(name, instruction.address)
        found = found.plus(state.value(REGISTERS.get(name, name)), memory.scale)
    return found
