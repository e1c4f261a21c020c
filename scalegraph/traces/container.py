"""Our own file format, ``.sgtrace``: a sequence of blocks and an index at the end; specified in docs/TRACES.md."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pydantic_core import from_json

from scalegraph.base.errors import Fault, InputError, WorkError
from scalegraph.base.files import check_replaceable, reason
from scalegraph.traces.kinds import KINDS, Array, Columns, span
from scalegraph.traces.lod.scratch import forget
from scalegraph.traces.lod.stored import save
from scalegraph.traces.model import Definitions, Meta, Trace

MAGIC: Final = b"SGTRACE\n"
VERSION: Final = 2  # version written; versions from 1 on can be read
SUFFIX: Final = ".sgtrace"
_START = struct.Struct("<8sI52x")
_BLOCK = struct.Struct("<4s4sQI4x16sQqq")  # mark, what, length, crc, kind, rows, first, last
_END = struct.Struct("<Q8s")
_MARK, _LAST = b"sgBK", b"SGEND\r\n\0"
_ALIGN = 64
_PIECE = 16 << 20  # bytes of a large array processed at a time


@dataclass(frozen=True)
class Block:
    """A block of the file: the place of its payload and, for a part, its content."""

    what: str  # PART, DEFS, INDX, or LODX and LODA of the pyramid; others are ignored
    offset: int
    length: int
    crc: int
    kind: str = ""
    rows: int = 0
    first: int = 0
    last: int = -1


class ContainerWriter:
    """Writes blocks as they come; the file gets its name only when `finish` has written the index."""

    def __init__(self, path: Path) -> None:
        self.path = path
        check_replaceable(path)
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._blocks: list[Block] = []
        try:
            self._file = self._temporary.open("wb")
        except OSError as error:
            raise WorkError(f"{path}: cannot be written: {reason(error)}") from error
        self._put(_START.pack(MAGIC, VERSION))

    def _put(self, data: Any) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            self.abandon()
            raise WorkError(f"{self.path}: cannot be written: {reason(error)}") from error

    def append(self, kind: str, columns: Columns) -> None:
        """Write rows of *kind* as one part."""
        fields = KINDS[kind].columns
        rows = len(columns[KINDS[kind].begin])
        if not rows:
            return
        batch = pa.RecordBatch.from_arrays(
            [pa.array(columns[n].astype(t, copy=False)) for n, t in fields.items()], names=list(fields)
        )
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        self._block("PART", sink.getvalue(), kind, rows, span(kind, columns))

    def define(self, definitions: Definitions, meta: Meta) -> None:
        """Write definitions and metadata; the last such block counts."""
        data = {"definitions": definitions.as_data(), "meta": meta.as_data()}
        self._block("DEFS", json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))

    def _block(self, what: str, payload: Any, kind: str = "", rows: int = 0, times: tuple[int, int] = (0, -1)) -> None:
        length, crc = len(payload), zlib.crc32(payload)
        self._put(_BLOCK.pack(_MARK, what.encode(), length, crc, kind.encode(), rows, *times))
        self._blocks.append(Block(what, self._file.tell(), length, crc, kind, rows, *times))
        self._put(payload)
        self._put(bytes(-length % _ALIGN))

    def put(self, what: str, name: str, array: Array) -> None:
        """Write *array* as a separate block; of a mapped array only a piece is in memory at a time."""
        data: Any = array.reshape(-1).view(np.uint8)
        crc = 0
        for start in range(0, len(data), _PIECE):
            crc = zlib.crc32(data[start : start + _PIECE], crc)
            forget(array)
        rows = len(array)
        self._put(_BLOCK.pack(_MARK, what.encode(), len(data), crc, name.encode(), rows, 0, -1))
        self._blocks.append(Block(what, self._file.tell(), len(data), crc, name, rows))
        for start in range(0, len(data), _PIECE):
            self._put(data[start : start + _PIECE])
            forget(array)
        self._put(bytes(-len(data) % _ALIGN))

    def add_timeline(self, each: Callable[[float], None] = lambda _share: None) -> None:
        """Make and write the pyramid of the rows so far, if there are enough to be worth it.

        Call it after the last rows and definitions, before `finish`; *each* may raise to stop it.
        """
        try:
            self._file.flush()
        except OSError as error:
            self.abandon()
            raise WorkError(f"{self.path}: cannot be written: {reason(error)}") from error
        file = _File(self._temporary)
        trace = Trace(*_defined(file, [b for b in self._blocks if b.what == "DEFS"]), _parts(file, self._blocks))
        save(trace, self.put, each)

    def finish(self) -> None:
        """Write the index, and move the file to its place."""
        where = self._file.tell()
        rows = [[b.what, b.offset, b.length, b.crc, b.kind, b.rows, b.first, b.last] for b in self._blocks]
        self._block("INDX", json.dumps({"version": VERSION, "blocks": rows}).encode())
        self._put(_END.pack(where, _LAST))
        try:
            self._file.close()
            self._temporary.replace(self.path)
        except OSError as error:
            self.abandon()
            raise WorkError(f"{self.path}: cannot be written: {reason(error)}") from error

    def abandon(self) -> None:
        """Remove the unfinished file."""
        with contextlib.suppress(OSError):  # the disk is full for what is still to be written
            self._file.close()
        self._temporary.unlink(missing_ok=True)


class _File:
    """The bytes of an open file, mapped; pages are read on access."""

    def __init__(self, path: Path, told: Callable[[], None] = lambda: None) -> None:
        self.path, self._told = path, told
        try:
            with path.open("rb") as file:
                self.size = os.fstat(file.fileno()).st_size
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self.size else None
        except OSError as error:
            raise InputError(Fault(f"cannot be read: {reason(error)}", file=str(path))) from error
        self.buffer = pa.py_buffer(self._map if self._map is not None else b"")

    def bytes(self, offset: int, length: int) -> Any:
        """Return a view of *length* bytes from *offset*; fewer at the end of the file."""
        offset = min(max(offset, 0), self.size)
        return memoryview(self.buffer)[offset : min(offset + max(length, 0), self.size)]

    def broken(self, message: str, offset: int) -> InputError:
        """Return an error for damage at *offset*, after reporting it to the caller that opened the file."""
        self._told()
        return InputError(Fault(f"byte {offset}: {message}", file=str(self.path)))

    def forget(self, block: Block) -> None:
        """Release the memory of the pages of *block*; they are read again on access."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            first = block.offset // mmap.PAGESIZE * mmap.PAGESIZE
            self._map.madvise(mmap.MADV_DONTNEED, first, block.offset + block.length - first)

    def payload(self, block: Block) -> Any:
        """Return the payload of *block*. Raises `InputError` if it is cut off or damaged."""
        data = self.bytes(block.offset, block.length)
        if len(data) < block.length:
            raise self.broken(f"the file ends within a block of {block.length} bytes", block.offset)
        if zlib.crc32(data) != block.crc:
            raise self.broken(f"a block ({block.kind or block.what}) is damaged: its checksum differs", block.offset)
        return data


