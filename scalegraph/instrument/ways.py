"""Ways round through a function's chunks: of the innermost loop that a chunk is in, or of the function itself."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, TypeAlias

from scalegraph.instrument.flow import Chunk
from scalegraph.instrument.innermost import Loops
from scalegraph.instrument.pipeline import Step

_LONGEST: Final = 4000  # instructions of a way round; a longer one is cut
_FAR: Final = (2**62, 0)

Bodies: TypeAlias = Mapping[int, Sequence[Step]]
"""What the pipeline executes of each chunk, by its start."""


def turned(way: Sequence[int], first: int) -> list[int]:
    """Return the *way* round beginning with its chunk *first*."""
    at = list(way).index(first)
    return [*way[at:], *way[:at]]


class Ways:
    """The ways round through a function: of its *chunks*, whose *bodies* the pipeline executes."""

    def __init__(self, chunks: Mapping[int, Chunk], bodies: Bodies) -> None:
        self._chunks, self._bodies = chunks, bodies
        self.entry = next(iter(chunks))
        self._behind = dict(pairwise(sorted(chunks)))
        self._length = {at: 1 + sum(step.slots > 0 for step in body) for at, body in bodies.items()}
        self.loops = Loops.in_function(chunks)

    def bodies(self, way: Sequence[int]) -> list[Sequence[Step]]:
        """Return the bodies of a *way* round, in which jumps that go elsewhere than to the next chunk are taken."""
        found: list[Sequence[Step]] = []
        for at, following in zip(way, [*way[1:], way[0]], strict=True):
            body = self._bodies[at]
            jumps = self._chunks[at].instructions[-1].operation.is_jump
            if jumps and body and following != self._behind.get(at):
                body = [*body[:-1], replace(body[-1], taken=True)]
            found.append(body)
        return found

    def round(self, start: int) -> tuple[list[int], bool]:
        """Return the usual way from *start* back to it, and whether that leaves the function and enters it again.

        It stays in the innermost loop that *start* is in. Of several ways the one with the fewest taken jumps counts,
        and of those the shortest: compilers put what they take for the usual case behind the branch that leads to it.
        """
        way = self._way(start, start)
        if not way:
            return [start], True  # it never ends, or ends the program
        enters = any(not self._chunks[at].successors for at in way)
        return (turned(way, self.entry) if enters else way), enters  # rounds begin where the function does

    def steps(self) -> Iterator[tuple[int, int, list[int]]]:
        """Yield the steps from chunks that have several ways on, within the innermost loop that they are in.

        With each, the usual way round that ends with it, beginning with the chunk that it leads to.
        """
        for at, inside in self.loops.of.items():
            for to in self._chunks[at].successors if len(self._chunks[at].successors) > 1 else ():
                if to != at and self.loops.of.get(to) == inside and (way := self._way(to, at)):
                    yield at, to, [*way, at]

    def around(self, loop: Sequence[int]) -> tuple[list[int], bool]:
        """Return the usual way out of the first chunk of *loop* and back to it, and whether that enters the function.

        The *loop* is a way round. Empty: nothing leads back.
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
        """Return the chunks from *start* on to that which leads to *end*, in the loop of *start*; empty: none do."""
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
