"""Costs of single instructions and short sequences."""

import pytest

from scalegraph.instrument.costs import cost
from scalegraph.instrument.flow import Instruction, attribute, chunks_of
from scalegraph.instrument.operations import decode
from scalegraph.runtime.format import OP_CLASS_NAMES

PROBE = "__sanitizer_cov_trace_pc"


def classes(text: str) -> list[str]:
    mnemonic, _, operands = text.partition(" ")
    if mnemonic in ("lock", "rep", "notrack", "bnd"):
        second, _, operands = operands.partition(" ")
        mnemonic += " " + second
    return sorted(OP_CLASS_NAMES[number] for number in decode(mnemonic, operands).classes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add rax, rbx", ["int_alu"]),
        ("add eax, dword ptr [rbx]", ["int_alu", "load"]),
        ("add dword ptr [rbx + 4], eax", ["int_alu", "load", "store"]),
        ("cmp dword ptr [rbx], 3", ["int_alu", "load"]),
        ("lea rax, [rbx + rcx*8]", ["int_alu"]),
        ("imul eax, ebx", ["int_mul"]),
        ("idiv ecx", ["int_div"]),
        ("mov eax, dword ptr [rdi + rsi*4]", ["load"]),
        ("mov dword ptr [rdi], 1", ["store"]),
        ("movzx eax, byte ptr [rdi]", ["load"]),
        ("movsxd rax, edi", ["int_alu"]),
        ("mov edi, 7", ["int_alu"]),
        ("sete al", ["int_alu"]),
        ("sete byte ptr [rax]", ["int_alu", "store"]),
        ("cmovl eax, ebx", ["int_alu"]),
        ("jne 0x401000", ["branch"]),
        ("jmp 0x401000", ["branch"]),
        ("notrack jmp rax", ["branch"]),
        ("call 0x401000", ["call"]),
        ("call qword ptr [rax + 8]", ["call", "load"]),
        ("ret", ["call"]),
        ("movsd xmm0, qword ptr [rax]", ["load"]),
        ("movsd qword ptr [rax], xmm0", ["store"]),
        ("addsd xmm0, qword ptr [rax]", ["fp_add", "load"]),
        ("vaddpd ymm0, ymm1, ymmword ptr [rax]", ["fp_add", "load"]),
        ("subss xmm0, xmm1", ["fp_add"]),
        ("ucomisd xmm0, xmm1", ["fp_add"]),
        ("mulsd xmm0, xmm1", ["fp_mul"]),
        ("vfmadd231sd xmm0, xmm1, qword ptr [rax]", ["fp_fma", "load"]),
        ("divsd xmm0, xmm1", ["fp_div"]),
        ("sqrtsd xmm0, xmm1", ["fp_sqrt"]),
        ("cvtsi2sd xmm0, eax", ["fp_other"]),
        ("paddd xmm0, xmm1", ["int_alu"]),
        ("pmulld xmm0, xmm1", ["int_mul"]),
        ("fld qword ptr [rax]", ["load"]),
        ("faddp st(1)", ["fp_add"]),
        ("fstp tbyte ptr [rax]", ["store"]),
        ("rep movsq qword ptr [rdi], qword ptr [rsi]", ["load", "store"]),
        ("mov rax, qword ptr fs:[rbx]", ["load"]),
        # free
        ("mov rax, rbx", []),
        ("movapd xmm0, xmm1", []),
        ("xor eax, eax", []),
        ("pxor xmm0, xmm0", []),
        ("vxorps xmm0, xmm0, xmm0", []),
        ("push rbx", []),
        ("pop rbx", []),
        ("sub rsp, 0x18", []),
        ("nop word ptr [rax + rax]", []),
        ("endbr64", []),
        ("mov qword ptr [rsp + 8], rax", []),
        ("movsd xmm0, qword ptr [rsp]", []),
        ("mov rax, qword ptr fs:[0x28]", []),
    ],
)
def test_an_instruction_counts_as(text: str, expected: list[str]) -> None:
    assert classes(text) == expected


@pytest.mark.parametrize(
    ("text", "flops"),
    [
        ("addsd xmm0, xmm1", 1),
        ("addpd xmm0, xmm1", 2),
        ("mulps xmm0, xmm1", 4),
        ("vmulps ymm0, ymm1, ymm2", 8),
        ("vfmadd213pd zmm0, zmm1, zmm2", 16),
        ("vfnmadd132sd xmm0, xmm1, xmm2", 2),
        ("sqrtsd xmm0, xmm0", 1),
        ("ucomisd xmm0, xmm1", 0),
        ("cvtsd2ss xmm0, xmm0", 0),
        ("fmul st(0), st(1)", 1),
    ],
)
def test_flops_count_lanes(text: str, flops: int) -> None:
    mnemonic, _, operands = text.partition(" ")
    assert decode(mnemonic, operands).flops == flops


