"""Results of requests: from the queue into studies, and onto the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QObject

from scalegraph.gui.queue.state import QueueEntry
from scalegraph.gui.shell.pages import REQUEST, START
from scalegraph.gui.study.studies import StudyHandle
from scalegraph.link.cluster.places import Where

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow

SHORT_MESSAGE_MS: Final = 6000


class Outcomes(QObject):
    """Follows a window's queue."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)  # connections to it end with the window
        self._window = window

    def submit(self, request: Any, path: Path, title: str, where: Where | None = None) -> None:
        """Start the user's request, on the cluster *where* if given."""
        self._window.runner.submit(request, path, title, where=where)
        self._window.statusBar().showMessage(f"{title}: started", SHORT_MESSAGE_MS)

    def added(self, entry: QueueEntry) -> None:
        """Show the queue, unless the entry's progress is shown elsewhere."""
        if not entry.quiet:
            self._window.panels.use("queue", True)

    def landed(self, entry: QueueEntry) -> None:
        """Update the study of a finished run; the first run opens the study."""
        window = self._window
        if window.leaving.begun:
            return
        handle = window.studies.get(str(entry.path.resolve()))
        if isinstance(handle, StudyHandle):
            handle.refresh_soon()
        elif entry.path.exists() and entry.finished == 1:
            # Show the study of the first run, unless the user has turned to something else.
            if window.page in (START, REQUEST) and not window.request.edited_since_start:
                window.open_study(entry.path)
            else:
                window.studies.open(entry.path)

    def ended(self, entry: QueueEntry) -> None:
        """Show the result of a request."""
        window = self._window
        if window.leaving.begun:
            return
        handle = window.studies.get(str(entry.path.resolve()))
        if handle is not None:
            handle.refresh()
        elif entry.path.exists() and entry.finished:
            window.studies.open(entry.path)
        if entry.phase == "failed" and entry.message:
            window.pages.say_fault(entry.message)
        if (
            not window.runner.busy
            and not window.runner.has_failures
            and not window.queue.isAncestorOf(window.focusWidget())
        ):
            window.panels.use("queue", False)  # no longer needed; the views get the room
        said = entry.said() or entry.phase
        window.statusBar().showMessage(f"{entry.title}: {said}", SHORT_MESSAGE_MS)
