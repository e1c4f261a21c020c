"""What basic blocks cost on a machine with a pipeline: cycles of each probe, from the loop that the block is in.

Every chunk of a function (`flow`) is executed by the model of the pipeline (`pipeline`) as a part of the shortest way
round that contains it: the innermost loop, or, where there is none, the function called again and again. So operations
overlap across blocks and iterations as far as window and dependences let them, and each chunk gets the time that it
adds. Which probe pays for which chunk is what `flow.attribute` says, as for counts of operations.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scalegraph.base.errors import Fault, InputError
from scalegraph.instrument.architecture import X86_64
from scalegraph.instrument.blocks import DAMAGE, disassemble, probed_functions
from scalegraph.instrument.costs import left_out
from scalegraph.instrument.debuginfo import unoptimised
from scalegraph.instrument.effects import Effects, effects
from scalegraph.instrument.flow import Chunk, Instruction, attribute, chunks_of
from scalegraph.instrument.image import PROBE, Image
from scalegraph.instrument.mathlib import MATH_COSTS
from scalegraph.instrument.operations import LOAD, STORE
from scalegraph.instrument.pipeline import Origins, Step, execute
from scalegraph.machine import Machine
from scalegraph.machine.model import Processor
from scalegraph.runtime.format import (
    BLOCK,
    HEADER,
    LOAD_ROW,
    OP_CLASS_NAMES,
    SECTION,
    TIMING,
    TIMING_BY_OPERATIONS,
)

TIMING_SECTION: Final = 2
LOADS_SECTION: Final = 3
_MOST: Final = 2**32 - 1
_REPORTS: Final = "__tsan_"  # how hooks are called that report references
_BRIEF_ROUNDS: Final = 12  # of a loop, when a short visit of it is examined
_BRIEF_GAIN: Final = 0.05  # less is noise of where the rounds begin
_LONGEST: Final = 4000  # instructions of a way round; a longer one is cut
_RETURNED: Final = (*X86_64.volatile, "flags", *(f"v{number}" for number in range(32)))


@dataclass(frozen=True)
class Timing:
    """What is known of the blocks of a program, by return address of their probes.

    *cycles*: what each takes, empty where operations cost what they cost; *predicted*: those that are entered from a
    branch which can go elsewhere, too, and which loads that branch waits for. *loads*: what is known of references to
    memory, by return address of their hooks. *briefs*: blocks that are loops of their own.
    """

    cycles: Mapping[int, float]
    predicted: Mapping[int, Origins]
    loads: Mapping[int, Load]
    briefs: Mapping[int, Brief]


@dataclass(frozen=True)
class Brief:
    """A round of a loop that ends before the window is full, so that its next visit overlaps with this one.

    *cycles*: what it takes; *reach*: rounds that the window holds.
    """

    cycles: float
    reach: int


@dataclass(frozen=True)
class Load:
    """A reference: cycles until the window behind it is full, and the loads that its address depends on."""

    ahead: float
    origins: Origins


def timed_table(table: bytes, path: Path, machine: Machine) -> bytes:
    """Return the block table *table* of the executable at *path* with a second section: timing on *machine*.

    Raises as `timing` does.
    """
    found = timing(path, machine.processor)
    head = HEADER.itemsize
    header = np.frombuffer(table[:head], dtype=HEADER).copy()
    section = np.frombuffer(table[head : head + SECTION.itemsize], dtype=SECTION)
    records = table[int(section["offset"][0]) :][: BLOCK.itemsize * int(section["count"][0])]
    addresses = [int(address) for address in np.frombuffer(records, dtype=BLOCK)["address"]]
    loads = _load_rows(found)
    numbers = {int(address): number for number, address in enumerate(loads["address"], 1)}
    rows = np.zeros(len(addresses), dtype=TIMING)
    rows["millicycles"] = TIMING_BY_OPERATIONS
    if found.cycles:
        milli = np.rint(1000 * np.array([found.cycles[address] for address in addresses]))
        rows["millicycles"] = np.minimum(milli, TIMING_BY_OPERATIONS - 1)
    rows["predicted"] = [address in found.predicted for address in addresses]
    for row, address in zip(rows, addresses, strict=True):
        if brief := found.briefs.get(address):
            row["saved"] = max(0, int(row["millicycles"]) - round(1000 * brief.cycles))
            row["reach"] = brief.reach
        _say_origins(row, found.predicted.get(address, {}), numbers)
    for row in loads:
        _say_origins(row, found.loads[int(row["address"])].origins, numbers)
    header["sections"] = 3
    sections = np.zeros(3, dtype=SECTION)
    sections[0] = section[0]
    parts = (records, rows.tobytes(), loads.tobytes())
    sections["offset"] = np.cumsum([0, *map(len, parts[:-1])]) + head + sections.nbytes
    for number, (kind, written) in enumerate(((TIMING_SECTION, rows), (LOADS_SECTION, loads)), 1):
        sections["id"][number], sections["record_size"][number] = kind, written.dtype.itemsize
        sections["count"][number] = len(written)
    return b"".join((header.tobytes(), sections.tobytes(), *parts))


def _load_rows(found: Timing) -> NDArray[np.void]:
    """Return the records of *found*'s references, by address, without what they depend on."""
    addresses = sorted(found.loads)
    rows = np.zeros(len(addresses), dtype=LOAD_ROW)
    rows["address"] = addresses
    rows["ahead"] = [min(_MOST, round(1000 * found.loads[address].ahead)) for address in addresses]
    return rows


