"""Extra-P's experiments (``.extra-p``): a zip with ``experiment.json`` and, if they were kept, single values.

Values are in chunks ``values/0.vals`` (consecutive NumPy arrays) with their offsets in ``values/0.indx``.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.files import MOST_EXPANSION, expands_too_much
from scalegraph.base.units import si
from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._files import Checked, parse_json

Array: TypeAlias = NDArray[np.float64]

EXPERIMENT = "experiment.json"
INDEX, VALUES = b"Extra-P INDEX\0\0\0", b"Extra-P VALUES\0\0"
KNOWN = ("Extra-P", "scaling", "parameters", "measurements", "modelers", "callpaths", "metrics")
SPREAD = {"median": "median", "minimum": "smallest", "maximum": "largest", "std": "std"}
THREADED = "weak_threaded"  # a location with the value 0 did not take part
# What zipfile raises on damaged archives, besides its own error.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
)
# The header of an array in NumPy's format 1.0; NumPy's own function raises whatever Python's parser does, and warns.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<type>[<>|][iuf][1248])', 'fortran_order': False, "
    rb"'shape': \((?P<shape>[\d, ]*)\), \} *\n",
    re.DOTALL,
)
MEANS = "The file keeps no single values: each value is the mean of its repetitions; _median, _smallest, .. have more."
LOCATIONS = "Values are averages over processes or threads; metrics that end in _max are of the one that has most."


def _recognises(_path: Path, head: bytes) -> bool:
    return head.startswith(b"PK\x03\x04") and head[30:].startswith((EXPERIMENT.encode(), b"values/"))


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in _members(archive, path)}
    except _DAMAGE as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else f"it is damaged ({error})"
        raise InputError(Fault(f"cannot be read: {reason}; expected an Extra-P experiment", file=str(path))) from error
    progress(0.2)
    cancel.check()
    try:
        text = members[EXPERIMENT].decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(Fault(f"{EXPERIMENT} is not UTF-8 text", file=str(path))) from error
    check = Checked(f"{path}/{EXPERIMENT}")
    whole = check.mapping(parse_json(text, check.file), "")
    progress(0.4)
    version = check.text(check.member(whole, "Extra-P", ""), "Extra-P")
    names = check.sequence(check.member(whole, "parameters", ""), "parameters")
    found = Collector(str(path), [check.text(name, f"parameters[{index}]") for index, name in enumerate(names)])
    if not names:
        check.refuse("parameters", "is empty; expected at least one parameter")
    scan = _Scan(check, found, _Chunks(members, check), threaded=whole.get("scaling") == THREADED)
    paths = check.mapping(check.member(whole, "measurements", ""), "measurements")
    for number, (name, metrics) in enumerate(paths.items()):
        cancel.check()
        progress(0.4 + 0.6 * number / len(paths))
        for metric, entries in check.mapping(metrics, f"measurements['{name}']").items():
            scan.series(name, metric, entries)
    _skip_models(whole, found, check)
    return found.finish("extrap-experiment", path.stem, notes=[f"Written by Extra-P {version}.", *scan.notes])


def _members(archive: zipfile.ZipFile, path: Path) -> list[str]:
    names = archive.namelist()
    if EXPERIMENT not in names:
        raise InputError(Fault(f"holds no {EXPERIMENT}; expected an Extra-P experiment", file=str(path)))
    wanted = [one for one in archive.infolist() if one.filename == EXPERIMENT or one.filename.startswith("values/")]
    unpacked = sum(entry.file_size for entry in wanted)
    if expands_too_much(path.stat().st_size, unpacked):
        raise InputError(
            Fault(
                f"would unpack to {si(unpacked, 'B')}, more than {MOST_EXPANSION} times its size; "
                "expected an Extra-P experiment",
                file=str(path),
            )
        )
    return [entry.filename for entry in wanted]


def _skip_models(whole: dict[str, Any], found: Collector, check: Checked) -> None:
    modelers = check.sequence(whole.get("modelers") or [], "modelers")
    if modelers:
        found.skip("sets of models", len(modelers), "models are fitted anew from the values", f"{check.file}: modelers")
    for name in ("callpaths", "metrics"):
        if whole.get(name):
            found.skip(
                "tags", len(check.mapping(whole[name], name)), "tags have no meaning here", f"{check.file}: {name}"
            )
    for name in whole:
        if name not in KNOWN:
            found.skip("entries", 1, "not part of the format", f"{check.file}: {name}")


class _Scan:
    """Adds the measurements series by series."""

    def __init__(self, check: Checked, found: Collector, chunks: _Chunks, *, threaded: bool) -> None:
        self.check = check
        self.found = found
        self.chunks = chunks
        self.threaded = threaded
        self.notes: list[str] = []

    def series(self, name: str, metric: str, entries: object) -> None:
        where = f"measurements['{name}']['{metric}']"
        rows = list(self._entries(self.check.sequence(entries, where), where))
        if not rows:
            self.found.skip("series", 1, "no measurements in it", f"{self.check.file}: {where}")
            return
        path = self.found.call_path(name)
        if rows[0][1].get("values") is not None:
            self._single(path, metric, rows, where)
            return
        column = self.found.metric(metric)
        unlike: dict[str, list[tuple[int, float]]] = {word: [] for word in SPREAD}
        for number, (point, entry) in enumerate(rows):
            place = f"{where}[{number}]"
            if entry.get("values") is not None:
                self.check.refuse(place, "has single values, others of the series have none; expected all or none")
            self.found.add(point, path, column, (self._number(entry, "mean", place),))
            for word, numbers in unlike.items():
                if word in entry:
                    numbers.append((point, self._number(entry, word, place)))
        if any(value > 0 for _, value in unlike["std"]):
            self._note(MEANS)
            for word, numbers in unlike.items():
                other = self.found.metric(f"{metric}_{SPREAD[word]}", description=f"{word} of the repetitions")
                for point, value in numbers:
                    self.found.add(point, path, other, (value,))

    def _entries(self, entries: list[Any], where: str) -> Iterator[tuple[int, dict[str, Any]]]:
        seen: set[int] = set()
        parameters = len(self.found.parameters)
        for number, entry in enumerate(entries):
            place = f"{where}[{number}]"
            entry = self.check.mapping(entry, place)
            coordinates = self.check.sequence(self.check.member(entry, "coordinate", place), f"{place}.coordinate")
            if len(coordinates) != parameters:
                self.check.expected(f"{place}.coordinate", f"{parameters} numbers, one a parameter", coordinates)
            point = self.found.point(tuple(self._finite(each, f"{place}.coordinate") for each in coordinates))
            if point in seen:
                self.check.refuse(f"{place}.coordinate", f"{self.found.at(point)} appears twice; expected it once")
            seen.add(point)
            yield point, entry

    def _single(self, path: int, metric: str, rows: Sequence[tuple[int, dict[str, Any]]], where: str) -> None:
        arrays = [self.chunks.array(entry.get("values"), f"{where}[{i}].values") for i, (_, entry) in enumerate(rows)]
        column = self.found.metric(metric)
        for (point, _), values in zip(rows, arrays, strict=True):
            if values.ndim == 1:
                self.found.add(point, path, column, values.tolist())
                continue
            values = values.reshape(len(values), -1)
            took_part = (values != 0) | ~(values != 0).any(axis=1, keepdims=True) | (not self.threaded)
            means = np.where(took_part, values, 0).sum(axis=1) / took_part.sum(axis=1)
            self.found.add(point, path, column, means.tolist())
            if values.shape[1] == 1:
                continue
            self._note(LOCATIONS)
            other = self.found.metric(f"{metric}_max", description="of the location that has most")
            self.found.add(point, path, other, values.max(axis=1).tolist())

    def _number(self, entry: dict[str, Any], name: str, place: str) -> float:
        value = self.check.member(entry, name, place)
        if isinstance(value, str):  # "nan", "-inf", and fractions: "1/3"
            above, _, below = value.partition("/")
            try:
                return float(above) / float(below or 1)
            except (ValueError, ZeroDivisionError):
                self.check.expected(f"{place}.{name}", "a number", value)
        return self.check.number(value, f"{place}.{name}")

    def _finite(self, value: object, where: str) -> float:
        number = self._number({"it": value}, "it", where)
        return number if np.isfinite(number) else self.check.expected(where, "a finite number", value)

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


class _Chunks:
    """The arrays of single values, by number of chunk and number within it."""

    def __init__(self, members: dict[str, bytes], check: Checked) -> None:
        self.members = members
        self.check = check
        self._headers: dict[bytes, tuple[np.dtype[Any], tuple[int, ...]]] = {}

    def array(self, where: object, place: str) -> Array:
        """Return an array of one dimension (repetitions) or more (followed by locations)."""
        chunk, number = self._reference(where, place)
        index, values = (self.members.get(f"values/{chunk}.{ending}", b"") for ending in ("indx", "vals"))
        offset = 16 + 8 * (number + 1)
        if not index.startswith(INDEX) or not values.startswith(VALUES) or len(index) < offset + 8:
            self.check.refuse(place, f"array {number} of chunk {chunk} is not in the file, or the chunk is damaged")
        try:
            array = self._parse(values, struct.unpack_from("<Q", index, offset)[0])
        except (ValueError, TypeError, OverflowError) as error:
            self.check.refuse(place, f"array {number} of chunk {chunk} is damaged ({str(error)[:60]})")
        if not array.size or not array.ndim:
            self.check.refuse(place, f"array {number} of chunk {chunk} is empty; expected numbers")
        return array

    def _reference(self, where: object, place: str) -> tuple[int, int]:
        pair = self.check.sequence(where, place)
        if len(pair) != 2 or not all(isinstance(each, int) and 0 <= each < 2**40 for each in pair):
            self.check.expected(place, "number of the chunk and of the array in it", where)
        return pair[0], pair[1]

    def _parse(self, values: bytes, start: int) -> Array:
        end = start + 10 + int.from_bytes(values[start + 8 : start + 10], "little")  # version 1.0 of NumPy's format
        header = values[start:end]
        if header not in self._headers:
            match = _HEADER.fullmatch(header)
            if match is None:
                raise ValueError("expected the header of an array of numbers, row by row")
            shape = tuple(int(length) for length in re.findall(rb"\d+", match["shape"]))
            self._headers[header] = np.dtype(match["type"].decode()), shape
        dtype, shape = self._headers[header]
        count = int(np.prod(shape, dtype=object))
        return np.frombuffer(values, dtype, count, end).reshape(shape).astype(np.float64)


READER = Reader(
    "extrap-experiment",
    "Extra-P experiment",
    (".extra-p",),
    recognises=_recognises,
    read=_read,
    order=20,
    looks="saved by Extra-P; without single values: means",
)
