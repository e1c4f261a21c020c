"""The folder that a user chose for the program text of one trace: kept with the window's settings, with a way back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal

from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.undo import Change, UndoStack

_GROUP: Final = "sources"


@dataclass(frozen=True)
class Chosen:
    """A folder, empty if none is chosen, and what was found in it, by the name in the trace."""

    folder: str = ""
    files: Mapping[str, Path] = field(default_factory=dict)


class SourceFolder(QObject):
    """What is chosen for the trace at *path*. Changes go onto *stack*."""

    changed = Signal()

    def __init__(self, path: Path, stack: UndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._key = f"{_GROUP}/{hashlib.sha256(str(path).encode()).hexdigest()[:24]}"
        self._stack = stack
        self._settings: Settings | None = None
        self._current = Chosen()

    @property
    def current(self) -> Chosen:
        """What is chosen now."""
        return self._current

    def choose(self, folder: Path, files: Mapping[str, Path]) -> None:
        """Take program text from *folder*, where *files* were found; that can be undone."""
        self._stack.push(Change("folder of sources", self.take, self._current, Chosen(str(folder), files)))

    def take(self, what: Chosen) -> None:
        """Have *what*, and keep its folder; for undo and redo."""
        self._current = what
        if self._settings is not None:
            self._settings.set_text(self._key, what.folder)
        self.changed.emit()

    def keep_in(self, settings: Settings) -> None:
        """Keep the folder there from now on, and have the one that was kept."""
        self._settings = settings
        self._current = Chosen(settings.text(self._key))

    def found(self, files: Mapping[str, Path]) -> None:
        """Have *files* of the folder that was kept: the trace was read."""
        self._current = Chosen(self._current.folder, files)
