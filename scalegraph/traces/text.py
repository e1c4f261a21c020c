"""Text files, plain or gzip, in blocks."""

from __future__ import annotations

import codecs
import contextlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scalegraph.base.files import MOST_EXPANSION, expands_too_much
from scalegraph.traces.formats import Reading

BLOCK_BYTES = 1 << 20
LONGEST = 64 << 20  # of a line


def blocks(reading: Reading, path: Path | None = None, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Yield the content of *path* (the file being read) in blocks of at most *size* bytes, decompressed.

    A damaged end of a gzip file is reported by `Reading.broken`; progress counts bytes of the file itself.
    """
    path = path or reading.path
    total = path.stat().st_size or 1
    with path.open("rb") as file:
        if file.read(2) != b"\x1f\x8b":
            file.seek(0)
            while data := file.read(size):
                reading.step(file.tell() / total)
                yield data
            return
        file.seek(0)
        unpack, begun, unpacked = zlib.decompressobj(wbits=31), False, 0
        while raw := file.read(size // 4):
            while raw:
                reading.step((file.tell() - len(raw)) / total)
                begun = True
                before = unpack.copy()
                try:
                    data = unpack.decompress(raw, size)
                except zlib.error as error:
                    yield salvaged(before, raw)
                    reading.broken(f"the compressed file is damaged near byte {file.tell() - len(raw)} ({error})")
                    return
                unpacked += len(data)
                if expands_too_much(total, unpacked):
                    reading.broken(f"the compressed file unpacks to more than {MOST_EXPANSION} times its size")
                    return
                if data:
                    yield data
                raw = unpack.unconsumed_tail
                if unpack.eof:
                    raw = unpack.unused_data
                    unpack, begun = zlib.decompressobj(wbits=31), False
                    if raw and raw.strip(b"\0") == b"":
                        return
        reading.step(1.0)
        if begun:
            reading.broken("the compressed file is cut off")


def salvaged(unpack: Any, raw: bytes) -> bytes:
    """Return the output for *raw* up to where it is damaged."""
    found = []
    with contextlib.suppress(zlib.error):
        for at in range(len(raw)):
            found.append(unpack.decompress(raw[at : at + 1]))  # noqa: PERF401 - what came before an error counts
    return b"".join(found)


def lines(reading: Reading, path: Path | None = None) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of whole lines, each with the number of its first line; the last may lack its line end."""
    rest, number, begun = b"", 1, False
    for block in blocks(reading, path):
        data = rest + (block if begun else block.removeprefix(codecs.BOM_UTF8))
        begun = True
        cut = data.rfind(b"\n") + 1
        rest = data[cut:]
        if cut:
            whole = data[:cut]
            yield whole, number
            number += whole.count(b"\n")
        if len(rest) > LONGEST:
            reading.broken(f"a line end was expected within {LONGEST >> 20} MiB", line=number, file=path)
            return
    if rest:
        yield rest, number
