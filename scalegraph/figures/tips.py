"""Tooltips for pictures with very many elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload


class Tips(Sequence[str]):
    """Tooltip texts made on demand: of thousands the user sees one."""

    def __init__(self, count: int, word: Callable[[int], str]) -> None:
        self._count, self._word = count, word

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        """Return one text, or a slice."""
        if isinstance(index, slice):
            return [self._word(i) for i in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        return self._word(index % self._count)
