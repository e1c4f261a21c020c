"""Experiments of Extra-P 3: a stream of records, each after its name; only means, as it keeps no single values.

The first two bytes give the byte order; texts follow their length (4 bytes), numbers take 8 bytes. The points come
last, after the models, which are not read, as models are fitted anew.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NoReturn

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._files import read_bytes

QUALIFIER = b"EXTRAP_EXPERIMENT"
_LONGEST = 1 << 16  # characters of a name
_POINT = "qq9d2q"  # coordinate, repetitions, mean, .., standard deviation, median, .., smallest, largest; metric, path
_NAME = b"ExperimentPoint"
_BEFORE = ("Parameter", "Metric", "Region", "Callpath", "Coordinate", "ModelComment")
_SPREAD = ((6, "median"), (9, "smallest"), (10, "largest"), (5, "std"))
MEANS = "The file keeps no single values: each value is the mean of its repetitions; _median, _smallest, .. have more."


def _recognises(_path: Path, head: bytes) -> bool:
    return head[:2] in (b"\1\0", b"\0\1") and head[6:].startswith(QUALIFIER)


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    stream = _Stream(read_bytes(path), path)
    if stream.text() != QUALIFIER.decode():
        stream.refuse()
    version = stream.text()
    head = _Head(stream)
    head.read(cancel)
    progress(0.3)
    if not head.parameters or not head.metrics or not head.paths:
        stream.refuse()
    found = Collector(str(path), list(head.parameters))
    rows = stream.points()
    places = [key for key in head.places if key in {row[0] for row in rows}]
    if len(rows) != len(places) * len(head.metrics) * len(head.paths):
        stream.refuse()
    points = {key: found.point(tuple(head.places[key][name] for name in found.parameters)) for key in places}
    spread = False
    for number, row in enumerate(rows):
        if number % 1000 == 0:
            cancel.check()
            progress(0.3 + 0.7 * number / len(rows))
        place, metric, callpath = row[0], row[11], row[12]
        if place not in points or metric not in head.metrics or callpath not in head.paths:
            stream.refuse()
        name, unit = head.metrics[metric]
        call = found.call_path(head.paths[callpath])
        found.add(points[place], call, found.metric(name, unit), (row[2],))
        if row[5] > 0:
            spread = True
            for index, word in _SPREAD:
                other = found.metric(f"{name}_{word}", unit, description=f"{word} of the repetitions")
                found.add(points[place], call, other, (row[index],))
    notes = [f"Written by Extra-P 3 (format {version}).", *([MEANS] if spread else [])]
    return found.finish("extrap-3", path.stem, notes=notes)


class _Stream:
    """The bytes of the file, read from the front."""

    def __init__(self, data: bytes, path: Path) -> None:
        self.data, self.path = data, path
        self.order = "<" if data[:2] == b"\1\0" else ">"
        self.at = 2

    def refuse(self) -> NoReturn:
        message = f"is damaged near byte {self.at}; expected a whole experiment of Extra-P 3"
        raise InputError(Fault(message, file=str(self.path)))

    def take(self, form: str) -> tuple[float, ...]:
        """Return the numbers of a ``struct`` format."""
        try:
            found = struct.unpack_from(self.order + form, self.data, self.at)
        except struct.error:
            self.refuse()
        self.at += struct.calcsize(self.order + form)
        return found

    def text(self) -> str:
        """Return a text."""
        (length,) = (int(number) for number in self.take("I"))
        raw = self.data[self.at : self.at + length]
        if length > _LONGEST or len(raw) < length:
            self.refuse()
        self.at += length
        return raw.decode("utf-8", "replace")

    def points(self) -> list[tuple[float, ...]]:
        """Return the records at the end, which are points."""
        mark = struct.pack(self.order + "I", len(_NAME)) + _NAME
        self.at = self.data.find(mark, self.at)
        made: list[tuple[float, ...]] = []
        if self.at < 0:
            raise InputError(Fault("holds no measured point", file=str(self.path)))
        while self.at < len(self.data):
            if not self.data.startswith(mark, self.at):
                self.refuse()
            self.at += len(mark)
            made.append(self.take(_POINT))
        return made


class _Head:
    """The part before the models: names by number."""

    def __init__(self, stream: _Stream) -> None:
        self.stream = stream
        self.parameters: list[str] = []
        self.metrics: dict[float, tuple[str, str]] = {}
        self.regions: dict[float, str] = {}
        self.paths: dict[float, str] = {}
        self.places: dict[float, dict[str, float]] = {}
        self._again: dict[str, int] = {}

    def read(self, cancel: CancelToken) -> None:
        """Read up to the first record of models or points."""
        stream = self.stream
        while stream.at < len(stream.data):
            cancel.check()
            before = stream.at
            kind = stream.text()
            if kind not in _BEFORE:
                stream.at = before
                return
            (number,) = stream.take("q")
            self._take(kind, number)

    def _take(self, kind: str, number: float) -> None:
        stream = self.stream
        if kind == "Parameter":
            self.parameters.append(stream.text())
        elif kind == "Metric":
            unit = (stream.text(), stream.text())
            self.metrics[number] = unit[0], "" if unit[1] == "unknown" else unit[1]
        elif kind == "Region":
            self.regions[number] = self._named(stream.text())
            stream.text()  # file and line, in the imported text
            stream.take("q")
        elif kind == "Callpath":
            region, parent = stream.take("qq")
            if region not in self.regions or (parent != -1 and parent not in self.paths):
                stream.refuse()
            above = "" if parent == -1 else f"{self.paths[parent]}->"
            self.paths[number] = above + self.regions[region]
        elif kind == "Coordinate":
            (count,) = (int(each) for each in stream.take("q"))
            if count != len(self.parameters):
                stream.refuse()
            self.places[number] = {stream.text(): stream.take("d")[0] for _ in range(count)}
            if set(self.places[number]) != set(self.parameters):
                stream.refuse()
        else:
            stream.text()

    def _named(self, name: str) -> str:
        """Return the name of a region; as in Extra-P, duplicates end in their number."""
        again = self._again[name] = self._again.get(name, -1) + 1
        return f"{name} #{again}" if again else name


READER = Reader(
    "extrap-3",
    "Extra-P 3 experiment",
    (".extra-p", ".extrap"),
    recognises=_recognises,
    read=_read,
    order=20,
    looks="saved by Extra-P 3; holds means",
)
