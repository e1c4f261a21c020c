"""The folder with a trace's sources, chosen by the user and saved in the window's settings; undoable."""

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
    """A folder, empty if none is chosen, and the files found in it by their name in the trace."""

    folder: str = ""
    files: Mapping[str, Path] = field(default_factory=dict)


class SourceFolder(QObject):
    """The folder chosen for the trace at *path*. Changes go onto *stack*."""

    changed = Signal()

    def __init__(self, path: Path, stack: UndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._key = f"{_GROUP}/{hashlib.sha256(str(path).encode()).hexdigest()[:24]}"
        self._stack = stack
        self._settings: Settings | None = None
        self._current = Chosen()

    @property
    def current(self) -> Chosen:
        """The current choice."""
        return self._current

    def choose(self, folder: Path, files: Mapping[str, Path]) -> None:
        """Take sources from *folder*, where *files* were found; undoable."""
        self._stack.push(Change("folder of sources", self.take, self._current, Chosen(str(folder), files)))

    def take(self, what: Chosen) -> None:
        """Use *what* and save its folder; for undo and redo."""
        self._current = what
        if self._settings is not None:
            self._settings.set_text(self._key, what.folder)
        self.changed.emit()

    def keep_in(self, settings: Settings) -> None:
        """Save the folder in these settings from now on, and load the one saved there."""
        self._settings = settings
        self._current = Chosen(settings.text(self._key))

    def found(self, files: Mapping[str, Path]) -> None:
        """Take the *files* found in the saved folder, once the trace has been read."""
        self._current = Chosen(self._current.folder, files)
