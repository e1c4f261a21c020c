"""Matches innermost loops of a program's plain build with those of the build with hooks.

Hooks prevent vectorisation and unrolling, and with them a compiler chooses other instructions and registers. This
module matches the innermost loops of the two builds: by function, by the source lines of their loads and stores, and by
how far their references move per iteration. If a reference moves four times as far in an iteration of the plain loop as
in one of the loop with hooks, then one plain iteration does the work of four. In ambiguous cases nothing is matched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

from scalegraph.instrument.blocks import disassemble
from scalegraph.instrument.effects import effects
from scalegraph.instrument.flow import Chunk, chunks_of
from scalegraph.instrument.functions.shapes import Reference as Pointed
from scalegraph.instrument.functions.shapes import shape_of
from scalegraph.instrument.image import Function, Image
from scalegraph.instrument.innermost import Loops, joint
from scalegraph.instrument.pipeline import Step
from scalegraph.instrument.places import LineMap, load, source_name
from scalegraph.instrument.plain import Plain
from scalegraph.instrument.steps import LINE_BYTES, plain_steps, slots_of
from scalegraph.instrument.strides import Decoded, Reference, references
from scalegraph.instrument.ways import Ways

Line: TypeAlias = tuple[str, int]
"""File and line."""

_ARITHMETIC: Final = re.compile(r"v?(?:add|sub|mul|div|sqrt|fn?m(?:add|sub)\d*|fmaddsub\d*|fmsubadd\d*)([ps])([sd])")
_MOST: Final = 1024  # iterations that one plain iteration replaces: 64 bytes, unrolled sixteen times
_SHARED: Final = 0.5  # required share of common lines among the lines of references


@dataclass(frozen=True)
class Loop:
    """An innermost loop of one of the two builds.

    *function*: symbol of its function; *lines*: of all its instructions; *at*: line of each of its *references*;
    *kinds*: of floating-point numbers in its arithmetic, ``s`` single and ``d`` double.
    """

    function: str
    lines: frozenset[Line]
    references: tuple[Reference, ...]
    at: tuple[Line, ...]
    kinds: frozenset[str]

    @cached_property
    def moving(self) -> frozenset[Line]:
        """The lines of moving references."""
        return self.stored | self._lines(stores=False)

    @cached_property
    def stored(self) -> frozenset[Line]:
        """The lines of moving stores."""
        return self._lines(stores=True)

    def lines_of(self, *, stores: bool) -> frozenset[Line]:
        """Return the lines of moving stores or loads."""
        return self.stored if stores else self._lines(stores=False)

    def _lines(self, *, stores: bool) -> frozenset[Line]:
        both = zip(self.at, self.references, strict=True)
        return frozenset(line for line, one in both if one.stride != 0 and one.stores == stores)

    def bytes_of(self, *, stores: bool) -> int:
        """Return the bytes that an iteration stores or loads."""
        return sum(one.size for one in self.references if one.stores == stores and one.stride != 0)


@dataclass(frozen=True)
class PlainLoop:
    """A loop of the plain build: *way*, its usual path through the chunks of *code*, by their starts.

    The *code* may be that of another function of the same form; *at* is where the loop itself begins.
    """

    loop: Loop
    code: PlainFunction
    way: tuple[int, ...]
    at: int


@dataclass(frozen=True, eq=False)
class PlainFunction:
    """A function of the plain build."""

    function: Function
    code: bytes
    chunks: Mapping[int, Chunk]
    digest: str  # of its form

    def __getstate__(self) -> dict[str, object]:
        """Return what another process needs; steps that are packed for the C model are of use in this one only."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def form(self) -> tuple[str, int]:
        """What the times of its paths depend on: its form, and where its code lies in a line of the processor."""
        return self.digest, self.function.start % LINE_BYTES

    @cached_property
    def decoded(self) -> Decoded:
        """Its instructions with their operands."""
        return Decoded(self.code, self.function.start)

    @cached_property
    def loops(self) -> list[tuple[tuple[int, ...], list[int], list[Reference]]]:
        """Its innermost loops without calls: the usual path, its instructions and references."""
        found = []
        for starts in self.ways.loops.innermost:
            inside = [one for start in sorted(starts) for one in self.chunks[start].instructions]
            if any(one.operation.is_call for one in inside):
                continue
            way = tuple(starts) if len(starts) == 1 else usual_way(self.chunks, starts, self.ways)
            if way:
                body = [one.address for start in way for one in self.chunks[start].instructions]
                found.append((way, body, references(body, self.decoded)))
        return found

    @cached_property
    def counted(self) -> Counted:
        """Its slots, for `Outside`."""
        return counted(self.chunks, self.ways.loops, self.bodies)

    @cached_property
    def bodies(self) -> dict[int, list[Step]]:
        """The steps that the pipeline executes for each chunk."""
        own = [one for chunk in self.chunks.values() for one in chunk.instructions]
        known = effects(self.code, self.function.start, own, lambda _address: False)
        return {at: plain_steps(chunk.instructions, known) for at, chunk in self.chunks.items()}

    @cached_property
    def ways(self) -> Ways:
        """The cyclic paths through it."""
        return Ways(self.chunks, self.bodies)


