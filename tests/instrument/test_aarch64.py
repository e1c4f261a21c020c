"""Costs of aarch64 machine code: assembled words, no compiler needed."""

import struct
from collections.abc import Callable

import numpy as np
import pytest

from scalegraph.instrument import aarch64
from scalegraph.instrument.architecture import AARCH64
from scalegraph.instrument.costs import cost
from scalegraph.instrument.flow import Instruction, attribute, chunks_of
from scalegraph.instrument.operations import Operation
from scalegraph.runtime.format import OP_CLASS_NAMES

PROBE = "__sanitizer_cov_trace_pc"
START = 0x401000


def code(*words: int) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def read(*words: int, is_constant: Callable[[int], bool] = lambda address: False) -> list[Operation]:
    return [operation for _, _, operation in aarch64.disassemble(code(*words), START, is_constant)]


def names(classes: tuple[int, ...]) -> list[str]:
    return sorted(OP_CLASS_NAMES[number] for number in classes)


@pytest.mark.parametrize(
    ("word", "text", "expected"),
    [
        (0x8B020020, "add x0, x1, x2", ["int_alu"]),
        (0x0B020820, "add w0, w1, w2, lsl #2", ["int_alu"]),
        (0xF1000C1F, "cmp x0, #3", ["int_alu"]),
        (0x9A82B020, "csel x0, x1, x2, lt", ["int_alu"]),
        (0x1B027C20, "mul w0, w1, w2", ["int_mul"]),
        (0x9B020C20, "madd x0, x1, x2, x3", ["int_alu", "int_mul"]),
        (0x1AC20C20, "sdiv w0, w1, w2", ["int_div"]),
        (0xF8627820, "ldr x0, [x1, x2, lsl #3]", ["load"]),
        (0xFC408420, "ldr d0, [x1], #8", ["load"]),
        (0xA9400440, "ldp x0, x1, [x2]", ["load", "load"]),
        (0xB9000020, "str w0, [x1]", ["store"]),
        (0x6D810420, "stp d0, d1, [x1, #16]!", ["store", "store"]),
        (0x4C40AC00, "ld1 {v0.2d, v1.2d}, [x0]", ["load", "load"]),
        (0x4C9F7800, "st1 {v0.4s}, [x0], #16", ["store"]),
        (0x8802FC20, "stlxr w2, w0, [x1]", ["store"]),
        (0xC87F0861, "ldxp x1, x2, [x3]", ["load", "load"]),
        (0xF8200041, "ldadd x0, x1, [x2]", ["int_alu", "load", "store"]),
        (0x88E0FC41, "casal w0, w1, [x2]", ["int_alu", "load", "store"]),
        (0x14000000, "b .", ["branch"]),
        (0x54000001, "b.ne .", ["branch"]),
        (0xB4000000, "cbz x0, .", ["branch"]),
        (0x37180000, "tbnz w0, #3, .", ["branch"]),
        (0xD61F0060, "br x3", ["branch"]),
        (0x94000000, "bl .", ["call"]),
        (0xD65F03C0, "ret", ["call"]),
        (0x1E622820, "fadd d0, d1, d2", ["fp_add"]),
        (0x1E602008, "fcmp d0, #0.0", ["fp_add"]),
        (0x1E220820, "fmul s0, s1, s2", ["fp_mul"]),
        (0x1F420C20, "fmadd d0, d1, d2, d3", ["fp_fma"]),
        (0x6E62FC20, "fdiv v0.2d, v1.2d, v2.2d", ["fp_div"]),
        (0x1E61C020, "fsqrt d0, d1", ["fp_sqrt"]),
        (0x1E620000, "scvtf d0, w0", ["fp_other"]),
        (0x6E180420, "mov v0.d[1], v1.d[0]", ["fp_other"]),
        (0x4EA28420, "add v0.4s, v1.4s, v2.4s", ["int_alu"]),
        (0x4EA29C20, "mul v0.4s, v1.4s, v2.4s", ["int_mul"]),
        # free: moves, zeroing, floating-point constants, barriers, prologues
        (0xAA0103E0, "mov x0, x1", []),
        (0x1E6E1000, "fmov d0, #1.0", []),
        (0x9E670000, "fmov d0, x0", []),
        (0x6F00E400, "movi v0.2d, #0", []),
        (0x6E201C00, "eor v0.16b, v0.16b, v0.16b", []),
        (0xD503201F, "nop", []),
        (0xD5033BBF, "dmb ish", []),
        (0xD53BD040, "mrs x0, tpidr_el0", []),
        (0xD10083FF, "sub sp, sp, #32", []),
        (0x910043FD, "add x29, sp, #16", []),
        (0xA9BE7BFD, "stp x29, x30, [sp, #-32]!", []),
        (0xF94007E0, "ldr x0, [sp, #8]", []),
        (0xD28000E0, "mov x0, #7", ["int_alu"]),
    ],
)
def test_instruction_counts_as(word: int, text: str, expected: list[str]) -> None:
    (operation,) = read(word)
    assert names(operation.classes) == expected, text


