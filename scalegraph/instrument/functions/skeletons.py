"""Finds the form of a function whose code differs from that of a known one only in what the linker decides.

Its bytes are compared with the known function's, except for distances to other functions and data, constants, and code
of inlined hooks. Then both have the same instructions, and it need not be disassembled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from scalegraph.instrument.architecture import X86_64
from scalegraph.instrument.flow import Instruction
from scalegraph.instrument.functions.shapes import Reference, Shape, constant_in, distance_width
from scalegraph.instrument.image import CALL_BYTES, LEFT_OUT, Function, Image
from scalegraph.instrument.operations import Operation

Decoded = tuple[int, int, Operation]
"""Address, size and operation of an instruction, also of inlined hooks whose code is not skipped."""
_Names = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Skeleton:
    """A known function. Positions are distances from its start.

    *mask*: ones where bytes must be the *same*; *inside*, *outside*: targets and their names, of the latter where the
    distance ends and its width; *numbered*: the same of those that count in `Shape.outside`, and their *numbers*.
    *references*: where the distance is, the end of the instruction, whether the target is constant, and its distance
    from the first of its kind; *constants*: where they begin and end.
    """

    mask: int
    same: int
    inside: tuple[tuple[int, _Names], ...]
    outside: tuple[tuple[int, int, _Names], ...]
    numbered: tuple[tuple[int, int], ...]
    numbers: tuple[int, ...]
    references: tuple[tuple[int, int, bool, int], ...]
    constants: tuple[tuple[int, int], ...]
    digest: str


class Skeletons:
    """The functions of *image* that are known."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._known: dict[tuple[object, ...], list[_Skeleton]] = {}

    def shape(self, function: Function, *, frame: bool) -> Shape | None:
        """Return the form of *function* as `shape_of` does, None if no known function says it."""
        known = self._known.get(self._key(function, frame=frame))
        if not known:
            return None
        code = self._image.bytes_of(function)
        number = int.from_bytes(code, "little")
        for one in known:
            if number & one.mask == one.same and (shape := self._fitting(one, code, function)) is not None:
                return shape
        return None

    def keep(
        self,
        function: Function,
        decoded: Sequence[Decoded],
        instructions: Sequence[Instruction],
        references: Sequence[Reference],
        shape: Shape,
        *,
        frame: bool,
    ) -> None:
        """Note the disassembled *function*, whose form is *shape*."""
        if self._image.architecture is not X86_64:
            return
        code, start = self._image.bytes_of(function), function.start
        places = [_place(code, one, start) for one in references]
        if any(place is None for place in places):
            return
        free = bytearray(len(code))
        for first, last in self._skipped(function):
            free[first:last] = b"\xff" * (last - first)
        inside: list[tuple[int, _Names]] = []
        outside: list[tuple[int, int, _Names]] = []
        for address, size, operation in decoded:
            if (target := operation.target) is None:
                continue
            if start <= target < function.end:
                inside.append((target - start, self._names(target)))
            else:
                outside.append((address + size - start, distance_width(size), self._names(target)))
        own = [(one, to) for one in instructions if not one.hook and (to := one.operation.target) is not None]
        own = [(one, to) for one, to in own if not start <= to < function.end]
        numbered = tuple((one.address + one.size - start, distance_width(one.size)) for one, _ in own)
        numbers = tuple(shape.outside.index(to) for _, to in own)
        constants = tuple(at for one in instructions if (at := constant_in(one, start, function.end)) is not None)
        bases: dict[bool, int] = {}
        found = tuple(
            (
                place,
                one.address + one.size - start,
                one.is_constant,
                one.target - bases.setdefault(one.is_constant, one.target),
            )
            for place, one in zip(places, references, strict=True)
            if place is not None
        )
        fields = [(end - width, end) for end, width, _ in outside] + [(at, at + 4) for at, *_ in found]
        for first, last in (*fields, *constants):
            free[first:last] = b"\xff" * (last - first)
        mask = int.from_bytes(bytes(255 - byte for byte in free), "little")
        same = int.from_bytes(code, "little") & mask
        one = _Skeleton(mask, same, tuple(inside), tuple(outside), numbered, numbers, found, constants, shape.digest)
        self._known.setdefault(self._key(function, frame=frame), []).append(one)

    def _fitting(self, known: _Skeleton, code: bytes, function: Function) -> Shape | None:
        """Return the form of *function*, whose *code* has the same bytes, if its names and distances are the same."""
        start, end = function.start, function.end

        def target(after: int, width: int) -> int:
            return start + after + int.from_bytes(code[after - width : after], "little", signed=True)

        if any(self._names(start + to) != names for to, names in known.inside):
            return None
        for after, width, names in known.outside:
            to = target(after, width)
            if start <= to < end or self._names(to) != names:
                return None
        bases: dict[bool, int] = {}
        for place, after, is_constant, distance in known.references:
            away = int.from_bytes(code[place : place + 4], "little", signed=True)
            to = start + after + away
            # A distance of 0 is written in another way.
            if away == 0 or self._image.is_constant(to) != is_constant:
                return None
            if to - bases.setdefault(is_constant, to) != distance:
                return None
        numbers: dict[int, int] = {}
        found = tuple(numbers.setdefault(target(*one), len(numbers)) for one in known.numbered)
        if found != known.numbers:
            return None
        constants = b"".join(code[first:last] for first, last in known.constants)
        return Shape(start, end, known.digest, hashlib.sha256(constants).hexdigest()[:40], tuple(numbers))

    def _names(self, target: int) -> _Names:
        image = self._image
        return image.hooks.get(target, ""), image.imports.get(target) or image.libraries.get(target, "")

    def _key(self, function: Function, *, frame: bool) -> tuple[object, ...]:
        start, inlined = function.start, self._image.inlined
        hooks = [(first - start, last - start, inlined[first].hook) for first, last in self._image.inlined_in(function)]
        return frame, function.end - start, tuple(hooks)

    def _skipped(self, function: Function) -> list[tuple[int, int]]:
        """Return where the code of inlined hooks is that is not disassembled."""
        start, inlined = function.start, self._image.inlined
        found = [(first, last, inlined[first].hook) for first, last in self._image.inlined_in(function)]
        return [
            (first - start, last - start - (CALL_BYTES if hook == "" else 0))
            for first, last, hook in found
            if hook not in LEFT_OUT
        ]


def _place(code: bytes, one: Reference, start: int) -> int | None:
    """Return where in *code* the distance of the reference *one* is; None if that is not certain."""
    distance = (one.target - one.address - one.size).to_bytes(4, "little", signed=True)
    first, last = one.address - start, one.address - start + one.size
    place = code.find(distance, first, last)
    return place if place >= 0 and code.find(distance, place + 1, last) < 0 else None
