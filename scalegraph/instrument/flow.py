"""The assignment of machine instructions to the probes that count them.

The compiler plants ``__sanitizer_cov_trace_pc`` in every basic block of its intermediate code; later passes split,
merge and add blocks. A *chunk* here is a straight run of instructions that begins at a probe, at a jump target or
after a jump. Every execution of a probe pays for

1. the chunk that it begins;
2. a chunk before it from which control can only come to this probe, when the probe is reached in no other way;
3. chunks without a probe that control may reach from it before the next probe (comparison trees of ``switch``, split
   edges, guards of later loop passes), each weighted by the chance of getting there when a backward jump is taken nine
   times in ten and any other conditional jump every second time. A chunk where several ways meet is thus paid in parts
   by the probes it is reached from.

Cases 1 and 2 are exact; 3 is an estimate and covers few instructions in practice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scalegraph.instrument.operations import Operation
from scalegraph.runtime.format import OP_CLASS_NAMES

Counts = NDArray[np.float64]
"""Operations by class, then flops: shape (len(OP_CLASSES) + 1,)."""
WIDTH = len(OP_CLASS_NAMES) + 1
_LEAST_CHANCE = 1 / 256
_MOST_PASSES = 1000.0
_BACKWARD_CHANCE = 0.9


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction and its address.

    *hook* is the name of the instrumentation function it calls, *callee* that of the shared library's function.
    """

    address: int
    size: int
    operation: Operation
    hook: str = ""
    callee: str = ""


@dataclass(slots=True)
class Chunk:
    """A straight run of instructions; *probe* is the return address of the probe call that begins it, or 0."""

    start: int
    instructions: list[Instruction] = field(default_factory=list)
    probe: int = 0
    successors: list[int] = field(default_factory=list)  # starts of chunks
    predecessors: int = 0


def chunks_of(instructions: Sequence[Instruction], is_probe: Mapping[int, str]) -> dict[int, Chunk]:
    """Split the *instructions* of a function into chunks, by start address; *is_probe* recognises probe calls."""
    inside = {instruction.address for instruction in instructions}
    leaders = {i.operation.target for i in instructions if i.operation.is_jump} & inside
    chunks: dict[int, Chunk] = {}
    current: Chunk | None = None
    falls = False
    for instruction in instructions:
        begins_probe = instruction.address in is_probe
        if current is None or begins_probe or instruction.address in leaders:
            fresh = Chunk(instruction.address)
            if current is not None and falls:
                current.successors.append(fresh.start)
            chunks[fresh.start] = current = fresh
        if begins_probe:
            current.probe = instruction.address + instruction.size
        current.instructions.append(instruction)
        falls = not instruction.operation.ends
        if instruction.operation.is_jump:
            if instruction.operation.target in inside:
                current.successors.append(instruction.operation.target)
            if falls:
                following = instruction.address + instruction.size
                if following in inside:
                    leaders.add(following)
            else:
                leaders.add(instruction.address + instruction.size)
        elif not falls:
            leaders.add(instruction.address + instruction.size)
    for chunk in chunks.values():
        for successor in chunk.successors:
            chunks[successor].predecessors += 1
    return chunks


def attribute(chunks: Mapping[int, Chunk], costs: Mapping[int, Counts]) -> dict[int, Counts]:
    """Return what each probe of a function pays for: {return address: counts}; *costs*: of the chunks."""
    paid = {chunk.probe: costs[chunk.start].copy() for chunk in chunks.values() if chunk.probe}
    exact = _feeding(chunks)
    for start, probe in exact.items():
        paid[probe] += costs[start]
    for chunk in chunks.values():
        if chunk.probe:
            for start, chance in _reached(chunks, chunk, exact).items():
                paid[chunk.probe] += chance * costs[start]
    return paid


def _feeding(chunks: Mapping[int, Chunk]) -> dict[int, int]:
    """Return chunks that run exactly when a probe after them does: {start: probe}."""
    sole: dict[int, int] = {}  # chunk -> its only way in
    for chunk in chunks.values():
        for successor in chunk.successors:
            if chunks[successor].predecessors == 1:
                sole[successor] = chunk.start
    feeding: dict[int, int] = {}
    for chunk in chunks.values():
        before = sole.get(chunk.start) if chunk.probe else None
        while before is not None:
            feeder = chunks[before]
            if feeder.probe or len(feeder.successors) != 1 or before in feeding:
                break
            feeding[before] = chunk.probe
            before = sole.get(before)
    return feeding


def _reached(chunks: Mapping[int, Chunk], chunk: Chunk, exact: Mapping[int, int]) -> dict[int, float]:
    """Return the chunks without a probe that control reaches from *chunk*, with the probability of each."""
    chances: dict[int, float] = {}
    pending = [(chunk, 1.0)]
    while pending:
        current, chance = pending.pop()
        for start, share in _shares(current):
            following = chunks[start]
            endless = chances.get(start, 0.0) > _MOST_PASSES  # a loop with neither probe nor exit
            if chance * share >= _LEAST_CHANCE and not following.probe and start not in exact and not endless:
                chances[start] = chances.get(start, 0.0) + chance * share
                pending.append((following, chance * share))
    return chances


def _shares(chunk: Chunk) -> list[tuple[int, float]]:
    """Return the successors of a chunk and the probability of each."""
    if len(chunk.successors) != 2:
        return [(start, 1.0) for start in chunk.successors]
    jump = chunk.instructions[-1].operation.target
    taken = _BACKWARD_CHANCE if jump is not None and jump <= chunk.start else 0.5
    return [(start, taken if start == jump else 1 - taken) for start in chunk.successors]
