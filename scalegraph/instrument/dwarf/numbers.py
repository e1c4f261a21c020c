"""Numbers of variable length (LEB128)."""

from __future__ import annotations


def unsigned(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at offset *at* of *data*, and the offset after it."""
    byte = data[at]
    at += 1
    if byte < 0x80:
        return byte, at
    value, shift = byte & 0x7F, 7
    while byte >= 0x80:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
    return value, at


def signed(data: bytes, at: int) -> tuple[int, int]:
    """Return the signed number at offset *at* of *data*, and the offset after it."""
    begin = at
    value, at = unsigned(data, at)
    bits = 7 * (at - begin)
    return value - (1 << bits) if value >> (bits - 1) else value, at
