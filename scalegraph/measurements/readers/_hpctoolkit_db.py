"""HPCToolkit databases of version 4: ``meta.db`` (metrics, contexts) and ``profile.db`` (values of every thread).

Source of the format: doc/FORMATS.md of HPCToolkit.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.model import Floats
from scalegraph.measurements.readers._contexts import Contexts, own

META, PROFILE = "meta.db", "profile.db"
MAGIC: Final = b"HPCTOOLKIT"
_MAJOR: Final = 4
_METRICS, _CONTEXT = 2, 3  # sections of meta.db
_PROFILES: Final = 0  # section of profile.db
_POINT, _EXECUTION = 1, 2  # scopes of propagation: exclusive and inclusive values of a context
_HAS_FUNCTION, _HAS_SOURCE = 1, 2
_FUNCTION, _LOOP = 0, 1  # lexical types of contexts
_SUMMARY: Final = 1
_UNLISTED: Final = -1  # row of contexts that hpcprof left out of the tree; their ancestors include them
_VALUE: Final = np.dtype([("metric", "<u2"), ("value", "<f8")])
_INDEX: Final = np.dtype([("context", "<u4"), ("start", "<u8")])


class _File:
    """One file of a database. An access outside it is refused as damage."""

    def __init__(self, path: Path, kind: bytes) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:  # for an empty file
            raise self.fault("is empty; expected a file of HPCToolkit") from error
        except OSError as error:
            raise self.fault(f"cannot be read: {error.strerror}") from error
        head = self._data[:16]
        if head[:14] != MAGIC + kind:
            raise self.fault(f"does not begin with {(MAGIC + kind).decode()}; expected a file of HPCToolkit")
        if len(head) < 16 or head[14] != _MAJOR:
            raise self.fault(f"is of version {head[14] if len(head) > 14 else '?'}; expected 4")
        if self._data[-8:] != b"_" + kind + b".db":
            raise self.fault(f"is cut off: it does not end with _{kind.decode()}.db")

    def fault(self, message: str) -> InputError:
        return InputError(Fault(message, file=str(self.path)))

    def section(self, number: int) -> int:
        """Return the offset of a section."""
        return int(self.unpack("<QQ", 16 + 16 * number)[1])

    def unpack(self, form: str, at: int) -> tuple[Any, ...]:
        """Return the fields at the byte *at*."""
        try:
            return struct.unpack_from(form, self._data, at)
        except (struct.error, OverflowError) as error:  # the latter for a pointer too large for an address
            raise self._outside(at) from error

    def rows(self, at: int, count: int, size: int, least: int) -> range:
        """Return the offsets of *count* records of *size* bytes, the first at *at*; each needs at least *least*."""
        if size < least or at + count * size > len(self._data):
            raise self._outside(at)
        return range(at, at + count * size, size)

    def text(self, at: int) -> str:
        """Return the string that begins at the byte *at*."""
        end = self._data.find(b"\0", at) if 0 < at < len(self._data) else -1
        if end < 0:
            raise self._outside(at)
        return self._data[at:end].decode("utf-8", "replace")

    def array(self, form: np.dtype[Any], at: int, count: int) -> np.ndarray[tuple[int], np.dtype[Any]]:
        """Return *count* records at the byte *at*."""
        if at + count * form.itemsize > len(self._data):
            raise self._outside(at)
        return np.frombuffer(self._data, form, count, at) if count else np.empty(0, form)

    def _outside(self, at: int) -> InputError:
        return self.fault(f"is damaged: nothing can be at byte {at} of {len(self._data)}")


class Database:
    """The content of a database: its *contexts*, and the names of its *metrics*; `columns` reads the values."""

    def __init__(self, place: Path) -> None:
        self._meta, self._profile = _File(place / META, b"meta"), _File(place / PROFILE, b"prof")
        self.metrics, self.left_out = self._read_metrics()
        self.contexts = Contexts()
        self._rows = {0: 0}  # by the number of a context
        self._functions: dict[int, str] = {}
        self._read_contexts()

    def _read_metrics(self) -> tuple[dict[int, tuple[str, bool]], list[str]]:
        """Return (name, whether it is inclusive) by metric number, and names without such a scope."""
        at, count, size, each = self._meta.unpack("<QIBB", self._meta.section(_METRICS))
        found, left = {}, []
        for here in self._meta.rows(at, count, size, 0x20):
            name, scopes, _summaries, several = self._meta.unpack("<QQQH", here)
            known = {}
            for instance in self._meta.rows(scopes, several, each, 0x10):
                scope, metric = self._meta.unpack("<QH", instance)
                known[self._meta.unpack("<B", scope + 8)[0]] = metric
            if not {_POINT, _EXECUTION} & set(known):
                left.append(self._meta.text(name))
                continue
            best = _EXECUTION if _EXECUTION in known else _POINT
            found[known[best]] = (self._meta.text(name), best == _EXECUTION)
        return found, left

    def _read_contexts(self) -> None:
        at, count, size = self._meta.unpack("<QHB", self._meta.section(_CONTEXT))
        left = []
        for here in self._meta.rows(at, count, size, 0x20):
            below, first, context, _kind = self._meta.unpack("<QQIH", here)
            name = self._meta.text(self._meta.unpack("<Q", here + 0x18)[0])
            left.append((first, below, self._row(context, 0, name)))
        while left:
            first, below, parent = left.pop()
            end = first + below
            while first < end:
                more, children, context, flags, _relation, kind, words = self._meta.unpack("<QQIBBBB", first)
                row = self._row(context, parent, self._name(first + 0x20, flags, kind))
                if more:
                    left.append((children, more, row))
                first += 0x20 + 8 * words

    def _row(self, context: int, parent: int, name: str) -> int:
        if context in self._rows:
            raise self._meta.fault(f"is damaged: context {context} appears twice")
        row = self._rows[context] = self.contexts.add(parent, name)
        return row

    def _name(self, at: int, flags: int, kind: int) -> str:
        """Return the name of a function or loop, empty for a line or an instruction."""
        if kind == _FUNCTION:
            return self._function(self._meta.unpack("<Q", at)[0]) if flags & _HAS_FUNCTION else "<unknown function>"
        if kind != _LOOP:
            return ""
        if not flags & _HAS_SOURCE:
            return "loop"
        file, line = self._meta.unpack("<QI", at + 8 * (flags & _HAS_FUNCTION))
        return f"loop at {self._base(file)}:{line}"

    def _function(self, at: int) -> str:
        if at not in self._functions:
            name, module, offset, file, line = self._meta.unpack("<QQQQI", at)
            if name:
                self._functions[at] = self._meta.text(name)
            elif file:
                self._functions[at] = f"<function at {self._base(file)}:{line}>"
            else:
                self._functions[at] = f"<function at {self._base(module)}+{offset:#x}>"
        return self._functions[at]

    def _base(self, at: int) -> str:
        """Return the base name of a file or module, which store their paths at the same offset."""
        return self._meta.text(self._meta.unpack("<Q", at + 8)[0]).rpartition("/")[2]

    def columns(self, cancel: CancelToken) -> Iterator[Mapping[str, Floats]]:
        """Yield the exclusive values of each thread by metric. Shape of each: (contexts,)."""
        at, count, size = self._profile.unpack("<QIB", self._profile.section(_PROFILES))
        known = np.array(sorted(self._rows))
        rows = np.array([self._rows[int(one)] for one in known])
        parents = np.array(self.contexts.parents)
        for number, here in enumerate(self._profile.rows(at, count, size, 0x28)):
            cancel.check()
            values, where, contexts, indices = self._profile.unpack("<QQI4xQ", here)
            if self._profile.unpack("<I", here + 0x28)[0] & _SUMMARY:
                continue
            held = self._profile.array(_VALUE, where, values)
            index = self._profile.array(_INDEX, indices, contexts)
            far = bool((index["start"] > values).any())  # before conversion to signed, where it could be negative
            starts = np.append(index["start"].astype(np.int64), values)
            if far or (np.diff(starts) < 0).any() or (len(index) and starts[0]) or (values and not len(index)):
                raise self._profile.fault(f"is damaged: values of profile {number} are out of order")
            found = np.minimum(np.searchsorted(known, index["context"]), len(known) - 1)
            places = np.repeat(np.where(known[found] == index["context"], rows[found], _UNLISTED), np.diff(starts))
            yield {
                name: own(column, parents) if inclusive else column
                for metric, (name, inclusive) in self.metrics.items()
                for column in [self._column(held, places, metric)]
            }

    def _column(self, held: Any, places: Any, metric: int) -> Floats:
        mine = (held["metric"] == metric) & (places != _UNLISTED)
        return np.bincount(places[mine], held["value"][mine], len(self.contexts.names)).astype(np.float64)
