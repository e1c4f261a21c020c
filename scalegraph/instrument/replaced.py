"""Pairs of a simulated program's loops and the plain build's loops that do their work, function by function."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from scalegraph.instrument.flow import Chunk
from scalegraph.instrument.functions.outlines import Outline
from scalegraph.instrument.image import Function
from scalegraph.instrument.innermost import joint
from scalegraph.instrument.places import LineMap, source_name
from scalegraph.instrument.plain_loops import (
    Line,
    PlainByNeed,
    PlainCode,
    PlainLoop,
    counted,
    lines_of,
    loop_of,
    match,
    usual_way,
)
from scalegraph.instrument.strides import Decoded, Reference, references
from scalegraph.instrument.ways import Bodies, Ways

_ALIKE: Final = 0.7  # required share of a function's slots in lines that both builds have
_REPORT: Final = re.compile(r"__tsan_(?:unaligned_)?(read|write)(\d+)")


@dataclass(frozen=True)
class Replaced:
    """A loop of the simulated program, the starts of its *chunks*, and the *plain* loop that does its work.

    *payer*: a chunk that every iteration executes and whose probe pays for it; *rounds*: iterations of this loop that
    one plain iteration replaces. *way*: if both loops have several chunks, the usual path round this one, which takes
    the time of the plain one's; empty if the plain loop is one chunk.
    """

    chunks: frozenset[int]
    payer: int
    way: tuple[int, ...]
    plain: PlainLoop
    rounds: int


@dataclass(frozen=True)
class Shares:
    """Slots of the plain build by those here: outside innermost loops (*rest*), and by chunk in *loops* with calls."""

    rest: float = 1.0
    loops: Mapping[int, float] = field(default_factory=dict)

    def of(self, chunk: int) -> float:
        """Return the ratio for *chunk*."""
        return self.loops.get(chunk, self.rest)


class PlainLoops:
    """The loops of a program's plain build, by source line."""

    def __init__(self, lines: LineMap, plain: PlainCode | PlainByNeed) -> None:
        self._lines, self._plain = lines, plain

    def replaced(self, function: Function, outline: Outline) -> list[Replaced]:
        """Return the innermost loops of *function*, which *outline* stands for, that the plain build also has.

        Their addresses are those of the outline.
        """
        lines = self._lines.moved(function.start - outline.function.start)
        every = (one for chunk in outline.chunks.values() for one in chunk.instructions)
        behind = outline.once("behind", lambda: [one.address + one.size for one in every])
        if not self._plain.covers(lines_of(lines, behind)):
            return []
        found = [self._replaced(function, loop, outline, lines) for loop in outline.ways.loops.innermost]
        return [one for one in found if one is not None]

    def outside(self, function: Function, outline: Outline) -> Shares:
        """Return the ratio of the plain build's slots to *function*'s slots, outside innermost loops.

        Also for each innermost loop that calls functions, which no plain loop replaces. 1 if the two cover different
        lines, for example because one has other functions inlined. Addresses are those of *outline*.
        """
        plain = self._plain.outside_of(function.name)
        if plain is None:
            return Shares()
        lines = self._lines.moved(function.start - outline.function.start)
        mine = outline.once("counted", lambda: counted(outline.chunks, outline.ways.loops, outline.bodies)).outside(
            lines
        )
        of_loops = mine.loops | plain.loops  # remainder of a loop after it, or unrolled copies
        rest = _ratio(*({line: n for line, n in one.slots.items() if line not in of_loops} for one in (mine, plain)))
        loops: dict[int, float] = {}
        for loop, slots in mine.calling.items():
            there = [other for other in plain.calling.values() if other.keys() & slots.keys()]
            if len(there) == 1:  # neither split nor joined by the compiler
                loops |= dict.fromkeys(loop, _ratio(slots, there[0]))
        return Shares(rest, loops)

    def _replaced(
        self, function: Function, starts: frozenset[int], outline: Outline, lines: LineMap
    ) -> Replaced | None:
        chunks, ways, known = outline.chunks, outline.ways, outline.decoded
        instructions = [one for start in sorted(starts) for one in chunks[start].instructions]
        payer = outline.once(("payer", starts), lambda: joint(chunks, starts, lambda chunk: bool(chunk.probe)))
        if payer is None or any(one.operation.is_call and not one.hook for one in instructions):
            return None
        found, is_exact = outline.once(
            ("references", starts), lambda: _references(chunks, outline.bodies, starts, known)
        )
        if (matched := self._match(function, outline, sorted(starts), lines, found, is_exact=is_exact)) is not None:
            return Replaced(starts, payer, (), *matched)
        way = usual_way(chunks, starts, ways) if len(starts) > 1 else ()
        if way:
            of_way = outline.once(("way", way), lambda: _of_way(chunks, way, known))
            matched = self._match(function, outline, way, lines, of_way)
        return None if matched is None or matched[1] > 1 else Replaced(starts, payer, way, *matched)

    def _match(
        self,
        function: Function,
        outline: Outline,
        starts: Sequence[int],
        lines: LineMap,
        found: Sequence[Reference],
        *,
        is_exact: bool | None = None,
    ) -> tuple[PlainLoop, int] | None:
        """Return the `match` for the chunks at *starts*; *is_exact* None: they form a path, and so must the other's."""
        body = [one.address for start in starts for one in outline.chunks[start].instructions if not one.hook]
        loop = loop_of(function.name, body, outline.decoded, lines, found)
        own = (
            one for one in self._plain.named(source_name(function.name)) if not loop.lines.isdisjoint(one.loop.lines)
        )
        for candidates in (own, self._plain.on(loop.lines)):  # a loop of the same function is preferred
            fitting = [one for one in candidates if (len(one.way) > 1) == (is_exact is None)]
            if (matched := match(loop, fitting, is_exact=is_exact is not False)) is not None:
                return matched
        return None


