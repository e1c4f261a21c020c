"""HPCToolkit databases before version 4: ``experiment.xml`` (contexts), and one ``.metric-db`` for each thread.

Source of the format: the document type at the beginning of every ``experiment.xml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.model import Floats
from scalegraph.measurements.readers._contexts import Contexts, own
from scalegraph.measurements.readers._files import read_bytes

EXPERIMENT, VALUES = "experiment.xml", "[!.]*.metric-db"
_TAG: Final = b"HPCPROF-metricdb__"
_HEAD: Final = 32  # bytes: tag, version (5), byte order, numbers of contexts and metrics
_SUFFIX: Final = re.compile(r" \(I\)$")
_TABLES: Final = {"Procedure": "procedures", "File": "files"}
_FUNCTIONS: Final = ("PF", "Pr", "P")
_LOOP: Final = "L"
_DATA: Final = "SecCallPathProfileData"


class Experiment:
    """The content of a database: its *contexts*, and the names of its *metrics*; `columns` reads the values."""

    def __init__(self, place: Path, cancel: CancelToken) -> None:
        self._file = place / EXPERIMENT
        self._places = sorted(place.glob(VALUES))
        if not self._places:
            raise InputError(
                Fault("has no .metric-db files; expected one for each thread, or meta.db", file=str(place))
            )
        self.contexts = Contexts()
        self.metrics: dict[int, str] = {}  # by column, inclusive ones
        self._rows: dict[int, int] = {}  # by the number of a context
        self._tables: dict[str, dict[str, str]] = {name: {} for name in _TABLES.values()}
        try:
            self._parse(cancel)
        except ET.ParseError as error:
            line, column = error.position
            fault = Fault("is not XML, or is cut off", file=str(self._file), line=line, column=column + 1)
            raise InputError(fault) from error
        except OSError as error:
            raise self._fault(f"cannot be read: {error.strerror}") from error
        if len(self.contexts.names) == 1 or not self.metrics:
            raise self._fault("has no call path profile with metrics; expected one, of hpcprof or hpcprof-mpi")

    def _fault(self, message: str) -> InputError:
        return InputError(Fault(message, file=str(self._file)))

    def _parse(self, cancel: CancelToken) -> None:
        rows = [0]
        inside = False
        for event, element in ET.iterparse(self._file, ("start", "end")):
            cancel.check()
            if element.tag == _DATA:
                inside = event == "start"
            elif inside and element.tag != "M":
                if event == "start":
                    rows.append(self._context(element, rows[-1]))
                else:
                    rows.pop()
            elif event == "start":
                self._entry(element)
            if event == "end":
                element.clear()

    def _entry(self, element: ET.Element) -> None:
        """Record an entry of the tables before the contexts."""
        if element.tag in _TABLES:
            self._tables[_TABLES[element.tag]][element.get("i", "")] = element.get("n", "")
        elif element.tag == "MetricDB" and element.get("t") == "inclusive":
            self.metrics[self._number(element, "db-id")] = _SUFFIX.sub("", element.get("n", ""))

    def _context(self, element: ET.Element, parent: int) -> int:
        number = self._number(element, "i")
        if number in self._rows:
            raise self._fault(f"context {number} appears twice")
        row = self._rows[number] = self.contexts.add(parent, self._name(element))
        return row

    def _name(self, element: ET.Element) -> str:
        """Return the name of a function or loop, empty for a call, a line or an unnamed function."""
        if element.tag in _FUNCTIONS:
            return self._tables["procedures"].get(element.get("n", ""), element.get("n", ""))
        if element.tag != _LOOP:
            return ""
        file = self._tables["files"].get(element.get("f", ""), "").rpartition("/")[2]
        return f"loop at {file or '?'}:{element.get('l', '?')}"

    def _number(self, element: ET.Element, name: str) -> int:
        text = element.get(name, "")
        if not re.fullmatch(r"\d{1,9}", text):
            raise self._fault(f"<{element.tag}> has {name}='{text[:40]}'; expected a whole number")
        return int(text)

    def columns(self, cancel: CancelToken) -> Iterator[Mapping[str, Floats]]:
        """Yield the exclusive values of each thread by metric. Shape of each: (contexts,)."""
        numbers = np.array(list(self._rows))
        rows = np.array(list(self._rows.values()))
        parents = np.array(self.contexts.parents)
        for path in self._places:
            cancel.check()
            values = _values(path)
            if int(numbers.max()) > len(values) or max(self.metrics) >= values.shape[1]:
                message = f"has {len(values)} contexts and {values.shape[1]} metrics; {EXPERIMENT} has more"
                raise InputError(Fault(message, file=str(path)))
            found = {}
            for column, name in self.metrics.items():
                inclusive = np.zeros(len(parents))
                inclusive[rows] = values[numbers - 1, column]
                found[name] = own(inclusive, parents)
            yield found


def _values(path: Path) -> Floats:
    """Return the values of one thread. Shape: (contexts, metrics)."""
    data = read_bytes(path)
    if data[: len(_TAG)] != _TAG or data[23:24] not in (b"b", b"l"):
        raise InputError(Fault(f"does not begin with {_TAG.decode()}; expected values of HPCToolkit", file=str(path)))
    order = ">" if data[23:24] == b"b" else "<"
    if len(data) < _HEAD:
        raise InputError(Fault("is cut off in its head", file=str(path)))
    contexts, metrics = map(int, np.frombuffer(data, f"{order}u4", 2, 24))
    if len(data) != _HEAD + 8 * contexts * metrics:
        message = f"is cut off: it has {len(data)} bytes; {_HEAD + 8 * contexts * metrics} were expected"
        raise InputError(Fault(message, file=str(path)))
    return np.frombuffer(data, f"{order}f8", contexts * metrics, _HEAD).reshape(contexts, metrics).astype(np.float64)
