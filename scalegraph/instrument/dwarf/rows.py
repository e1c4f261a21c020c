"""The rows of a line program (DWARF 2 to 5), some twenty times as fast as pyelftools, which makes an object of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scalegraph.instrument.dwarf.numbers import signed, unsigned

_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _CONST_ADD_PC, _FIXED_ADVANCE_PC = 1, 2, 3, 4, 8, 9
_END, _SET_ADDRESS = 1, 2

Row = tuple[int, int, int, bool]
"""Address, number of the file, line, and whether it only ends the code before it."""


def rows_of(program: Any) -> Iterator[Row]:
    """Yield the rows of pyelftools' line *program*, whose header it has read."""
    header, stream = program.header, program.stream
    begin, end = program.program_start_offset, program.program_end_offset
    stream.seek(begin)
    code = stream.read(end - begin)
    base, line_base, line_range = header["opcode_base"], header["line_base"], header["line_range"]
    least, lengths = header["minimum_instruction_length"], header["standard_opcode_lengths"]
    steps = [(least * (op // line_range), line_base + op % line_range) for op in range(256 - base)]
    address, file, line, at, last = 0, 1, 1, 0, len(code)
    while at < last:
        op = code[at]
        at += 1
        if op >= base:
            more, lines = steps[op - base]
            address += more
            line += lines
            yield address, file, line, False
        elif op == 0:
            kind, address, at = _extended(code, at, address)
            if kind == _END:
                yield address, file, line, True
                address, file, line = 0, 1, 1
        elif op == _COPY:
            yield address, file, line, False
        elif op == _ADVANCE_PC:
            more, at = unsigned(code, at)
            address += more * least
        elif op == _ADVANCE_LINE:
            more, at = signed(code, at)
            line += more
        elif op == _SET_FILE:
            file, at = unsigned(code, at)
        elif op == _CONST_ADD_PC:
            address += steps[255 - base][0]
        elif op == _FIXED_ADVANCE_PC:
            address += int.from_bytes(code[at : at + 2], "little")
            at += 2
        else:
            for _ in range(lengths[op - 1]):
                _, at = unsigned(code, at)


def _extended(code: bytes, at: int, address: int) -> tuple[int, int, int]:
    """Return the kind of the extended instruction at offset *at*, the address then, and the offset after it."""
    size, at = unsigned(code, at)
    kind = code[at]
    if kind == _SET_ADDRESS:
        address = int.from_bytes(code[at + 1 : at + size], "little")
    return kind, address, at + size
