"""Limits checked before a file is read: the length and number of its lines."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.files import reason

LONGEST = 16 << 20  # bytes of a line
LONGEST_JSON = 32 << 20  # of a line of JSON, whose values take ten times the memory once parsed
LARGEST_JSON = 128 << 20  # of a document of JSON with line breaks, likewise
MOST_LINES = 20_000_000
_BLOCK = 4 << 20


def check_lines(
    path: Path,
    limit: int | None = None,
    *,
    longest: int = LONGEST,
    most: int = MOST_LINES,
    expected: str = "a line for each run was expected",
) -> None:
    """Raise `InputError` if a line within the first *limit* bytes of *path* is too long, or there are too many lines.

    *expected*: advice about a line that is too long. Reads block by block and stops at the first fault, so that a huge
    line takes no memory.
    """
    try:
        if path.stat().st_size <= min(longest, most):
            return
        with path.open("rb") as file:
            fault = _fault(file, path, limit, (longest, expected), most)
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {reason(error)}", file=str(path))) from error
    if fault is not None:
        raise InputError(fault)


def _fault(file: BinaryIO, path: Path, limit: int | None, line: tuple[int, str], most: int) -> Fault | None:
    longest, expected = line
    lines, length, done = 1, 0, 0
    while block := file.read(min(_BLOCK, longest)):  # within one block no line can be too long
        done += len(block)
        last = max(block.rfind(b"\n"), block.rfind(b"\r"))
        first = min((at for at in (block.find(b"\n"), block.find(b"\r")) if at >= 0), default=len(block))
        if length + first > longest:
            return Fault(f"is longer than {longest >> 20} MiB; {expected}", file=str(path), line=lines)
        length = length + len(block) if last < 0 else len(block) - last - 1
        lines += max(block.count(b"\n"), block.count(b"\r"))
        if lines > most:
            return Fault(f"has more than {most} lines; divide it by its parameters", file=str(path))
        if limit is not None and done >= limit:
            break
    return None