def _ratio(here: Mapping[Line, float], there: Mapping[Line, float]) -> float:
    """Return the slots *there* by those *here*, by line; 1 if most of them are in other lines."""
    both = here.keys() & there.keys()
    alike = all(sum(one[line] for line in both) >= _ALIKE * sum(one.values()) for one in (here, there))
    return sum(there.values()) / sum(here.values()) if alike and sum(here.values()) > 0 else 1.0


def _hooks(chunk: Chunk) -> dict[int, tuple[int, int, bool]]:
    """Return what the hooks of *chunk* report, see `strides.references`; 0 bytes: not a plain reference."""
    found: dict[int, tuple[int, int, bool]] = {}
    for one in chunk.instructions:
        if one.hook:
            match = _REPORT.fullmatch(one.hook)
            size, stores = (int(match[2]), match[1] == "write") if match else (0, False)
            found[one.address] = one.address + one.size, size, stores
    return found


def _references(
    chunks: Mapping[int, Chunk], bodies: Bodies, starts: frozenset[int], known: Decoded
) -> tuple[list[Reference], bool]:
    """Return the references of a loop, and whether it has no branches, so that there is a single path round it."""
    inside = {
        start: replace(chunks[start], successors=[to for to in chunks[start].successors if to in starts])
        for start in sorted(starts)
    }
    seen: set[int] = set()
    found: dict[tuple[int, bool], Reference] = {}
    ways = Ways(inside, bodies)
    for start in inside:
        if start not in seen:
            way, _ = ways.round(start)
            seen |= set(way)
            for one in _of_way(chunks, way, known):
                found.setdefault((one.address, one.stores), one)
    return list(found.values()), all(len(chunk.successors) == 1 for chunk in inside.values())


def _of_way(chunks: Mapping[int, Chunk], way: Sequence[int], known: Decoded) -> list[Reference]:
    """Return the references on the path *way*."""
    hooks = {address: told for at in way for address, told in _hooks(chunks[at]).items()}
    return references([one.address for at in way for one in chunks[at].instructions], known, hooks)