def usual_way(chunks: Mapping[int, Chunk], starts: frozenset[int], ways: Ways) -> tuple[int, ...]:
    """Return the usual path round the loop whose chunks begin at *starts*; empty if it leaves the loop."""
    start = joint(chunks, starts)
    way, _ = ([], False) if start is None else ways.round(start)
    return tuple(way) if starts >= set(way) else ()


def lines_of(lines: LineMap, addresses: Sequence[int]) -> list[Line]:
    """Return the line of each of *addresses*, which are those after instructions."""
    return lines.lines_at(addresses)


@dataclass(frozen=True)
class Outside:
    """Code outside innermost loops: the *slots* of its instructions by line; *loops*: lines of the innermost loops.

    *calling*: slots by line of each innermost loop that calls functions, without those of library functions.
    """

    slots: Mapping[Line, float]
    loops: frozenset[Line]
    calling: Mapping[frozenset[int], Mapping[Line, float]]


class PlainReader:
    """Reads functions of the *plain* build, those of the same form once; raises as `Image` does."""

    def __init__(self, plain: Plain) -> None:
        self.image, self.lines = Image(plain.executable, moves=True), load(plain.places).lines
        self._forms: dict[tuple[object, ...], PlainFunction] = {}

    def read(self, function: Function) -> tuple[Outside, list[PlainLoop]] | None:
        """Return the code of *function* outside its loops, and its loops without calls; None: it has no code."""
        pointed: list[Pointed] = []
        image = self.image
        instructions = list(disassemble(image, function, pointed))
        if not instructions:
            return None
        shape = shape_of(image, function, instructions, pointed, frame=True)
        form = shape.digest, shape.constants, function.start % LINE_BYTES
        if form not in self._forms:
            chunks = chunks_of(instructions, {})
            self._forms[form] = PlainFunction(function, image.bytes_of(function), chunks, shape.digest)
        code = self._forms[form]
        by = function.start - code.function.start
        there = self.lines.moved(by)
        loops = [
            PlainLoop(loop_of(function.name, body, code.decoded, there, moving), code, way, way[0] + by)
            for way, body, moving in code.loops
        ]
        return code.counted.outside(there), loops


@dataclass(frozen=True)
class PlainCode:
    """The plain build: innermost *loops* without calls, and by function the code *outside* innermost loops."""

    loops: tuple[PlainLoop, ...]
    outside: Mapping[str, Outside]

    def outside_of(self, name: str) -> Outside | None:
        """Return the code of the function *name* outside innermost loops."""
        return self.outside.get(name)

    def named(self, name: str) -> Sequence[PlainLoop]:
        """Return the loops of the functions with this `source_name`."""
        return self._by_name.get(name, ())

    def on(self, lines: Iterable[Line]) -> Iterable[PlainLoop]:
        """Return the loops on any of *lines*; of loops that fit the same ones elsewhere, only the lowest."""
        return {id(one): one for line in lines for one in self._by_line.get(line, ())}.values()

    def covers(self, lines: Iterable[Line]) -> bool:
        """Return whether there may be loops on any of *lines*."""
        return not self._by_line.keys().isdisjoint(lines)

    @cached_property
    def _by_name(self) -> dict[str, list[PlainLoop]]:
        found: dict[str, list[PlainLoop]] = {}
        for one in self.loops:
            found.setdefault(source_name(one.loop.function), []).append(one)
        return found

    @cached_property
    def _by_line(self) -> dict[Line, list[PlainLoop]]:
        found: dict[Line, list[PlainLoop]] = {}
        for one in lowest(self.loops):
            for line in one.loop.lines:
                found.setdefault(line, []).append(one)
        return found


