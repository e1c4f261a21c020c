"""The bookmarks of one open trace, saved in the window's settings at every change; changes can be undone."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QObject, Signal

from scalegraph.base.errors import InputError
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.undo import Change, UndoStack
from scalegraph.gui.state.bookmark_store import Bookmark, Whose, free_name, merged, read, rescaled, tidy, written
from scalegraph.gui.state.trace_marks import Moment, TraceMarks

log: Final = logging.getLogger(__name__)
_GROUP: Final = "bookmarks"
_KIND: Final = "bookmark"


class Bookmarks(QObject):
    """Named moments and intervals of a trace. Changes go onto *stack*.

    They are saved under the trace's path. If that path is new, and bookmarks are saved for a missing file of the same
    name, size and clock, the trace was moved and they are taken over. Settings that cannot be read are set aside, not
    overwritten.
    """

    changed = Signal()
    list_wanted = Signal()

    def __init__(self, stack: UndoStack, marks: TraceMarks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stack, self._marks = stack, marks
        self._all: tuple[Bookmark, ...] = ()
        self._settings: Settings | None = None
        self._whose: Whose | None = None
        self._begin = 0  # tick at which the run starts
        self.last: Bookmark | None = None  # the one last jumped to

    @property
    def all(self) -> tuple[Bookmark, ...]:
        """The bookmarks in order of time."""
        return self._all

    @property
    def whose(self) -> Whose | None:
        """The trace they belong to, ``None`` until it has been read."""
        return self._whose

    def seconds(self, tick: int) -> float:
        """Return the seconds from the start of the run to *tick*."""
        return (tick - self._begin) / self._whose.ticks_per_second if self._whose is not None else 0.0

    # changes

    def add(self, begin: int, end: int, name: str = "") -> Bookmark:
        """Add a bookmark at a moment or interval (ticks); without a name it gets a number."""
        made = Bookmark(min(begin, end), max(begin, end), tidy(name) or free_name(self._all))
        self._change("set a bookmark", merged(self._all, (made,)))
        return made

    def rename(self, one: Bookmark, name: str) -> None:
        """Rename *one*; an empty name changes nothing."""
        if tidy(name) and one in self._all:
            rest = tuple(other for other in self._all if other != one)
            self._change("name of a bookmark", merged(rest, (Bookmark(one.begin, one.end, tidy(name)),)))

    def remove(self, some: Sequence[Bookmark]) -> None:
        """Remove *some*."""
        self._change("delete bookmarks", tuple(other for other in self._all if other not in some))

    def export(self, path: Path) -> None:
        """Write the bookmarks to a file. Raises `OSError`."""
        if self._whose is not None:
            path.write_text(written(self._all, self._whose), "utf-8")

    def load(self, path: Path) -> int:
        """Add the bookmarks in a file and return how many are new; raises `InputError` if it has none, `OSError`."""
        if self._whose is None:
            return 0
        try:
            whose, found = read(path.read_text("utf-8"), path.name)
        except UnicodeDecodeError as error:
            raise InputError(f"{path.name} is not text") from error
        before = len(self._all)
        found = rescaled(found, whose.ticks_per_second, self._whose.ticks_per_second)
        self._change("add bookmarks of a file", merged(self._all, found))
        return len(self._all) - before

    def take(self, bookmarks: tuple[Bookmark, ...]) -> None:
        """Replace all by *bookmarks* and save them; for undo and redo."""
        self._all = bookmarks
        self._keep()
        self._show()

    def _change(self, text: str, after: tuple[Bookmark, ...]) -> None:
        if after != self._all and self._whose is not None:
            self._stack.push(Change(text, self.take, self._all, after))

    def _show(self) -> None:
        def shown(one: Bookmark) -> Moment:
            until = None if one.moment else self.seconds(one.end)
            return Moment(self.seconds(one.begin), one.name, _KIND, until)

        self._marks.show(_KIND, tuple(shown(one) for one in self._all))
        self.changed.emit()

    # keeping

    def keep_in(self, settings: Settings) -> None:
        """Save them in these settings from now on."""
        self._settings = settings
        self._restore()

    def belong_to(self, path: Path, meta: Any) -> None:
        """Load the bookmarks saved for the trace at *path*; *meta* describes its clock."""
        try:
            size = path.stat().st_size if path.is_file() else 0
        except OSError:
            size = 0
        self._whose, self._begin = Whose(str(path), size, float(meta.ticks_per_second)), int(meta.begin)
        self._restore()

    def _restore(self) -> None:
        if self._settings is None or self._whose is None:
            return
        text = self._settings.text(self._key(self._whose.path)) or self._moved()
        if not text:
            return
        try:
            whose, found = read(text, "the saved list of this trace's bookmarks")
        except InputError as error:
            log.warning("%s; it is set aside", error)
            which = hashlib.sha256(text.encode()).hexdigest()[:8]
            self._settings.set_text(f"{self._key(self._whose.path)}-unreadable-{which}", text)
            return
        self._all = merged(self._all, rescaled(found, whose.ticks_per_second, self._whose.ticks_per_second))
        self._show()

    def _moved(self) -> str:
        """Return the settings saved for this file at its former path, "" if there are none."""
        assert self._settings is not None
        assert self._whose is not None
        for text in self._settings.texts(_GROUP):
            try:
                whose, _found = read(text)
            except InputError:
                continue
            if whose.moved_to(self._whose) and not Path(whose.path).exists():
                return text
        return ""

    def _keep(self) -> None:
        if self._settings is not None and self._whose is not None:
            self._settings.set_text(self._key(self._whose.path), written(self._all, self._whose))
            self._settings.sync()  # now, in case the window never closes properly

    @staticmethod
    def _key(path: str) -> str:
        return f"{_GROUP}/{hashlib.sha256(path.encode()).hexdigest()[:24]}"
