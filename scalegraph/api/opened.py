"""The common base of studies and traces in scripts: a `with` block that closes their file, and their picture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from scalegraph.api.picture import Picture


class Opened(ABC):
    """An open file, closed at the end of a ``with`` block, with a picture for notebooks."""

    @property
    @abstractmethod
    def _picture(self) -> Picture | None:
        """The picture of the file; None if all views are empty."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repr_png_(self) -> bytes | None:
        """Show the picture where HTML is not supported."""
        return None if self._picture is None else self._picture.png