@pytest.mark.parametrize(
    ("word", "flops"),
    [
        (0x1E622820, 1),  # fadd d0, d1, d2
        (0x4E62D420, 2),  # fadd v0.2d, v1.2d, v2.2d
        (0x4EA2D420, 4),  # fsub v0.4s, v1.4s, v2.4s
        (0x1F420C20, 2),  # fmadd d0, d1, d2, d3
        (0x4FC21020, 4),  # fmla v0.2d, v1.2d, v2.d[0]
        (0x6EE2E420, 0),  # fcmgt v0.2d, v1.2d, v2.2d
        (0x1E614020, 0),  # fneg d0, d1
        (0x8B020020, 0),  # add x0, x1, x2
    ],
)
def test_flops_count_lanes_and_twice_for_fused_multiplication(word: int, flops: int) -> None:
    assert read(word)[0].flops == flops


def test_registers_are_known_by_their_64_bit_names() -> None:
    (pair,) = read(0xA9400440)  # ldp x0, x1, [x2]
    assert (pair.writes, pair.addresses, pair.reads) == ({"x0", "x1"}, {"x2"}, frozenset())
    (store,) = read(0x8802FC20)  # stlxr w2, w0, [x1]
    assert (store.writes, store.addresses, store.reads) == ({"x2"}, {"x1"}, {"x0"})
    (moved,) = read(0xF2A000E0)  # movk x0, #7, lsl #16
    assert (moved.writes, moved.reads, moved.is_constant) == ({"x0"}, {"x0"}, True)


def test_slot_of_the_frame_counts_where_the_frame_is_memory_only() -> None:
    slot, pushed = read(0xF94007E0, 0xA9BE7BFD)  # ldr x0, [sp, #8]; stp x29, x30, [sp, #-32]!
    assert (names(slot.frame), names(pushed.frame)) == (["load"], [])


def test_load_of_read_only_data_is_free() -> None:
    words = (0x90000000, 0x91002000, 0xFD400001, 0xFD400101)  # adrp x0; add x0, x0, #8; ldr d1, [x0]; ldr d1, [x8]
    loads = read(*words, is_constant=lambda address: address == START + 8)[2:]
    assert [names(load.classes) for load in loads] == [[], ["load"]]
    assert [names(load.classes) for load in read(*words)[2:]] == [["load"], ["load"]]


def test_retry_of_an_exclusive_store_is_no_loop() -> None:
    load, store, retry = read(0xC85F7C20, 0xC8027C20, 0x35FFFFC2)  # ldxr x0, [x1]; stxr w2, x0, [x1]; cbnz w2
    assert names(load.classes + store.classes + retry.classes) == ["branch", "load", "store"]
    assert not retry.is_jump


def test_direct_calls_are_found_forwards_and_backwards() -> None:
    words = code(0x94000004, 0xD503201F, 0x97FFFFFE, 0x94000001)  # bl +16; nop; bl -8; bl +4
    targets = np.array([START, START + 16])
    found = aarch64.call_sites(words, START, targets)
    assert found.tolist() == [START, START + 8, START + 12]


def test_stub_of_a_library_function_is_named() -> None:
    # adrp x16, +0x1f000; ldr x17, [x16, #8]; add x16, x16, #8; br x17 - and the same after a landing pad
    stub = (0xF00000F0, 0xF9400611, 0x91002210, 0xD61F0220)
    slot = (START & ~0xFFF) + 0x1F000 + 8
    assert aarch64.stubs(code(*stub), START, {slot: "sqrt"}) == {START: "sqrt"}
    assert aarch64.stubs(code(0xD503245F, *stub), START, {slot: "sqrt"}) == {START: "sqrt"}


def _loop() -> list[Instruction]:
    """Return ``for (...) a[i] = x`` with a hook, as gcc compiles it for aarch64."""
    words = (
        0x94000100,  # bl probe
        0xAA1303E0,  # mov x0, x19
        0x91004000,  # add x0, x0, #16
        0x94000200,  # bl __tsan_write8
        0x1E622820,  # fadd d0, d1, d2
        0xFD000A60,  # str d0, [x19, #16]
        0x91002273,  # add x19, x19, #8
        0xEB14027F,  # cmp x19, x20
        0x54FFFF01,  # b.ne back
        0xD65F03C0,  # ret
    )
    hooks = {START + 0x400: PROBE, START + 0xC + 0x800: "__tsan_write8"}
    return [
        Instruction(address, size, operation, hooks.get(operation.target or 0, ""))
        for address, size, operation in aarch64.disassemble(code(*words), START, lambda address: False)
    ]


def test_work_for_a_hook_is_left_out() -> None:
    counts = dict(zip((*OP_CLASS_NAMES, "flops"), cost(_loop(), AARCH64), strict=True))
    expected = {"fp_add": 1, "store": 1, "branch": 1, "call": 1, "flops": 1}
    assert {name: counts[name] for name in expected} == expected
    assert counts["load"] == counts["int_mul"] == 0


def test_probe_is_known_by_the_address_behind_its_call() -> None:
    instructions = _loop()
    chunks = chunks_of(instructions, {START: PROBE})
    paid = attribute(chunks, {start: cost(chunk.instructions, AARCH64) for start, chunk in chunks.items()})
    assert list(paid) == [START + 4]
    assert chunks[START].successors == [START, START + 0x24]
