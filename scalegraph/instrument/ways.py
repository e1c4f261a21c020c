"""Cyclic paths through a function's chunks: round the innermost loop of a chunk, or through the whole function."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, TypeAlias

from scalegraph.instrument.flow import Chunk
from scalegraph.instrument.innermost import Loops
from scalegraph.instrument.pipeline import Step

_LONGEST: Final = 4000  # instructions of a path; a longer one is cut
_FAR: Final = (2**62, 0)

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

    def bodies(self, way: Sequence[int]) -> list[Sequence[Step]]:
        """Return the bodies on a path; jumps to anything but the chunk that follows in memory are taken."""
        found: list[Sequence[Step]] = []
        for at, following in zip(way, [*way[1:], way[0]], strict=True):
            body = self._bodies[at]
            jumps = self._chunks[at].instructions[-1].operation.is_jump
            if jumps and body and following != self._behind.get(at):
                body = [*body[:-1], replace(body[-1], taken=True)]
            found.append(body)
        return found

    def round(self, start: int) -> tuple[list[int], bool]:
        """Return the usual path from *start* back to it, and whether it leaves the function and enters it again.

        It stays in the innermost loop around *start*. It is the path with the fewest taken jumps, then the shortest:
        compilers place the likely case right after the branch.
        """
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

    def _following(self, at: int) -> Iterator[int]:
        chunk = self._chunks[at]
        yield from chunk.successors
        if chunk.instructions[-1].operation.ends and not chunk.successors:
            yield self.entry

    def _way(self, start: int, end: int) -> list[int]:
        """Return the chunks from *start* to one that leads to *end*, within the loop of *start*; empty if none does."""
        inside = self.loops.of.get(start, self._chunks)
        best: dict[int, tuple[int, int]] = {start: (0, 0)}
        before: dict[int, int] = {}
        pending = [(0, 0, start)]
        while pending:
            *reached, at = heapq.heappop(pending)
            if at == end and at in before:
                break
            if tuple(reached) > best[at]:
                continue
            for following in self._following(at):
                jumps = reached[0] + (following != self._behind.get(at))
                further = jumps, reached[1] + self._length[following]
                known = _FAR if following == end and end not in before else best.get(following, _FAR)
                if following in inside and further < known and reached[1] < _LONGEST:
                    best[following] = further
                    before[following] = at
                    heapq.heappush(pending, (*further, following))
        if end not in before:
            return []
        way = [before[end]]
        while way[-1] != start:
            way.append(before[way[-1]])
        return way[::-1]
