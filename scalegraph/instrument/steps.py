"""Instructions as the pipeline model executes them, for code with hooks and without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from scalegraph.instrument.architecture import X86_64
from scalegraph.instrument.costs import left_out
from scalegraph.instrument.effects import Effects
from scalegraph.instrument.flow import Instruction
from scalegraph.instrument.librarycosts import STATEFUL
from scalegraph.instrument.mathlib import LIBRARY_COSTS, MATH_IN_TURN, MOVES, READS_STATUS
from scalegraph.instrument.operations import LOAD, STORE
from scalegraph.instrument.pipeline import Step
from scalegraph.runtime.format import OP_CLASS_NAMES

LINE_BYTES: Final = 64  # of code, as fetched by x86-64 processors
_IN_A_LINE: Final = 13  # instructions of the mathematics library, which have 4.8 bytes on average
_REPORTS: Final = "__tsan_"  # prefix of hooks that report references
_ARGUMENT: Final = Step(0.0, (), ("v0", "v1"), ("argument", "chain"))  # of a mathematics function
_AGAIN: Final = Step(0.0, (), (), ("argument",))  # of a function that continues from its last call's state
_INTO: Final = Step(1.0, ("branch",), (), taken=True, far=True)  # the jump of the linkage table
_STATUS: Final = Step(0.0, (), (), status=True)
_RETURNED: Final = (*X86_64.volatile, "flags", *(f"v{number}" for number in range(32)))


def steps_of(instructions: Sequence[Instruction], known: Mapping[int, Effects], *, frame_is_memory: bool) -> list[Step]:
    """Return *instructions* as the model executes them, without hooks."""
    dropped = left_out(instructions, X86_64, frame_is_memory=frame_is_memory)
    steps: list[Step] = []
    fuses = False  # whether the previous instruction fuses with a branch after it
    sites: tuple[int, ...] = ()  # of the preceding hooks, which report the next reference
    for number, instruction in enumerate(instructions):
        if instruction.hook:
            if instruction.hook.startswith(_REPORTS):
                sites = *sites, instruction.address + instruction.size
            continue
        effect = known.get(instruction.address, Effects())
        step = _step(instruction, effect, frame_is_memory=frame_is_memory)
        if number in dropped:
            step = Step(0.0, (), step.reads, step.writes, copies=step.copies)
        elif instruction.operation.is_jump and fuses:
            step = replace(step, slots=0.0)
        fuses = number not in dropped and effect.fuses
        if sites and (step.loads or step.stores) and not (frame_is_memory and _is_of_frame(step)):
            step, sites = replace(step, sites=sites), ()
        if instruction.callee in LIBRARY_COSTS and step.slots > 0:
            first = _AGAIN if instruction.callee in STATEFUL else _ARGUMENT
            steps.extend((first, replace(step, taken=True), _INTO, *_mathematics(instruction.callee)))
        else:
            steps.append(replace(step, far=True) if instruction.callee else step)
    return steps


def slots_of(instructions: Sequence[Instruction], steps: Sequence[Step]) -> list[float]:
    """Return the slots of each of *instructions* (no hooks) in *steps*; mathematics functions have several steps."""
    found: list[float] = []
    at = 0
    for instruction in instructions:
        count = 3 + len(_mathematics(instruction.callee)) if steps[at] in (_ARGUMENT, _AGAIN) else 1
        found.append(sum(step.slots for step in steps[at : at + count]))
        at += count
    return found


def of_library(name: str) -> float:
    """Return the slots of the library function *name*, without its call; 0: unknown."""
    return float(LIBRARY_COSTS[name][:-1].sum()) + MOVES.get(name, 0) if name in LIBRARY_COSTS else 0.0


def plain_steps(instructions: Sequence[Instruction], known: Mapping[int, Effects]) -> list[Step]:
    """Return *instructions* of a build without hooks: all belong to the program, at their true addresses.

    An instruction across two code lines belongs to the second; a jump and the comparison it is fused with belong to the
    comparison's line if neither crosses lines.
    """
    steps: list[Step] = []
    fuses = False
    for instruction in instructions:
        effect = known.get(instruction.address, Effects())
        line = 1 + (instruction.address + instruction.size - 1) // LINE_BYTES
        slots = 1.0 + of_library(instruction.callee)
        step = _step(instruction, effect, frame_is_memory=True, slots=slots, line=line)
        if instruction.operation.is_jump and fuses:
            crosses = instruction.address // LINE_BYTES + 1 < line
            of_both = line if crosses else steps[-1].line
            steps[-1] = replace(steps[-1], line=of_both)
            step = replace(step, slots=0.0, line=of_both)
        fuses = effect.fuses
        steps.append(step)
    return steps


def _is_of_frame(step: Step) -> bool:
    """Return whether *step* accesses the stack frame of unoptimised code, which no hook reports."""
    return step.place is not None and step.place.base in ("rbp", "rsp")


def _step(
    instruction: Instruction, effect: Effects, *, frame_is_memory: bool, slots: float | None = None, line: int = 0
) -> Step:
    """Return the step of *instruction*; *slots*: those that it takes, if not by its operation classes."""
    operation = instruction.operation
    classes = (*operation.classes, *(operation.frame if frame_is_memory else ()))
    reads, writes = set(effect.reads), set(effect.writes)
    copies, place = effect.copies, effect.place
    loads, stores = LOAD in classes, STORE in classes
    if operation.is_call:
        return _call(instruction, loads, 1.0 if slots is None else slots, line)
    if place is not None and not loads and not stores:  # a register value spilled because of the instrumentation
        slot = f"{place.base}{place.offset:+d}"
        kept = LOAD in operation.frame, STORE in operation.frame
        plain = not operation.classes and len(effect.reads | effect.writes) == 1
        if kept[0]:
            reads.add(slot)
            copies = (next(iter(writes)), slot, 0) if plain and writes else copies
        if kept[1]:
            copies = (slot, next(iter(reads)), 0) if plain and reads else None
            writes.add(slot)
        place = None
    work = tuple(OP_CLASS_NAMES[kind] for kind in classes if kind not in (LOAD, STORE))
    usual = 1.0 if classes else 0.0  # register moves take one, too, but most are the instrumentation's
    return Step(
        usual if slots is None else slots,
        work,
        tuple(reads),
        tuple(writes),
        place,
        loads,
        stores,
        copies,
        selects=effect.selects,
        compares=effect.compares,
        line=line,
    )


def _call(instruction: Instruction, loads: bool, slots: float, line: int) -> Step:
    work = tuple(OP_CLASS_NAMES[kind] for kind in instruction.operation.classes if kind != LOAD)
    return Step(slots, work, (), (), None, loads, False, None, _RETURNED, line=line)


@cache
def _mathematics(name: str) -> tuple[Step, ...]:
    """Return the steps of the library function *name*, from `_ARGUMENT` to the result in v0.

    Some of its floating-point operations form a chain (`MATH_IN_TURN`); the others wait for the chain as far as it has
    come, as they begin in the order of the code: in glibc's `pow` the n-th of 45 begins n / 45 of its time after the
    first, by the data flow of a traced call.
    """
    kinds = [*zip(OP_CLASS_NAMES, LIBRARY_COSTS[name], strict=False), ("", MOVES.get(name, 0))]
    operations = sorted((number / count, kind) for kind, count in kinds for number in range(round(count)))
    steps = [_STATUS] * READS_STATUS.get(name, 0)
    in_turn, (share, integers) = 0.0, MATH_IN_TURN[name]
    for number, (_, kind) in enumerate(operations):  # spreads all classes evenly through the function
        chained = False
        waits = kind.startswith("fp_") or (integers and kind in ("int_alu", "int_mul"))
        if waits:
            in_turn += share
            chained = in_turn >= 1
            in_turn -= chained
        reads = ("chain",) if waits else ()
        work, writes = (kind,) if kind else (), ("chain",) if chained else ()
        steps.append(Step(1.0, work, reads, writes, line=1 + number // _IN_A_LINE))
    return (*steps, Step(0.0, (), ("chain",), ("v0",), taken=True, line=steps[-1].line if steps else 0))
