"""Profiles of Caliper: the records of one file by call path, and run metadata ("globals") as parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from caliperreader import CaliperStreamReader
from caliperreader.readererror import ReaderError

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import as_number
from scalegraph.measurements.readers._files import read_text
from scalegraph.measurements.settings import Settings

RANK = "mpi.rank"
PROGRAM = "<program>"  # call path of values measured outside all regions
NUMBERS = ("int", "uint", "double")
LINES_A_STEP = 2000

# Attributes that say where or when a record was made, not a quantity.
PLACES = re.compile(
    r"iteration#|mpi\.rank$|block$|aggregate\.slot$|timeseries\.|loop\.start_iteration$|omp\.thread|thread\.id$|event\."
    r"|source\.|cali\.|caliper\.|spot\.|.*#aggregate\.slot$|Node order$"
)
HIDDEN = re.compile(r"cali\.|caliper\.|spot\.")
# What the library raises on damaged files; StopIteration comes from a backslash at a line end.
_DAMAGE = (AttributeError, LookupError, ReaderError, StopIteration, TypeError, ValueError)


@dataclass(frozen=True)
class CaliperMetric:
    """A metric as described in the file."""

    unit: str = ""
    description: str = ""


@dataclass
class CaliperProfile:
    """The content of one file: metadata by name, whole numbers or text, and values by call path, metric and rank."""

    file: str
    settings: Settings = field(default_factory=dict)
    results: dict[str, float] = field(default_factory=dict)  # metadata with fractions: measured, not set
    metrics: dict[str, CaliperMetric] = field(default_factory=dict)
    values: dict[tuple[tuple[str, ...], str], dict[int, list[float]]] = field(default_factory=dict)
    left_out: dict[str, tuple[int, str]] = field(default_factory=dict)  # reason: number of records, first place
    ranks: set[int] = field(default_factory=set)

    def add(self, path: tuple[str, ...], metric: str, rank: int, value: float) -> None:
        """Add one value; several at one place are combined later, see `together`."""
        self.values.setdefault((path, metric), {}).setdefault(rank, []).append(value)
        self.ranks.add(rank)


def together(metric: str, values: list[float]) -> float:
    """Combine several values of one call path, by the aggregation with which the metric's name begins."""
    if metric.startswith("min#"):
        return min(values)
    if metric.startswith("max#") or metric.endswith("highwatermark"):
        return max(values)
    if metric.startswith(("avg#", "percent_total#", "ratio#", "variance#")) or "/" in metric:
        return float(np.mean(values))
    return float(np.sum(values))


def adds_up(metric: str) -> bool:
    """Whether a metric may be summed over processes."""
    return together(metric, [1.0, 1.0]) == 2.0


def is_caliper(head: bytes) -> bool:
    """Whether a file that begins with *head* may be a ``.cali`` stream."""
    return head.startswith(b"__rec=")


def read_stream(path: Path, cancel: CancelToken) -> CaliperProfile:
    """Return the profile in a ``.cali`` file; raise `InputError` with the line that is damaged."""
    text = read_text(path)
    lines = text.split("\n")
    if lines[-1] or not lines[-2:-1] or not lines[-2].startswith("__rec=globals"):
        message = "the file is cut off; expected the record of globals and a line end after it"
        raise InputError(Fault(message, file=str(path), line=len(lines) - (not lines[-1])))
    scan = _Scan(str(path), cancel)
    try:
        scan.stream.read(scan.lines(lines[:-1]), scan.record)
        scan.globals()
    except _DAMAGE as error:
        reason = getattr(error, "message", "") or str(error) or type(error).__name__
        message = f"is not a record of Caliper that makes sense ({type(error).__name__}: {reason[:60]})"
        raise InputError(Fault(message, file=str(path), line=scan.line)) from error
    if not scan.profile.values:
        raise InputError(Fault("holds no profile: no record has a value at a call path", file=str(path)))
    return scan.profile


