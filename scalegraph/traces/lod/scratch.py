"""Arrays that grow while a pyramid is built: in memory while they are small, then in a temporary file."""

from __future__ import annotations

import mmap
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from scalegraph.traces.kinds import Array

LIMIT_BYTES = 32 << 20  # of one array in memory


class Scratch:
    """A temporary directory for results; it is removed when the scratch is closed."""

    def __init__(self, limit: int = LIMIT_BYTES) -> None:
        self.limit = limit
        self._place: tempfile.TemporaryDirectory[str] | None = None
        self._files: list[BinaryIO] = []

    def file(self) -> tuple[BinaryIO, Path]:
        """Return a new file to write to."""
        if self._place is None:
            self._place = tempfile.TemporaryDirectory(prefix="scalegraph-lod-", ignore_cleanup_errors=True)
        path = Path(self._place.name) / str(len(self._files))
        self._files.append(path.open("w+b"))
        return self._files[-1], path

    def close(self) -> None:
        """Remove it. Returned arrays stay readable where the system allows removing mapped files."""
        for file in self._files:
            file.close()
        self._files.clear()
        if self._place is not None:
            self._place.cleanup()
            self._place = None


class Growing:
    """A growing array of rows; *shape* is that of a row."""

    def __init__(self, scratch: Scratch, dtype: Any, shape: tuple[int, ...] = ()) -> None:
        self.dtype, self.shape = np.dtype(dtype), shape
        self.rows = 0
        self._scratch = scratch
        self._chunks: list[Array] = []
        self._bytes = 0
        self._file: BinaryIO | None = None
        self._path: Path | None = None
        self._row_bytes = self.dtype.itemsize * int(np.prod(shape, dtype=np.int64))

    def append(self, values: Array) -> None:
        """Append rows. Raises `OSError` if the disk is full."""
        values = np.ascontiguousarray(values, self.dtype)
        self.rows += len(values)
        if not values.size:
            return
        if self._file is None:
            self._chunks.append(values)
            self._bytes += values.nbytes
            if self._bytes > self._scratch.limit:
                self._file, self._path = self._scratch.file()
                for chunk in self._chunks:
                    self._file.write(chunk.tobytes())
                self._chunks.clear()
        else:
            self._file.write(values.tobytes())

    def read(self, start: int, stop: int) -> Array:
        """Return the rows from *start* to *stop*."""
        if self._file is None:
            return self.whole()[start:stop]
        self._file.flush()
        self._file.seek(start * self._row_bytes)
        data = self._file.read((stop - start) * self._row_bytes)
        self._file.seek(0, 2)
        return np.frombuffer(data, self.dtype).reshape(stop - start, *self.shape)

    def whole(self) -> Array:
        """Return everything; file content is mapped, not read."""
        if self._file is not None and self._path is not None:
            self._file.flush()
            return np.memmap(self._path, self.dtype, "r", shape=(self.rows, *self.shape))
        if len(self._chunks) != 1:
            whole = np.concatenate([np.empty((0, *self.shape), self.dtype), *self._chunks])
            self._chunks = [whole]
        return self._chunks[0]


def forget(*arrays: Array | None) -> None:
    """Release the memory of mapped *arrays*; their pages are read again on access."""
    for array in arrays:
        mapped = getattr(array, "_mmap", None)
        if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)
