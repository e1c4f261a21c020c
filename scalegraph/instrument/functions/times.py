"""Times of a function's blocks on a processor, from the paths through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scalegraph.instrument.flow import Chunk, attribute
from scalegraph.instrument.functions.timing import Brief, Load, Timing, Turns
from scalegraph.instrument.pipeline import Origins, Round, Step, ahead_of, execute
from scalegraph.instrument.replaced import Replaced, Shares
from scalegraph.instrument.steps import of_library
from scalegraph.instrument.ways import Bodies, Ways, turned
from scalegraph.machine.model import Processor

MOST: Final = 2**32 - 1
_LEAST: Final = 1e-9  # cycles
_BRIEF_ROUNDS: Final = 12  # iterations in a short visit of a loop
_BRIEF_GAIN: Final = 0.05  # a smaller gain is noise from where the iterations begin


def _foreseen(chunks: Mapping[int, Chunk], replaced: Replaced) -> set[int]:
    """Return the chunks of a loop whose jumps stay in it: the plain loop, a single chunk, has no such jumps."""
    return {start for start in replaced.chunks if set(chunks[start].successors) <= replaced.chunks}


def predicted(
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
    chunks: Mapping[int, Chunk], more: Mapping[tuple[int, int], float], known: Mapping[int, Origins]
) -> dict[int, Turns]:
    """Return *more*, keyed by the last predicted (*known*) probe before the transition and the one that it reaches."""
    before: dict[int, list[int]] = {}
    for start, chunk in chunks.items():
        for to in chunk.successors:
            before.setdefault(to, []).append(start)
    found: dict[int, Turns] = {}
    for (at, to), cycles in more.items():
        pending, seen = [at], set[int]()
        while pending and chunks[to].probe in known:
            start = pending.pop()
            if start in seen:
                continue
            seen.add(start)
            if chunks[start].probe in known:
                found.setdefault(chunks[start].probe, {})[chunks[to].probe] = cycles
            else:
                pending += before.get(start, [])
    return found


@dataclass(frozen=True)
class Paths:
    """A function: its *chunks*, their steps for the pipeline (*bodies*), and the cyclic paths (*ways*) through it.

    *replaced*: loops charged as those of the plain build; *outside*: ratios of slots there to slots here, see
    `_issued`.
    """

    chunks: Mapping[int, Chunk]
    bodies: Bodies
    ways: Ways
    replaced: Sequence[Replaced] = ()
    outside: Shares = Shares()  # noqa: RUF009 - it does not change

    def timing(self, processor: Processor, between: int) -> Timing:
        """Return the timing of its blocks; *between*: slots issued between two calls of it."""
        found = _function(self, processor, between)
        foreseen = frozenset().union(*(_foreseen(self.chunks, one) for one in self.replaced if not one.way))
        known_from = predicted(self.chunks, found.branches, foreseen)
        turns = _turns(self.chunks, found.more, known_from)
        return Timing(found.cycles, known_from, found.loads, found.briefs, turns)


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


def _function(function: Paths, processor: Processor, between: int) -> _Timed:
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
    function: Paths,
    processor: Processor,
    costs: Mapping[int, NDArray[np.float64]],
    usual: Mapping[int, Sequence[int]],
) -> dict[int, NDArray[np.float64]]:
    """Return the times of chunks outside innermost loops if their *usual* path issues as many slots as without hooks.

    Also in each innermost loop that calls functions. In the build with hooks, everything that serves only them is left
    out, and with it spills, moves and stack arguments that belong to the program. Library functions have as many slots
    in both.
    """
    shares, bodies = function.outside, function.bodies
    innermost = function.ways.loops.inside()
    found: dict[int, NDArray[np.float64]] = {}
    slot = processor.pipeline.issue or 1 / processor.issue_width
    for at, way in usual.items():
        more, is_loop = shares.of(at) - 1, at in shares.loops
        if more <= 0 or (at in innermost and not is_loop):
            continue
        slots = {one: sum(s.slots for s in bodies[one]) for one in way if (one in innermost) == is_loop}
        whole = sum(slots.values())
        own = whole - sum(_called(function.chunks[one]) for one in slots) if is_loop else whole
        lacking = (whole + more * own) * slot - sum(float(costs[one][0]) for one in slots if one in costs)
        if lacking > 0:
            found[at] = costs[at] + lacking * slots[at] / whole
    return found


def _called(chunk: Chunk) -> float:
    """Return the slots of the library functions that *chunk* calls."""
    return sum(of_library(one.callee) for one in chunk.instructions)


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
