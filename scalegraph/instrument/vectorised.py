"""Scalar loops of the simulated program whose work is done by vector code in the plain build, function by function."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from scalegraph.instrument.flow import Chunk
from scalegraph.instrument.image import Function, Image
from scalegraph.instrument.innermost import innermost
from scalegraph.instrument.places import LineMap
from scalegraph.instrument.strides import Reference, decoded, references
from scalegraph.instrument.vectors import Line, VectorLoop, lines_of, loop_of, match
from scalegraph.instrument.ways import Bodies, Ways

_REPORT: Final = re.compile(r"__tsan_(?:unaligned_)?(read|write)(\d+)")


@dataclass(frozen=True)
class Replaced:
    """A loop of the simulated program, the starts of its *chunks*, and the *vector* loop that does its work.

    *payer*: the chunk that every round goes through and whose probe pays for it; *rounds*: of this loop that a round of
    the vector loop replaces.
    """

    chunks: frozenset[int]
    payer: int
    vector: VectorLoop
    rounds: int


class Vectorised:
    """The vector loops of a program's plain build, by source line."""

    def __init__(self, image: Image, lines: LineMap, loops: Sequence[VectorLoop]) -> None:
        self._image = image
        self._lines = lines
        self._by_line: dict[Line, list[VectorLoop]] = {}
        for one in loops:
            for line in one.loop.lines:
                self._by_line.setdefault(line, []).append(one)

    def replaced(self, function: Function, chunks: Mapping[int, Chunk], bodies: Bodies) -> list[Replaced]:
        """Return those innermost loops of *function* that are vector code in the plain build."""
        behind = [one.address + one.size for chunk in chunks.values() for one in chunk.instructions]
        if not self._by_line.keys() & set(lines_of(self._lines, behind)):
            return []
        known = decoded(self._image.bytes_of(function), function.start)
        found = [self._replaced(function, loop, chunks, bodies, known) for loop in innermost(chunks)]
        return [one for one in found if one is not None]

    def _replaced(
        self,
        function: Function,
        starts: frozenset[int],
        chunks: Mapping[int, Chunk],
        bodies: Bodies,
        known: Mapping[int, Any],
    ) -> Replaced | None:
        inside = [chunks[start] for start in sorted(starts)]
        instructions = [one for chunk in inside for one in chunk.instructions]
        payer = _payer(chunks, starts)
        if payer is None or any(one.operation.is_call and not one.hook for one in instructions):
            return None
        found, is_exact = _references(chunks, bodies, starts, known)
        loop = loop_of(function.name, [one.address for one in instructions if not one.hook], known, self._lines, found)
        candidates = {id(one): one for line in loop.lines for one in self._by_line.get(line, ())}
        matched = match(loop, list(candidates.values()), is_exact=is_exact)
        return None if matched is None else Replaced(starts, payer, *matched)


def _hooks(chunk: Chunk) -> dict[int, tuple[int, int, bool]]:
    """Return what the hooks of *chunk* report, see `strides.references`; 0 bytes: no plain reference."""
    found: dict[int, tuple[int, int, bool]] = {}
    for one in chunk.instructions:
        if one.hook:
            match = _REPORT.fullmatch(one.hook)
            size, stores = (int(match[2]), match[1] == "write") if match else (0, False)
            found[one.address] = one.address + one.size, size, stores
    return found


def _references(
    chunks: Mapping[int, Chunk], bodies: Bodies, starts: frozenset[int], known: Mapping[int, Any]
) -> tuple[list[Reference], bool]:
    """Return the references of a loop, and whether there is one way round only: it has no branches then."""
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
            hooks = {address: told for at in way for address, told in _hooks(chunks[at]).items()}
            body = [one.address for at in way for one in chunks[at].instructions]
            for one in references(body, known, hooks):
                found.setdefault((one.address, one.stores), one)
    return list(found.values()), all(len(chunk.successors) == 1 for chunk in inside.values())


def _payer(chunks: Mapping[int, Chunk], starts: frozenset[int]) -> int | None:
    """Return the first chunk with a probe that every way round goes through; None: there is none."""
    for start in sorted(starts):
        rest = {
            one: replace(chunks[one], successors=[to for to in chunks[one].successors if to in starts - {start}])
            for one in starts - {start}
        }
        if chunks[start].probe and not innermost(rest):
            return start
    return None
