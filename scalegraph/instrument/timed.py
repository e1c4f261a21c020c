"""Costs of basic blocks on a machine with a pipeline: cycles of each probe, depending on the loop around the block.

The pipeline model (`pipeline`) executes every chunk of a function (`flow`) as part of the usual cyclic path that
contains it (`ways`): an iteration of the innermost loop, or if there is none, the function called repeatedly. So
operations overlap across blocks and iterations as far as window and dependences allow, and each chunk gets the time
that it adds. Transitions between chunks off these paths take more or less time (`Timing.turns`). `flow.attribute`
determines which probe pays for which chunk, as for operation counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, partial
from pathlib import Path

from scalegraph.base.errors import Fault, InputError
from scalegraph.instrument.architecture import X86_64
from scalegraph.instrument.blocks import DAMAGE, Read, read_functions
from scalegraph.instrument.functions.kept import Kept, nothing_kept
from scalegraph.instrument.functions.outlines import Outline
from scalegraph.instrument.functions.parts import Part
from scalegraph.instrument.functions.rows import table_with
from scalegraph.instrument.functions.side_by_side import meanwhile, timed_by
from scalegraph.instrument.functions.times import predicted
from scalegraph.instrument.functions.timing import Timing
from scalegraph.instrument.image import Image
from scalegraph.instrument.pipeline import Origins
from scalegraph.instrument.places import LineMap
from scalegraph.instrument.plain import Plain
from scalegraph.instrument.plain_loops import plain_code
from scalegraph.instrument.replaced import PlainLoops
from scalegraph.machine import Machine
from scalegraph.machine.model import Processor


def timed_table(
    table: bytes, path: Path, machine: Machine, lines: LineMap | None = None, plain: Plain | None = None
) -> bytes:
    """Return the block table *table* of the executable at *path* with added sections: timing on *machine*.

    *lines*, *plain*: see `timing`, which raises the same.
    """
    return table_with(table, timing(path, machine.processor, lines, plain))


def timing(path: Path, processor: Processor, lines: LineMap | None = None, plain: Plain | None = None) -> Timing:
    """Return the timing of the executable at *path* on *processor*, and which blocks need a prediction.

    Given the *lines* of the executable and the *plain* build of the same program, loops found in both take the time of
    the plain one, on a processor with a pipeline.

    Raises `InputError` if *path* is damaged or its architecture has no pipeline model: only x86-64 has one.
    """
    return _timing(path, path.stat().st_mtime_ns, processor, lines, plain)


@lru_cache(maxsize=32)
def _timing(path: Path, _stamp: int, processor: Processor, lines: LineMap | None, plain: Plain | None) -> Timing:
    return found_timing(path, processor, lines, plain, nothing_kept)


def found_timing(
    path: Path,
    processor: Processor,
    lines: LineMap | None,
    plain: Plain | None,
    keeping: Callable[[], AbstractContextManager[Kept]],
    processes: int = 1,
) -> Timing:
    """Return what `timing` does. *keeping*: opens what is kept of functions; *processes*: see `timed_by`."""
    try:
        image = Image(path)
        if not processor.pipeline.is_given:
            return _without_pipeline(image)
        if image.architecture is not X86_64:
            text = f"is {image.architecture.name} code; a machine with [pipeline] needs x86-64"
            raise InputError(Fault(text, str(path)))
        read, others = _read(image, lines, plain, processes)

        @contextmanager
        def opened(some: Sequence[Read]) -> Iterator[Part]:
            with keeping() as kept:
                yield Part(image, some, processor, others, kept)

        whole = Timing({}, {}, {}, {}, {})
        known: dict[str, Timing] = {}
        for start, key, timing in timed_by(processes, read, opened):
            if timing is not None:
                known[key] = timing
            whole.add(known[key].moved(start))
    except DAMAGE as error:
        raise InputError(Fault("is damaged in its description of the code; build it again", str(path))) from error
    return whole


def _read(
    image: Image, lines: LineMap | None, plain: Plain | None, processes: int
) -> tuple[list[Read], PlainLoops | None]:
    """Return the functions of *image*, and the loops of the *plain* build if there is one and *lines* are given."""
    if lines is None or plain is None:
        return list(read_functions(image)), None
    with meanwhile(processes, partial(plain_code, plain)) as code:
        return list(read_functions(image)), PlainLoops(lines, code())


def _without_pipeline(image: Image) -> Timing:
    """Return which blocks need a prediction; operations have fixed costs."""
    found: dict[int, Origins] = {}
    of_shape: dict[str, Timing] = {}
    for one in read_functions(image):
        if one.shape.digest not in of_shape:
            foreseen = predicted(Outline(image, one).chunks, {}, frozenset())
            of_shape[one.shape.digest] = Timing({}, foreseen, {}, {}, {}).moved(-one.function.start)
        found |= of_shape[one.shape.digest].moved(one.function.start).predicted
    return Timing({}, found, {}, {}, {})
