"""Records of fixed size: their fields, read as dictionaries by Python alone, or as arrays by numpy."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np

Field: TypeAlias = tuple[str, str] | tuple[str, str, tuple[int, ...]]
Row: TypeAlias = dict[str, Any]

_CODES = {"u1": "B", "u2": "H", "u4": "I", "u8": "Q", "i4": "i"}


class Layout:
    """The fields of a packed little-endian record, each (name, type, lengths of its array if it is one).

    Types are those of numpy: ``u1``, ``<u2``, ``<u4``, ``<u8``, ``<i4``, and ``S8`` for a text of 8 bytes. numpy takes
    a layout wherever it takes a dtype.
    """

    def __init__(self, fields: list[Field]) -> None:
        self.fields = fields
        self.names = tuple(field[0] for field in fields)
        self._counts = [field[2][0] if len(field) > 2 else 0 for field in fields]  # 0: no array
        codes = []
        for field, count in zip(fields, self._counts, strict=True):
            kind = field[1].lstrip("<")
            codes.append(f"{kind[1:]}s" if kind.startswith("S") else f"{count or 1}{_CODES[kind]}")
        self._struct = struct.Struct("<" + "".join(codes))
        self.itemsize = self._struct.size

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The same as a structured type of numpy."""
        import numpy as np

        return np.dtype(list(self.fields))

    def rows(self, data: bytes) -> Iterator[Row]:
        """Yield each record of *data* by field: a number, bytes without trailing zeros, or a tuple of numbers."""
        texts = [field[0] for field in self.fields if field[1].startswith("S")]
        for values in self._struct.iter_unpack(data):
            row: Row = {}
            at = 0
            for name, count in zip(self.names, self._counts, strict=True):
                if count:
                    row[name] = values[at : at + count]
                    at += count
                else:
                    row[name] = values[at]
                    at += 1
            for name in texts:
                row[name] = row[name].rstrip(b"\0")
            yield row
