"""Fixed-size records, read as dictionaries by plain Python, or as arrays by numpy."""

from __future__ import annotations

import itertools
import struct
import sys
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np

Field: TypeAlias = tuple[str, str] | tuple[str, str, tuple[int, ...]]
Row: TypeAlias = dict[str, Any]

_CODES: Final[dict[str, Literal["B", "H", "I", "Q", "i"]]] = {"u1": "B", "u2": "H", "u4": "I", "u8": "Q", "i4": "i"}


class Layout:
    """The fields of a packed little-endian record, each (name, type, and for an array its lengths).

    Types are those of numpy: ``u1``, ``<u2``, ``<u4``, ``<u8``, ``<i4``, and ``S8`` for a text of 8 bytes. numpy
    accepts a layout wherever it accepts a dtype.
    """

    def __init__(self, fields: list[Field]) -> None:
        self.fields = fields
        self.names = tuple(field[0] for field in fields)
        self._counts = [field[2][0] if len(field) > 2 else 0 for field in fields]  # 0: not an array
        codes = []
        for field, count in zip(fields, self._counts, strict=True):
            kind = field[1].lstrip("<")
            codes.append(f"{kind[1:]}s" if kind.startswith("S") else f"{count or 1}{_CODES[kind]}")
        self._struct = struct.Struct("<" + "".join(codes))
        self.itemsize = self._struct.size
        self._ends = tuple(itertools.accumulate(count or 1 for count in self._counts))
        self._plain = not any(self._counts)
        self._texts = tuple(field[0] for field in fields if field[1].startswith("S"))

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The same as a structured numpy type."""
        import numpy as np

        return np.dtype(list(self.fields))

    def rows(self, data: bytes | memoryview) -> Iterator[Row]:
        """Yield each record of *data* by field: a number, bytes without trailing zeros, or a tuple of numbers."""
        places = [(name, end - (count or 1), count and end) for name, count, end in self._columns()]
        row: Row
        for values in self._struct.iter_unpack(data):
            if self._plain:
                row = dict(zip(self.names, values, strict=True))
            else:
                row = {name: values[at:end] if end else values[at] for name, at, end in places}
            for name in self._texts:
                row[name] = row[name].rstrip(b"\0")
            yield row

    def columns(self, data: bytes | memoryview) -> dict[str, list[Any]]:
        """Return the records of *data* as one list per field, with the values of `rows`; faster for many records."""
        parts = self.series(data)
        return {
            name: list(zip(*parts[name], strict=True)) if count else parts[name][0]
            for name, count, _ in self._columns()
        }

    def series(self, data: bytes | memoryview) -> dict[str, list[list[Any]]]:
        """Return the lists of each field of the records in *data*: one, or one per array element."""
        found: dict[str, list[list[Any]]] = {}
        at = 0
        for field, count in zip(self.fields, self._counts, strict=True):
            kind = field[1].lstrip("<")
            width = int(kind[1:])
            lists = [self._list(data, at + place * width, kind, width) for place in range(count or 1)]
            found[field[0]] = lists
            at += width * (count or 1)
        return found

    def _list(self, data: bytes | memoryview, at: int, kind: str, width: int) -> list[Any]:
        """Return the values at *at* of all records: numbers, or bytes without trailing zeros."""
        if kind.startswith("S"):
            texts = struct.iter_unpack(f"{at}x{width}s{self.itemsize - at - width}x", data)
            return [text.rstrip(b"\0") for (text,) in texts]
        code = _CODES[kind]
        if sys.byteorder == "little" and at % width == 0 and self.itemsize % width == 0:
            return memoryview(data).cast(code)[at // width :: self.itemsize // width].tolist()
        return [struct.unpack_from("<" + code, data, begin)[0] for begin in range(at, len(data), self.itemsize)]

    def _columns(self) -> Iterator[tuple[str, int, int]]:
        """Yield for each field: name, array length (0: not an array), and the index after its last value."""
        return zip(self.names, self._counts, self._ends, strict=True)