def _say_origins(row: np.void, origins: Origins, numbers: Mapping[int, int]) -> None:
    """Write into *row* the latest of *origins* as numbers of records, with cycles in thousandths."""
    latest = [item for item in sorted(origins.items(), key=itemgetter(1, 0)) if item[0] in numbers][
        : row["origins"].size
    ]
    row["origins"][: len(latest)] = [numbers[site] for site, _ in latest]
    row["delays"][: len(latest)] = [min(_MOST, round(1000 * cycles)) for _, cycles in latest]


def timing(path: Path, processor: Processor) -> Timing:
    """Return what the blocks of the executable at *path* take on *processor*, and which need a prediction.

    Raises `InputError` if *path* is damaged, or not for an architecture whose pipeline is modelled: x86-64.
    """
    return _timing(path, path.stat().st_mtime_ns, processor)


@lru_cache(maxsize=32)
def _timing(path: Path, _stamp: int, processor: Processor) -> Timing:
    is_piped = processor.pipeline.is_given
    cycles: dict[int, float] = {}
    predicted: dict[int, Origins] = {}
    loads: dict[int, Load] = {}
    briefs: dict[int, Brief] = {}
    try:
        image = Image(path)
        if is_piped and image.architecture is not X86_64:
            text = f"is {image.architecture.name} code; a machine with [pipeline] needs x86-64"
            raise InputError(Fault(text, str(path)))
        is_frame_real = unoptimised(path)
        for function in probed_functions(image):
            instructions = list(disassemble(image, function))
            calls = {i.address: i.hook for i in instructions if i.hook == PROBE and i.operation.is_call}
            chunks = chunks_of(instructions, calls)
            branches: Mapping[int, Origins] = {}
            if is_piped:
                known = dict(effects(image.bytes_of(function), function.start, image.is_constant))
                found = _function(chunks, known, processor, frame_is_memory=is_frame_real(function.start))
                cycles |= found.cycles
                briefs |= found.briefs
                loads |= found.loads
                branches = found.branches
            predicted |= _predicted(chunks, branches)
    except DAMAGE as error:
        raise InputError(Fault("is damaged where it says what its code is; build it again", str(path))) from error
    return Timing(cycles, predicted, loads, briefs)


def _predicted(chunks: Mapping[int, Chunk], branches: Mapping[int, Origins]) -> dict[int, Origins]:
    """Return the probes that control reaches first behind a jump with two ways, or one whose ways are not known.

    With each, what the jump depends on, of those *branches* that are known, by start of the chunk that a jump ends.
    """
    entry = next(iter(chunks), 0)
    pending = [
        (following, start)
        for start, chunk in chunks.items()
        if len(chunk.successors) > 1
        for following in chunk.successors
    ]
    pending += [(start, start) for start, chunk in chunks.items() if chunk.predecessors == 0 and start != entry]
    seen: set[tuple[int, int]] = set()
    found: dict[int, Origins] = {}
    while pending:
        start, branch = pending.pop()
        if (start, branch) not in seen:
            seen.add((start, branch))
            if chunks[start].probe:
                found.setdefault(chunks[start].probe, {}).update(branches.get(branch, {}))
            else:
                pending += [(following, branch) for following in chunks[start].successors]
    return found


