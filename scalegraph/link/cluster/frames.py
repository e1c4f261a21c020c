"""Frames: a JSON object and byte strings packed into one; nothing else crosses between processes and machines."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import IO, Any, Final

from pydantic_core import from_json

MAGIC: Final = b"SGF1"
_HEAD: Final = struct.Struct("<4sI")
_LENGTH: Final = struct.Struct("<Q")
_LONGEST_HEAD: Final = 64 * 2**20  # bytes
LONGEST: Final = 4 * 2**30  # bytes of one frame
_SIZES: Final = "sizes"


def pack(head: Mapping[str, Any], *blobs: bytes) -> bytes:
    """Return a frame of *head* and *blobs*."""
    text = json.dumps({**head, _SIZES: [len(blob) for blob in blobs]}).encode()
    return b"".join((_HEAD.pack(MAGIC, len(text)), text, *blobs))


def unpack(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return (head, blobs) of a frame; raise `ValueError` for anything else."""
    if len(data) < _HEAD.size:
        raise ValueError("is cut off")
    magic, length = _HEAD.unpack_from(data)
    if magic != MAGIC or length > min(_LONGEST_HEAD, len(data) - _HEAD.size):
        raise ValueError("is not a ScaleGraph frame, or is cut off")
    at = _HEAD.size + length
    head = from_json(data[_HEAD.size : at])
    sizes = head.pop(_SIZES, None) if isinstance(head, dict) else None
    if not isinstance(sizes, list) or not all(isinstance(size, int) and size >= 0 for size in sizes):
        raise ValueError("its head is not an object with the sizes of its parts")
    if at + sum(sizes) != len(data):
        raise ValueError(f"has {len(data) - at} bytes of parts; {sum(sizes)} were expected")
    blobs = []
    for size in sizes:
        blobs.append(data[at : at + size])
        at += size
    return head, blobs


def write(stream: IO[bytes], frame: bytes) -> None:
    """Write *frame* to a pipe."""
    stream.write(_LENGTH.pack(len(frame)) + frame)
    stream.flush()


def read(stream: IO[bytes]) -> bytes | None:
    """Return the next frame from a pipe, None at its end; raise `ValueError` for one longer than `LONGEST`."""
    first = stream.read(_LENGTH.size)
    if len(first) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(first)
    if length > LONGEST:
        raise ValueError(f"a frame of {length} bytes was announced; at most {LONGEST} were expected")
    data = stream.read(length)
    return data if len(data) == length else None
