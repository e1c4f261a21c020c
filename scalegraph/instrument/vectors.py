"""Loops that the compiler vectorises in the plain build of a program, found again in the build with hooks.

Hooks prevent vectorisation, so the simulated program runs scalar loops. Here the innermost loops of the two builds are
matched: by function and by the source lines of what they load and store, and by how far their references move in a
round. If a reference moves four times as far in a round of the vector code as in one of the scalar code, then the
former does the work of four rounds of the latter. Where that is not clear, nothing is matched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from scalegraph.instrument.blocks import disassemble
from scalegraph.instrument.flow import Chunk, chunks_of
from scalegraph.instrument.image import Function, Image
from scalegraph.instrument.places import LineMap, load, source_name
from scalegraph.instrument.strides import Reference, decoded, references

Line: TypeAlias = tuple[str, int]
"""File and line."""

_NARROWEST: Final = 16  # bytes of a vector register
_ARITHMETIC: Final = re.compile(r"v?(?:add|sub|mul|div|sqrt|fn?m(?:add|sub)\d*|fmaddsub\d*|fmsubadd\d*)([ps])([sd])")
_INTEGER: Final = re.compile(r"v?p(?!ush|op|ause|refetch)\w+")
_VECTOR: Final = re.compile(r"[xyz]mm\d+")
_MOST: Final = 1024  # rounds that one of vector code replaces: 64 bytes, unrolled sixteen times
_SHARED: Final = 0.5  # of the lines of references, so many at least are common


@dataclass(frozen=True)
class Plain:
    """The plain build of a program: its *executable*, which is never run, and what `places.save` wrote of it."""

    executable: Path
    places: Path


@dataclass(frozen=True)
class Loop:
    """An innermost loop of one of the two builds.

    *function*: symbol of its function; *lines*: of all its instructions; *at*: of each of its *references*; *kinds*: of
    floating-point numbers that it computes with, ``s`` single and ``d`` double.
    """

    function: str
    lines: frozenset[Line]
    references: tuple[Reference, ...]
    at: tuple[Line, ...]
    kinds: frozenset[str]

    def lines_of(self, *, stores: bool | None = None) -> frozenset[Line]:
        """Return the lines of references that move: of loads, of stores, or of both."""
        return frozenset(
            line
            for line, one in zip(self.at, self.references, strict=True)
            if one.stride != 0 and stores in (None, one.stores)
        )

    def bytes_of(self, *, stores: bool) -> int:
        """Return the bytes that a round stores or loads."""
        return sum(one.size for one in self.references if one.stores == stores and one.stride != 0)


@dataclass(frozen=True)
class VectorLoop:
    """A loop of the plain build that one chunk of vector code goes round: the one at *start* of a function's *code*.

    *computes*: whether there is packed floating-point arithmetic in it.
    """

    loop: Loop
    code: PlainFunction
    start: int
    computes: bool


@dataclass(frozen=True, eq=False)
class PlainFunction:
    """A function of the plain build."""

    function: Function
    code: bytes
    chunks: Mapping[int, Chunk]


def lines_of(lines: LineMap, addresses: Sequence[int]) -> list[Line]:
    """Return the line of each of *addresses*, which are those behind instructions."""
    return [(place.file, place.line) for place in lines.lookup(addresses)]


def vector_loops(plain: Plain) -> tuple[VectorLoop, ...]:
    """Return the loops of the plain build that consist of vector code; raises as `Image` does."""
    return _vector_loops(plain, plain.executable.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _vector_loops(plain: Plain, _stamp: int) -> tuple[VectorLoop, ...]:
    image, lines = Image(plain.executable), load(plain.places).lines
    found: list[VectorLoop] = []
    for function in image.functions:
        code = image.bytes_of(function)
        if not _may_have_vectors(code):
            continue
        chunks = chunks_of(list(disassemble(image, function)), {})
        itself = PlainFunction(function, code, chunks)
        known: Mapping[int, Any] | None = None
        for start, chunk in chunks.items():
            if start in chunk.successors and not any(one.operation.is_call for one in chunk.instructions):
                known = known or decoded(code, function.start)
                if (made := _vector_loop(itself, chunk, known, lines)) is not None:
                    found.append(made)
    return tuple(found)


def _may_have_vectors(code: bytes) -> bool:
    """Return whether there is anything in *code* that could begin a vector instruction: a quick look."""
    return b"\x0f" in code or b"\xc5" in code or b"\xc4" in code or b"\x62" in code


def _vector_loop(code: PlainFunction, chunk: Chunk, known: Mapping[int, Any], lines: LineMap) -> VectorLoop | None:
    inside = [known[one.address] for one in chunk.instructions if one.address in known]
    computes = any((match := _ARITHMETIC.fullmatch(one.mnemonic)) and match[1] == "p" for one in inside)
    if not computes and not any(map(_is_packed, inside)):
        return None
    body = [one.address for one in chunk.instructions]
    loop = loop_of(code.function.name, body, known, lines, references(body, known))
    return VectorLoop(loop, code, chunk.start, computes)


def _is_packed(instruction: Any) -> bool:
    """Return whether an instruction works on several integers, or moves more than one number."""
    if _INTEGER.fullmatch(instruction.mnemonic) and _VECTOR.search(instruction.op_str):
        return True
    return any(one.size >= _NARROWEST and one.type == _memory() for one in instruction.operands)


@lru_cache(maxsize=1)
def _memory() -> int:
    from capstone import x86

    return int(x86.X86_OP_MEM)


def loop_of(
    function: str, body: Sequence[int], known: Mapping[int, Any], lines: LineMap, found: Iterable[Reference]
) -> Loop:
    """Return the loop of *function* whose instructions are at the addresses of *body*, with its references."""
    inside = [known[address] for address in body if address in known]
    kinds = {match[2] for one in inside if (match := _ARITHMETIC.fullmatch(one.mnemonic))}
    every = frozenset(lines_of(lines, [one.address + one.size for one in inside]))
    moving = tuple(found)
    at = tuple(lines_of(lines, [one.address for one in moving]))
    return Loop(function, every - {("", 0)}, moving, at, frozenset(kinds))


def match(scalar: Loop, candidates: Iterable[VectorLoop], *, is_exact: bool = True) -> tuple[VectorLoop, int] | None:
    """Return the vector loop among *candidates* that does the work of *scalar*, and how many of its rounds in one.

    *is_exact*: whether every round of *scalar* has all of its references, so that bytes can be compared.

    A loop of the same function comes before one of a copy of it, and that before others: what was inlined. Of those
    that are left the one with the most bytes a round is it; the others do what remains.
    """
    fitting = [
        (_nearness(scalar, one.loop), rounds, one)
        for one in candidates
        if (rounds := _rounds(scalar, one, is_exact=is_exact))
    ]
    if not fitting:
        return None
    nearest = max(near for near, _, _ in fitting)
    _, rounds, chosen = max((one for one in fitting if one[0] == nearest), key=lambda one: one[1])
    return chosen, rounds


def _nearness(scalar: Loop, vector: Loop) -> int:
    if scalar.function == vector.function:
        return 2
    return int(source_name(scalar.function) == source_name(vector.function))


def _rounds(scalar: Loop, vector: VectorLoop, *, is_exact: bool) -> int:
    """Return how many rounds of *scalar* a round of *vector* replaces; 0 if it is not its vector code."""
    loop = vector.loop
    if scalar.kinds != loop.kinds:
        return 0
    if not (scalar.lines_of(stores=True) <= loop.lines and loop.lines_of(stores=True) <= scalar.lines):
        return 0
    both = (scalar.lines_of(), loop.lines), (loop.lines_of(), scalar.lines)
    if any(len(mine & others) < max(1.0, _SHARED * len(mine)) for mine, others in both):
        return 0
    rounds = _ratio(scalar, loop)
    if not (1 if vector.computes else 2) <= rounds <= _MOST:
        return 0
    stored = scalar.bytes_of(stores=True)
    if is_exact and (stored or loop.bytes_of(stores=True)):
        return rounds if loop.bytes_of(stores=True) == rounds * stored else 0
    return rounds


def _ratio(scalar: Loop, vector: Loop) -> int:
    """Return how many times as far references move in a round of *vector*; 0 if that is not the same for all."""
    ratios: set[float] = set()
    for stores in (False, True):
        for line in scalar.lines_of(stores=stores) & vector.lines_of(stores=stores):
            less, more = _strides(scalar, line, stores=stores), _strides(vector, line, stores=stores)
            if less and len(less) == len(more):
                ratios |= {after / before for before, after in zip(less, more, strict=True)}
    if not ratios:
        less, more = _strides(scalar, None), _strides(vector, None)
        if less and len(less) == len(more):
            ratios = {after / before for before, after in zip(less, more, strict=True)}
    ratio = ratios.pop() if len(ratios) == 1 else 0.0
    return int(ratio) if ratio == int(ratio) and ratio > 0 else 0


def _strides(loop: Loop, line: Line | None, *, stores: bool | None = None) -> list[int]:
    """Return the different strides of the references in *line*, or of all, that are known, in order."""
    return sorted(
        {
            abs(one.stride)
            for at, one in zip(loop.at, loop.references, strict=True)
            if one.stride and line in (None, at) and stores in (None, one.stores)
        }
    )
