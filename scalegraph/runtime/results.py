"""Writes the C runtime's configuration of a run, and reads its result."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

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
from scalegraph.runtime.layout import Layout, Row
from scalegraph.runtime.observed import (
    CHUNK,
    COMMUNICATOR,
    CONTEXT,
    DELAY,
    LINK,
    LOOP,
    LOOP_PART,
    MESSAGE,
    OUTPUT,
    PART,
    READING,
    SAMPLE,
    SAMPLED_PHASE,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Records: TypeAlias = npt.NDArray[np.void]

_LAYOUTS: dict[str, Layout] = {
    "META": Layout([("byte", "u1")]),
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
    "MESSAGES": MESSAGE,
    "COMMUNICATORS": COMMUNICATOR,
    "LINKS": LINK,
    "LOOPS": LOOP,
    "LOOP_PARTS": LOOP_PART,
    "CHUNKS": CHUNK,
    "OUTPUTS": OUTPUT,
    "SAMPLED_PHASES": SAMPLED_PHASE,
    "SAMPLES": SAMPLE,
    "CONTEXTS": CONTEXT,
    "DELAYS": DELAY,
}
_NUMBERS = {number: name for name, number, _ in SECTIONS}


class ResultError(WorkError):
    """A result file is damaged, foreign or of a newer version."""


class Result:
    """The runtime's result of one run: *meta*, and records by section, as Python rows or numpy arrays.

    Rows do not need numpy, whose import takes as long as a short run; code that processes many records uses the arrays.
    """

    def __init__(self, meta: Mapping[str, str], sections: Mapping[str, bytes | memoryview]) -> None:
        self.meta = dict(meta)
        self._sections = dict(sections)
        self._rows: dict[str, list[Row]] = {}

    def rows(self, section: str) -> list[Row]:
        """Return the records of a *section* of `SECTIONS`, none if the runtime that wrote the file did not know it."""
        if section not in self._rows:
            self._rows[section] = list(_LAYOUTS[section].rows(self._sections.get(section, b"")))
        return self._rows[section]

    def columns(self, section: str) -> dict[str, list[Any]]:
        """Return the same as `rows`, as one list per field, for many records kept by field."""
        return _LAYOUTS[section].columns(self._sections.get(section, b""))

    def series(self, section: str) -> dict[str, list[list[Any]]]:
        """Return the lists of each field of these records: one, or one per array element."""
        return _LAYOUTS[section].series(self._sections.get(section, b""))

    def _array(self, section: str) -> Records:
        import numpy as np

        return np.frombuffer(self._sections.get(section, b""), _LAYOUTS[section])

    @cached_property
    def costs(self) -> Records:
        """COST records."""
        return self._array("COSTS")

    @cached_property
    def sites(self) -> Records:
        """SITE records."""
        return self._array("SITES")

    @cached_property
    def waits(self) -> Records:
        """WAIT records."""
        return self._array("WAITS")

    @cached_property
    def causes(self) -> Records:
        """CAUSE records."""
        return self._array("CAUSES")

    @cached_property
    def widths(self) -> Records:
        """WIDTH records."""
        return self._array("WIDTHS")

    @cached_property
    def variables(self) -> Records:
        """VARIABLE records."""
        return self._array("VARIABLES")

    @cached_property
    def shared_lines(self) -> Records:
        """SHARED_LINE records."""
        return self._array("SHARED_LINES")

    @cached_property
    def line_users(self) -> Records:
        """LINE_USER records."""
        return self._array("LINE_USERS")

    @cached_property
    def line_parts(self) -> Records:
        """LINE_PART records."""
        return self._array("LINE_PARTS")

    @cached_property
    def resources(self) -> Records:
        """RESOURCE records."""
        return self._array("RESOURCES")

    @cached_property
    def blames(self) -> Records:
        """BLAME records."""
        return self._array("BLAMES")

    @cached_property
    def blamed_sites(self) -> Records:
        """BLAMED_SITE records."""
        return self._array("BLAMED_SITES")

    @cached_property
    def readings(self) -> Records:
        """READING records."""
        return self._array("READINGS")

    @cached_property
    def parts(self) -> Records:
        """PART records."""
        return self._array("PARTS")


def write_config(path: Path, values: Mapping[str, str]) -> None:
    """Write a configuration of ``key value`` lines; the run reads it at once."""
    for key, value in values.items():
        if "\n" in value or "\n" in key or " " in key:
            raise ValueError(f"configuration {key!r}: a line break or a blank in the key is not possible")
    write_atomic(path, "".join(f"{key} {value}\n" for key, value in values.items()), brief=True)


def read_result(path: Path) -> Result:
    """Read a result file.

    Raises `ResultError` with one sentence if *path* is not a result file, a newer version, cut short, or in a foreign
    byte order; `FileNotFoundError` if the runtime wrote none.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ResultError(f"{path}: cannot be read: {reason(error)}") from error
    found: dict[str, memoryview] = {}
    for section in _sections(data, str(path)):
        name = _NUMBERS.get(section["id"])
        if name is not None:  # a section added within this version is not for us
            found[name] = _records(data, section, _LAYOUTS[name], f"{path}: section {name}")
    meta = bytes(found.pop("META", memoryview(b"")))
    return Result(_pairs(meta.decode("utf-8", "replace")), found)


def _sections(data: bytes, name: str) -> list[Row]:
    if len(data) < HEADER.itemsize:
        raise ResultError(f"{name}: is cut short: {len(data)} bytes, the header alone has {HEADER.itemsize}")
    header = next(HEADER.rows(data[: HEADER.itemsize]))
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
    end = HEADER.itemsize + header["sections"] * SECTION.itemsize
    if end > len(data):
        raise ResultError(f"{name}: is cut short: the directory of {header['sections']} sections is incomplete")
    return list(SECTION.rows(data[HEADER.itemsize : end]))


def _records(data: bytes, section: Row, layout: Layout, place: str) -> memoryview:
    size, count, offset = section["record_size"], section["count"], section["offset"]
    if size != layout.itemsize:
        raise ResultError(f"{place}: records of {size} bytes, expected {layout.itemsize}")
    if offset + size * count > len(data):
        raise ResultError(
            f"{place}: is cut short: {count} records end at {offset + size * count}, the file at {len(data)}"
        )
    return memoryview(data)[offset : offset + size * count]


def _pairs(text: str) -> dict[str, str]:
    parts = (line.partition(" ") for line in text.splitlines() if line)
    return {key: value for key, _, value in parts}
