"""Change single numbers inside files of any format. Checksums do not detect this, because packed files are repacked.

In a text, every number is replaced; in JSON, every value; in our own traces, every column of every kind; in any other
file, every field of 4 or 8 bytes. Archives and compressed files are unpacked, changed and packed again.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from scalegraph.base.errors import ScaleGraphError
from scalegraph.request import Session
from scalegraph.request.results import quantities
from scalegraph.store import Study
from tests.security import damage, formats

Change = tuple[str, Callable[[], bytes]]  # where it is and what it becomes, and the whole file with it

NUMBER: Final = re.compile(rb"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
WRITTEN: Final = (b"0", b"-1", b"1", b"7", b"2147483648", b"4294967295", b"9223372036854775807", b"9223372036854775808",
                  b"18446744073709551615", b"1" + b"0" * 40, b"1e308", b"-1e308", b"1e999", b"1e-320", b"nan", b"inf",
                  b"0.5", b"", b"x")  # fmt: skip
LONG: Final = (2**63 - 1, 2**63, 2**64 - 1, 2**31, 1)
SHORT: Final = (2**31 - 1, 2**31, 2**32 - 1, 0x7F800000, 2**16)
DOUBLES: Final = (1e308, -1e308, float("nan"), float("inf"), 5e-324)
WHOLE: Final = (-2, -1, 0, 1, 2, 3, 1000, 2**31 - 1, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63))


def changes(data: bytes) -> Iterator[Change]:
    """Yield every change of *data* to be tried: its label, and a function that makes the changed file."""
    if data[:2] == b"\x1f\x8b":
        yield from _within("", gzip.decompress(data), lambda made: gzip.compress(made, 1, mtime=0))
    elif data[:4] == b"PK\x03\x04":
        yield from _zipped(data)
    elif data[257:262] == b"ustar":
        yield from _in_tar(data)
    elif data.startswith(b"SGTRACE\n"):
        yield from trace_columns(data)
    elif b"\0" in data or not _text(data):
        yield from _binary(data)
    else:
        yield from _document(data)
        for found in NUMBER.finditer(data):
            for value in WRITTEN:
                label = f"number {found[0].decode()} at {found.start()} is {value.decode()[:24]!r}"
                yield label, partial(_replaced, data, found.start(), found.end(), value)


def _text(data: bytes) -> bool:
    try:
        return bool(data.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _replaced(data: bytes, start: int, end: int, value: bytes) -> bytes:
    return data[:start] + value + data[end:]


def _within(name: str, inner: bytes, packed: Callable[[bytes], bytes]) -> Iterator[Change]:
    for label, make in changes(inner):
        yield f"{name} {label}".strip(), lambda make=make: packed(make())  # type: ignore[misc]


def _zipped(data: bytes) -> Iterator[Change]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def packed(name: str, body: bytes) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as made:
            for each, whole in members.items():
                made.writestr(each, body if each == name else whole)
        return file.getvalue()

    for name, body in members.items():
        yield from _within(name, body, partial(packed, name))


def _in_tar(data: bytes) -> Iterator[Change]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = [(entry, (archive.extractfile(entry) or io.BytesIO()).read()) for entry in archive if entry.isfile()]

    def packed(name: str, body: bytes) -> bytes:
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w") as made:
            for entry, whole in members:
                content = body if entry.name == name else whole
                entry.size = len(content)
                made.addfile(entry, io.BytesIO(content))
        return file.getvalue()

    for entry, body in members:
        yield from _within(entry.name, body, partial(packed, entry.name))


def _binary(data: bytes) -> Iterator[Change]:
    values = [("<Q", value) for value in (*LONG, len(data) - 1)] + [("<d", value) for value in DOUBLES[:3]]
    for step, kinds in ((8, values), (4, [("<I", value) for value in (*SHORT, len(data) - 1)])):
        for at in range(0, len(data) - step + 1, step):
            for kind, value in kinds:
                yield f"{kind} at {at} is {value}", partial(_replaced, data, at, at + step, struct.pack(kind, value))


def _document(data: bytes) -> Iterator[Change]:
    try:
        tree = json.loads(data)
    except ValueError:
        return
    for path in damage._places(tree):
        for value in damage.ODD:
            yield f"value {'.'.join(map(str, path))} is {value!r:.24}", partial(_set, tree, path, value)


def _set(tree: Any, path: tuple[Any, ...], value: Any) -> bytes:
    copied = json.loads(json.dumps(tree))
    *above, last = path
    here = copied
    for part in above:
        here = here[part]
    here[last] = value
    return json.dumps(copied).encode("utf-8", "replace")


def trace_columns(data: bytes) -> Iterator[Change]:
    """Yield a trace in our format with one value of a column changed; checksums, index and order of rows stay right."""
    blocks = damage.blocks_of(data)
    head = data[:64]
    kept = [block for block in blocks if block[0] not in (b"LODX", b"LODA")]  # the pyramid is rebuilt
    for number, block in enumerate(kept):
        if block[0] != b"PART":
            continue
        batch = pa.ipc.open_stream(block[5]).read_next_batch()
        for name in batch.schema.names:
            floats = pa.types.is_floating(batch.schema.field(name).type)
            dtype = batch.schema.field(name).type.to_pandas_dtype()
            for value in DOUBLES if floats else (x for x in WHOLE if np.iinfo(dtype).min <= x <= np.iinfo(dtype).max):
                for row in {0, batch.num_rows - 1}:
                    kind = block[1].rstrip(b"\0").decode()
                    label = f"{kind}.{name}[{row}] is {value}"
                    yield label, partial(_with_cell, head, kept, number, name, row, value)


def _with_cell(head: bytes, blocks: list[list[Any]], number: int, name: str, row: int, value: Any) -> bytes:
    batch = pa.ipc.open_stream(blocks[number][5]).read_next_batch()
    columns = {each: np.array(batch.column(each)) for each in batch.schema.names}
    columns[name][row] = value
    made = pa.RecordBatch.from_arrays([pa.array(columns[each]) for each in batch.schema.names], schema=batch.schema)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(made)
    changed = [list(block) for block in blocks]
    changed[number][5] = bytes(sink.getvalue())
    return damage.assembled(head, changed)


def chosen(data: bytes, count: int, seed: int) -> list[Change]:
    """Return *count* changes of *data*, drawn with *seed*, or all if there are no more than that."""
    every = list(changes(data))
    return every if len(every) <= count else random.Random(seed).sample(every, count)


def samples(*, whole: bool) -> dict[str, damage.Sample]:
    """Return the samples of `damage`; *whole*: of traces and measurements, using all views and quantities."""
    found = damage.samples()
    if whole:
        kept = {"trace", "measurements", "table", "published"}
        found = {name: sample for name, sample in found.items() if name.split()[0] in kept}
        for name, (make, use) in found.items():
            found[name] = (make, damage.use_whole_trace if name.startswith("trace") else partial(_use_whole, use))
    return found


def _use_whole(use: Callable[[Path], object], path: Path) -> None:
    """Use *path* as the sample does, and make every view and quantity of the resulting studies."""
    formats.SHOWN.append(_whole)
    try:
        use(path)
    finally:
        formats.SHOWN.pop()


def _whole(study: Study) -> None:
    """Make every view and quantity of *study*; the first refusal is raised after the last."""
    session = Session()
    data = session.study_data(study)
    refused: ScaleGraphError | None = None
    for name in quantities.QUANTITIES:
        refused = damage.quietly(partial(quantities.compute, data, name)) or refused
    for view in session.views().values():
        refused = damage.quietly(partial(view.build, data)) or refused
    if refused is not None:
        raise refused
