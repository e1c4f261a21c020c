"""Ways round through a function's chunks: of the innermost loop that a chunk is in, or of the function itself."""

from __future__ import annotations

import heapq
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, TypeAlias

from scalegraph.instrument.flow import Chunk
from scalegraph.instrument.pipeline import Step

_LONGEST: Final = 4000  # instructions of a way round; a longer one is cut

Bodies: TypeAlias = Mapping[int, Sequence[Step]]
"""What the pipeline executes of each chunk, by its start."""


def way_around(chunks: Mapping[int, Chunk], bodies: Bodies, start: int) -> list[int]:
    """Return the shortest way out of the loop of one chunk at *start* and back to it; empty: there is none."""
    leaves = replace(chunks[start], successors=[to for to in chunks[start].successors if to != start])
    way, enters = way_round({**chunks, start: leaves}, bodies, start)
    return [] if enters or len(way) < 2 else turned(way, start)[1:]


def on_way(chunks: Mapping[int, Chunk], bodies: Bodies, way: Sequence[int]) -> list[Sequence[Step]]:
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


def turned(way: Sequence[int], first: int) -> list[int]:
    """Return the *way* round beginning with its chunk *first*."""
    at = list(way).index(first)
    return [*way[at:], *way[:at]]


def way_round(chunks: Mapping[int, Chunk], bodies: Bodies, start: int) -> tuple[list[int], bool]:
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
        way = turned(way, entry)
    return way, enters
