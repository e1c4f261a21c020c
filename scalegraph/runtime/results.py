"""Writes the configuration of a run for the C runtime, and reads the result that it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from scalegraph.base.errors import WorkError
from scalegraph.base.files import reason, write_atomic
from scalegraph.runtime.format import (
    BLAME,
    BLAMED_SITE,
    CAUSE,
    COST,
    ENDIAN_MARK,
    HEADER,
    LINE_PART,
    LINE_USER,
    RESOURCE,
    RESULT_MAGIC,
    SECTION,
    SECTIONS,
    SHARED_LINE,
    SITE,
    VARIABLE,
    VERSION,
    WAIT,
    WIDTH,
)
from scalegraph.runtime.observed import PART, READING

Records: TypeAlias = npt.NDArray[np.void]
_DTYPES: dict[str, np.dtype[Any]] = {
    "META": np.dtype("u1"),
    "COSTS": COST,
    "SITES": SITE,
    "WAITS": WAIT,
    "CAUSES": CAUSE,
    "WIDTHS": WIDTH,
    "VARIABLES": VARIABLE,
    "SHARED_LINES": SHARED_LINE,
    "LINE_USERS": LINE_USER,
    "LINE_PARTS": LINE_PART,
    "RESOURCES": RESOURCE,
    "BLAMES": BLAME,
    "BLAMED_SITES": BLAMED_SITE,
    "READINGS": READING,
    "PARTS": PART,
}
_NUMBERS = {number: name for name, number, _ in SECTIONS}


class ResultError(WorkError):
    """A result file is damaged, foreign or of a newer version."""


@dataclass(frozen=True)
class Result:
    """What the runtime wrote about one run; records as numpy structured arrays of runtime.format's types."""

    meta: dict[str, str]
    costs: Records  # COST
    sites: Records  # SITE
    waits: Records  # WAIT
    causes: Records  # CAUSE
    widths: Records  # WIDTH
    variables: Records  # VARIABLE
    shared_lines: Records  # SHARED_LINE
    line_users: Records  # LINE_USER
    line_parts: Records  # LINE_PART
    resources: Records  # RESOURCE
    blames: Records  # BLAME; none of a program linked with a runtime that did not find them out
    blamed_sites: Records  # BLAMED_SITE
    readings: Records  # READING; these two too
    parts: Records  # PART


def write_config(path: Path, values: Mapping[str, str]) -> None:
    """Write a configuration of ``key value`` lines."""
    for key, value in values.items():
        if "\n" in value or "\n" in key or " " in key:
            raise ValueError(f"configuration {key!r}: a line break or a blank in the key is not possible")
    write_atomic(path, "".join(f"{key} {value}\n" for key, value in values.items()))


def read_result(path: Path) -> Result:
    """Read a result file.

    Raises `ResultError`, one sentence, when it is not one, is newer than this program, of a foreign byte order, or
    cut short; `FileNotFoundError` when the runtime wrote none.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ResultError(f"{path}: cannot be read: {reason(error)}") from error
    sections = _sections(data, str(path))
    found: dict[str, Records] = {}
    for section in sections:
        name = _NUMBERS.get(int(section["id"]))
        if name is not None:  # a section added within this version is not for us
            found[name] = _records(data, section, _DTYPES[name], f"{path}: section {name}")
    text = found["META"].tobytes().decode("utf-8", "replace") if "META" in found else ""
    tables = {name.lower(): found.get(name, np.zeros(0, dtype)) for name, dtype in _DTYPES.items() if name != "META"}
    return Result(_pairs(text), **tables)


def _sections(data: bytes, name: str) -> Records:
    if len(data) < HEADER.itemsize:
        raise ResultError(f"{name}: is cut short: {len(data)} bytes, the header alone has {HEADER.itemsize}")
    header = np.frombuffer(data, HEADER, count=1)[0]
    if header["magic"] != RESULT_MAGIC:
        raise ResultError(
            f"{name}: is not a file of the simulator: starts with {data[:8]!r}, expected {RESULT_MAGIC!r}"
        )
    if header["endian"] != ENDIAN_MARK:
        raise ResultError(f"{name}: was written on a machine of another byte order")
    if header["version"] > VERSION:
        raise ResultError(
            f"{name}: has format version {header['version']}, this program reads up to {VERSION}; update ScaleGraph"
        )
    if header["version"] != VERSION:
        raise ResultError(f"{name}: has format version {header['version']}, expected {VERSION}")
    count = int(header["sections"])
    if HEADER.itemsize + count * SECTION.itemsize > len(data):
        raise ResultError(f"{name}: is cut short: the directory of {count} sections is incomplete")
    return np.frombuffer(data, SECTION, count=count, offset=HEADER.itemsize)


def _records(data: bytes, section: np.void, dtype: np.dtype[Any], place: str) -> Records:
    size, count, offset = int(section["record_size"]), int(section["count"]), int(section["offset"])
    if size != dtype.itemsize:
        raise ResultError(f"{place}: records of {size} bytes, expected {dtype.itemsize}")
    if offset + size * count > len(data):
        raise ResultError(
            f"{place}: is cut short: {count} records end at {offset + size * count}, the file at {len(data)}"
        )
    return np.frombuffer(data, dtype, count=count, offset=offset)


def _pairs(text: str) -> dict[str, str]:
    parts = (line.partition(" ") for line in text.splitlines() if line)
    return {key: value for key, _, value in parts}