def lowest(loops: Iterable[PlainLoop]) -> Iterable[PlainLoop]:
    """Return the lowest of the *loops* that fit the same loops of other functions; instances of a template often do."""
    first: dict[tuple[object, ...], PlainLoop] = {}
    for one in loops:
        loop = one.loop
        moving = tuple((each.size, each.stride, each.stores) for each in loop.references)
        fits = len(one.way) > 1, loop.lines, loop.at, moving, loop.kinds
        if one.at <= first.setdefault(fits, one).at:
            first[fits] = one
    return first.values()


def plain_code(plain: Plain) -> PlainCode:
    """Return the loops and other code of the plain build; raises as `Image` does."""
    return _plain_code(plain, plain.executable.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _plain_code(plain: Plain, _stamp: int) -> PlainCode:
    reader = PlainReader(plain)
    found: list[PlainLoop] = []
    others: dict[str, Outside] = {}
    for function in reader.image.functions:
        if (code := reader.read(function)) is not None:
            others[function.name] = code[0]
            found += code[1]
    return PlainCode(tuple(found), others)


class PlainByNeed:
    """The same as a `PlainCode` of the *plain* build, but a function is read only when it is needed."""

    def __init__(self, plain: Plain) -> None:
        self._reader = PlainReader(plain)
        self._read: dict[int, tuple[Outside, list[PlainLoop]] | None] = {}
        self._by_name: dict[str, list[Function]] = {}
        self._by_line: dict[Line, list[Function]] = {}
        for function in self._reader.image.functions:
            self._by_name.setdefault(source_name(function.name), []).append(function)
            for line in self._reader.lines.lines_between(function.start, function.end):
                self._by_line.setdefault(line, []).append(function)

    def outside_of(self, name: str) -> Outside | None:
        """Return what `PlainCode.outside_of` does."""
        for function in reversed(self._by_name.get(source_name(name), ())):
            if function.name == name and (code := self._code(function)) is not None:
                return code[0]
        return None

    def named(self, name: str) -> Sequence[PlainLoop]:
        """Return what `PlainCode.named` does."""
        return self._loops(self._by_name.get(name, ()))

    def on(self, lines: Iterable[Line]) -> Iterable[PlainLoop]:
        """Return what `PlainCode.on` does."""
        wanted = frozenset(lines)
        functions = {function.start: function for line in wanted for function in self._by_line.get(line, ())}
        return lowest(one for one in self._loops(functions.values()) if not wanted.isdisjoint(one.loop.lines))

    def covers(self, lines: Iterable[Line]) -> bool:
        """Return what `PlainCode.covers` does."""
        return not self._by_line.keys().isdisjoint(lines)

    def _loops(self, functions: Iterable[Function]) -> list[PlainLoop]:
        return [one for function in functions if (code := self._code(function)) is not None for one in code[1]]

    def _code(self, function: Function) -> tuple[Outside, list[PlainLoop]] | None:
        if function.start not in self._read:
            self._read[function.start] = self._reader.read(function)
        return self._read[function.start]


@dataclass(frozen=True)
class Counted:
    """Slots of a function's instructions, by the addresses after them: `Outside` before lines are known.

    *looped*: the addresses in innermost loops.
    """

    slots: Sequence[tuple[int, float]]
    looped: Sequence[int]
    calling: Sequence[tuple[frozenset[int], Sequence[tuple[int, float]]]]

    def outside(self, lines: LineMap) -> Outside:
        """Return the slots by line."""
        calling = {loop: _by_line(counts, lines) for loop, counts in self.calling}
        return Outside(_by_line(self.slots, lines), frozenset(lines_of(lines, self.looped)), calling)


def counted(chunks: Mapping[int, Chunk], loops: Loops, bodies: Mapping[int, Sequence[Step]]) -> Counted:
    """Return the slots of a function that are not inside its innermost *loops*, and of those that call functions.

    Unreachable chunks, which are padding between others, are left out.
    """
    entry, inside = next(iter(chunks), 0), loops.inside()
    slots: list[tuple[int, float]] = []
    looped: list[int] = []
    for at, chunk in chunks.items():
        own = [one for one in chunk.instructions if not one.hook]
        if at in inside:
            looped += [one.address + one.size for one in own]
        elif chunk.predecessors > 0 or at == entry:
            counts = slots_of(own, bodies[at])
            slots += [(one.address + one.size, count) for one, count in zip(own, counts, strict=True)]
    calling: list[tuple[frozenset[int], list[tuple[int, float]]]] = []
    for loop in loops.calling(chunks):
        found: list[tuple[int, float]] = []
        for at in loop:
            own = [one for one in chunks[at].instructions if not one.hook]
            for one, count in zip(own, slots_of(own, bodies[at]), strict=True):
                found.append((one.address + one.size, 1.0 if one.operation.is_call else count))
        calling.append((loop, found))
    return Counted(slots, looped, calling)


def _by_line(counts: Sequence[tuple[int, float]], lines: LineMap) -> dict[Line, float]:
    found: dict[Line, float] = {}
    for line, (_, count) in zip(lines_of(lines, [at for at, _ in counts]), counts, strict=True):
        found[line] = found.get(line, 0.0) + count
    return found


def loop_of(function: str, body: Sequence[int], known: Decoded, lines: LineMap, found: Iterable[Reference]) -> Loop:
    """Return the loop of *function* whose instructions are at the addresses of *body*, with its references."""
    inside = [one for address in body if (one := known.get(address)) is not None]
    kinds = {match[2] for one in inside if (match := _ARITHMETIC.fullmatch(one.mnemonic))}
    every = frozenset(lines_of(lines, [one.address + one.size for one in inside]))
    moving = tuple(found)
    at = tuple(lines_of(lines, [one.address for one in moving]))
    return Loop(function, every - {("", 0)}, moving, at, frozenset(kinds))


def match(hooked: Loop, candidates: Iterable[PlainLoop], *, is_exact: bool = True) -> tuple[PlainLoop, int] | None:
    """Return the candidate that does the work of *hooked*, and how many of its iterations one plain iteration replaces.

    *is_exact*: whether every iteration of *hooked* makes all of its references, so that bytes can be compared.

    Loops of the same function are preferred, then those of a clone of it, then others (inlined code). Among these the
    one that replaces most iterations wins; the others are remainder loops. Ties go to the one with the most common
    lines, then to the lowest address.
    """
    near: dict[int, list[PlainLoop]] = {}
    for one in candidates:
        if hooked.kinds == one.loop.kinds:
            near.setdefault(_nearness(hooked, one.loop), []).append(one)
    for nearness in sorted(near, reverse=True):
        fitting = [(rounds, one) for one in near[nearness] if (rounds := _rounds(hooked, one.loop, is_exact=is_exact))]
        if fitting:
            rounds, chosen = max(fitting, key=lambda one: (one[0], len(hooked.lines & one[1].loop.lines), -one[1].at))
            return chosen, rounds
    return None


def _nearness(hooked: Loop, plain: Loop) -> int:
    if hooked.function == plain.function:
        return 2
    return int(source_name(hooked.function) == source_name(plain.function))


def _rounds(hooked: Loop, loop: Loop, *, is_exact: bool) -> int:
    """Return how many iterations of *hooked* an iteration of the plain *loop* replaces; 0 if it is a different loop."""
    if not (hooked.stored <= loop.lines and loop.stored <= hooked.lines):
        return 0
    both = (hooked.moving, loop.lines), (loop.moving, hooked.lines)
    if any(len(mine & others) < max(1.0, _SHARED * len(mine)) for mine, others in both):
        return 0
    rounds = _ratio(hooked, loop)
    if not 1 <= rounds <= _MOST:
        return 0
    stored = hooked.bytes_of(stores=True)  # 0 if hooks report no stores, as for arrays local to a function
    return 0 if is_exact and stored and loop.bytes_of(stores=True) != rounds * stored else rounds


def _ratio(hooked: Loop, plain: Loop) -> int:
    """Return the ratio of reference strides of *plain* to *hooked*; 0 if it is not the same for all."""
    ratios: set[float] = set()
    for stores in (False, True):
        for line in hooked.lines_of(stores=stores) & plain.lines_of(stores=stores):
            less, more = _strides(hooked, line, stores=stores), _strides(plain, line, stores=stores)
            if less and len(less) == len(more):
                ratios |= {after / before for before, after in zip(less, more, strict=True)}
    if not ratios:
        less, more = _strides(hooked, None), _strides(plain, None)
        if less and len(less) == len(more):
            ratios = {after / before for before, after in zip(less, more, strict=True)}
    ratio = ratios.pop() if len(ratios) == 1 else 0.0
    return int(ratio) if ratio == int(ratio) and ratio > 0 else 0


def _strides(loop: Loop, line: Line | None, *, stores: bool | None = None) -> list[int]:
    """Return the distinct known strides of the references in *line*, or in all lines, sorted."""
    return sorted(
        {
            abs(one.stride)
            for at, one in zip(loop.at, loop.references, strict=True)
            if one.stride and line in (None, at) and stores in (None, one.stores)
        }
    )
