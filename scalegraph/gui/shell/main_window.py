"""The window: brings the parts together and carries their wishes to one another; the parts do the work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent, QUndoStack
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QWidget
from shiboken6 import isValid

from scalegraph.gui.base.jobs import Jobs, Reporter
from scalegraph.gui.base.lifetime import tied
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
from scalegraph.gui.queue.state import QueueEntry
from scalegraph.gui.request.instrument_page import InstrumentPage
from scalegraph.gui.request.panel import RequestPanel
from scalegraph.gui.request.sections import Catalog
from scalegraph.gui.shell.actions import ARRANGEMENT_NAMES, Actions, Spec
from scalegraph.gui.shell.command_palette import CommandPalette
from scalegraph.gui.shell.demonstration import Demonstration
from scalegraph.gui.shell.files import Files
from scalegraph.gui.shell.panels import Panels
from scalegraph.gui.shell.shortcuts import ShortcutSheet
from scalegraph.gui.shell.start_page import StartPage
from scalegraph.gui.shell.trace_actions import TraceActions
from scalegraph.gui.starting.ahead import load_ahead
from scalegraph.gui.state.selection import Selection, SelectionModel
from scalegraph.gui.study.navigator import Navigator, reveal_path
from scalegraph.gui.study.page import StudyPage
from scalegraph.gui.study.studies import Studies, StudyHandle
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.gui.whatif.panel import WhatIfPanel

START, REQUEST, STUDY, INSTRUMENT, IMPORT = "start", "request", "study", "instrument", "import"
_LONGEST_GOODBYE_MS: Final = 8000  # for children to stop; then the window goes anyway, and they with it
_SHORT_MESSAGE_MS: Final = 6000


class MainWindow(QMainWindow):
    """One window with its pages, docks and work."""

    made = Signal(object)  # every part is there: None, or the Exception that one of them ended with

    def __init__(self, session: Any, settings: Settings, theme: Theme, *, at_once: bool = True) -> None:
        """Make the window now or, unless *at_once*, part by part in turns of the event loop; *made* ends it."""
        super().__init__()
        self.setObjectName("ScaleGraph")
        self.setWindowTitle("ScaleGraph")
        self.setAcceptDrops(True)
        self.session, self.settings, self.theme = session, settings, theme
        self.jobs = Jobs(self)
        self.studies = Studies(session, self.jobs, self)
        self.selection = SelectionModel(parent=self)
        self.runner = QueueRunner(session, self.jobs, self)
        self.consents = ConsentAsker(self.runner, self)
        self._closing = False
        self._came_from = START  # where importing began
        self._views_offered: tuple[Any, ...] = ()  # views with an action of their own
        self._edited_last = ""  # of what is on the study page: "whatif" or "views"
        self._stack = QStackedWidget()
        self._pages: dict[str, QWidget] = {}
        for part in (self._make_pages, self._make_request, self._make_docks, self._make_rest, self._begin):
            if at_once:
                part()
            else:
                turn_queue().add(self, partial(self._make_in_turn, part), heavy=True)

    def _make_in_turn(self, part: Callable[[], None]) -> None:
        try:
            part()
        except Exception as error:  # noqa: BLE001 - whoever wants the window is told
            turn_queue().drop(self)
            self.made.emit(error)

    def _make_pages(self) -> None:
        session, theme, settings = self.session, self.theme, self.settings
        self.actions_ = Actions(self, theme)
        self.trace_actions = TraceActions(self.actions_, self.selection)
        self.setCentralWidget(self._stack)  # while it is empty: Qt dresses anew whatever is in it
        self.start = StartPage(theme, settings)
        self.study = StudyPage(self.studies, self.selection, self.jobs, theme, settings)
        self.instrument = InstrumentPage(session, self.jobs, theme)

    def _make_request(self) -> None:
        self.request = RequestPanel(self.session, self.jobs, self.theme, self.settings)

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
        self.imports = Imports(self.jobs, self.theme, self.settings, self)
        self._pages |= {START: self.start, REQUEST: self.request, STUDY: self.study, INSTRUMENT: self.instrument}
        for page in self._pages.values():
            self._stack.addWidget(page)
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
        self._load_catalog()
        self.made.emit(None)

    # pages ---------------------------------------------------------------------------------------------------

    @property
    def page(self) -> str:
        """Name of the page in view."""
        return next(name for name, page in self._pages.items() if page is self._stack.currentWidget())

    def go(self, page: str) -> None:
        """Show a page; the study page without a study is the start page."""
        if page == STUDY and not len(self.studies):
            page = START
        if page == IMPORT and self.page != IMPORT:
            self._came_from = self.page
        self._stack.setCurrentWidget(self._pages[page])
        self.panels.show_page(page)
        self._update_actions()

    def forget_messages(self) -> None:
        """Clear what was said of an earlier action: what begins now has its own outcome."""
        for page in self._pages.values():
            page.banner.clear()  # type: ignore[attr-defined]
        self.statusBar().clearMessage()

    def _act(self, act: Callable[[], object]) -> None:
        """Carry out a command of the user's: what went wrong before it is said no longer."""
        self._pages[self.page].banner.clear_fault()  # type: ignore[attr-defined]
        act()

    def say_fault(self, text: str) -> None:
        """Say what went wrong, on the page that is in view."""
        self._pages[self.page].banner.show_fault(text)  # type: ignore[attr-defined]

    def open_files(self, paths: Sequence[Path]) -> None:
        """Open what was named on the command line, chosen or dropped."""
        self.files.open(paths)

    def open_study(self, path: Path) -> StudyHandle:
        """Open a study and bring it into view."""
        handle = self.studies.open(path)
        self.selection.select(study=handle.key)
        self.settings.add_recent(path)
        self.go(STUDY)
        return handle

    def open_trace(self, path: Path) -> TraceHandle:
        """Open a trace and bring it into view; it is read in another thread."""
        new = self.studies.get(str(path.resolve())) is None
        handle = self.studies.open_trace(path)
        if new:
            handle.bookmarks.keep_in(self.settings)
            handle.changed.connect(self._update_actions)
            handle.filter.stack.indexChanged.connect(tied(self, lambda _index: self._edited("filter")))
        self.selection.select(study=handle.key)
        self.settings.add_recent(path)
        self.go(STUDY)
        return handle

    def change_meaning(self, key: str) -> None:
        """Ask anew what the names of the measurement set of a study mean."""
        handle = self.studies.get(key)
        data = handle.study() if handle is not None else None
        if handle is not None and data is not None and data.imported is not None:
            self.imports.change(handle.path, *data.imported)

    def _import_page_made(self) -> None:
        page = self.imports.page
        self._pages[IMPORT] = page
        self._stack.addWidget(page)

    def _imported(self, path: Path, remark: str, details: str) -> None:
        handle = self.studies.get(str(path.resolve()))
        if handle is not None:
            handle.refresh()
        handle = self.open_study(path)
        if not details:
            self.statusBar().showMessage(remark, _SHORT_MESSAGE_MS)
        else:  # something was left out, or is worth knowing
            change = partial(self.change_meaning, handle.key)
            self.study.banner.show_remark(remark, "Edit import mapping", change, details)

    def _escape(self) -> None:
        if self.page == IMPORT:
            self.imports.page.leave()
        else:
            self.selection.clear()

    def close_study(self, key: str) -> None:
        """Close a study; the next one comes into view, or the start page."""
        self.studies.close(key)
        self.study.forget(key)
        self.selection.state.forget(key)
        rest = list(self.studies)
        if rest:
            self.selection.select(study=rest[-1].key)
        elif self.page == STUDY:
            self.go(START)
        self._update_actions()

    def run_example(self, name: str) -> None:
        """Show the default request of a shipped program and start it as soon as it is checked."""
        self.request.program.choose(name)
        self.go(REQUEST)
        self.request.start_when_ready()

    # wiring --------------------------------------------------------------------------------------------------

    def _add_panels(self) -> Panels:
        panels = Panels(self, self.settings)
        toggles = self.actions_
        everywhere = {START, REQUEST, STUDY, INSTRUMENT, IMPORT}
        panels.add("navigator", "Navigator", self.navigator, {REQUEST, STUDY}, toggles["toggle_navigator"])
        panels.add("inspector", "Inspector", self.inspector, {STUDY}, toggles["toggle_inspector"])
        panels.add("whatif", "What if", self.whatif, {STUDY}, toggles["toggle_whatif"])
        panels.add("queue", "Queue", self.queue, everywhere, toggles["toggle_queue"])
        return panels

    def _wire(self) -> None:
        self.start.new_request.connect(lambda: self.go(REQUEST))
        self.start.sources_wanted.connect(self.files.ask_sources)
        self.start.open_wanted.connect(self.files.ask_open)
        self.start.measurements_wanted.connect(self.files.ask_measurements)
        self.start.directory_wanted.connect(self.files.ask_directory)
        self.start.traces_wanted.connect(self.files.ask_traces)
        self.start.run_example.connect(self.run_example)
        self.start.demonstration_wanted.connect(self.demonstration.open)
        self.imports.page_made.connect(self._import_page_made)
        self.imports.page_wanted.connect(lambda: self.go(IMPORT))
        self.imports.page_left.connect(lambda: self.go(self._came_from) if self.page == IMPORT else None)
        self.imports.study_made.connect(self._imported)
        self.imports.refused.connect(self.say_fault)
        self.imports.undo_changed.connect(self._update_actions)
        self.navigator.trace_wanted.connect(self.open_trace)
        self.navigator.tracing_wanted.connect(self.demonstration.trace)
        self.navigator.mapping_wanted.connect(self.change_meaning)
        self.start.open_file.connect(lambda path: self.open_files([path]))
        self.request.run_wanted.connect(self._submit)
        self.request.preview_wanted.connect(self._show_instrumentation)
        self.request.checked.connect(self._update_actions)
        self.request.model.undo_stack.indexChanged.connect(self._update_actions)
        self.instrument.left.connect(lambda: self.go(REQUEST))
        self.navigator.close_wanted.connect(self.close_study)
        self.queue.study_wanted.connect(self.open_study)
        self.runner.added.connect(self._added)
        self.runner.changed.connect(self._update_actions)
        self.runner.landed.connect(self._landed)
        self.runner.ended.connect(self._ended)
        self.study.area_made.connect(self._area_made)
        self.study.faster_wanted.connect(self._ask_faster)
        self.study.way_wanted.connect(self.way_commands.go)
        self.whatif.view_wanted.connect(self.study.show_answer)
        self.whatif.undo_changed.connect(lambda: self._edited("whatif"))
        self.actions_["toggle_whatif"].toggled.connect(self._update_actions)
        self.studies.opened.connect(self._opened)
        self.studies.closed.connect(lambda _key: self._opened(None))
        self.selection.changed.connect(self._selected)

    def _wire_actions(self) -> None:
        doing: dict[str, Callable[[], object]] = {
            "new_request": lambda: self.go(REQUEST),
            "open": self.files.ask_open,
            "open_measurements": self.files.ask_measurements,
            "open_trace": self.files.ask_traces,
            "open_directory": self.files.ask_directory,
            "change_meaning": lambda: self.change_meaning(self.selection.current.study or ""),
            "save_request": self.request.ask_save,
            "save_study": self.files.ask_save_study,
            "reveal_study": self._reveal,
            "close_study": lambda: self.close_study(self.selection.current.study or ""),
            "quit": self.close,
            "undo": lambda: self._history.undo(),
            "redo": lambda: self._history.redo(),
            "clear_selection": self._escape,
            "start_request": lambda: self.imports.page.accept() if self.page == IMPORT else self.request.start(),
            "edit_request": self._edit_request,
            "open_demo": self.demonstration.open,
            "compute_demo": self.demonstration.compute,
            "instrumentation": self.request.program.show_preview,
            "cancel_all": self.runner.cancel_all,
            "clear_finished": self.runner.clear_ended,
            "full_screen": lambda: self.showNormal() if self.isFullScreen() else self.showFullScreen(),
            "back": self.selection.back,
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
            self.actions_[name].triggered.connect(lambda _checked=False, act=act: self._act(act))
        for mode in MODES:
            self.actions_[f"theme_{mode}"].setChecked(mode == self.theme.mode)
            self.actions_[f"theme_{mode}"].triggered.connect(lambda _checked=False, mode=mode: self._set_theme(mode))

        for name in (*ARRANGEMENT_NAMES, *TRACE_ARRANGEMENTS):
            arrange = partial(self.study.arrange, name)
            self.actions_[f"arrange_{name}"].triggered.connect(lambda _on=False, arrange=arrange: arrange())

    def _area_made(self) -> None:
        assert self.study.area is not None
        self.study.area.undo_changed.connect(lambda: self._edited("views"))
        self._offer_views()

    def _edited(self, where: str) -> None:
        """Remember what was changed last: that is what undo begins with."""
        self._edited_last = where
        self._update_actions()

    def arrangements_changed(self) -> None:
        """Offer saved arrangements anew; undo takes back the last change of them."""
        self._edited("arrangements")

    def _offer_views(self) -> None:
        """Put every view into the menu and the palette, once they are loaded."""
        from scalegraph.gui.base.menus import grouped

        groups = [*grouped("study").items(), *grouped("trace").items()]
        self._views_offered = tuple(view for _, some in groups for view in some)
        for view in self._views_offered:
            spec = Spec(f"view_{view.name}", view.title, f"View/{view.group}", called=f"Show {view.title}")
            action = self.actions_.add(spec)
            action.setToolTip(view.description)
            action.triggered.connect(lambda _checked=False, name=view.name: self._show_view(name))
        self._update_actions()

    def _show_view(self, name: str) -> None:
        self.go(STUDY)
        self.study.show_view(name)

    def _update_actions(self, *_what: object) -> None:
        state, undo, handle = self.selection.state, self._history, self.study.handle
        data = handle.study() if handle is not None else None
        page = self.page
        enabled = {
            "back": state.can_go_back,
            "forward": state.can_go_forward,
            "clear_selection": not state.current.empty or page == IMPORT,
            "change_meaning": page == STUDY and data is not None and data.imported is not None,
            "undo": undo.canUndo(),
            "redo": undo.canRedo(),
            "start_request": (page == REQUEST and self.request.can_run) or page == IMPORT,
            "save_request": self.request.model.form.chosen,
            "instrumentation": self.request.model.form.chosen,
            "edit_request": data is not None and bool(data.manifest.get("request")),
            "save_study": handle is not None and handle.subject == "study",
            "reveal_study": handle is not None,
            "close_study": handle is not None,
            "go_study": len(self.studies) > 0,
            "cancel_all": self.runner.busy,
            "clear_finished": any(entry.ended for entry in self.runner.entries),
        }
        subject = handle.subject if handle is not None and page == STUDY else ""
        enabled |= dict.fromkeys(self.view_commands.names(), bool(subject)) | self.view_commands.offered(subject)
        enabled |= {f"arrange_{name}": subject == "study" for name in ARRANGEMENT_NAMES}
        enabled |= {f"arrange_{name}": subject == "trace" for name in TRACE_ARRANGEMENTS}
        enabled |= dict.fromkeys(("find_next", "find_before"), subject == "trace")
        enabled |= {f"view_{view.name}": _fits(view, subject) for view in self._views_offered}
        for name, on in enabled.items():
            self.actions_[name].setEnabled(on)
        self.actions_.show_filled()
        self.trace_actions.show(handle if page == STUDY else None)
        for name, verb, text in (("undo", "Undo", undo.undoText()), ("redo", "Redo", undo.redoText())):
            self.actions_[name].setToolTip(f"{verb} {text}".strip())

    def _opened(self, _handle: StudyHandle | None) -> None:
        self.panels.use("navigator", len(self.studies) > 0)
        self.panels.use("inspector", len(self.studies) > 0)
        self.panels.use("whatif", len(self.studies) > 0)
        self._update_actions()

    def _selected(self, selection: Selection) -> None:
        handle = self.studies.get(selection.study)
        self.setWindowTitle(f"{handle.title} – ScaleGraph" if handle is not None else "ScaleGraph")
        self._update_actions()

    def _submit(self, request: Any, path: Path, title: str) -> None:
        self.runner.submit(request, path, title)
        self.statusBar().showMessage(f"{title}: started", _SHORT_MESSAGE_MS)

    def _added(self, entry: QueueEntry) -> None:
        if not entry.quiet:
            self.panels.use("queue", True)

    def _landed(self, entry: QueueEntry) -> None:
        if self._closing:
            return
        handle = self.studies.get(str(entry.path.resolve()))
        if isinstance(handle, StudyHandle):
            handle.refresh_soon()
        elif entry.path.exists() and entry.finished == 1:
            # The first run brings its study into view, unless the user is at something else by now.
            if self.page in (START, REQUEST) and not self.request.edited_since_start:
                self.open_study(entry.path)
            else:
                self.studies.open(entry.path)

    def _ended(self, entry: QueueEntry) -> None:
        if self._closing:
            return
        handle = self.studies.get(str(entry.path.resolve()))
        if handle is not None:
            handle.refresh()
        elif entry.path.exists() and entry.finished:
            self.studies.open(entry.path)
        if entry.phase == "failed" and entry.message:
            self.say_fault(entry.message)
        if not self.runner.busy and not self.runner.has_failures and not self.queue.isAncestorOf(self.focusWidget()):
            self.panels.use("queue", False)  # nothing to wait for: the room goes to the views
        said = entry.said() or entry.phase
        self.statusBar().showMessage(f"{entry.title}: {said}", _SHORT_MESSAGE_MS)

    def _show_instrumentation(self, path: str) -> None:
        self.instrument.show_source(path)
        self.go(INSTRUMENT)

    def _edit_request(self) -> None:
        """Show the request that the study in view came from; started again, it completes that study."""
        handle = self.study.handle
        data = handle.study() if handle is not None else None
        if handle is None or data is None:
            return
        fault = self.request.show_request(data.manifest.get("request") or {}, handle.title, handle.path)
        if fault:
            self.say_fault(fault)
        else:
            self.go(REQUEST)

    def _reveal(self) -> None:
        if self.study.handle is not None:
            reveal_path(self.study.handle)

    @property
    def _history(self) -> QUndoStack:
        """What undo and redo walk through: edits of views or what-if settings, else those of the request."""
        if self.page == IMPORT:
            return self.imports.page.undo_stack
        if self.page != STUDY:
            return self.request.model.undo_stack
        stacks: dict[str, QUndoStack | None] = {
            "views": self.study.area.undo_stack if self.study.area is not None else None,
            "filter": handle.filter.stack if isinstance(handle := self.study.handle, TraceHandle) else None,
            "arrangements": self.view_commands.saved.undo_stack if self._edited_last == "arrangements" else None,
            "whatif": self.whatif.undo_stack if self.actions_["toggle_whatif"].isChecked() else None,
        }
        order = sorted(stacks, key=lambda where: where != self._edited_last)
        there = [stack for where in order if (stack := stacks[where]) is not None and isValid(stack)]
        moved = [stack for stack in there if stack.canUndo() or stack.canRedo()]
        return (moved or [self.request.model.undo_stack])[0]

    def _ask_faster(self, target: str) -> None:
        self.panels.want("whatif", True)
        self.whatif.ask_faster(target)

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

    def _load_catalog(self) -> None:
        session = self.session

        def read(_reporter: Reporter) -> Catalog:
            return Catalog({found.name: found for found in session.programs()}, tuple(session.machines()))

        self.jobs.start("reading programs and machines", read, done=self._catalog, failed=self._no_catalog)

    def _catalog(self, catalog: Catalog) -> None:
        self.request.set_catalog(catalog)
        self.start.show_catalog(catalog)
        self.files.ready()
        self.preload()

    def preload(self) -> None:
        """Load ahead what pictures need, as soon as nothing else runs: a file that is being opened goes first."""

        def begin() -> None:
            load_ahead(self.jobs, self.session)

        if self.jobs.running:
            self.jobs.idle.connect(begin, Qt.ConnectionType.SingleShotConnection)
        else:
            begin()

    def _no_catalog(self, error: Exception) -> None:
        self.say_fault(str(error))
        self.files.ready()

    # Qt ------------------------------------------------------------------------------------------------------

    def _restore(self) -> None:
        self.resize(1280, 720)
        geometry, state = self.settings.bytes("window/geometry"), self.settings.bytes("window/state")
        if geometry is not None:
            self.restoreGeometry(geometry)
        if state is None or not self.restoreState(state):
            self.panels.size({"navigator": 260, "inspector": 300, "whatif": 300, "queue": 210})
        self.panels.again()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Qt: stop running work first, without holding the window; then go."""
        if not self._closing:
            self._closing = True
            self.settings.set_bytes("window/geometry", self.saveGeometry())
            self.settings.set_bytes("window/state", self.saveState())
            self.study.keep()
            self.settings.sync()
            for handle in self.studies:
                handle.close()
            self.request.stop()
            self.imports.stop()
            self.instrument.stop()
            self.runner.cancel_all()
            self.jobs.cancel_all()
            if self.jobs.running:
                self.statusBar().showMessage("Stopping the runs; finished runs are kept…")
                self.jobs.idle.connect(self.close)
                QTimer.singleShot(_LONGEST_GOODBYE_MS, self, self._give_up)
        if self.jobs.running:
            event.ignore()
            return
        self.study.release()
        self.session.close()
        event.accept()

    def _give_up(self) -> None:
        self.jobs.abandon()
        self.close()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: hide what floats over the window when its place changes."""
        super().resizeEvent(event)
        self.palette_.hide()
        self.sheet.hide()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Qt: take files."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Qt: open what is dropped."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        self.open_files(paths)


def _fits(view: Any, subject: str) -> bool:
    """Whether *view* is one of what is in view; where nothing is it can be chosen all the same."""
    return not subject or view.subject == subject
