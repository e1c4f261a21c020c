"""Costs of basic blocks on a machine with a pipeline: cycles of each probe, depending on the loop around the block.

The pipeline model (`pipeline`) executes every chunk of a function (`flow`) as part of the usual cyclic path that
contains it (`ways`): an iteration of the innermost loop, or if there is none, the function called repeatedly. So
operations overlap across blocks and iterations as far as window and dependences allow, and each chunk gets the time
that it adds. Transitions between chunks off these paths take more or less time (`Timing.turns`). `flow.attribute`
determines which probe pays for which chunk, as for operation counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scalegraph.base.errors import Fault, InputError
from scalegraph.instrument.architecture import X86_64
from scalegraph.instrument.blocks import (
    BLOCKS_SECTION,
    CLOCKS_SECTION,
    DAMAGE,
    disassemble,
    probed_functions,
    section_of,
    with_sections,
)
from scalegraph.instrument.debuginfo import unoptimised
from scalegraph.instrument.effects import Effects, effects
from scalegraph.instrument.flow import Chunk, attribute, chunks_of
from scalegraph.instrument.image import PROBE, Image
from scalegraph.instrument.pipeline import Origins, Round, Step, ahead_of, execute
from scalegraph.instrument.places import LineMap
from scalegraph.instrument.plain import Plain
from scalegraph.instrument.plain_loops import plain_code
from scalegraph.instrument.replaced import PlainLoops, Replaced
from scalegraph.instrument.steps import steps_of
from scalegraph.instrument.ways import Bodies, Ways, turned
from scalegraph.machine import Machine
from scalegraph.machine.model import Processor
from scalegraph.runtime.format import (
    BLOCK,
    CLOCK,
    HEADER,
    LOAD_ROW,
    TIMING,
    TIMING_BY_OPERATIONS,
    TURNS,
)

TIMING_SECTION: Final = 2
LOADS_SECTION: Final = 3
_MOST: Final = 2**32 - 1
_LEAST: Final = 1e-9  # cycles
_BRIEF_ROUNDS: Final = 12  # iterations in a short visit of a loop
_BRIEF_GAIN: Final = 0.05  # a smaller gain is noise from where the iterations begin


@dataclass(frozen=True)
class Timing:
    """Timing of a program's blocks, by return address of their probes.

    *cycles*: of each, empty where operations have fixed costs; *predicted*: blocks entered from a branch that may also
    go elsewhere, and the loads that the branch waits for. *loads*: memory references, by return address of their hooks.
    *briefs*: blocks that are loops by themselves. *turns*: cycles that a predicted block takes more, or less, after
    another predicted one, by that one and by itself.
    """

    cycles: Mapping[int, float]
    predicted: Mapping[int, Origins]
    loads: Mapping[int, Load]
    briefs: Mapping[int, Brief]
    turns: Mapping[int, Turns]


Turns: TypeAlias = dict[int, float]


@dataclass(frozen=True)
class Brief:
    """An iteration of a loop that ends before the window is full, so that its next visit overlaps with this one.

    *cycles*: of the iteration; *reach*: iterations that fit into the window; *early*: see `pipeline.Round`.
    """

    cycles: float
    reach: int
    early: float


@dataclass(frozen=True)
class Load:
    """A reference: cycles until the window behind it is full, and the loads that its address depends on."""

    ahead: float
    origins: Origins
    recurs: float = 0.0  # see `pipeline.Round`


def timed_table(
    table: bytes, path: Path, machine: Machine, lines: LineMap | None = None, plain: Plain | None = None
) -> bytes:
    """Return the block table *table* of the executable at *path* with added sections: timing on *machine*.

    *lines*, *plain*: see `timing`, which raises the same.
    """
    found = timing(path, machine.processor, lines, plain)
    header = np.frombuffer(table[: HEADER.itemsize], dtype=HEADER).copy()
    records = section_of(table, BLOCKS_SECTION, BLOCK)
    clocks = section_of(table, CLOCKS_SECTION, CLOCK)
    addresses = [int(address) for address in records["address"]]
    loads = _load_rows(found)
    numbers = {int(address): number for number, address in enumerate(loads["address"], 1)}
    rows = np.zeros(len(addresses), dtype=TIMING)
    rows["millicycles"] = TIMING_BY_OPERATIONS
    if found.cycles:
        milli = np.rint(1000 * np.array([found.cycles[address] for address in addresses]))
        rows["millicycles"] = np.minimum(milli, TIMING_BY_OPERATIONS - 1)
    rows["predicted"] = [address in found.predicted for address in addresses]
    blocks = {address: number for number, address in enumerate(addresses, 1)}
    for row, address in zip(rows, addresses, strict=True):
        turns = [(blocks[to], round(1000 * more)) for to, more in sorted(found.turns.get(address, {}).items())]
        turns = sorted(turns, key=lambda turn: abs(turn[1]))[-TURNS:]
        row["turns"][: len(turns)] = [to for to, _ in turns]
        row["more"][: len(turns)] = [more for _, more in turns]
        if brief := found.briefs.get(address):
            row["saved"] = max(0, int(row["millicycles"]) - round(1000 * brief.cycles))
            row["reach"] = brief.reach
            row["early"] = min(_MOST, round(1000 * brief.early))
        _say_origins(row, found.predicted.get(address, {}), numbers)
    for row in loads:
        _say_origins(row, found.loads[int(row["address"])].origins, numbers)
    return with_sections(
        header, {BLOCKS_SECTION: records, TIMING_SECTION: rows, LOADS_SECTION: loads, CLOCKS_SECTION: clocks}
    )


def _load_rows(found: Timing) -> NDArray[np.void]:
    """Return the records of *found*'s references, by address, without their dependences."""
    addresses = sorted(found.loads)
    rows = np.zeros(len(addresses), dtype=LOAD_ROW)
    rows["address"] = addresses
    rows["ahead"] = [min(_MOST, round(1000 * found.loads[address].ahead)) for address in addresses]
    return rows