@dataclass(frozen=True)
class _Timed:
    """A function: its probes' cycles, those that are loops, its references, and what the chunks' jumps depend on."""

    cycles: dict[int, float]
    briefs: dict[int, Brief]
    loads: dict[int, Load]
    branches: dict[int, Origins]


def _function(
    chunks: Mapping[int, Chunk], known: Mapping[int, Effects], processor: Processor, *, frame_is_memory: bool
) -> _Timed:
    """Return what the model says of a function."""
    bodies = {
        start: _steps(chunk.instructions, known, frame_is_memory=frame_is_memory) for start, chunk in chunks.items()
    }
    costs: dict[int, NDArray[np.float64]] = {}
    loads: dict[int, Load] = {}
    branches: dict[int, Origins] = {}
    briefs: dict[int, Brief] = {}
    for start in chunks:
        if start not in costs:
            way, enters = _way_round(chunks, bodies, start)
            found = execute(_on_way(chunks, bodies, way), processor, enters=enters)
            for at, taken, origins in zip(way, found.cycles, found.branches, strict=True):
                if at == start or (at not in costs and _way_round(chunks, bodies, at)[0] == _turned(way, at)):
                    costs[at] = np.array([taken])
                    branches[at] = origins
                    brief = _brief(chunks, bodies, at, taken, processor) if len(way) == 1 and not enters else None
                    if brief is not None:
                        briefs[chunks[at].probe] = brief
                    sites = [site for step in bodies[at] for site in step.sites]
                    loads |= {site: Load(found.ahead, found.loads[site]) for site in sites if site in found.loads}
    cycles = {probe: float(paid[0]) for probe, paid in attribute(chunks, costs).items()}
    briefs = {probe: brief for probe, brief in briefs.items() if brief.cycles < cycles[probe]}
    return _Timed(cycles, briefs, loads, branches)


