"""What the probes of a function pay for, by its form: the same for all functions of that form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalegraph.instrument.clocks import Call, calls_of, counter_code
from scalegraph.instrument.costs import cost, parts_of_cost
from scalegraph.instrument.flow import Counts, Instruction, attribute, chunks_of
from scalegraph.instrument.functions.shapes import Shape
from scalegraph.instrument.image import PROBE, Function, Image


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of a function; addresses are distances from its start, targets as named by `Shape.named`.

    *paid*: by each probe; *targets*: of its jumps and calls that are no hooks; *calls*: of functions.
    """

    paid: dict[int, Counts]
    targets: tuple[int, ...]
    calls: tuple[Call, ...]

    def at(self, shape: Shape) -> tuple[dict[int, Counts], set[int], list[Call]]:
        """Return the same for a function of this *shape*, with addresses."""
        start = shape.start
        calls = [
            Call(
                start,
                one.target if one.is_reading else shape.address(one.target),
                one.address + start,
                one.probe + start,
                one.whole,
                one.behind,
            )
            for one in self.calls
        ]
        return (
            {probe + start: counts for probe, counts in self.paid.items()},
            {shape.address(target) for target in self.targets},
            calls,
        )


def costs_of(
    image: Image, function: Function, instructions: Sequence[Instruction], shape: Shape, *, frame: bool
) -> Costs:
    """Return the costs of *function*; *frame*: whether its stack frame counts as memory."""
    probes = {one.address: one.hook for one in instructions if one.hook == PROBE and one.operation.is_call}
    chunks = chunks_of(instructions, probes)
    kinds = image.architecture
    costs = {at: cost(chunk.instructions, kinds, frame_is_memory=frame) for at, chunk in chunks.items()}
    start = function.start
    paid = {probe - start: counts for probe, counts in attribute(chunks, costs).items()}
    made: list[Call] = []
    code = counter_code(image, function)
    for chunk in chunks.values():
        if chunk.probe and (code or any(one.operation.is_call and not one.hook for one in chunk.instructions)):
            parts = parts_of_cost(chunk.instructions, kinds, frame_is_memory=frame)
            made += calls_of(function, code, chunk.instructions, parts, chunk.probe)
    calls = tuple(
        Call(
            0,
            one.target if one.is_reading else shape.named(one.target),
            one.address - start,
            one.probe - start,
            np.array(one.whole),
            np.array(one.behind),
        )
        for one in made
    )
    targets = {one.operation.target for one in instructions if one.operation.target is not None and not one.hook}
    return Costs(paid, tuple(shape.named(target) for target in targets), calls)