class _Scan:
    def __init__(self, file: str, cancel: CancelToken) -> None:
        self.file = file
        self.cancel = cancel
        self.line = 0
        self.stream = CaliperStreamReader()
        self.profile = CaliperProfile(file)

    def lines(self, lines: list[str]) -> Iterator[str]:
        """Yield nonempty lines, each checked for damage that the library ignores silently."""
        for self.line, line in enumerate(lines, 1):
            if self.line % LINES_A_STEP == 0:
                self.cancel.check()
            if not line.strip():
                continue
            fields = _fields(line)
            if len(fields.get("attr", ())) != len(fields.get("data", ())) and "node" not in fields.get("__rec", ()):
                raise self.refuse("has not one value for each attribute; expected as many after data= as after attr=")
            if "parent" in fields and as_number(fields["parent"][0]) == as_number(fields.get("id", [""])[0]):
                raise self.refuse("is a node that is its own parent")
            yield line

    def refuse(self, message: str) -> InputError:
        return InputError(Fault(message, file=self.file, line=self.line))

    def record(self, record: dict[str, Any]) -> None:
        channel = record.get("spot.channel")
        if channel not in (None, "regionprofile"):
            self._leave_out(f"records of channel '{channel}', which holds no profile by call path")
            return
        path = [str(part) for part in record.get("path", [])]
        numbers: dict[str, float] = {}
        for name, value in record.items():
            if name == "path" or name not in self.stream.db.attributes:
                continue
            attribute = self.stream.db.attributes[name]
            kind = attribute.attribute_type()
            if attribute.is_value() and kind in NUMBERS:
                if not PLACES.match(name):
                    numbers[name] = self._number(name, value)
                    if name not in self.profile.metrics:
                        self.profile.metrics[name] = self._metric(attribute, name)
            elif not attribute.is_nested() and not HIDDEN.match(name) and not attribute.is_global():
                path += _below(name, value, kind)
        if not numbers:
            self._leave_out("records without a value")
            return
        rank = int(self._number(RANK, record.get(RANK, "0")))
        for name, number in numbers.items():
            self.profile.add(tuple(path), name, rank, number)

    def _metric(self, attribute: Any, name: str) -> CaliperMetric:
        known = attribute.metadata()
        unit = str(known.get("attribute.unit", "ns" if name.endswith(".ns") else ""))
        return CaliperMetric(unit, str(known.get("attribute.alias", "")))

    def _number(self, name: str, value: object) -> float:
        number = as_number(str(value))
        if number is None:
            raise self.refuse(f"expected a number as {name}, found '{str(value)[:40]}'")
        return number

    def _leave_out(self, reason: str) -> None:
        count, place = self.profile.left_out.get(reason, (0, f"{self.file}:{self.line}"))
        self.profile.left_out[reason] = count + 1, place

    def globals(self) -> None:
        for name, value in self.stream.globals.items():
            if name not in self.stream.db.attributes or isinstance(value, list) or HIDDEN.match(name):
                continue
            kind = self.stream.db.attributes[name].attribute_type()
            number = as_number(str(value))
            if kind == "double" and number is not None:
                self.profile.results[name] = number
            elif kind in ("int", "uint") and number is not None:
                self.profile.settings[name] = int(number)
            elif kind == "string":
                self.profile.settings[name] = as_setting(str(value))


def as_setting(text: str) -> int | str:
    """Return a whole number written as text as a number, and any other text unchanged."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else text


def _below(name: str, value: object, kind: str) -> list[str]:
    """Return what an attribute that is not a region adds to the call path: a kernel's name, ``phase=3``."""
    parts = [str(part) for part in value] if isinstance(value, list) else [str(value)]
    return parts if kind == "string" else [f"{name}={part}" for part in parts]


def _fields(line: str) -> dict[str, list[str]]:
    """Return the fields of a record; commas and equal signs after a backslash do not separate."""
    pieces = [re.split(r"(?<!\\)=", piece) for piece in re.split(r"(?<!\\),", line.replace(r"\\", "").strip())]
    return {piece[0]: [part.replace("\\", "") for part in piece[1:]] for piece in pieces}
