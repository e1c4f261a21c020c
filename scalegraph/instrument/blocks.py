"""The block cost table: what every execution of a basic block of the user's program costs.

The program was compiled with ``-fsanitize-coverage=trace-pc``; each call of ``__sanitizer_cov_trace_pc`` stands for a
basic block, identified by its return address. See ``operations.py`` for the cost of an instruction, ``costs.py`` for
what is left out and ``flow.py`` for which probe pays for an instruction.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from elftools.common.exceptions import DWARFError, ELFError
from numpy.typing import NDArray

from scalegraph.base.errors import Fault, InputError
from scalegraph.instrument.clocks import Call, clock_rows
from scalegraph.instrument.debuginfo import lines, unoptimised
from scalegraph.instrument.flow import Counts, Instruction
from scalegraph.instrument.functions.costs import Costs, costs_of
from scalegraph.instrument.functions.shapes import Reference, Shape, shape_of
from scalegraph.instrument.functions.skeletons import Decoded, Skeletons
from scalegraph.instrument.image import CALL_BYTES, LEFT_OUT, PROBE, Function, Image
from scalegraph.instrument.operations import CALL, Operation
from scalegraph.instrument.places import LineMap
from scalegraph.runtime.format import BLOCK, BLOCKS_MAGIC, ENDIAN_MARK, HEADER, SECTION, VERSION
from scalegraph.runtime.layout import Layout

__all__ = ["BlockTable", "LineMap", "ProbeReport", "block_costs", "block_table", "lines", "probe_report"]

BLOCKS_SECTION = 1
CLOCKS_SECTION = 4  # sections 2 and 3 hold a machine's timing
# What elftools raises on damaged executables, besides its own errors.
DAMAGE = (ELFError, DWARFError, OSError, MemoryError, struct.error, AssertionError, ValueError, LookupError)
_OPS_MAX = np.iinfo(np.uint16).max
_CALLED = Operation((CALL,), is_call=True, target=0)  # of a hook that was left out


@dataclass(frozen=True, slots=True)
class BlockTable:
    """Costs of an executable's blocks: *content* in the format of ``runtime/format.py``.

    *called*: functions without probes that code with probes calls, sorted by name.
    """

    content: bytes
    called: tuple[str, ...]


def block_table(path: Path | str) -> BlockTable:
    """Return the block table of the executable at *path*.

    One record for each probe, sorted by address. Raises `InputError` if *path* is damaged or not a fixed-address
    executable; a program without probes has an empty table.
    """
    try:
        image = Image(Path(path))
        paid, called, calls = _costs(image)
        clocks = clock_rows(image, calls)
    except DAMAGE as error:
        raise InputError(Fault("is damaged in its description of the code; build it again", str(path))) from error
    records = np.zeros(len(paid), dtype=BLOCK)
    if paid:
        addresses = sorted(paid)
        table = np.rint(np.array([paid[address] for address in addresses]))
        records["address"] = addresses
        records["ops"] = np.minimum(table[:, :-1], _OPS_MAX)
        records["flops"] = table[:, -1]
    header = np.zeros(1, dtype=HEADER)
    header["magic"], header["version"], header["endian"], header["sections"] = BLOCKS_MAGIC, VERSION, ENDIAN_MARK, 2
    header["flags"] = image.checksum
    return BlockTable(with_sections(header, {BLOCKS_SECTION: records, CLOCKS_SECTION: clocks}), called)


def with_sections(header: NDArray[np.void], written: Mapping[int, NDArray[np.void]]) -> bytes:
    """Return a block table: *header* and the records in *written*, by section number."""
    header["sections"] = len(written)
    sections = np.zeros(len(written), dtype=SECTION)
    offset = HEADER.itemsize + sections.nbytes
    for section, (number, records) in zip(sections, written.items(), strict=True):
        section["id"], section["record_size"], section["count"] = number, records.dtype.itemsize, len(records)
        section["offset"] = offset
        offset += records.nbytes
    return b"".join((header.tobytes(), sections.tobytes(), *(records.tobytes() for records in written.values())))


def section_of(table: bytes, number: int, layout: Layout) -> NDArray[np.void]:
    """Return the records of section *number* of the block table *table*."""
    header = np.frombuffer(table[: HEADER.itemsize], dtype=HEADER)
    sections = np.frombuffer(table, dtype=SECTION, count=int(header["sections"][0]), offset=HEADER.itemsize)
    (section,) = sections[sections["id"] == number]
    return np.frombuffer(table, dtype=layout, count=int(section["count"]), offset=int(section["offset"]))


def block_costs(path: Path | str) -> dict[int, Counts]:
    """Return operations by class, then flops, for each probe of the executable at *path* (before rounding)."""
    return _costs(Image(Path(path)))[0]


def _costs(image: Image) -> tuple[dict[int, Counts], tuple[str, ...], list[Call]]:
    """Return the cost of each probe, the functions without probes that those with probes call, and all calls."""
    paid: dict[int, Counts] = {}
    targets: set[int] = set()
    calls_made: list[Call] = []
    starts: set[int] = set()
    known: dict[str, Costs] = {}
    forms, is_frame_real = Skeletons(image), unoptimised(image.path)
    for function in probed_functions(image):
        frame = is_frame_real(function.start)
        shape = forms.shape(function, frame=frame)
        if shape is None or shape.digest not in known:
            _, instructions, shape, _ = read_function(image, function, frame=frame, forms=forms)
            known[shape.digest] = costs_of(image, function, instructions, shape, frame=frame)
        pays, leads, calls = known[shape.digest].at(shape)
        paid.update(pays)
        targets |= leads
        calls_made += calls
        starts.add(function.start)
    targets -= starts  # a jump to the beginning of a function is a call, too
    names = sorted(f.name for f in map(image.function_at, targets) if f is not None and f.start in targets)
    return paid, tuple(names), calls_made


class Read(NamedTuple):
    """A function with probes; *frame*: whether its stack frame counts as memory, see `costs`."""

    function: Function
    instructions: list[Instruction]
    shape: Shape
    frame: bool


def read_functions(image: Image) -> Iterator[Read]:
    """Yield the functions of *image* that have probes."""
    is_frame_real = unoptimised(image.path)
    for function in probed_functions(image):
        yield read_function(image, function, frame=is_frame_real(function.start))


def read_function(image: Image, function: Function, *, frame: bool, forms: Skeletons | None = None) -> Read:
    """Return *function* of *image*; *frame*: as in `Read`. If given, *forms* get to know it."""
    references: list[Reference] = []
    decoded: list[Decoded] = []
    instructions = list(disassemble(image, function, references, decoded))
    shape = shape_of(image, function, instructions, references, frame=frame)
    if forms is not None:
        forms.keep(function, decoded, instructions, references, shape, frame=frame)
    return Read(function, instructions, shape, frame)


def probed_functions(image: Image) -> list[Function]:
    """Return the functions of *image* that have probes."""
    probes = image.calls_to(PROBE.__eq__)
    found = {f.start: f for address in probes if (f := image.function_at(int(address))) is not None}
    return list(found.values())


def disassemble(
    image: Image,
    function: Function,
    references: list[Reference] | None = None,
    decoded: list[Decoded] | None = None,
) -> Iterator[Instruction]:
    """Yield the instructions of *function*. An inlined hook is one instruction; the call at its end stands for it.

    References from the instruction pointer are added to *references*, and what was disassembled to *decoded*.
    """
    inlined, hooks, imports, libraries = image.inlined, image.hooks, image.imports, image.libraries
    inside = image.inlined_in(function)
    skipped = [(start, end - CALL_BYTES if inlined[start].hook == "" else end) for start, end in inside]
    skipped = [(start, end) for start, end in skipped if inlined[start].hook not in LEFT_OUT]
    begins = {end: start for start, end in inside if inlined[start].hook is not None}
    within = 0  # where an inlined hook ends whose code was not skipped
    asked: list[tuple[int, bool]] = []

    def is_constant(address: int) -> bool:
        found = image.is_constant(address)
        asked.append((address, found))
        return found

    for address, size, operation in image.architecture.disassemble(
        image.bytes_of(function), function.start, is_constant, skipped
    ):
        end = address + size
        hook = callee = ""
        if decoded is not None:
            decoded.append((address, size, operation))
        if asked:
            if references is not None:
                references += [Reference(address, size, *one) for one in asked]
            asked.clear()
        if address in inlined:
            within, hook = inlined[address].end, inlined[address].hook or ""
        if within > end or (within == end and end not in begins):
            continue
        if (target := operation.target) is not None:
            hook = hooks.get(target, "")
            callee = imports.get(target) or libraries.get(target, "")
        if end in begins:
            begin = begins[end]
            yield Instruction(begin, end - begin, _CALLED if hook in LEFT_OUT else operation, hook, callee)
        else:
            yield Instruction(address, size, operation, hook, callee)


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """An executable's instrumentation, for diagnostics: calls by hook, functions with and without probes."""

    calls: dict[str, int]
    functions: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether there are both block probes and memory hooks."""
        return PROBE in self.calls and any(name.startswith("__tsan_") for name in self.calls)


def probe_report(path: Path | str) -> ProbeReport:
    """Return the number of calls of each hook in the executable at *path*, and the functions with block probes."""
    image = Image(Path(path))
    names = sorted(set(image.hooks.values()))
    calls = {name: image.calls_to(name.__eq__).size for name in names}
    owners = {f.name for a in image.calls_to(PROBE.__eq__) if (f := image.function_at(int(a)))}
    return ProbeReport({name: count for name, count in calls.items() if count}, tuple(sorted(owners)))


if __name__ == "__main__":
    sys.stdout.buffer.write(block_table(sys.argv[1]).content)
