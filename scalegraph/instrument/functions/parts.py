"""The timing of some of a program's functions: those of the same form, with the same loops, are timed once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from scalegraph.instrument.blocks import Read
from scalegraph.instrument.functions.kept import Kept
from scalegraph.instrument.functions.outlines import Outline
from scalegraph.instrument.functions.times import MOST, Paths
from scalegraph.instrument.functions.timing import Timing
from scalegraph.instrument.image import Image
from scalegraph.instrument.replaced import PlainLoops, Replaced, Shares
from scalegraph.machine.model import Processor

Found = dict[str, Timing]
"""Timings by what they depend on, with addresses relative to the function's start."""


class Part:
    """Functions that were *read* from *image*; *others*: the plain build's loops; *kept*: results of earlier builds."""

    def __init__(
        self, image: Image, read: Sequence[Read], processor: Processor, others: PlainLoops | None, kept: Kept
    ) -> None:
        self._image, self._read, self._processor = image, read, processor
        self._others, self._kept = others, kept
        self._outlines: dict[str, Outline] = {}  # by form
        self._outside: dict[int, Shares] = {}
        model = processor.model_dump_json(exclude={"count", "clock_mhz"})
        self._model = hashlib.sha256(model.encode()).hexdigest()[:24]

    def _form(self, one: Read) -> str:
        """Return what functions with one outline have in common: where loops are compared, strides must be equal."""
        return one.shape.digest + (one.shape.constants if self._others else "")

    def between_calls(self) -> dict[int, int]:
        """Return the slots issued between two calls of a function from a loop of another one, by start of the callee.

        Of several loops, the shortest.
        """
        found: dict[int, int] = {}
        for one in self._read:
            for callee, slots in self.between(one):
                found[callee] = min(found.get(callee, MOST), slots)
        return found

    def between(self, one: Read) -> list[tuple[int, int]]:
        """Return, for each loop of the function *one* and each function called there, its start and those slots."""
        outline = self._outline(one)
        others = self._others
        share = self._outside[one.function.start] = others.outside(one.function, outline) if others else Shares()
        calls = outline.once("calls", partial(self._calls, outline))
        return [(one.shape.address(named), round(share.rest * slots)) for named, slots in calls]

    def _outline(self, one: Read) -> Outline:
        form = self._form(one)
        if form not in self._outlines:
            self._outlines[form] = Outline(self._image, one)
        return self._outlines[form]

    def _calls(self, outline: Outline) -> list[tuple[int, float]]:
        key = f"calls {outline.shape.digest}"
        kept = self._kept.get(key)
        if kept is not None:
            return [(named, slots) for named, slots in kept]
        found = outline.calls_in_loops()
        self._kept.put(key, found)
        return found

    def timings(self, between: Mapping[int, int]) -> Iterator[tuple[int, str, Timing | None]]:
        """Yield each function's start, what its timing depends on, and, the first time, the timing."""
        seen: set[str] = set()
        for one in self._read:
            start = one.function.start
            key, make = self.timing(one, between.get(start, 0))
            yield start, key, None if key in seen else make()
            seen.add(key)

    def timing(self, one: Read, between: int) -> tuple[str, Callable[[], Timing]]:
        """Return what the timing of function *one* depends on, and a function that returns it, with addresses from 0.

        Call it after `between` of this function; *between*: the fewest of those slots in the functions that call it.
        """
        outline = self._outline(one)
        replaced = self._others.replaced(one.function, outline) if self._others else []
        share, at = self._outside[one.function.start], outline.function.start
        loops = sorted((chunk - at, ratio) for chunk, ratio in share.loops.items())
        said = between, share.rest, loops, [_said(each, at) for each in replaced]
        key = f"{self._model} {one.shape.digest} {hashlib.sha256(repr(said).encode()).hexdigest()[:40]}"
        return key, partial(self._timing, key, outline, replaced, share, between)

    def _timing(self, key: str, outline: Outline, replaced: Sequence[Replaced], share: Shares, between: int) -> Timing:
        kept = self._kept.get(key)
        if kept is not None:
            return Timing.of_numbers(kept)
        paths = Paths(outline.chunks, outline.bodies, outline.ways, replaced, share)
        found = paths.timing(self._processor, between).moved(-outline.function.start)
        self._kept.put(key, found.numbers())
        return found


def _said(one: Replaced, start: int) -> tuple[object, ...]:
    """Return what the timing of a function at *start* depends on in one of its loops."""
    code = one.plain.code
    ours = sorted(at - start for at in one.chunks), one.payer - start, [at - start for at in one.way]
    return *ours, one.rounds, code.form, [at - code.function.start for at in one.plain.way]
