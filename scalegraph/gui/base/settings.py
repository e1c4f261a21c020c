"""Settings kept between sessions: window geometry, theme, recent files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, cast

from PySide6.QtCore import QByteArray, QObject, QSettings, QStandardPaths, Signal

from scalegraph.gui.base.theme import MODES, Mode

_MOST_RECENT: Final = 12


class Settings(QObject):
    """A thin, typed layer over `QSettings`; *path* redirects it to a file, for tests."""

    recent_changed = Signal()

    def __init__(self, path: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        if path is not None:
            self._store = QSettings(str(path), QSettings.Format.IniFormat)
        else:
            self._store = QSettings(
                QSettings.Format.IniFormat, QSettings.Scope.UserScope, "scalegraph", "scalegraph-window"
            )
        self._studies: Path | None = None if path is None else path.parent / "studies"

    @property
    def mode(self) -> Mode:
        """Theme: light, dark or the system's."""
        value = str(self._store.value("theme", "system"))
        return value if value in MODES else "system"

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._store.setValue("theme", mode)

    def recent(self) -> list[Path]:
        """Return recently opened files that still exist, newest first."""
        value = self._store.value("recent", [])
        texts = [value] if isinstance(value, str) else list(cast("Any", value) or [])
        return [path for path in map(Path, texts) if path.exists()]

    def add_recent(self, path: Path) -> None:
        """Put *path* at the top of the recent files."""
        path = path.resolve()
        others = [item for item in self.recent() if item != path]
        self._store.setValue("recent", [str(item) for item in [path, *others][:_MOST_RECENT]])
        self.recent_changed.emit()

    def bytes(self, key: str) -> QByteArray | None:
        """Return a saved state (geometry, docks), or ``None``."""
        value = self._store.value(key)
        return value if isinstance(value, QByteArray) and not value.isEmpty() else None

    def set_bytes(self, key: str, value: QByteArray) -> None:
        """Save a state."""
        self._store.setValue(key, value)

    def text(self, key: str) -> str:
        """Return a saved text, empty if there is none."""
        value = self._store.value(key)
        return value if isinstance(value, str) else ""

    def set_text(self, key: str, value: str) -> None:
        """Save a text."""
        self._store.setValue(key, value)

    def texts(self, group: str) -> list[str]:
        """Return every text saved under *group*."""
        self._store.beginGroup(group)
        keys = self._store.childKeys()
        self._store.endGroup()
        return [text for key in keys if (text := self.text(f"{group}/{key}"))]

    def flag(self, key: str, default: bool) -> bool:
        """Return a saved flag."""
        return str(self._store.value(key, default)).lower() == "true"

    def set_flag(self, key: str, value: bool) -> None:
        """Save a flag."""
        self._store.setValue(key, value)

    def studies_dir(self) -> Path:
        """Return the default folder of new studies: ``ScaleGraph`` among the user's documents."""
        if self._studies is not None:
            return self._studies
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        return Path(documents or Path.home()) / "ScaleGraph"

    def free_study_path(self, stem: str, taken: Path | None = None) -> Path:
        """Return a path for a new study that neither exists nor is *taken*."""
        folder = self.studies_dir()
        number = 1
        while True:
            path = folder / (f"{stem}.sgstudy" if number == 1 else f"{stem}-{number}.sgstudy")
            if not path.exists() and path != taken:
                return path
            number += 1

    def sync(self) -> None:
        """Write the settings to disk."""
        self._store.sync()