def _brief(
    chunks: Mapping[int, Chunk], bodies: Mapping[int, Sequence[Step]], start: int, whole: float, processor: Processor
) -> Brief | None:
    """Return what a round of the loop of one chunk at *start* takes, which takes *whole* cycles if it goes on and on.

    None where that is the same, as when one visit of the loop waits for the one before, where the window holds too few
    rounds, or nothing in the function leads back to the loop.
    """
    chunk = chunks[start]
    live = sum(step.slots > 0 for step in bodies[start])
    if start not in chunk.successors or live == 0 or not chunk.probe:
        return None
    reach = processor.pipeline.window // live
    few = min(_BRIEF_ROUNDS, reach // 3)
    around = _way_around(chunks, bodies, start)
    if few < 2 or not around:
        return None
    counts = few, 2 * few
    ways = [_on_way(chunks, bodies, [*[start] * count, *around]) for count in counts]
    less, more = (sum(execute(way, processor).cycles) for way in ways)
    cycles = max(0.0, (more - less) / few)
    return Brief(cycles, reach) if cycles < (1 - _BRIEF_GAIN) * whole else None


def _way_around(chunks: Mapping[int, Chunk], bodies: Mapping[int, Sequence[Step]], start: int) -> list[int]:
    """Return the shortest way out of the loop of one chunk at *start* and back to it; empty: there is none."""
    leaves = replace(chunks[start], successors=[to for to in chunks[start].successors if to != start])
    way, enters = _way_round({**chunks, start: leaves}, bodies, start)
    return [] if enters or len(way) < 2 else _turned(way, start)[1:]


def _on_way(
    chunks: Mapping[int, Chunk], bodies: Mapping[int, Sequence[Step]], way: Sequence[int]
) -> list[Sequence[Step]]:
    """Return the bodies of a way round, in which jumps that go elsewhere than to the next chunk are taken."""
    starts = sorted(chunks)
    behind = dict(pairwise(starts))
    found: list[Sequence[Step]] = []
    for at, following in zip(way, [*way[1:], way[0]], strict=True):
        body = bodies[at]
        jumps = chunks[at].instructions[-1].operation.is_jump
        if jumps and body and following != behind.get(at):
            body = [*body[:-1], replace(body[-1], taken=True)]
        found.append(body)
    return found


def _turned(way: Sequence[int], first: int) -> list[int]:
    at = list(way).index(first)
    return [*way[at:], *way[:at]]


# ---- ways round ----


def _way_round(chunks: Mapping[int, Chunk], bodies: Mapping[int, Sequence[Step]], start: int) -> tuple[list[int], bool]:
    """Return the shortest way from *start* back to it, and whether that leaves the function and enters it again."""
    entry = next(iter(chunks))
    length = {at: 1 + sum(step.slots > 0 for step in body) for at, body in bodies.items()}
    best: dict[int, int] = {start: 0}
    before: dict[int, int] = {}
    pending = [(0, start)]
    while pending:
        so_far, at = heapq.heappop(pending)
        if so_far > best.get(at, so_far):
            continue
        for following in _following(chunks[at], entry):
            if following == start:
                before[start] = at
                return _traced(before, start, entry, chunks)
            longer = so_far + length[following]
            if longer < best.get(following, sys.maxsize) and longer < _LONGEST:
                best[following] = longer
                before[following] = at
                heapq.heappush(pending, (longer, following))
    return [start], True  # it never ends, or ends the program


def _following(chunk: Chunk, entry: int) -> Iterator[int]:
    yield from chunk.successors
    if chunk.instructions[-1].operation.ends and not chunk.successors:
        yield entry


def _traced(before: Mapping[int, int], start: int, entry: int, chunks: Mapping[int, Chunk]) -> tuple[list[int], bool]:
    way = [before[start]]
    while way[-1] != start:
        way.append(before[way[-1]])
    way.reverse()
    enters = any(not chunks[at].successors for at in way)
    if enters:  # rounds begin where the function does
        way = _turned(way, entry)
    return way, enters


# ---- instructions ----


def _steps(instructions: Sequence[Instruction], known: Mapping[int, Effects], *, frame_is_memory: bool) -> list[Step]:
    """Return *instructions* as the model executes them; hooks are none."""
    dropped = left_out(instructions, X86_64, frame_is_memory=frame_is_memory)
    steps: list[Step] = []
    fuses = False  # the instruction before is one with a branch that follows
    sites: tuple[int, ...] = ()  # of the hooks before that report what the next reference does
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
        steps.append(step)
    return steps


def _is_of_frame(step: Step) -> bool:
    """Return whether *step* refers to what unoptimised code keeps in its stack frame, which no hook reports."""
    return step.place is not None and step.place.base in ("rbp", "rsp")


def _step(instruction: Instruction, effect: Effects, *, frame_is_memory: bool) -> Step:
    operation = instruction.operation
    classes = (*operation.classes, *(operation.frame if frame_is_memory else ()))
    reads, writes = set(effect.reads), set(effect.writes)
    copies, place = effect.copies, effect.place
    loads, stores = LOAD in classes, STORE in classes
    if operation.is_call:
        return _call(instruction, loads, place)
    if place is not None and not loads and not stores:  # a register that the instrumentation has driven out
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
    slots = 1.0 if classes else 0.0  # moves between registers take one, too, but most are the instrumentation's
    return Step(
        slots,
        work,
        tuple(reads),
        tuple(writes),
        place,
        loads,
        stores,
        copies,
        selects=effect.selects,
        compares=effect.compares,
    )


def _call(instruction: Instruction, loads: bool, place: object) -> Step:
    """Return a call: what the library's mathematics cost is work of it, one after the other only in its classes."""
    del place
    counts = MATH_COSTS.get(instruction.callee)
    work = tuple(OP_CLASS_NAMES[kind] for kind in instruction.operation.classes if kind != LOAD)
    slots = 1.0 if counts is None else 1.0 + float(counts[:-1].sum())
    return Step(slots, work, ("v0", "v1") if counts is not None else (), (), None, loads, False, None, _RETURNED)
