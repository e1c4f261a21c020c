"""Lines of whole numbers between colons, a block at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scalegraph.traces.kinds import Array

_NEWLINE, _COLON, _MINUS, _ZERO = 10, 58, 45, 48
_MOST = 20  # digits of a 64-bit number and a sign


@dataclass(frozen=True)
class Numbers:
    """Numbers of some lines: *values* of all, the place of each line's first, and how many each line has.

    *bad* is the first line (from 0) that holds anything but numbers, or -1; what follows it is left out.
    """

    values: Array
    starts: Array
    counts: Array
    bad: int = -1


def parse(block: bytes) -> Numbers:
    """Return the numbers of the lines in *block*; a number without digits is 0 and makes its line bad."""
    if not block.endswith(b"\n"):
        block += b"\n"
    text = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero((text == _COLON) | (text == _NEWLINE))
    begins = np.r_[0, ends[:-1] + 1]
    line_end = text[ends] == _NEWLINE
    line = np.cumsum(np.r_[False, line_end[:-1]])
    negative = (text[np.minimum(begins, len(text) - 1)] == _MINUS) & (ends > begins)
    lengths = ends - begins - negative
    values = np.zeros(len(ends), np.int64)
    wrong = (lengths < 1) | (lengths > _MOST)
    scale = np.int64(1)
    for place in range(min(int(lengths.max(initial=0)), _MOST - 1)):
        rows = np.flatnonzero(lengths > place)
        digit = text[ends[rows] - 1 - place].astype(np.int64) - _ZERO
        wrong[rows] |= (digit < 0) | (digit > 9)
        values[rows] += digit * scale
        if place < 18:
            scale *= np.int64(10)
    wrong |= lengths > 19
    np.negative(values, out=values, where=negative)
    bad = int(line[np.argmax(wrong)]) if wrong.any() else -1
    counts = np.bincount(line)
    if bad >= 0:
        counts = counts[:bad]
        values = values[: int(counts.sum())]
    starts = np.cumsum(np.r_[0, counts[:-1]]) if len(counts) else counts
    return Numbers(values, starts.astype(np.int64), counts, bad)
