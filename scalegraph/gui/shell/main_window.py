"""The main window: builds the parts and connects their signals; the parts do the work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QMainWindow

from scalegraph.gui.base.jobs import Jobs
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.theme import MODES, Theme
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.commands.keys import SingleKeys
from scalegraph.gui.commands.view_commands import ViewCommands
from scalegraph.gui.commands.way_commands import WayCommands
from scalegraph.gui.consent.dialog import ConsentAsker
from scalegraph.gui.dock.arrangements import TRACE_ARRANGEMENTS
from scalegraph.gui.help.commands import HelpCommands
from scalegraph.gui.imports.service import Imports
from scalegraph.gui.inspect.inspector import Inspector
from scalegraph.gui.queue.panel import QueuePanel
from scalegraph.gui.queue.progress_note import ProgressNote
from scalegraph.gui.queue.runner import QueueRunner
from scalegraph.gui.shell.actions import ARRANGEMENT_NAMES, Actions
from scalegraph.gui.shell.command_palette import CommandPalette
from scalegraph.gui.shell.demonstration import Demonstration
from scalegraph.gui.shell.files import Files
from scalegraph.gui.shell.history import History
from scalegraph.gui.shell.late_pages import LatePages
from scalegraph.gui.shell.leaving import Leaving
from scalegraph.gui.shell.offered import Offered
from scalegraph.gui.shell.opened import Opened
from scalegraph.gui.shell.outcomes import Outcomes
from scalegraph.gui.shell.pages import IMPORT, INSTRUMENT, MEASURE, REQUEST, START, STUDY, Pages
from scalegraph.gui.shell.panels import Panels
from scalegraph.gui.shell.reports import Reports
from scalegraph.gui.shell.shortcuts import ShortcutSheet
from scalegraph.gui.shell.start_page import StartPage
from scalegraph.gui.shell.trace_actions import TraceActions
from scalegraph.gui.shell.windows import Windows
from scalegraph.gui.starting.catalog import Loading
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import Selection, SelectionModel
from scalegraph.gui.study.navigator import Navigator, reveal_path
from scalegraph.gui.study.page import StudyPage
from scalegraph.gui.study.studies import Studies, StudyHandle
from scalegraph.gui.whatif.panel import WhatIfPanel

if TYPE_CHECKING:
    from scalegraph.gui.measure.page import CommandPage
    from scalegraph.gui.request.panel import RequestPanel


class MainWindow(QMainWindow):
    """One window with its pages, docks and jobs."""

    made = Signal(object)  # all parts exist: None, or the Exception that building raised

    def __init__(self, session: Any, settings: Settings, theme: Theme, *, at_once: bool = True) -> None:
        """Build the window now, or part by part in turns of the event loop unless *at_once*; *made* signals the end."""
        super().__init__()
        self.setObjectName("ScaleGraph")
        self.setWindowTitle("ScaleGraph")
        self.setAcceptDrops(True)
        self.session, self.settings, self.theme = session, settings, theme
        self.at_once = at_once
        self.jobs = Jobs(self)
        self.studies = Studies(session, self.jobs, self)
        self.selection = SelectionModel(parent=self)
        self.runner = QueueRunner(session, self.jobs, self)
        self.consents = ConsentAsker(self.runner, self)
        self.history, self.offered = History(self), Offered(self)
        self.outcomes, self.leaving = Outcomes(self), Leaving(self)
        self.opened, self.loading = Opened(self), Loading(self)
        self.pages = Pages(self)
        self.go, self.open_study, self.open_trace = self.pages.go, self.opened.study, self.opened.trace
        self.close_study = self.opened.close
        for part in (self._make_pages, self._make_docks, self._make_rest, self._begin):
            if at_once:
                part()
            else:
                turn_queue().add(self, partial(self._make_in_turn, part), heavy=True)

    def _make_in_turn(self, part: Callable[[], None]) -> None:
        try:
            part()
        except Exception as error:  # noqa: BLE001 - the caller reports it
            turn_queue().drop(self)
            self.made.emit(error)

    def _make_pages(self) -> None:
        theme, settings = self.theme, self.settings
        self.actions_ = Actions(self, theme)
        self.trace_actions = TraceActions(self.actions_, self.selection)
        self.setCentralWidget(self.pages)  # while still empty, because Qt restyles everything inside
        self.start = StartPage(theme, settings)
        self.context = Context(self.selection, theme, self.jobs, settings, lambda: list(self.studies), self)
        self.study = StudyPage(self.studies, self.context)
        self.late = LatePages(self)

    def _make_docks(self) -> None:
        session, theme = self.session, self.theme
        self.navigator = Navigator(self.studies, self.selection, theme, self.jobs)
        self.inspector = Inspector(self.studies, self.selection, self.jobs)
        self.queue = QueuePanel(self.runner, theme)
        self.whatif = WhatIfPanel(session, self.jobs, self.studies, self.selection, self.runner)

    def _make_rest(self) -> None:
        self.files = Files(self)
        self.view_commands = ViewCommands(self)
        self.help_commands = HelpCommands(self)
        self.way_commands = WayCommands(self)
        self.single_keys = SingleKeys(self)
        self.demonstration = Demonstration(self)
        self.windows = Windows(self)
        self.imports = Imports(self.jobs, self.theme, self.settings, self)
        self.pages.add(START, self.start)
        self.pages.add(STUDY, self.study)
        self.panels = self._add_panels()

    def _begin(self) -> None:
        self.palette_ = CommandPalette(self)
        self.sheet = ShortcutSheet(self)
        self._progress = ProgressNote(self.runner, lambda: self.panels.want("queue", True))
        self.statusBar().addPermanentWidget(self._progress)
        self._wire()
        self._wire_actions()
        self._restore()
        self.go(START)
        self.loading.begin()
        self.made.emit(None)

    # pages

    @property
    def page(self) -> str:
        """Name of the current page."""
        return self.pages.current

    @property
    def request(self) -> RequestPanel:
        """The form of a simulation, built when it is first needed."""
        return self.late.request

    @property
    def measure(self) -> CommandPage:
        """The form of a command to measure, built when it is first needed."""
        return self.late.measure

    def open_files(self, paths: Sequence[Path]) -> None:
        """Open files named on the command line, chosen or dropped."""
        self.files.open(paths)

    def run_example(self, name: str) -> None:
        """Show the default request of a shipped program and start it once checked."""
        self.request.program.choose(name)
        self.go(REQUEST)
        self.request.start_when_ready()

    # connections

    def _add_panels(self) -> Panels:
        panels = Panels(self, self.settings)
        toggles = self.actions_
        everywhere = {START, REQUEST, STUDY, INSTRUMENT, IMPORT, MEASURE}
        panels.add("navigator", "Navigator", self.navigator, {REQUEST, STUDY}, toggles["toggle_navigator"])
        panels.add("inspector", "Inspector", self.inspector, {STUDY}, toggles["toggle_inspector"])
        panels.add("whatif", "What if", self.whatif, {STUDY}, toggles["toggle_whatif"])
        panels.add("queue", "Queue", self.queue, everywhere, toggles["toggle_queue"])
        return panels

    def _wire(self) -> None:
        self.start.new_request.connect(lambda: self.go(REQUEST, new=True))
        self.start.sources_wanted.connect(self.files.ask_sources)
        self.start.command_wanted.connect(lambda: self.go(MEASURE))
        self.start.open_wanted.connect(self.files.ask_open)
        self.start.measurements_wanted.connect(self.files.ask_measurements)
        self.start.directory_wanted.connect(self.files.ask_directory)
        self.start.traces_wanted.connect(self.files.ask_traces)
        self.start.run_example.connect(self.run_example)
        self.start.demonstration_wanted.connect(self.demonstration.open)
        self.imports.page_made.connect(lambda: self.pages.add(IMPORT, self.imports.page))
        self.imports.page_wanted.connect(lambda: self.go(IMPORT))
        self.imports.page_left.connect(lambda: self.pages.leave() if self.page == IMPORT else None)
        self.imports.study_made.connect(self.opened.imported)
        self.imports.refused.connect(self.pages.say_fault)
        self.imports.undo_changed.connect(self.offered.update)
        self.navigator.trace_wanted.connect(self.open_trace)
        self.navigator.visited.connect(lambda: self.go(STUDY))
        self.navigator.tracing_wanted.connect(self.demonstration.trace)
        self.navigator.mapping_wanted.connect(self.opened.change_meaning)
        self.start.open_file.connect(lambda path: self.open_files([path]))
        self.navigator.close_wanted.connect(self.close_study)
        self.queue.study_wanted.connect(self.open_study)
        self.runner.added.connect(self.outcomes.added)
        self.runner.changed.connect(self.offered.update)
        self.runner.landed.connect(self.outcomes.landed)
        self.runner.ended.connect(self.outcomes.ended)
        self.study.area_made.connect(self._area_made)
        self.context.faster_wanted.connect(self.way_commands.ask_faster)
        self.context.way_wanted.connect(self.way_commands.go)
        self.whatif.view_wanted.connect(self.study.show_answer)
        self.whatif.undo_changed.connect(lambda: self.edited("whatif"))
        self.actions_["toggle_whatif"].toggled.connect(self.offered.update)
        self.studies.opened.connect(self._filled)
        self.studies.closed.connect(lambda _key: self._filled())
        self.selection.changed.connect(self._selected)

    def show_command(self, request: Any) -> None:
        """Show the command of a request that was loaded."""
        self.measure.show_loaded(request)
        self.go(MEASURE)

    def _wire_actions(self) -> None:
        doing: dict[str, Callable[[], object]] = {
            "new_request": lambda: self.go(REQUEST, new=True),
            "measure_command": lambda: self.go(MEASURE),
            "open": self.files.ask_open,
            "open_measurements": self.files.ask_measurements,
            "open_trace": self.files.ask_traces,
            "paste_table": self.files.paste,
            "open_directory": self.files.ask_directory,
            "change_meaning": lambda: self.opened.change_meaning(self.selection.current.study or ""),
            "save_request": lambda: self.request.ask_save(),
            "save_study": self.files.ask_save_study,
            "write_report": Reports(self).ask,
            "reveal_study": self._reveal,
            "close_study": lambda: self.close_study(self.selection.current.study or ""),
            "quit": self.close,
            "undo": lambda: self.history.stack.undo(),
            "redo": lambda: self.history.stack.redo(),
            "clear_selection": self.pages.escape,
            "start_request": self._start,
            "edit_request": self._edit_request,
            "predict_larger": self.way_commands.predict,
            "open_demo": self.demonstration.open,
            "compute_demo": self.demonstration.compute,
            "instrumentation": lambda: self.request.program.show_preview(),
            "cancel_all": self.runner.cancel_all,
            "clear_finished": self.runner.clear_ended,
            "full_screen": lambda: self.showNormal() if self.isFullScreen() else self.showFullScreen(),
            "back": self.pages.back,
            "forward": self.selection.forward,
            "go_start": lambda: self.go(START),
            "go_request": lambda: self.go(REQUEST),
            "go_study": lambda: self.go(STUDY),
            "search": self._search,
            "find_next": lambda: self.study.find_next(forward=True),
            "find_before": lambda: self.study.find_next(forward=False),
            "palette": lambda: self.palette_.open(self.actions_.all()),
            "shortcuts": lambda: self.sheet.open(self.actions_.by_menu()),
        }
        for name, act in doing.items():
            self.actions_[name].triggered.connect(lambda _checked=False, act=act: self.pages.act(act))
        for mode in MODES:
            self.actions_[f"theme_{mode}"].setChecked(mode == self.theme.mode)
            self.actions_[f"theme_{mode}"].triggered.connect(lambda _checked=False, mode=mode: self._set_theme(mode))

        for name in (*ARRANGEMENT_NAMES, *TRACE_ARRANGEMENTS):
            arrange = partial(self.study.arrange, name)
            self.actions_[f"arrange_{name}"].triggered.connect(lambda _on=False, arrange=arrange: arrange())

    def _area_made(self) -> None:
        assert self.study.area is not None
        self.study.area.undo_changed.connect(lambda: self.edited("views"))
        self.offered.add_views()

    def edited(self, where: str) -> None:
        """Record the part changed last; undo starts with it."""
        self.history.edited(where)
        self.offered.update()

    def arrangements_changed(self) -> None:
        """Offer saved arrangements again; undo reverts the last change of them."""
        self.edited("arrangements")

    def show_view(self, name: str) -> None:
        """Show a view of the current study."""
        self.go(STUDY)
        self.study.show_view(name)

    def _filled(self, _handle: StudyHandle | None = None) -> None:
        """Offer the panels of studies while any is open."""
        for panel in ("navigator", "inspector", "whatif"):
            self.panels.use(panel, len(self.studies) > 0)
        self.offered.update()

    def _selected(self, selection: Selection) -> None:
        handle = self.studies.get(selection.study)
        self.setWindowTitle(f"{handle.title} – ScaleGraph" if handle is not None else "ScaleGraph")
        self.offered.update()

    def show_instrumentation(self, path: str) -> None:
        """Show a source of the request's program beside its instrumented version."""
        self.late.instrument.show_source(path)
        self.go(INSTRUMENT)

    def _edit_request(self) -> None:
        """Show the request of the current study; starting it again completes the study."""
        handle = self.study.handle
        data = handle.study() if handle is not None else None
        if not isinstance(handle, StudyHandle) or data is None:
            return
        self.way_commands.edit(data, handle)

    def _start(self) -> None:
        """Start the current page's task: measurements, a command, or the request."""
        if self.page == IMPORT:
            self.imports.page.accept()
        else:
            (self.measure if self.page == MEASURE else self.request).start()

    def _reveal(self) -> None:
        if self.study.handle is not None:
            reveal_path(self.study.handle)

    def _search(self) -> None:
        if self.page == STUDY and self.study.search():
            return
        if self.page == STUDY and not self.actions_["toggle_navigator"].isChecked():
            self.panels.want("navigator", True)
        self.navigator.search.setFocus()
        self.navigator.search.selectAll()

    def _set_theme(self, mode: Any) -> None:
        self.theme.set_mode(mode)
        self.settings.mode = mode

    # Qt

    def _restore(self) -> None:
        self.resize(1280, 720)
        geometry, state = self.settings.bytes("window/geometry"), self.settings.bytes("window/state")
        if geometry is not None:
            self.restoreGeometry(geometry)
        if state is None or not self.restoreState(state):
            self.panels.size({"navigator": 260, "inspector": 300, "whatif": 300, "queue": 210})
        self.panels.again()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Qt: stop running work, then close."""
        event.setAccepted(self.leaving.may_go())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: hide floating widgets, whose place changes."""
        super().resizeEvent(event)
        self.palette_.hide()
        self.sheet.hide()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Qt: accept files."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Qt: open dropped files."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        self.open_files(paths)
