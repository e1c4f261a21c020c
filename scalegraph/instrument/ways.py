"""Cyclic paths through a function's chunks: round the innermost loop of a chunk, or through the whole function."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, TypeAlias

from scalegraph.instrument.flow import Chunk
from scalegraph.instrument.innermost import Loops
from scalegraph.instrument.pipeline import Body, Step

_LONGEST: Final = 4000  # instructions of a path; a longer one is cut
_FAR: Final = 2**62
_JUMP: Final = 2**40  # how much a taken jump counts beside instructions: more than any path has

Bodies: TypeAlias = Mapping[int, Sequence[Step]]
"""The steps that the pipeline executes for each chunk, by its start."""


def turned(way: Sequence[int], first: int) -> list[int]:
    """Return the cyclic path *way* rotated to begin with its chunk *first*."""
    at = list(way).index(first)
    return [*way[at:], *way[:at]]


class Ways:
    """The cyclic paths through a function, made of its *chunks*; the pipeline executes their *bodies*."""

    def __init__(self, chunks: Mapping[int, Chunk], bodies: Bodies) -> None:
        self._chunks, self._bodies = chunks, bodies
        self.entry = next(iter(chunks))
        self._behind = dict(pairwise(sorted(chunks)))
        self._length = {at: 1 + sum(step.slots > 0 for step in body) for at, body in bodies.items()}
        self.loops = Loops.in_function(chunks)
        self._whole = {at: Body(body) for at, body in bodies.items()}
        self._jumping: dict[int, Body] = {}
        self._onward: dict[int, list[tuple[int, int]]] = {}
        self._rounds: dict[int, tuple[list[int], bool]] = {}

    def bodies(self, way: Sequence[int]) -> list[Sequence[Step]]:
        """Return the bodies on a path; jumps to anything but the chunk that follows in memory are taken."""
        found: list[Sequence[Step]] = []
        for at, following in zip(way, [*way[1:], way[0]], strict=True):
            jumps = following != self._behind.get(at) and self._chunks[at].instructions[-1].operation.is_jump
            found.append(self._taken(at) if jumps else self._whole[at])
        return found

    def _taken(self, at: int) -> Body:
        """Return the body of a chunk that ends with a jump when that is taken."""
        if at not in self._jumping:
            body = self._bodies[at]
            self._jumping[at] = Body([*body[:-1], replace(body[-1], taken=True)] if body else ())
        return self._jumping[at]

    def round(self, start: int) -> tuple[list[int], bool]:
        """Return the usual path from *start* back to it, and whether it leaves the function and enters it again.

        It stays in the innermost loop around *start*. It is the path with the fewest taken jumps, then the shortest:
        compilers place the likely case right after the branch.
        """
        if start not in self._rounds:
            self._rounds[start] = self._round(start)
        return self._rounds[start]

    def _round(self, start: int) -> tuple[list[int], bool]:
        way = self._way(start, start)
        if not way:
            return [start], True  # it never ends, or ends the program
        enters = any(not self._chunks[at].successors for at in way)
        return (turned(way, self.entry) if enters else way), enters  # the path begins at the function's entry

    def steps(self) -> Iterator[tuple[int, int, list[int]]]:
        """Yield the transitions from chunks with several successors, within their innermost loop.

        With each, the usual cyclic path that ends with it, beginning with its target.
        """
        for at, inside in self.loops.of.items():
            for to in self._chunks[at].successors if len(self._chunks[at].successors) > 1 else ():
                if to != at and self.loops.of.get(to) == inside and (way := self._way(to, at)):
                    yield at, to, [*way, at]

    def around(self, loop: Sequence[int]) -> tuple[list[int], bool]:
        """Return the usual path out of the first chunk of *loop* and back to it, and whether it enters the function.

        The *loop* is a cyclic path. Empty if nothing leads back.
        """
        start, stays = loop[0], loop[1 % len(loop)]
        leaves = replace(self._chunks[start], successors=[to for to in self._chunks[start].successors if to != stays])
        way, enters = Ways({**self._chunks, start: leaves}, self._bodies).round(start)
        return ([], False) if len(way) < 2 else (turned(way, start)[1:], enters)

    def _following(self, at: int) -> list[tuple[int, int]]:
        """Return the chunks after *at*, and what the way to each adds: taken jumps, then instructions."""
        if at not in self._onward:
            chunk, behind = self._chunks[at], self._behind.get(at)
            leaves = chunk.instructions[-1].operation.ends and not chunk.successors
            successors = [self.entry] if leaves else chunk.successors
            self._onward[at] = [(to, _JUMP * (to != behind) + self._length[to]) for to in successors]
        return self._onward[at]

    def _way(self, start: int, end: int) -> list[int]:
        """Return the chunks from *start* to one that leads to *end*, within the loop of *start*; empty if none does."""
        inside = self.loops.of.get(start, self._chunks)
        best: dict[int, int] = {start: 0}
        before: dict[int, int] = {}
        pending = [(0, start)]
        while pending:
            reached, at = heapq.heappop(pending)
            if at == end and at in before:
                break
            if reached > best[at] or reached % _JUMP >= _LONGEST:
                continue
            for following, more in self._following(at):
                further = reached + more
                known = _FAR if following == end and end not in before else best.get(following, _FAR)
                if further < known and following in inside:
                    best[following] = further
                    before[following] = at
                    heapq.heappush(pending, (further, following))
        if end not in before:
            return []
        way = [before[end]]
        while way[-1] != start:
            way.append(before[way[-1]])
        return way[::-1]