class StoredPart:
    """Rows in a file; the checksum is verified when a column is first requested."""

    def __init__(self, file: _File, block: Block) -> None:
        self._file, self._block = file, block
        self._batch: Any = None
        self.rows, self.first, self.last = block.rows, block.first, block.last

    def forget(self) -> None:
        """Release the memory of the columns; they are read again on access."""
        self._file.forget(self._block)

    def column(self, name: str) -> Array:
        """Return a column, read-only. Raises `InputError` if this part of the file is damaged."""
        if self._batch is None:
            self._file.payload(self._block)
            wrong = f"{self._block.kind}: the columns of the specification were expected"
            try:
                data = self._file.buffer.slice(self._block.offset, self._block.length)
                batch = pa.ipc.open_stream(data).read_next_batch()
                batch.validate()
                stored = [(f.name, f.type) for f in batch.schema]
            except (pa.ArrowException, StopIteration, OSError, ValueError, TypeError, MemoryError) as error:
                raise self._file.broken(wrong, self._block.offset) from error
            whole = all(column.null_count == 0 for column in batch.columns)
            if stored not in _schemas(self._block.kind) or batch.num_rows != self.rows or not whole:
                raise self._file.broken(wrong, self._block.offset)
            self._batch = batch
        # not to_numpy, which imports pandas first
        spec = KINDS[self._block.kind]
        dtype = spec.columns[name]
        if name in spec.added and name not in self._batch.schema.names:
            return np.full(self.rows, spec.added[name], dtype)
        column = self._batch.column(name)
        values: Array = np.frombuffer(column.buffers()[1], dtype, self.rows, column.offset * dtype.itemsize)
        return values


