"""Costs of x86-64 instructions, in operations of the simulated machine's classes.

An instruction counts as the operations that a load/store machine would need: ``mulsd xmm0, [rax]`` is a load and a
multiplication. Free are register moves and zeroing (renaming eliminates them), no-ops, stack pointer arithmetic, pushes
and pops (prologues), and loads of constants. A vector operation counts once in its class; floating-point operations
(*flops*) count lanes, twice for a fused multiply-add, without comparisons and conversions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from scalegraph.runtime.format import OP_CLASS_NAMES

CLASS: Final = {name: number for number, name in enumerate(OP_CLASS_NAMES)}
INT_ALU, LOAD, STORE = CLASS["int_alu"], CLASS["load"], CLASS["store"]
BRANCH, CALL = CLASS["branch"], CLASS["call"]

_INT: Final = frozenset((
    "add", "sub", "and", "or", "xor", "not", "neg", "inc", "dec", "cmp", "test", "lea", "shl", "sal", "shr", "sar",
    "rol", "ror", "rcl", "rcr", "shld", "shrd", "bt", "bts", "btr", "btc", "bsf", "bsr", "tzcnt", "lzcnt", "popcnt",
    "bswap", "adc", "sbb", "adcx", "adox", "andn", "sarx", "shlx", "shrx", "rorx", "blsr", "blsi", "blsmsk", "bzhi",
    "bextr", "pdep", "pext", "cdq", "cqo", "cdqe", "cwde", "cbw", "cwd", "movsx", "movsxd", "movzx", "xadd",
    "cmpxchg", "xchg", "crc32", "movbe", "stc", "clc", "cmc", "lahf", "sahf", "scasb", "cmpsb",
))  # fmt: skip
_MOVES: Final = frozenset((
    "mov", "movabs", "movd", "movq", "movss", "movsd", "movaps", "movapd", "movups", "movupd", "movdqa", "movdqu",
    "movdqa32", "movdqa64", "movdqu8", "movdqu16", "movdqu32", "movdqu64", "lddqu", "movhpd", "movhps", "movlpd",
    "movlps", "movlhps", "movhlps", "movntps", "movntpd", "movntdq", "movnti", "movntdqa", "broadcastss",
    "broadcastsd", "movddup", "maskmovps", "maskmovpd", "fxch", "ffree",
))  # fmt: skip
_FREE: Final = frozenset((
    "nop", "endbr64", "endbr32", "fnop", "pause", "push", "pop", "leave", "enter", "ud2", "hlt", "int3", "lfence",
    "sfence", "mfence", "prefetcht0", "prefetcht1", "prefetcht2", "prefetchnta", "prefetchw", "prefetch",
    "zeroupper", "zeroall", "fninit", "fwait", "wait", "emms", "cld", "std", "fnstcw", "fldcw", "stmxcsr",
    "ldmxcsr", "fnstsw", "pushfq", "popfq", "data16", "xlatb",
))  # fmt: skip
_BRANCHES: Final = frozenset(["loop", "loope", "loopne"])
_NO_WRITE: Final = frozenset(["cmp", "test", "bt", "ucomisd", "ucomiss", "comisd", "comiss", "push", "ptest"])
_STRING_OPS: Final = {"movs": (LOAD, STORE), "stos": (STORE,), "lods": (LOAD,)}
_FP_SUFFIXES: Final = {"sd": 1, "ss": 1, "pd": 2, "ps": 4}  # lanes of a 128-bit register
_FP_STEMS: Final = (
    # stem, class, flops a lane
    ("fmadd", "fp_fma", 2),
    ("fmsub", "fp_fma", 2),
    ("fnmadd", "fp_fma", 2),
    ("fnmsub", "fp_fma", 2),
    ("fmaddsub", "fp_fma", 2),
    ("fmsubadd", "fp_fma", 2),
    ("addsub", "fp_add", 1),
    ("hadd", "fp_add", 1),
    ("hsub", "fp_add", 1),
    ("add", "fp_add", 1),
    ("sub", "fp_add", 1),
    ("min", "fp_add", 1),
    ("max", "fp_add", 1),
    ("ucomi", "fp_add", 0),
    ("comi", "fp_add", 0),
    ("cmp", "fp_add", 0),
    ("mul", "fp_mul", 1),
    ("dp", "fp_mul", 1),
    ("div", "fp_div", 1),
    ("sqrt", "fp_sqrt", 1),
    ("rsqrt", "fp_sqrt", 1),
    ("rcp", "fp_div", 1),
)
_X87: Final = {
    "fadd": ("fp_add", 1),
    "fsub": ("fp_add", 1),
    "fsubr": ("fp_add", 1),
    "fiadd": ("fp_add", 1),
    "fisub": ("fp_add", 1),
    "fisubr": ("fp_add", 1),
    "fcom": ("fp_add", 0),
    "fcomi": ("fp_add", 0),
    "fucom": ("fp_add", 0),
    "fucomi": ("fp_add", 0),
    "fucompi": ("fp_add", 0),
    "fcompi": ("fp_add", 0),
    "ftst": ("fp_add", 0),
    "fmul": ("fp_mul", 1),
    "fimul": ("fp_mul", 1),
    "fdiv": ("fp_div", 1),
    "fdivr": ("fp_div", 1),
    "fidiv": ("fp_div", 1),
    "fidivr": ("fp_div", 1),
    "fsqrt": ("fp_sqrt", 1),
}
REGISTERS: Final = {
    **{f"{p}{r}x": f"r{r}x" for r in "abcd" for p in ("r", "e", "")},
    **{f"{r}{h}": f"r{r}x" for r in "abcd" for h in "lh"},
    **{f"{p}{r}": f"r{r}" for r in ("si", "di", "bp", "sp") for p in ("r", "e", "")},
    **{f"{r}l": f"r{r}" for r in ("si", "di", "bp", "sp")},
    **{f"r{n}{s}": f"r{n}" for n in range(8, 16) for s in ("", "d", "w", "b")},
}

_SEPARATORS: Final = str.maketrans("[]*,:", "     ")


@dataclass(frozen=True, slots=True)
class Operation:
    """One decoded instruction.

    *classes*: its operation classes (with memory access unless the operand is in the stack frame or constant); *frame*:
    additional ones when the frame is real memory (unoptimised code). Registers have their 64-bit names: *reads* as
    values, *addresses* as parts of memory operands, *writes*.
    """

    classes: tuple[int, ...] = ()
    frame: tuple[int, ...] = ()
    flops: int = 0
    reads: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    is_lea: bool = False
    is_constant: bool = False  # loads an immediate into a register
    step: int = 0  # what it adds to the register it writes, if it does nothing else
    ends: bool = False  # no fall-through
    target: int | None = None  # of a direct jump or call
    is_jump: bool = False
    is_call: bool = False


@lru_cache(maxsize=1 << 16)
def decode(mnemonic: str, operands: str) -> Operation:
    """Return what the instruction *mnemonic* *operands* (Intel syntax) does; unknown ones count as integer work."""
    *prefixes, name = mnemonic.split(" ")
    if name.startswith("j") or name in _BRANCHES or name in ("call", "ret", "retf", "iretq"):
        return _transfer(name, operands)
    parts = _split(operands)
    name = name.removeprefix("v") if _is_vex(name) else name
    if name in _FREE:
        writes = _registers(parts[0]) if parts and name == "pop" else frozenset()
        return Operation(reads=_registers(operands) if name == "push" else frozenset(), writes=writes)
    stem = name[:-1]
    if stem in _STRING_OPS and (prefixes or (name not in _MOVES and parts and "[" in operands)):
        return Operation(_STRING_OPS[stem], writes=frozenset(("rdi", "rsi", "rcx")), addresses=_registers(operands))
    return _ordinary(name, parts, operands)


def _is_vex(name: str) -> bool:
    return name[0] == "v" and name[1:2].isalpha() and name not in ("verr", "verw")


def _transfer(name: str, operands: str) -> Operation:
    target = int(operands, 16) if operands.startswith("0x") else None
    if name == "call":
        loads = (LOAD,) if "[" in operands and not _is_frame(operands) else ()
        return Operation((CALL, *loads), is_call=True, target=target, addresses=_registers(operands))
    if name.startswith("j") or name in _BRANCHES:
        loads = (LOAD,) if "[" in operands and not _is_frame(operands) else ()
        ends = name == "jmp"
        return Operation((BRANCH, *loads), ends=ends, is_jump=True, target=target, addresses=_registers(operands))
    return Operation((CALL,), ends=True)


def _ordinary(name: str, parts: list[str], operands: str) -> Operation:
    """Decode everything that is not a control transfer."""
    memory = next((part for part in parts if "[" in part), "")
    is_write = bool(parts) and name not in _NO_WRITE and not name.startswith(("fcom", "fucom"))
    writes = _registers(parts[0]) if is_write and "[" not in parts[0] else frozenset()
    addresses = _registers(memory[memory.find("[") :]) if memory else frozenset()
    values = [part for i, part in enumerate(parts) if "[" not in part and (i > 0 or not is_write or _is_rmw(name))]
    reads = frozenset().union(*(_registers(part) for part in values)) if values else frozenset()
    if name in ("mul", "imul", "div", "idiv") and len(parts) == 1:
        reads, writes = reads | _registers(parts[0]) | {"rax", "rdx"}, frozenset(("rax", "rdx"))
    elif name in ("cdq", "cqo", "cdqe", "cwde"):
        reads, writes = frozenset(("rax",)), frozenset(("rax", "rdx"))
    if "rsp" in writes and name != "mov":
        return Operation(writes=writes)
    if name == "lea":
        return Operation((INT_ALU,), reads=addresses, writes=writes, is_lea=True)
    work, flops = _work(name, parts, operands)
    access = _access(name, parts, memory, work)
    is_constant = name in ("mov", "movabs") and not memory and not _source_is_register(parts)
    if is_constant:
        work = (INT_ALU,)
    counted, frame = (work, access) if _is_frame(memory) else (work + access, ())
    return Operation(counted, frame, flops, reads, addresses, writes, is_constant=is_constant, step=_step(name, parts))


def _step(name: str, parts: list[str]) -> int:
    """Return the constant that the instruction adds to a 64-bit register, 0 if it does anything else."""
    if name not in ("add", "sub", "inc", "dec") or not parts or not parts[0].startswith("r") or "[" in parts[0]:
        return 0
    if len(parts) == 1:
        return 1 if name == "inc" else -1
    try:
        amount = int(parts[1], 0)
    except ValueError:
        return 0
    return amount if name == "add" else -amount


def _source_is_register(parts: list[str]) -> bool:
    """Return whether the source operand is a register."""
    return bool(parts) and bool(_registers(parts[-1]) or parts[-1].startswith(("xmm", "ymm", "zmm", "st", "k")))


def _is_rmw(name: str) -> bool:
    """Return whether the first operand is read as well as written."""
    return name not in _MOVES and not name.startswith(("lea", "movs", "movz", "set", "cvt", "sqrt", "pshuf"))


def _access(name: str, parts: list[str], memory: str, work: tuple[int, ...]) -> tuple[int, ...]:
    """Return the loads and stores of the memory operand."""
    if not memory or name in ("lea", "nop"):
        return ()
    if name.startswith(("fst", "fist", "set")) or (parts[0] == memory and name in _MOVES) or "extract" in name:
        return (STORE,)
    if parts[0] == memory and work and name not in _NO_WRITE and _modifies(name, parts):
        return (LOAD, STORE)
    return (LOAD,)


def _modifies(name: str, parts: list[str]) -> bool:
    return name in _INT and not (name in ("mul", "imul", "div", "idiv") and len(parts) == 1)


def _work(name: str, parts: list[str], operands: str) -> tuple[tuple[int, ...], int]:
    """Return operation classes other than memory access, and flops."""
    if name in _MOVES:
        return (), 0
    if name in ("xor", "sub", "pxor", "xorps", "xorpd") and len(set(parts)) == 1 and len(parts) > 1:
        return (), 0  # zeroing
    if name in ("movsx", "movsxd", "movzx") and "[" in operands:
        return (), 0  # the load includes the extension
    if name in ("imul", "mul", "mulx") or name.startswith(("pmul", "pmadd")):
        return (CLASS["int_mul"],), 0
    if name in ("div", "idiv"):
        return (CLASS["int_div"],), 0
    if name in _INT or name.startswith(("set", "cmov")):
        return (INT_ALU,), 0
    return _fp_work(name, operands)


def _fp_work(name: str, operands: str) -> tuple[tuple[int, ...], int]:
    """Return class and flops of vector, SSE and x87 instructions."""
    if name in ("fld", "fst", "fstp", "fxch"):
        return (), 0
    x87 = _X87.get(name) or _X87.get(name.removesuffix("p"))
    if x87 is not None:
        return (CLASS[x87[0]],), x87[1]
    suffix = name[-2:]
    if suffix in _FP_SUFFIXES:
        bare = name[:-2].rstrip("0123456789")
        for stem, kind, each in _FP_STEMS:
            if bare == stem or (stem == "cmp" and bare.startswith("cmp")):
                return (CLASS[kind],), each * _lanes(suffix, operands)
    if name.startswith(("cvt", "round", "unpck", "shuf", "blend", "and", "or", "xor", "movmsk", "perm", "insert", "f")):
        return (CLASS["fp_other"],), 0
    return (INT_ALU,), 0  # integer vector operations and unknown instructions


def _lanes(suffix: str, operands: str) -> int:
    lanes = _FP_SUFFIXES[suffix]
    if suffix in ("sd", "ss"):
        return 1
    return lanes * (4 if "zmm" in operands else 2 if "ymm" in operands else 1)


def _is_frame(memory: str) -> bool:
    """Return whether a memory operand is a fixed slot of the stack frame: ``[rsp + 8]``, ``[rbp - 16]``."""
    if "fs:[0x28]" in memory or "fs:0x28" in memory:
        return True  # stack protector
    inside = memory[memory.find("[") + 1 : memory.find("]")]
    base = inside.split(" ")[0]
    return base == "rsp" and "*" not in inside and not _registers(inside[3:])


def _split(operands: str) -> list[str]:
    return [part.strip() for part in operands.split(",")] if operands else []


def _registers(text: str) -> frozenset[str]:
    """Return the 64-bit names of the general registers in *text*."""
    words = text.translate(_SEPARATORS).split()
    return frozenset([REGISTERS[word] for word in words if word in REGISTERS])
