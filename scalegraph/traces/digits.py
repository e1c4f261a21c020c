"""Parses lines of whole numbers between colons, a block at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scalegraph.traces.kinds import Array

_NEWLINE, _COLON, _MINUS, _ZERO = 10, 58, 45, 48
_MOST = 20  # digits of a 64-bit number


@dataclass(frozen=True)
class Numbers:
    """Numbers of some lines: *values* of all, the position of each line's first, and the number per line.

    *bad* is the first line (from 0) that holds anything but numbers, or -1; lines after it are left out. Numbers from
    2^63 to 2^64 become the signed number with the same 64 bits; *wrapped* counts them.
    """

    values: Array
    starts: Array
    counts: Array
    bad: int = -1
    wrapped: int = 0


def parse(block: bytes) -> Numbers:
    """Return the numbers in the lines of *block*; an empty number is 0 and makes its line bad."""
    if not block.endswith(b"\n"):
        block += b"\n"
    text = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero((text == _COLON) | (text == _NEWLINE))
    begins = np.r_[0, ends[:-1] + 1]
    line_end = text[ends] == _NEWLINE
    line = np.cumsum(np.r_[False, line_end[:-1]])
    negative = (text[np.minimum(begins, len(text) - 1)] == _MINUS) & (ends > begins)
    lengths = ends - begins - negative
    unsigned = np.zeros(len(ends), np.uint64)
    wrong = (lengths < 1) | (lengths > _MOST)
    for place in range(min(int(lengths.max(initial=0)), _MOST)):
        rows = np.flatnonzero(lengths > place)
        digit = text[ends[rows] - 1 - place] - np.uint8(_ZERO)  # characters below '0' wrap to values far above 9
        wrong[rows] |= digit > 9
        unsigned[rows] += digit * np.uint64(10**place)
    # at the longest possible length the first digit must be 1, and the sum must not exceed 2^64
    longest = np.flatnonzero(lengths == _MOST)
    wrong[longest] |= (text[begins[longest] + negative[longest]] != _ZERO + 1) | (unsigned[longest] < 10**19)
    wrong |= negative & (unsigned > 2**63)
    values = unsigned.view(np.int64)
    np.negative(values, out=values, where=negative)
    wrapped = int(np.count_nonzero(~negative & (values < 0)))
    bad = int(line[np.argmax(wrong)]) if wrong.any() else -1
    counts = np.bincount(line)
    if bad >= 0:
        counts = counts[:bad]
        values = values[: int(counts.sum())]
    starts = np.cumsum(np.r_[0, counts[:-1]]) if len(counts) else counts
    return Numbers(values, starts.astype(np.int64), counts, bad, wrapped)