class Extra:
    """Blocks of a file other than events: arrays that belong to them."""

    def __init__(self, file: _File, blocks: list[Block]) -> None:
        self._file = file
        self._blocks = {(block.what, block.kind): block for block in blocks if block.what in {"LODX", "LODA"}}

    def has(self, what: str, name: str) -> bool:
        """Return whether there is a block *name* of type *what*."""
        return (what, name) in self._blocks

    def payload(self, what: str, name: str, each: Callable[[], None] = lambda: None) -> Any:
        """Return the bytes of a block; they stay in the file until accessed.

        *each* is called now and then while the checksum is computed. Raises `InputError` if the block is cut off or
        damaged, `KeyError` if there is none.
        """
        block = self._blocks[what, name]
        data = self._file.bytes(block.offset, block.length)
        crc = 0
        for start in range(0, len(data), _PIECE):
            each()
            crc = zlib.crc32(data[start : start + _PIECE], crc)
            self._file.forget(replace(block, offset=block.offset + start, length=min(_PIECE, len(data) - start)))
        if len(data) < block.length or crc != block.crc:
            raise self._file.broken("a block of the pyramid is damaged", block.offset)
        return self._file.buffer.slice(block.offset, block.length)


def _schemas(kind: str) -> list[list[tuple[str, pa.DataType]]]:
    """Return the possible columns and types of a part of *kind*: of this version and of version 1."""
    spec = KINDS[kind]
    now = [(name, pa.from_numpy_dtype(dtype)) for name, dtype in spec.columns.items()]
    return [now, [column for column in now if column[0] not in spec.added]]


def open_container(path: Path, *, partial: bool = False, broken: Callable[[], None] = lambda: None) -> Trace:
    """Open *path*, reading only index and definitions. With *partial* damaged blocks are left out and named.

    *broken* is called when damage is found, now or when the damaged part is first read.

    Raises `InputError` naming the byte where the file is damaged, or its version if it is newer.
    """
    file = _File(path, broken)
    head = bytes(file.bytes(0, 12))
    if head[:8] != MAGIC or len(head) < 12:
        raise file.broken("no trace of ScaleGraph: it should begin with SGTRACE", 0)
    version = int.from_bytes(head[8:12], "little")
    if not 1 <= version <= VERSION:
        raise file.broken(f"is of version {version}; versions 1 to {VERSION} are read", 8)
    try:
        blocks = _index(file)
        definitions, meta = _defined(file, [block for block in blocks if block.what == "DEFS"])
        damage: list[str] = []
    except InputError as error:
        if not partial:
            raise
        damage = [str(error)]
        blocks, definitions, meta = _salvage(file)
    parts: dict[str, list[StoredPart]] = {kind: [] for kind in KINDS}
    for block in blocks:
        if block.what == "PART":
            part = StoredPart(file, block)
            try:
                if partial:
                    part.column(KINDS[block.kind].begin)
            except InputError as error:
                damage.append(str(error))
                continue
            parts[block.kind].append(part)
    meta.damage.extend(damage)
    return Trace(definitions, meta, parts, extra=Extra(file, blocks))


