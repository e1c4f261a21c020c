"""Cost of a chunk of machine code, without what only serves the instrumentation.

Left out are the calls into the instrumentation and code that only computes their arguments: loads of immediates, moves,
and address arithmetic (``lea``) whose result is used in the chunk only for hook arguments and as an address. Without
instrumentation such an address would be part of the load or store itself.

Several pointers that step by the same constant in one chunk count as one addition: a hook needs the address of every
access in a register, where uninstrumented code has one index for all arrays of a loop.

Loads and stores of fixed slots in the stack frame are left out of optimised code: hook calls leave hardly any free
registers, so most are spills that the instrumentation causes. Unoptimised code (``-O0``, according to its debug
information) keeps its variables there, so they count; only computations for hooks alone are left out of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalegraph.instrument.architecture import X86_64, Architecture
from scalegraph.instrument.flow import WIDTH, Counts, Instruction
from scalegraph.instrument.mathlib import LIBRARY_COSTS, MATH_COSTS
from scalegraph.instrument.operations import CALL, STORE


def cost(
    instructions: Sequence[Instruction], architecture: Architecture = X86_64, *, frame_is_memory: bool = False
) -> Counts:
    """Return the operations of *instructions* by class, and last their flops."""
    counts = np.zeros(WIDTH)
    dropped = left_out(instructions, architecture, frame_is_memory=frame_is_memory)
    for number, instruction in enumerate(instructions):
        _add(counts, instruction, number in dropped, frame_is_memory)
    return counts


def parts_of_cost(
    instructions: Sequence[Instruction], architecture: Architecture = X86_64, *, frame_is_memory: bool = False
) -> list[Counts]:
    """Return what each of *instructions* adds to their `cost`, and separately the work of library functions."""
    dropped = left_out(instructions, architecture, frame_is_memory=frame_is_memory)
    parts = [np.zeros((2, WIDTH)) for _ in instructions]
    for number, instruction in enumerate(instructions):
        _add(parts[number][0], instruction, number in dropped, frame_is_memory)
        if instruction.callee in LIBRARY_COSTS and instruction.callee not in MATH_COSTS:
            parts[number][1] += LIBRARY_COSTS[instruction.callee]
    return parts


def _add(counts: Counts, instruction: Instruction, dropped: bool, frame_is_memory: bool) -> None:
    operation = instruction.operation
    if instruction.hook and operation.is_jump:
        counts[CALL] += 1  # the last hook of a function returns on its behalf
    if instruction.hook or dropped:
        return
    for kind in operation.classes:
        counts[kind] += 1
    if frame_is_memory:
        for kind in operation.frame:
            counts[kind] += 1
    counts[-1] += operation.flops
    if instruction.callee in MATH_COSTS:
        counts += MATH_COSTS[instruction.callee]


def left_out(
    instructions: Sequence[Instruction], architecture: Architecture = X86_64, *, frame_is_memory: bool = False
) -> set[int]:
    """Return the positions of instructions, except hook calls, that uninstrumented code would not have."""
    if frame_is_memory:
        return _feeding_hooks(instructions, architecture)
    return serving(instructions, architecture) | _parallel_steps(instructions)


def serving(instructions: Sequence[Instruction], architecture: Architecture) -> set[int]:
    """Return the positions of instructions that only serve the instrumentation."""
    # Backwards through the chunk: how is each register used before it is written again?
    serves: dict[str, bool] = {}  # register -> all uses seen so far are hook arguments or addresses
    dropped: set[int] = set()
    for number in range(len(instructions) - 1, -1, -1):
        instruction = instructions[number]
        operation = instruction.operation
        if operation.is_call:
            arguments = architecture.arguments[: _hook_arguments(instruction.hook)]
            for register in architecture.arguments:
                serves.pop(register, None)
            for register in arguments:
                serves[register] = True
            if not instruction.hook:
                for register in architecture.arguments:
                    serves[register] = False
            continue
        is_free = _drops(instruction, serves)
        uses = [(r, is_free or _is_move_to_service(instruction, serves)) for r in operation.reads]
        if is_free:
            dropped.add(number)
        for register in operation.writes:
            serves.pop(register, None)
        for register, service in uses:
            serves[register] = serves.get(register, True) and service
        for register in operation.addresses:
            serves[register] = serves.get(register, True)
    return dropped


def _parallel_steps(instructions: Sequence[Instruction]) -> set[int]:
    """Return the positions of pointer steps that a common index would make unnecessary."""
    steps: dict[int, list[tuple[int, str]]] = {}  # step -> (position, register)
    written: dict[str, int] = {}
    used: set[str] = set()  # registers used as values, not only as addresses
    for number, instruction in enumerate(instructions):
        operation = instruction.operation
        for register in operation.writes:
            written[register] = written.get(register, 0) + 1
        if operation.step:
            (register,) = operation.writes
            steps.setdefault(operation.step, []).append((number, register))
        elif not _is_plain_move(instruction):
            used |= operation.reads
    dropped: set[int] = set()
    for same in steps.values():
        pointers = [number for number, register in same if written[register] == 1 and register not in used]
        dropped.update(pointers if len(pointers) < len(same) else pointers[1:])
    return dropped


def _is_plain_move(instruction: Instruction) -> bool:
    operation = instruction.operation
    return not operation.classes and not operation.is_call


def _feeding_hooks(instructions: Sequence[Instruction], architecture: Architecture) -> set[int]:
    """Return the positions of instructions whose results reach only hook arguments."""
    # Backwards: registers known to be dead, or used only by hooks, from here on. Unknown ones are not in it.
    idle: set[str] = set()
    dropped: set[int] = set()
    for number in range(len(instructions) - 1, -1, -1):
        instruction = instructions[number]
        operation = instruction.operation
        if operation.is_call:
            idle.update(architecture.volatile)
            if not instruction.hook:
                idle.difference_update(architecture.arguments, operation.addresses)
        elif operation.writes and operation.writes <= idle and not operation.is_jump and not _stores(instruction):
            dropped.add(number)  # its inputs stay as idle as they are
        else:
            idle.update(operation.writes)
            idle.difference_update(operation.reads, operation.addresses)
    return dropped


def _stores(instruction: Instruction) -> bool:
    operation = instruction.operation
    return STORE in operation.classes or STORE in operation.frame


def _drops(instruction: Instruction, serves: dict[str, bool]) -> bool:
    """Return whether the result of *instruction* is used only as a hook argument or address."""
    operation = instruction.operation
    if not (operation.is_lea or operation.is_constant) or len(operation.writes) != 1:
        return False
    (register,) = operation.writes
    return serves.get(register, False)


def _is_move_to_service(instruction: Instruction, serves: dict[str, bool]) -> bool:
    """Return whether *instruction* is a plain move into a register that only serves the instrumentation."""
    operation = instruction.operation
    if operation.classes or operation.frame or len(operation.writes) != 1:
        return False
    (register,) = operation.writes
    return serves.get(register, False)


def _hook_arguments(hook: str) -> int:
    """Return the number of a hook's arguments."""
    if not hook or hook == "__tsan_func_exit" or hook.startswith("__sanitizer_cov_trace_pc"):
        return 0
    if "atomic" in hook:
        return 6
    return 2 if "range" in hook or "vptr" in hook else 1
