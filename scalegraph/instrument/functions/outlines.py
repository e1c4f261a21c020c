"""A function as the pipeline model reads it: its chunks, their steps, and the paths through it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from scalegraph.instrument.blocks import Read
from scalegraph.instrument.effects import effects
from scalegraph.instrument.flow import Chunk, chunks_of
from scalegraph.instrument.image import PROBE, Image
from scalegraph.instrument.pipeline import Step
from scalegraph.instrument.steps import steps_of
from scalegraph.instrument.strides import Decoded
from scalegraph.instrument.ways import Ways

T = TypeVar("T")


class Outline:
    """What the model needs to know of the function that was *read* from *image*, found when it is first needed.

    It stands for all functions of that shape.
    """

    def __init__(self, image: Image, read: Read) -> None:
        self._image, self._read = image, read
        self._once: dict[object, Any] = {}
        self.function, self.shape = read.function, read.shape

    @cached_property
    def chunks(self) -> dict[int, Chunk]:
        """Its chunks, by their starts."""
        instructions = self._read.instructions
        probes = {one.address: one.hook for one in instructions if one.hook == PROBE and one.operation.is_call}
        return chunks_of(instructions, probes)

    @cached_property
    def bodies(self) -> dict[int, list[Step]]:
        """The steps of each chunk."""
        read = self._read
        code = self._image.bytes_of(read.function)
        known = effects(code, read.function.start, read.instructions, self._image.is_constant)
        return {
            start: steps_of(chunk.instructions, known, frame_is_memory=read.frame)
            for start, chunk in self.chunks.items()
        }

    @cached_property
    def ways(self) -> Ways:
        """The cyclic paths through it."""
        return Ways(self.chunks, self.bodies)

    @cached_property
    def decoded(self) -> Decoded:
        """Its instructions with their operands."""
        return Decoded(self._image.bytes_of(self.function), self.function.start)

    def once(self, key: object, find: Callable[[], T]) -> T:
        """Return what *find* returns, called once for each *key*."""
        if key not in self._once:
            self._once[key] = find()
        found: T = self._once[key]
        return found

    def calls_in_loops(self) -> list[tuple[int, float]]:
        """Return the functions called in its loops, as named by `Shape.named`: slots issued between two calls.

        This is the usual path round that loop.
        """
        found: list[tuple[int, float]] = []
        for at, chunk in self.chunks.items():
            called = {
                each.operation.target
                for each in chunk.instructions
                if each.operation.is_call and not each.hook and each.operation.target is not None
            }
            way, leaves = self.ways.round(at) if called else ([], True)
            if not leaves:
                slots = sum(step.slots for start in way for step in self.bodies[start])
                found += [(self.shape.named(target), slots) for target in called]
        return found
