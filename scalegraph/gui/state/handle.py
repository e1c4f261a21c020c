"""Interface of an open study or trace for the rest of the window."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from scalegraph.subjects.study import StudyData


class Handle(QObject):
    """An open study or trace: its file, name, and the data last read.

    ``changed``: the data was replaced. ``failed`` carries the error message.
    """

    subject: Literal["study", "trace"] = "study"  # which views it has
    changed = Signal()
    failed = Signal(str)

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = path.resolve()
        self.error = ""

    @property
    def key(self) -> str:
        """Its key in selections."""
        return str(self.path)

    @property
    def title(self) -> str:
        """Short name for display: the file's without its ending."""
        return self.path.stem

    @abstractmethod
    def data(self) -> Any:
        """Return the data last read, ``None`` while it is first read."""

    def study(self) -> StudyData | None:
        """Return the study last read, ``None`` for a trace."""
        return None

    @abstractmethod
    def verdict(self) -> str:
        """Return the one-sentence verdict."""

    @abstractmethod
    def refresh(self) -> None:
        """Read it again."""

    @abstractmethod
    def close(self) -> None:
        """Release it and cancel reading."""
