"""Times functions of a program one by one, as a run asks for them: only they and their callers are disassembled."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from scalegraph.instrument.blocks import Read, probed_functions, read_function
from scalegraph.instrument.debuginfo import unoptimised
from scalegraph.instrument.functions.kept import Kept
from scalegraph.instrument.functions.parts import Part
from scalegraph.instrument.functions.timing import Timing
from scalegraph.instrument.image import Function, Image
from scalegraph.instrument.replaced import PlainLoops
from scalegraph.machine.model import Processor

_CALL_BYTES = 5


class OneByOne:
    """The functions of *image* on *processor*; *others*, *kept*: as of a `Part`."""

    def __init__(self, image: Image, processor: Processor, others: PlainLoops | None, kept: Kept) -> None:
        self._image = image
        self._part = Part(image, (), processor, others, kept)
        self._functions = {function.start: function for function in probed_functions(image)}
        self._is_frame_real = unoptimised(image.path)
        self._callers = self._all_callers()
        self._read: dict[int, Read] = {}
        self._between: dict[int, list[tuple[int, int]]] = {}

    def timing_at(self, probe: int) -> Timing:
        """Return the timing of the function with the block whose probe returns to *probe*: as `found_timing`.

        Raises `LookupError` if there is no such function.
        """
        function = self._image.function_at(probe - 1)
        if function is None or function.start not in self._functions:
            raise LookupError(f"no function is at {probe:#x}")
        start = function.start
        around = [function, *self._callers[start].values()]
        slots = [slots for one in around for callee, slots in self._calls(one) if callee == start]
        _, make = self._part.timing(self._function(function), min(slots, default=0))
        return make().moved(start)

    def _calls(self, function: Function) -> list[tuple[int, int]]:
        if function.start not in self._between:
            self._between[function.start] = self._part.between(self._function(function))
        return self._between[function.start]

    def _function(self, function: Function) -> Read:
        start = function.start
        if start not in self._read:
            self._read[start] = read_function(self._image, function, frame=self._is_frame_real(start))
        return self._read[start]

    def _all_callers(self) -> dict[int, dict[int, Function]]:
        """Return, by start of a function, the functions with bytes that look like a call of it, by their starts."""
        found: dict[int, dict[int, Function]] = defaultdict(dict)
        starts = np.array(sorted(self._functions), dtype=np.int64)
        for code in self._image.codes:
            for site in self._image.architecture.call_sites(code.data, code.address, starts):
                after = int(site) - code.address + _CALL_BYTES
                target = int(site) + _CALL_BYTES + int.from_bytes(code.data[after - 4 : after], "little", signed=True)
                caller = self._image.function_at(int(site))
                if caller is not None and caller.start in self._functions:
                    found[target][caller.start] = self._functions[caller.start]
        return found