def _say_origins(row: np.void, origins: Origins, numbers: Mapping[int, int]) -> None:
    """Write the latest of *origins* into *row*, as record numbers and cycles in thousandths."""
    latest = [item for item in sorted(origins.items(), key=itemgetter(1, 0)) if item[0] in numbers][
        : row["origins"].size
    ]
    row["origins"][: len(latest)] = [numbers[site] for site, _ in latest]
    row["delays"][: len(latest)] = [min(_MOST, round(1000 * cycles)) for _, cycles in latest]


def timing(path: Path, processor: Processor, lines: LineMap | None = None, plain: Plain | None = None) -> Timing:
    """Return the timing of the executable at *path* on *processor*, and which blocks need a prediction.

    Given the *lines* of the executable and the *plain* build of the same program, loops found in both take the time of
    the plain one, on a processor with a pipeline.

    Raises `InputError` if *path* is damaged or its architecture has no pipeline model: only x86-64 has one.
    """
    return _timing(path, path.stat().st_mtime_ns, processor, lines, plain)


@lru_cache(maxsize=32)
def _timing(path: Path, _stamp: int, processor: Processor, lines: LineMap | None, plain: Plain | None) -> Timing:
    is_piped = processor.pipeline.is_given
    cycles: dict[int, float] = {}
    predicted: dict[int, Origins] = {}
    loads: dict[int, Load] = {}
    briefs: dict[int, Brief] = {}
    turns: dict[int, Turns] = {}
    try:
        image = Image(path)
        if is_piped and image.architecture is not X86_64:
            text = f"is {image.architecture.name} code; a machine with [pipeline] needs x86-64"
            raise InputError(Fault(text, str(path)))
        is_frame_real = unoptimised(path)
        others = None
        if is_piped and lines is not None and plain is not None:
            others = PlainLoops(image, lines, plain_code(plain))
        parts: list[_Function] = []
        for function in probed_functions(image):
            instructions = list(disassemble(image, function))
            calls = {i.address: i.hook for i in instructions if i.hook == PROBE and i.operation.is_call}
            chunks = chunks_of(instructions, calls)
            if not is_piped:
                predicted |= _predicted(chunks, {}, frozenset())
                continue
            known = effects(image.bytes_of(function), function.start, instructions, image.is_constant)
            bodies = _bodies(chunks, known, frame_is_memory=is_frame_real(function.start))
            ways = Ways(chunks, bodies)
            replaced = others.replaced(function, chunks, bodies, ways) if others is not None else []
            share = others.outside(function, chunks, bodies, ways) if others is not None else 1.0
            parts.append(_Function(chunks, bodies, ways, replaced, share))
        between = _between_calls(parts)
        for part in parts:
            found = _function(part, processor, between.get(part.ways.entry, 0))
            cycles |= found.cycles
            briefs |= found.briefs
            loads |= found.loads
            foreseen = frozenset().union(*(_foreseen(part.chunks, one) for one in part.replaced if not one.way))
            known_from = _predicted(part.chunks, found.branches, foreseen)
            predicted |= known_from
            turns |= _turns(part.chunks, found.more, known_from)
    except DAMAGE as error:
        raise InputError(Fault("is damaged in its description of the code; build it again", str(path))) from error
    return Timing(cycles, predicted, loads, briefs, turns)


