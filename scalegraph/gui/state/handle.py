"""A study or a trace that is open in the window, as the rest of the window sees it."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from scalegraph.subjects.study import StudyData


class Handle(QObject):
    """Something open: its file, its name, and what was read of it last.

    ``changed`` says that what was read was replaced, ``failed`` carries the sentence when it cannot be read.
    """

    subject: Literal["study", "trace"] = "study"  # whose views it has
    changed = Signal()
    failed = Signal(str)

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = path.resolve()
        self.error = ""

    @property
    def key(self) -> str:
        """Its name in selections."""
        return str(self.path)

    @property
    def title(self) -> str:
        """Short name for display: the file's, without its ending."""
        return self.path.stem

    @abstractmethod
    def data(self) -> Any:
        """Return what was read last, or ``None`` while it is read for the first time."""

    def study(self) -> StudyData | None:
        """Return the study that was read last; a trace has none."""
        return None

    @abstractmethod
    def verdict(self) -> str:
        """Return the sentence that says what it says."""

    @abstractmethod
    def refresh(self) -> None:
        """Read it again."""

    @abstractmethod
    def close(self) -> None:
        """Forget it; a reading under way is dropped."""
