"""Serialisation of records; the contents of a file are validated, never trusted."""

from __future__ import annotations

import json
import zlib

from pydantic import ValidationError
from pydantic_core import from_json

from scalegraph.base.run import RunRecord
from scalegraph.runtime.checked import categories_fault

_LARGEST = 512 * 2**20  # bytes of one unpacked record; a small file must not fill the memory


def pack(record: RunRecord) -> tuple[bytes, bytes]:
    """Return the record without its output, and its output, both compressed."""
    light = record.model_dump_json(exclude={"stdout", "stderr"}, exclude_defaults=True, by_alias=True)
    output = json.dumps([record.stdout, record.stderr])
    return zlib.compress(light.encode(), 6), zlib.compress(output.encode(), 6)


def unpack(packed: bytes, key: str) -> RunRecord:
    """Return the record (without output) of the point *key*. Raises `ValueError` for anything else."""
    try:
        record = RunRecord.model_validate_json(_inflate(packed))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}") from None
    if record.point.key != key:
        raise ValueError(f"it has the key of another point ({key})")
    if fault := categories_fault(record):
        raise ValueError(fault)
    return record


def unpack_output(output: bytes) -> tuple[str, str]:
    """Return (stdout, stderr). Raises `ValueError` for anything else."""
    data = from_json(_inflate(output))
    if not (isinstance(data, list) and len(data) == 2 and all(isinstance(item, str) for item in data)):
        raise ValueError("two texts were expected")
    return data[0], data[1]


def _inflate(data: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(data, _LARGEST)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if inflater.unconsumed_tail or not inflater.eof:
        raise ValueError("is cut off or larger than any record")
    return text