def run(*texts: str) -> list[Instruction]:
    """Assemble four-byte instructions from address 0; ``call NAME`` calls a hook."""
    made = []
    for number, text in enumerate(texts):
        mnemonic, _, operands = text.partition(" ")
        hook = operands if operands.startswith("__") else ""
        made.append(Instruction(4 * number, 4, decode(mnemonic, "0x9999" if hook else operands), hook))
    return made


def count(*texts: str, frame: bool = False) -> dict[str, float]:
    counts = cost(run(*texts), frame_is_memory=frame)
    return {name: value for name, value in zip(OP_CLASS_NAMES, counts, strict=False) if value}


def test_what_serves_only_hooks_is_free() -> None:
    assert count(
        f"call {PROBE}",
        "lea rdi, [rbx - 4]",
        "call __tsan_read4",
        "mov eax, dword ptr [rbx - 4]",
        "mov edi, 7",
        "call __scalegraph_enter",
    ) == {"load": 1}


def test_an_address_computed_for_a_hook_is_part_of_the_access() -> None:
    chunk = ["lea rbp, [rbx + rcx*8]", "mov rdi, rbp", "call __tsan_read8", "movsd xmm0, qword ptr [rbp]"]
    assert count(*chunk) == {"load": 1}
    assert count(*chunk, "add rax, rbp") == {"load": 1, "int_alu": 2}


def test_pointers_that_step_together_count_as_one_index() -> None:
    loop = ["movsd xmm0, qword ptr [rbx]", "mov rdi, rbp", "call __tsan_read8", "add rbx, 8", "add rbp, 8"]
    assert count(*loop) == {"load": 1, "int_alu": 1}
    assert count(*loop, "cmp rbp, r12") == {"load": 1, "int_alu": 2}
    assert count(*loop, "add r13, 16") == {"load": 1, "int_alu": 2}


def test_arguments_of_real_calls_count() -> None:
    assert count("mov edi, 7", "lea rsi, [rsp + 8]", "call 0x401000") == {"int_alu": 2, "call": 1}


def test_a_jump_to_the_last_hook_is_the_return() -> None:
    assert count("jmp __tsan_func_exit") == {"call": 1}


def test_the_stack_frame_is_memory_in_unoptimised_code() -> None:
    assert count("mov eax, dword ptr [rsp + 8]", "add eax, 1") == {"int_alu": 1}
    assert count("mov eax, dword ptr [rsp + 8]", "add eax, 1", frame=True) == {"int_alu": 1, "load": 1}


def paid(*texts: str) -> dict[int, float]:
    """Return integer operations by probe (number of its instruction)."""
    instructions = run(*texts)
    chunks = chunks_of(instructions, {i.address: i.hook for i in instructions if i.hook == PROBE})
    result = attribute(chunks, {start: cost(chunk.instructions) for start, chunk in chunks.items()})
    return {probe // 4 - 1: float(counts[0]) for probe, counts in result.items()}


def test_a_probe_pays_until_the_next() -> None:
    assert paid(f"call {PROBE}", "add eax, 1", "add eax, 1", f"call {PROBE}", "add eax, 1", "ret") == {0: 2, 3: 1}


def test_what_comes_before_the_only_way_to_a_probe_is_paid_by_it() -> None:
    assert paid("add eax, 1", f"call {PROBE}", "ret") == {1: 1}
    split = [f"call {PROBE}", "jne 0xc", "ret", "add eax, 1", f"call {PROBE}", "ret"]
    assert paid(*split) == {0: 0, 4: 1}


def test_code_without_probe_is_paid_by_chance_of_getting_there() -> None:
    assert paid(f"call {PROBE}", "jne 0x10", "add eax, 1", "ret", "add eax, 1", "add eax, 1", "ret") == {0: 1.5}


def test_the_exit_of_a_loop_is_rare() -> None:
    assert paid(f"call {PROBE}", "jne 0x0", "add eax, 1", "ret")[0] == pytest.approx(0.1)


def test_a_loop_without_probe_ends() -> None:
    assert 1 < paid(f"call {PROBE}", "add ebx, 1", "cmp eax, 1", "jne 0x4", "ret")[0] < 40