def _parts(file: _File, blocks: list[Block]) -> dict[str, list[StoredPart]]:
    """Return the parts by kind, none of them read yet."""
    return {kind: [StoredPart(file, b) for b in blocks if b.what == "PART" and b.kind == kind] for kind in KINDS}


def _index(file: _File) -> list[Block]:
    """Return the blocks listed in the index at the end of the file."""
    where = file.size - _END.size
    data = bytes(file.bytes(where, _END.size))
    if len(data) < _END.size or not data.endswith(_LAST):
        raise file.broken("the file is cut off: the index at its end is missing", file.size)
    offset = _END.unpack(data)[0]
    block = _header(file, offset)
    if block is None or block.what != "INDX":
        raise file.broken("an index was expected", min(offset, file.size))
    try:
        rows = json.loads(bytes(file.payload(block)))["blocks"]
        blocks = [_block(*row) for row in rows]
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        raise file.broken("the index is damaged", block.offset) from error
    unknown = [block.kind for block in blocks if block.what == "PART" and block.kind not in KINDS]
    if unknown:
        raise file.broken(f"the index names unknown events '{unknown[0]}'", block.offset)
    return blocks


def _block(what: str, offset: int, length: int, crc: int, kind: str, rows: int, first: int, last: int) -> Block:
    """Return a row of the index as a block; raise `ValueError` for anything that is not a number."""
    return Block(str(what), int(offset), int(length), int(crc), str(kind), int(rows), int(first), int(last))


def _header(file: _File, offset: int) -> Block | None:
    """Return the block whose header is at *offset*, or None if there is none."""
    data = bytes(file.bytes(offset, _BLOCK.size)) if 0 <= offset < file.size else b""
    if len(data) < _BLOCK.size:
        return None
    mark, what, length, crc, kind, rows, first, last = _BLOCK.unpack(data)
    if mark != _MARK:
        return None
    return Block(
        what.decode("latin-1"),
        offset + _BLOCK.size,
        length,
        crc,
        kind.rstrip(b"\0").decode("latin-1"),
        rows,
        first,
        last,
    )


def _defined(file: _File, blocks: list[Block]) -> tuple[Definitions, Meta]:
    if not blocks:
        raise file.broken("no definitions were found", file.size)
    try:
        data = from_json(bytes(file.payload(blocks[-1])))
        return Definitions.from_data(data["definitions"]), Meta.from_data(data["meta"])
    except (ValueError, TypeError, KeyError) as error:
        raise file.broken("the definitions are not as specified", blocks[-1].offset) from error


def _salvage(file: _File) -> tuple[list[Block], Definitions, Meta]:
    """Find blocks from the front by their headers, and search for the next header where one is damaged."""
    blocks: list[Block] = []
    offset = _START.size
    while offset < file.size:
        block = _header(file, offset)
        if block is None or block.offset + block.length > file.size:
            offset += _ALIGN
            continue
        if block.what in {"PART", "DEFS"} and (block.what != "PART" or block.kind in KINDS):
            blocks.append(block)
        offset = block.offset + block.length + -block.length % _ALIGN
    for count in range(len(blocks), 0, -1):
        if blocks[count - 1].what == "DEFS":
            try:
                return blocks, *_defined(file, [blocks[count - 1]])
            except InputError:
                continue
    return blocks, Definitions(), Meta(format="sgtrace", notes=[])


def write_container(trace: Trace, path: Path, each: Callable[[float], None] = lambda _share: None) -> None:
    """Write *trace* and its pyramid to *path*; *each* is called with the share done and may raise to stop it."""
    writer = ContainerWriter(path)
    try:
        writer.define(trace.definitions, trace.meta)
        total = sum(trace.counts().values()) or 1
        done = 0
        for kind in KINDS:
            for columns in trace.chunks(kind):
                each(0.5 * done / total)
                writer.append(kind, columns)
                done += len(columns[KINDS[kind].begin])
        writer.add_timeline(lambda share: each(0.5 + 0.5 * share))
        writer.finish()
    except BaseException:
        writer.abandon()
        raise
