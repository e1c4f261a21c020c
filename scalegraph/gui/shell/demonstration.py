"""The demonstration: opens the shipped study, or computes it again on request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject

from scalegraph.base.resources import resource_dir
from scalegraph.gui.commands.way_commands import kept_request

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow

_WORDS: Final = "The demonstration"


class Demonstration(QObject):
    """Opens and runs the demonstration in a window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def open(self) -> None:
        """Open a copy of the shipped study; compute it if it is missing."""
        from scalegraph.request.model import shipped

        path = shipped.opened_copy(shipped.user_directory())
        if path is None:
            self.compute()
            return
        self._window.open_study(path)
        self._window.study.banner.show_remark(_WORDS, "Compute anew", self.compute)

    def compute(self) -> None:
        """Run the demonstration's request into a study of its own, shown after its first run."""
        self._window.files.when_ready(self._compute)

    def _compute(self) -> None:
        request = self._window.request
        request.load(resource_dir("requests") / "demo.toml")
        request.side.set_study(self._window.settings.free_study_path("demo"))
        self._window.go("request")
        request.start_when_ready()

    def trace(self, path: Path) -> None:
        """Run the request of the open study at *path* again, so that runs without a trace write one."""
        handle = self._window.studies.get(str(path))
        data = handle.study() if handle is not None else None
        if handle is None or data is None:
            return
        request = kept_request(self._window, data, handle.title)
        if request is not None:
            self._window.runner.submit(request, path, f"Traces of {handle.title}")
