"""Costs of aarch64 instructions, in the same classes and by the same rules as for x86-64 (`operations`).

An integer multiply-add counts as a multiplication and an addition, a register pair as two loads or stores, a vector as
one for each register that it fills; a compare-and-branch is a branch. Updating a base register is part of the access,
like address arithmetic on x86-64; updating the stack pointer is a push or a pop, which is free.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from scalegraph.instrument.operations import BRANCH, CALL, CLASS, INT_ALU, LOAD, STORE, Operation

_FREE: Final = frozenset((
    "nop", "hint", "yield", "wfe", "wfi", "sev", "sevl", "bti", "dmb", "dsb", "isb", "clrex", "csdb", "brk", "hlt",
    "udf", "svc", "mrs", "msr", "prfm", "prfum", "xpaclri", "paciasp", "autiasp", "pacibsp", "autibsp", "paciaz",
    "autiaz", "dc", "ic", "sys", ".byte",
))  # fmt: skip
_NO_WRITE: Final = frozenset(["cmp", "cmn", "tst", "ccmp", "ccmn", "fcmp", "fcmpe", "fccmp", "fccmpe"])
_READS_TARGET: Final = frozenset(["movk", "bfi", "bfxil", "bfc", "bfm"])
_MULTIPLY: Final = frozenset(
    (
        "mul",
        "mneg",
        "smull",
        "umull",
        "smnegl",
        "umnegl",
        "smulh",
        "umulh",
        "smull2",
        "umull2",
        "pmul",
        "pmull",
        "sqdmulh",
        "sqrdmulh",
    )
)
_MULTIPLY_ADD: Final = frozenset((
    "madd", "msub", "smaddl", "umaddl", "smsubl", "umsubl", "mla", "mls", "smlal", "umlal", "smlsl", "umlsl", "smlal2",
    "umlal2", "smlsl2", "umlsl2", "sdot", "udot",
))  # fmt: skip
_SHUFFLES: Final = re.compile(r"dup|zip[12]|uzp[12]|trn[12]|ext|tb[lx]|ins|bsl|bit|bif|rev(16|32|64)")
_ATOMIC: Final = re.compile(r"(ld|st)(add|clr|eor|set|[su]max|[su]min)a?l?[bh]?|(swp|casp?)a?l?[bh]?")
EXCLUSIVE_STORE: Final = re.compile(r"stl?x[rp][bh]?")
_FP: Final = (
    # names, class, flops a lane
    (re.compile(r"fn?m(add|sub)|fml[as]"), "fp_fma", 2),
    (re.compile(r"fcmp?e?|fccmpe?|fcm(eq|ge|gt|le|lt)|fac(ge|gt)"), "fp_add", 0),
    (re.compile(r"f(add|sub|abd|addp|min|max|minnm|maxnm)[pv]?"), "fp_add", 1),
    (re.compile(r"fn?mulx?"), "fp_mul", 1),
    (re.compile(r"fdiv|frecp[esx]"), "fp_div", 1),
    (re.compile(r"fsqrt|frsqrt[es]"), "fp_sqrt", 1),
)
_LANES: Final = re.compile(r"\.(\d+)[hsd]\b")
_GENERAL: Final = re.compile(r"\b[xw](\d+)\b")
_SCALAR: Final = re.compile(r"[xw](\d+|zr)")
_VECTOR_ELEMENT: Final = re.compile(r"v\d+\.\w+\[\d+\]")
_OPERAND: Final = re.compile(r"\[[^]]*\]!?|\{[^}]*\}(?:\[\d+\])?|[^,\[{]+(?:\[\d+\])?")


@lru_cache(maxsize=1 << 16)
def decode(mnemonic: str, operands: str) -> Operation:
    """Return what the instruction *mnemonic* *operands* does; unknown ones count as integer work."""
    parts = [part.strip() for part in _OPERAND.findall(operands) if not part.isspace()]
    if mnemonic in _FREE:
        return Operation(writes=_registers(parts[0]) if mnemonic == "mrs" else frozenset())
    if mnemonic in ("b", "br", "bl", "blr", "ret", "cbz", "cbnz", "tbz", "tbnz") or mnemonic.startswith("b."):
        return _transfer(mnemonic, parts)
    if any(part.startswith("[") for part in parts) or mnemonic.startswith("ldr"):
        return _access(mnemonic, parts)
    return _ordinary(mnemonic, parts)


def _transfer(name: str, parts: list[str]) -> Operation:
    target = int(parts[-1][1:], 16) if parts and parts[-1].startswith("#0x") else None
    registers = frozenset().union(*(_registers(part) for part in parts))
    if name == "ret":
        return Operation((CALL,), ends=True)
    if name in ("bl", "blr"):
        return Operation((CALL,), is_call=True, target=target, addresses=registers)
    if name in ("b", "br"):
        return Operation((BRANCH,), ends=True, is_jump=True, target=target, addresses=registers)
    return Operation((BRANCH,), is_jump=True, target=target, reads=registers)


def _access(name: str, parts: list[str]) -> Operation:
    """Decode an instruction with a memory operand."""
    at = next((number for number, part in enumerate(parts) if part.startswith("[")), None)
    if at is None:  # a literal next to the code
        return Operation(frame=(LOAD,), writes=_registers(parts[0]), is_constant=True)
    values, memory = parts[:at], parts[at]
    updates = memory.endswith("!") or len(parts) > at + 1
    base = _registers(memory)
    reads: frozenset[str]
    if _ATOMIC.fullmatch(name):
        compares = name.startswith("cas")
        given = values if compares else values[:1]
        reads = frozenset().union(*(_registers(value) for value in given))
        written = _registers(values[0 if compares else -1]) if len(values) > 1 else frozenset()
        return Operation((INT_ALU, LOAD, STORE), reads=reads, addresses=base, writes=written)
    is_load = name.startswith("ld")
    writes = base if updates else frozenset()
    if is_load:
        reads = frozenset()
        writes = writes.union(*(_registers(value) for value in values))
    else:
        status = 1 if EXCLUSIVE_STORE.fullmatch(name) else 0
        writes = writes.union(*(_registers(value) for value in values[:status]))
        reads = frozenset().union(*(_registers(value) for value in values[status:]))
        values = values[status:]
    count = sum(value.count(",") + 1 if value.startswith("{") else 1 for value in values)
    classes = (LOAD if is_load else STORE,) * count
    if memory.startswith("[sp") and not base:
        return Operation((), () if updates else classes, reads=reads, writes=writes)
    return Operation(classes, reads=reads, addresses=base, writes=writes)


def _ordinary(name: str, parts: list[str]) -> Operation:
    """Decode everything that neither jumps nor accesses memory."""
    is_write = bool(parts) and name not in _NO_WRITE
    sources = parts if not is_write or name in _READS_TARGET else parts[1:]
    reads = frozenset().union(*(_registers(part) for part in sources)) if sources else frozenset()
    writes = _registers(parts[0]) if is_write else frozenset()
    if is_write and (parts[0] == "sp" or (parts[0] == "x29" and parts[1:2] == ["sp"])):
        return Operation(writes=writes)
    if _is_constant(name, parts):
        return Operation((INT_ALU,), reads=reads, writes=writes, is_constant=True)
    if _is_move(name, parts):
        return Operation(reads=reads, writes=writes)
    classes, flops = _work(name, parts)
    step = _step(name, parts)
    is_lea = name in ("add", "sub") and parts[0].startswith("x") and not writes & reads
    return Operation(classes, flops=flops, reads=reads, writes=writes, is_lea=is_lea, step=step)


def _is_constant(name: str, parts: list[str]) -> bool:
    """Return whether the instruction loads a constant into a general register."""
    if name in ("adr", "adrp", "movz", "movn", "movk"):
        return True
    return name == "mov" and parts[-1].startswith("#") and bool(_SCALAR.fullmatch(parts[0]))


def _is_move(name: str, parts: list[str]) -> bool:
    """Return whether it copies a register unchanged (or puts a constant into a vector register)."""
    if name == "eor" and len(parts) == 3 and parts[1] == parts[2]:
        return True  # zeroing
    if name == "mov" and _VECTOR_ELEMENT.fullmatch(parts[0]):
        return False
    return name in ("mov", "fmov", "movi", "mvni", "umov", "smov")


def _step(name: str, parts: list[str]) -> int:
    """Return the constant that the instruction adds to a 64-bit register, 0 if it does anything else."""
    if name not in ("add", "sub") or len(parts) != 3 or parts[0] != parts[1] or not parts[0].startswith("x"):
        return 0
    if not parts[2].startswith("#"):
        return 0
    amount = int(parts[2][1:], 0)
    return amount if name == "add" else -amount


def _work(name: str, parts: list[str]) -> tuple[tuple[int, ...], int]:
    """Return operation classes and flops."""
    if name in _MULTIPLY:
        return (CLASS["int_mul"],), 0
    if name in _MULTIPLY_ADD:
        return (CLASS["int_mul"], INT_ALU), 0
    if name in ("sdiv", "udiv"):
        return (CLASS["int_div"],), 0
    for names, kind, each in _FP:
        if names.fullmatch(name):
            return (CLASS[kind],), each * _lanes(parts)
    is_shuffle = _SHUFFLES.fullmatch(name) and not _SCALAR.fullmatch(parts[0])
    if name.startswith(("f", "scvtf", "ucvtf")) or is_shuffle or name == "mov":
        return (CLASS["fp_other"],), 0
    return (INT_ALU,), 0  # integer work, integer vectors and unknown instructions


def _lanes(parts: list[str]) -> int:
    match = _LANES.search(parts[0])
    return int(match[1]) if match else 1


def _registers(text: str) -> frozenset[str]:
    """Return the 64-bit names of the general registers in *text*."""
    return frozenset([f"x{number}" for number in _GENERAL.findall(text)])
