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

import numpy as np
from elftools.common.exceptions import DWARFError, ELFError
from numpy.typing import NDArray

from scalegraph.base.errors import Fault, InputError
from scalegraph.instrument.clocks import Call, calls_of, clock_rows
from scalegraph.instrument.costs import cost, parts_of_cost
from scalegraph.instrument.debuginfo import lines, unoptimised
from scalegraph.instrument.flow import Counts, Instruction, attribute, chunks_of
from scalegraph.instrument.image import LEFT_OUT, PROBE, Function, Image
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
    is_frame_real = unoptimised(image.path)
    paid: dict[int, Counts] = {}
    targets: set[int] = set()
    probed = probed_functions(image)
    calls_made: list[Call] = []
    for function in probed:
        instructions = list(disassemble(image, function))
        targets.update(i.operation.target for i in instructions if i.operation.target is not None and not i.hook)
        calls = {i.address: i.hook for i in instructions if i.hook == PROBE and i.operation.is_call}
        chunks = chunks_of(instructions, calls)
        frame = is_frame_real(function.start)
        costs = {
            start: cost(chunk.instructions, image.architecture, frame_is_memory=frame)
            for start, chunk in chunks.items()
        }
        paid.update(attribute(chunks, costs))
        for chunk in chunks.values():
            if chunk.probe and any(i.operation.is_call and not i.hook for i in chunk.instructions):
                parts = parts_of_cost(chunk.instructions, image.architecture, frame_is_memory=frame)
                calls_made += calls_of(image, function, chunk.instructions, parts, chunk.probe)
    targets -= {function.start for function in probed}  # a jump to the beginning of a function is a call, too
    names = sorted(f.name for f in map(image.function_at, targets) if f is not None and f.start in targets)
    return paid, tuple(names), calls_made


def probed_functions(image: Image) -> list[Function]:
    """Return the functions of *image* that have probes."""
    probes = image.calls_to(PROBE.__eq__)
    found = {f.start: f for address in probes if (f := image.function_at(int(address))) is not None}
    return list(found.values())


def disassemble(image: Image, function: Function) -> Iterator[Instruction]:
    """Yield the instructions of *function*."""
    read = image.architecture.disassemble(image.bytes_of(function), function.start, image.is_constant)
    begin = within = 0  # of an inlined hook, and where it ends
    for address, size, operation in read:
        hook = callee = ""
        if address in image.inlined:
            begin, within = address, image.inlined[address].end
            hook = image.inlined[address].hook or ""
        if within > address + size or (within == address + size and image.inlined[begin].hook is None):
            continue
        if operation.target is not None:
            hook = image.hooks.get(operation.target, "")
            callee = image.imports.get(operation.target) or image.libraries.get(operation.target, "")
        if within == address + size:  # the call at its end stands for the whole hook
            yield Instruction(begin, within - begin, _CALLED if hook in LEFT_OUT else operation, hook, callee)
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
