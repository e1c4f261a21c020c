"""Opens and saves files that are chosen, dropped or named on the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMimeData, QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu

from scalegraph.base.errors import InputError
from scalegraph.gui.base.jobs import Reporter
from scalegraph.gui.base.opening import SOURCES, measurement_filter, open_filter, trace_filter

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow
    from scalegraph.request.imports.kinds import Kind


class Files(QObject):
    """Opens files in the window; nothing in them is run."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._waiting: list[Path] = []
        self._ready = False
        self._then: list[Callable[[], None]] = []
        window.settings.recent_changed.connect(self._fill_recent)
        self._recent = QMenu("Open &recent", window)
        window.actions_.menus["File"].insertMenu(window.actions_["open_measurements"], self._recent)
        self._recent.setObjectName("recent")
        self._fill_recent()

    def ready(self) -> None:
        """Open the files that arrived before programs and machines were loaded."""
        self._ready = True
        waiting, self._waiting = self._waiting, []
        self.open(waiting)
        then, self._then = self._then, []
        for act in then:
            act()

    def when_ready(self, act: Callable[[], None]) -> None:
        """Call *act* once programs and machines are loaded."""
        if self._ready:
            act()
        else:
            self._then.append(act)

    def open(self, paths: Sequence[Path]) -> None:
        """Open every file by its type; those that cannot be opened are reported together."""
        if not paths:
            return
        self._window.pages.forget_messages()
        if len(paths) > 1 and _are_logs(paths):  # a single log cannot be opened on its own
            self._window.imports.open(paths)
        else:
            self._open_each(paths)

    def _open_each(self, paths: Sequence[Path]) -> None:
        from scalegraph.request.imports.kinds import kind_of

        faults: list[str] = []
        kinds: list[tuple[Path, Kind]] = []
        for path in paths:
            try:
                kinds.append((path, kind_of(path)))
            except InputError as error:
                faults.append(str(error))
        for path, kind in kinds:
            if kind in ("study", "graph"):
                self._window.open_study(path)
            elif kind == "trace":
                self._window.open_trace(path)
            elif kind not in ("source", "measurements"):
                self._open_for_request(path, kind, faults)
        sources = [path for path, kind in kinds if kind == "source"]
        if sources and self._ready:
            self._window.go("request")
            self._window.request.program.choose_sources(tuple(path.resolve() for path in sources))
        elif sources:
            self._waiting += sources
        if faults:
            self._window.pages.say_fault("\n".join(faults))
        measured = [path for path, kind in kinds if kind == "measurements"]
        if measured:
            self._window.imports.open(measured)

    def _open_for_request(self, path: Path, kind: Kind, faults: list[str]) -> None:
        """Open a file for the request panel, once programs and machines are loaded."""
        if not self._ready:
            self._waiting.append(path)
            return
        self._window.go("request")
        if kind == "request":
            self._window.request.load(path)
        elif kind == "program":
            self._describe(path, faults)
        elif kind == "machine":
            self._window.request.machine.choose_file(path)
        else:
            self._window.request.program.choose_build(str(path.resolve()))

    def _describe(self, path: Path, faults: list[str]) -> None:
        try:
            self._window.request.program.choose_description(path.resolve())
        except InputError as error:
            faults.append(str(error))

    def ask_open(self) -> None:
        """Ask for files and open them."""
        files, _kind = QFileDialog.getOpenFileNames(self._window, "Open", "", open_filter())
        self.open([Path(file) for file in files])

    def ask_sources(self) -> None:
        """Ask for a program's sources and show its request, ready to run."""
        files, _kind = QFileDialog.getOpenFileNames(
            self._window, "Sources of the program", "", f"{SOURCES};;All files (*)"
        )
        self.open([Path(file) for file in files])

    def ask_measurements(self) -> None:
        """Ask for measurement files and open them."""
        files, _kind = QFileDialog.getOpenFileNames(self._window, "Open measurements", "", measurement_filter())
        self.open([Path(file) for file in files])

    def paste(self) -> None:
        """Open the clipboard's content: files, or a table as text."""
        mime = QGuiApplication.clipboard().mimeData() or QMimeData()  # None if the desktop denies access
        paths = [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]
        text = mime.text()
        if paths:
            self.open(paths)
        elif len(text.strip().splitlines()) > 1:
            self._window.pages.forget_messages()
            self._window.imports.paste(text)
        else:
            self._window.pages.say_fault("The clipboard has no table: expected a line of names, then a line per run.")

    def ask_traces(self) -> None:
        """Ask for traces and open them."""
        files, _kind = QFileDialog.getOpenFileNames(self._window, "Open a trace", "", trace_filter())
        self.open([Path(file) for file in files])

    def ask_directory(self) -> None:
        """Ask for a directory of measurements, one profile per run, and open it."""
        directory = QFileDialog.getExistingDirectory(self._window, "Open a directory of measurements")
        if directory:
            self.open([Path(directory)])

    def ask_save_study(self) -> None:
        """Ask for a path and write a copy of the current study there."""
        handle = self._window.study.handle
        if handle is None:
            return
        file, _kind = QFileDialog.getSaveFileName(
            self._window, "Save study as", str(handle.path.parent), "Study (*.sgstudy)"
        )
        if file:
            path = Path(file)
            self.save_study(path if path.suffix else path.with_suffix(".sgstudy"))

    def save_study(self, path: Path) -> None:
        """Write a copy of the current study to *path* and show it."""
        handle = self._window.study.handle
        if handle is None:
            return
        session, source = self._window.session, handle.path

        def work(_reporter: Reporter) -> Path:
            session.save_as(source, path)
            return path

        self._window.jobs.start(
            f"saving {path.name}",
            work,
            done=lambda made: self._window.open_files([made]),
            failed=lambda error: self._window.pages.say_fault(str(error)),
        )

    def _fill_recent(self) -> None:
        self._recent.clear()
        recent = self._window.settings.recent()
        for path in recent:
            action: Any = self._recent.addAction(path.name)
            action.setToolTip(str(path))
            action.triggered.connect(lambda _checked=False, path=path: self.open([path]))
        self._recent.setEnabled(bool(recent))


def _are_logs(paths: Sequence[Path]) -> bool:
    from scalegraph.request.imports.sets import are_logs  # loads pandas, so only if there are several files

    return are_logs(paths)
