"""What a function's costs and times depend on, in a form that does not depend on where the linker has put it.

Templates and inline functions occur many times with the same code, and most functions of a program stay the same when
it is built again. Left out of the form are the addresses of functions outside, of data at a distance from the
instruction pointer and of counters of inlined hooks; in their place are the names of hooks and library functions, the
order in which other functions first appear, and the distances of the data from one another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from scalegraph.instrument.architecture import X86_64
from scalegraph.instrument.flow import Instruction
from scalegraph.instrument.image import Function, Image

_WIDE: Final = 5  # bytes of the shortest jump or call with a displacement of four bytes, and of a move of a constant
_WIDEST: Final = 10  # of a move of a constant of eight bytes


class Reference(NamedTuple):
    """An operand at *target*, addressed from the end of the instruction at *address*."""

    address: int
    size: int
    target: int
    is_constant: bool  # in read-only data


@dataclass(frozen=True, slots=True)
class Shape:
    """A function's form: *digest*; *outside*: the addresses that its jumps and calls lead to, by first appearance.

    *constants*: a digest of the constants that it moves to registers, on which no cost or time depends: among them
    are numbers of regions and addresses of variables.
    """

    start: int
    end: int
    digest: str
    constants: str
    outside: tuple[int, ...]

    def named(self, target: int) -> int:
        """Return *target*, an address here, as functions of the same form call it: distance, or number outside."""
        return target - self.start if self.start <= target < self.end else -2 - self.outside.index(target)

    def address(self, named: int) -> int:
        """Return the address here that `named` calls *named*."""
        return self.start + named if named >= 0 else self.outside[-2 - named]


def distance_width(size: int) -> int:
    """Return the bytes of the distance at the end of a jump or call of *size* bytes."""
    return 4 if size >= _WIDE else 1


def constant_in(one: Instruction, start: int, end: int) -> tuple[int, int] | None:
    """Return where the constant that *one* moves to a register begins and ends, from *start*; None: it moves none.

    *start*, *end*: of its function.
    """
    target = one.operation.target
    if one.hook or one.callee or (target is not None and not start <= target < end):
        return None
    if not one.operation.is_constant or one.size < _WIDE:
        return None
    last = one.address + one.size - start
    return last - (8 if one.size == _WIDEST else 4), last


def shape_of(
    image: Image,
    function: Function,
    instructions: Sequence[Instruction],
    references: Sequence[Reference],
    *,
    frame: bool,
) -> Shape:
    """Return the form of *function*; *frame*: whether its stack frame counts as memory, see `costs`."""
    code = bytearray(image.bytes_of(function))
    start, end = function.start, function.end
    said: list[object] = [image.architecture.name, frame, len(code)]
    if image.architecture is not X86_64:  # addresses are put together from parts of several instructions
        said += [start, image.checksum]
    numbers: dict[int, int] = {}  # of targets outside
    for first, last in image.inlined_in(function):
        code[first - start : last - start] = bytes(last - first)
        said.append((first - start, last - first))
    constants = bytearray()
    for one in instructions:
        target = one.operation.target
        at = one.address - start
        if one.hook:
            code[at : at + one.size] = bytes(one.size)
            said.append((at, one.size, one.hook, one.operation.is_jump, one.operation.is_call, one.operation.ends))
        elif target is not None and not start <= target < end:
            width = distance_width(one.size)
            code[at + one.size - width : at + one.size] = bytes(width)
            said.append((at, one.callee, numbers.setdefault(target, len(numbers))))
        elif one.callee:
            said.append((at, one.callee))
        elif (constant := constant_in(one, start, end)) is not None:
            first, last = constant
            constants += code[first:last]
            code[first:last] = bytes(last - first)
            said.append((first, one.size, *one.operation.writes))
    said.append("data")
    bases: dict[bool, int] = {}  # read-only and other data may move apart
    for at, size, target, is_constant in references:
        distance = (target - at - size).to_bytes(4, "little", signed=True)
        place = code.rfind(distance, at - start, at - start + size)
        if place >= 0:
            code[place : place + 4] = bytes(4)
        said.append((at - start, is_constant, target - bases.setdefault(is_constant, target)))
    digest = hashlib.sha256(code + repr(said).encode()).hexdigest()[:40]
    return Shape(start, end, digest, hashlib.sha256(constants).hexdigest()[:40], tuple(numbers))