def _foreseen(chunks: Mapping[int, Chunk], replaced: Replaced) -> set[int]:
    """Return the chunks of a loop whose jumps stay in it: the plain loop, a single chunk, has no such jumps."""
    return {start for start in replaced.chunks if set(chunks[start].successors) <= replaced.chunks}


def _predicted(
    chunks: Mapping[int, Chunk], branches: Mapping[int, Origins], foreseen: frozenset[int]
) -> dict[int, Origins]:
    """Return the first probes after a jump with two successors, or with unknown ones.

    With each, the dependences of the jump, from *branches*, by start of the chunk that it ends. Jumps at the end of
    *foreseen* chunks need no prediction.
    """
    entry = next(iter(chunks), 0)
    pending = [
        (following, start)
        for start, chunk in chunks.items()
        if len(chunk.successors) > 1 and start not in foreseen
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


def _turns(
    chunks: Mapping[int, Chunk], more: Mapping[tuple[int, int], float], predicted: Mapping[int, Origins]
) -> dict[int, Turns]:
    """Return *more*, keyed by the last *predicted* probe before the transition and the one that it reaches."""
    before: dict[int, list[int]] = {}
    for start, chunk in chunks.items():
        for to in chunk.successors:
            before.setdefault(to, []).append(start)
    found: dict[int, Turns] = {}
    for (at, to), cycles in more.items():
        pending, seen = [at], set[int]()
        while pending and chunks[to].probe in predicted:
            start = pending.pop()
            if start in seen:
                continue
            seen.add(start)
            if chunks[start].probe in predicted:
                found.setdefault(chunks[start].probe, {})[chunks[to].probe] = cycles
            else:
                pending += before.get(start, [])
    return found


@dataclass(frozen=True)
class _Function:
    """A function: its *chunks*, their steps for the pipeline, and the cyclic paths (*ways*) through it.

    *replaced*: loops charged as those of the plain build; *outside*: ratio of slots there to slots here, outside
    innermost loops, see `_issued`.
    """

    chunks: Mapping[int, Chunk]
    bodies: Bodies
    ways: Ways
    replaced: Sequence[Replaced]
    outside: float


def _between_calls(functions: Sequence[_Function]) -> dict[int, int]:
    """Return the slots issued between two calls of a function from a loop of another one, by start of the callee.

    This is the usual path round that loop; of several loops, the shortest.
    """
    found: dict[int, int] = {}
    for one in functions:
        for at, chunk in one.chunks.items():
            called = {
                each.operation.target
                for each in chunk.instructions
                if each.operation.is_call and not each.hook and each.operation.target is not None
            }
            way, leaves = one.ways.round(at) if called else ([], True)
            if leaves:
                continue
            slots = sum(step.slots for start in way for step in one.bodies[start])
            for callee in called:
                found[callee] = min(found.get(callee, _MOST), round(one.outside * slots))
    return found


@dataclass(frozen=True)
class _Timed:
    """Timing of a function: its probes' cycles, loops of their own, references, and dependences of the chunks' jumps.

    *more*: see `_unusual`.
    """

    cycles: dict[int, float]
    briefs: dict[int, Brief]
    loads: dict[int, Load]
    branches: dict[int, Origins]
    more: dict[tuple[int, int], float]


def _bodies(
    chunks: Mapping[int, Chunk], known: Mapping[int, Effects], *, frame_is_memory: bool
) -> dict[int, list[Step]]:
    return {
        start: steps_of(chunk.instructions, known, frame_is_memory=frame_is_memory) for start, chunk in chunks.items()
    }


def _function(function: _Function, processor: Processor, between: int = 0) -> _Timed:
    """Return the model's timing of *function*; *between*: slots issued between two calls of it."""
    chunks, bodies, ways, replaced = function.chunks, function.bodies, function.ways, function.replaced
    others = [[Step()] * between] if between else []
    costs: dict[int, NDArray[np.float64]] = {}
    loads: dict[int, Load] = {}
    branches: dict[int, Origins] = {}
    briefs: dict[int, Brief] = {}
    usual: dict[int, list[int]] = {}
    for start in chunks:
        if start not in costs:
            way, enters = ways.round(start)
            found = execute([*ways.bodies(way), *(others if enters else [])], processor, enters=enters)
            for at, taken, origins, early in zip(way, found.cycles, found.branches, found.early, strict=False):
                if at == start or (at not in costs and ways.round(at)[0] == turned(way, at)):
                    costs[at] = np.array([taken])
                    usual[at] = way
                    branches[at] = origins
                    brief = None if enters else _brief(ways, turned(way, at), taken, early, processor)
                    if brief is not None and chunks[at].probe:
                        briefs[chunks[at].probe] = brief
                    sites = [site for step in bodies[at] for site in step.sites]
                    loads |= {site: _load(found, site) for site in sites if site in found.loads}
    whole = frozenset().union(*(one.chunks for one in replaced if not one.way))
    more = _unusual(ways, processor, costs, {at: way for at, way in usual.items() if at not in whole})
    costs |= _issued(function, processor, costs, usual)
    for one in replaced:
        found_for = _plain_time(one, processor)
        if one.way:  # distributed like the times of the loop with hooks
            share = found_for.cycles / max(sum(float(costs[at][0]) for at in one.way), _LEAST)
            costs |= {at: share * costs[at] for at in one.chunks}
            continue
        for start in one.chunks:
            costs[start] = np.array([found_for.cycles if start == one.payer else 0.0])
            briefs.pop(chunks[start].probe, None)
            sites = [site for step in bodies[start] for site in step.sites]
            loads |= {site: found_for.load(loads[site]) for site in sites if site in loads}
        if found_for.brief is not None and sum(chunks[at].probe != 0 for at in one.chunks) == 1:
            briefs[chunks[one.payer].probe] = found_for.brief
    cycles = {probe: float(paid[0]) for probe, paid in attribute(chunks, costs).items()}
    briefs = {probe: brief for probe, brief in briefs.items() if brief.cycles < cycles[probe]}
    return _Timed(cycles, briefs, loads, branches, more)


def _issued(
    function: _Function,
    processor: Processor,
    costs: Mapping[int, NDArray[np.float64]],
    usual: Mapping[int, Sequence[int]],
) -> dict[int, NDArray[np.float64]]:
    """Return the times of chunks outside innermost loops if their *usual* path issues as many slots as without hooks.

    In the build with hooks, everything that serves only them is left out, and with it spills and stack arguments that
    belong to the program.
    """
    outside, bodies = function.outside, function.bodies
    if outside <= 1:
        return {}
    inside = function.ways.loops.inside()
    found: dict[int, NDArray[np.float64]] = {}
    slot = processor.pipeline.issue or 1 / processor.issue_width
    for at, way in usual.items():
        if at in inside:
            continue
        slots = {one: sum(step.slots for step in bodies[one]) for one in way if one not in inside}
        whole = sum(slots.values())
        lacking = outside * whole * slot - sum(float(costs[one][0]) for one in slots if one in costs)
        if lacking > 0:
            found[at] = costs[at] + lacking * slots[at] / whole
    return found


def _unusual(
    ways: Ways, processor: Processor, costs: Mapping[int, NDArray[np.float64]], usual: Mapping[int, list[int]]
) -> dict[tuple[int, int], float]:
    """Return how much more, or less, the second of two chunks in a loop takes after the first than on its *usual* path.

    This is the time of the path that goes from one to the other, minus the costs of its chunks. It covers only
    transitions off the second's usual path, and only paths on which every chunk has a usual path.
    """
    found: dict[tuple[int, int], float] = {}
    for at, to, way in ways.steps():
        if usual.keys() >= set(way) and (at, to) not in pairwise([*usual[to], usual[to][0]]):
            taken = sum(execute(ways.bodies(way), processor).cycles)
            found[at, to] = taken - sum(float(costs[one][0]) for one in way)
    return found


@dataclass(frozen=True)
class _PlainTime:
    """The time of an iteration of a loop in the plain build: *cycles*, *ahead* as in a `Load`, and as a brief visit."""

    cycles: float
    ahead: float
    brief: Brief | None

    def load(self, of: Load) -> Load:
        """Return the timing here of a reference *of* the loop with hooks."""
        return Load(ahead_of(self.ahead, self.cycles, of.recurs), of.origins, of.recurs)


def _load(found: Round, site: int) -> Load:
    recurs = found.recurs.get(site, 0.0)
    return Load(ahead_of(found.ahead, sum(found.cycles), recurs), found.loads[site], recurs)


def _plain_time(replaced: Replaced, processor: Processor) -> _PlainTime:
    """Execute the plain loop that does the work of a loop; return the time of one iteration of the latter."""
    ways, way, rounds = replaced.plain.code.ways, replaced.plain.way, replaced.rounds
    found = execute(ways.bodies(way), processor)
    brief = _brief(ways, way, found.cycles[0], found.early[0], processor)
    if brief is not None:
        brief = Brief(brief.cycles / rounds, brief.reach * rounds, brief.early)
    return _PlainTime(sum(found.cycles) / rounds, found.ahead, brief)


def _brief(ways: Ways, loop: Sequence[int], taken: float, early: float, processor: Processor) -> Brief | None:
    """Return the time of an iteration in short visits of a *loop* whose first chunk does all the work.

    *taken*, *early*: of an iteration in a long visit. None if other chunks do something, too, if there is no
    difference, as when one visit of the loop waits for the one before, if the window holds too few iterations, or if
    nothing leads back to the loop, in the function or by calling it again.
    """
    live, *others = (sum(step.slots > 0 for step in body) for body in ways.bodies(loop))
    if any(others) or live == 0:
        return None
    reach = processor.pipeline.window // live
    few = min(_BRIEF_ROUNDS, reach // 3)
    around, enters = ways.around(loop)
    if few < 2 or not around:
        return None
    begins = ways.entry if enters else loop[0]
    visits = [turned([*(count * list(loop)), *around], begins) for count in (few, 2 * few)]
    less, more = (sum(execute(ways.bodies(visit), processor, enters=enters).cycles) for visit in visits)
    cycles = max(0.0, (more - less) / few)
    return Brief(cycles, reach, early) if cycles < (1 - _BRIEF_GAIN) * taken else None
