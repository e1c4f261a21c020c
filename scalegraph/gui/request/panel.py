"""The request page: the form on the left, the live plan on the right, errors beside their fields."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QScrollArea, QWidget

from scalegraph.base.errors import Fault, InputError, ScaleGraphError
from scalegraph.base.files import write_atomic
from scalegraph.gui.base.banner import Banner
from scalegraph.gui.base.jobs import Jobs, Latest, Reporter
from scalegraph.gui.base.layouts import horizontal, vertical
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.widgets import align, label
from scalegraph.gui.request.choices import ChoicesSection
from scalegraph.gui.request.destination import TargetSection
from scalegraph.gui.request.form import RequestForm, of_request, read
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.predict import PredictSection
from scalegraph.gui.request.program import ParameterSection, ProgramSection
from scalegraph.gui.request.scaling import BoundSection, GrowthSection
from scalegraph.gui.request.sections import Catalog, Section
from scalegraph.gui.request.side import RequestSide
from scalegraph.gui.request.sizes import Grown, with_prediction, with_sizes
from scalegraph.gui.request.target import MachineSection, RunSection
from scalegraph.gui.request.text import processors_text
from scalegraph.gui.request.trace import TraceSection
from scalegraph.request.model.defaults import OWN_PROCESSORS
from scalegraph.request.model.origin import HERE, of_study
from scalegraph.request.model.programs import Program
from scalegraph.request.model.request import Request

_PAUSE_MS: Final = 120  # after the last keystroke, before the request is checked
_SIDE_WIDTHS: Final = (300, 620)  # pixels: least and most width of the plan
_WIDEST_FIELDS: Final = 1400  # pixels that the fields take of a very wide window
_WHERE: Final = "request/where"  # setting: where the last request ran
_BESIDE_FIELDS: Final = 40  # margins and the scroll bar


class RequestPanel(QWidget):
    """Edits one request and starts it."""

    run_wanted = Signal(object, object, str, object)  # Request, path of the study, title, cluster or None
    preview_wanted = Signal(str)  # path of a source
    checked = Signal(bool)  # the current form was checked; whether it can run
    command_loaded = Signal(object)  # a Request that runs a command, shown on another page

    def __init__(self, model: RequestModel, session: Any, jobs: Jobs, theme: Theme, settings: Settings) -> None:
        super().__init__()
        self._session = session
        self._settings = settings
        self._catalog = Catalog()
        self._request: Request | None = None
        self._start_soon = False
        self._leads = False  # whether the next check moves the focus to what is missing, else to Run
        self._started: RequestForm | None = None
        self._started_in: Path | None = None  # the study of the runs started here
        self._named: tuple[object, ...] = ()  # the chosen program
        self._like: tuple[tuple[object, ...], Path | None] = ((), None)  # `_kind` of finished runs, and their study
        self._kept: Request | None = None  # the request as stored in the study it was loaded from
        self._own: set[Path] = set()  # studies whose requests were typed here
        self.model = model
        self._checker = Latest(jobs, "checking the request", self)
        self._describer = Latest(jobs, "reading the machine", self)
        self._machine = ""
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._timer.timeout.connect(self._check)
        self.banner = Banner()
        self.program = ProgramSection(self.model)
        self.program.preferred = self._preferred
        self.parameters = ParameterSection(self.model)
        self.growth = GrowthSection(self.model)
        self.bounds = BoundSection(self.model)
        self.target = TargetSection(self.model)
        self.target.set_test(Latest(jobs, "testing a target", self))
        self.machine = MachineSection(self.model)
        self.choices = ChoicesSection(self.model)
        self.runs = RunSection(self.model)
        self.predict = PredictSection(self.model)
        self.trace = TraceSection(self.model)
        self.sections: tuple[Section, ...] = (
            self.program,
            self.parameters,
            self.target,
            self.machine,
            self.choices,
            self.growth,
            self.bounds,
            self.predict,
            self.runs,
            self.trace,
        )
        self.side = RequestSide(theme)
        self.side.where.show_text(settings.text(_WHERE))
        self.side.where.set_test(Latest(jobs, "reaching a cluster", self), session.elsewhere)
        self._lay()
        self.program.described.connect(self.set_catalog)
        self.program.preview_wanted.connect(self.preview_wanted)
        self.side.run_clicked.connect(self.start)
        self.side.load_clicked.connect(self._ask_load)
        self.side.save_clicked.connect(self.ask_save)
        self.model.changed.connect(self._show)
        self._show(self.model.form)

    def set_catalog(self, catalog: Catalog) -> None:
        """Take the programs and machines to choose from."""
        self._catalog = catalog
        for section in self.sections:
            section.set_catalog(catalog)

    @property
    def machines(self) -> list[tuple[str, str]]:
        """Names and titles of the available machines."""
        return [(machine.name, machine.title) for machine in self._catalog.machines]

    def _preferred(self, form: RequestForm) -> RequestForm:
        """Return *form*, for a program of the user's own, with the preferred machine and processor counts."""
        from scalegraph.gui.preferences.values import read as preferences

        values = preferences(self._settings)
        most = {machine.name: int(machine.processors_max) for machine in self._catalog.machines}
        if values.machine in most:
            counts = tuple(n for n in OWN_PROCESSORS if n <= most[values.machine])
            form = form.but(machine=values.machine, processors=processors_text(counts))
        return form.but(processors=values.processors) if values.processors else form

    @property
    def can_run(self) -> bool:
        """Whether the current form is checked and has no errors."""
        return self.side.run.isEnabled()

    def start(self) -> None:
        """Start the request, if it can run."""
        path = self.side.study_path()
        if self._request is None or not self.can_run:
            return
        if path is None:
            self.side.study_field.show_fault("a file for the study was expected")
            self.side.study.setFocus()
            return
        if not self.side.where.check():
            self.side.where.entry.setFocus()
            return
        self._settings.set_text(_WHERE, self.side.where.entry.text())
        self._started, self._started_in = self.model.form, path
        self._like = _kind(self.model.form), path
        if self._request.origin.kind == "here":
            self._own.add(path.resolve())
        title = self._request.title or self._title(self.model.form)
        self.run_wanted.emit(self._request, path, title, self.side.where.place)
        self.side.suggest_study(self._settings.free_study_path(self._stem(self.model.form), taken=path), again=True)

    def start_when_ready(self) -> None:
        """Start the current request once it has been checked, or show its errors."""
        self._start_soon = True
        self._timer.start()

    @property
    def edited_since_start(self) -> bool:
        """Whether the form has changed since the last start."""
        return self._started != self.model.form

    def begin_new(self) -> None:
        """Empty the form for another request, as one undoable edit."""
        if self.model.form.chosen:
            self.banner.clear()
            self._named = ()
            self.side.forget_study()
            self.model.set(RequestForm(), "new request")

    def load(self, path: Path) -> None:
        """Show a request file as one undoable edit; nothing is run."""
        from scalegraph.request import load_request

        try:
            request = load_request(path)
        except InputError as error:
            self.banner.show_fault(str(error))
            return
        self.banner.clear()
        self._settings.add_recent(path)
        if request.program.command:
            self.command_loaded.emit(request)
            return
        found = self._catalog.programs.get(request.program.name)
        self.model.set(of_request(request, found.program if found is not None else None), f"loading of {path.name}")

    def show_request(self, data: Mapping[str, Any], name: str, study: Path, **changes: Any) -> str:
        """Show the request stored in *study* as one undoable edit; return an error message if it cannot be read.

        *changes* are form fields to replace.
        """
        try:
            request = self._of_study(data, name, study)
        except InputError as error:
            return f"The request of this study cannot be shown: {error}"
        found = self._catalog.programs.get(request.program.name)
        form = of_request(request, found.program if found is not None else None).but(**changes)
        self.banner.clear()
        self._like = _kind(form), study
        self.model.set(form, f"request of {name}")
        self.side.set_study(study)  # another program discards the path of the one before
        return ""

    def show_sizes(self, data: Mapping[str, Any], name: str, study: Path, known: Mapping[str, float | None]) -> str:
        """Show the request of *study* with a search for sizes that keep a quantity constant; return an error or "".

        *known* gives the quantities to hold, as for `with_sizes`.
        """
        return self._show_grown(data, name, study, "sizes", lambda form, program: with_sizes(form, program, known))

    def show_prediction(self, data: Mapping[str, Any], name: str, study: Path) -> str:
        """Show the request of *study* with larger sizes to predict; return an error message or ""."""
        said = self._show_grown(data, name, study, "prediction", with_prediction)
        if not said:
            self._leads = False
            QTimer.singleShot(_PAUSE_MS, self, self._show_predict)  # after the page has been laid out
        return said

    def _show_predict(self) -> None:
        """Scroll to the section on predictions, once the page is laid out."""
        self.predict.at.setFocus()
        self.form_area.ensureWidgetVisible(self.predict)

    def _show_grown(
        self,
        data: Mapping[str, Any],
        name: str,
        study: Path,
        what: str,
        grow: Callable[[RequestForm, Program | None], Grown],
    ) -> str:
        """Show the request of *study* with sizes added by *grow*; return an error message or "".

        If the program's arguments change, the runs go into a new study, as they do if this one is read-only.
        """
        try:
            request = self._of_study(data, name, study)
        except InputError as error:
            return f"The request of this study cannot be shown: {error}"
        found = self._catalog.programs.get(request.program.name)
        program = found.program if found is not None else None
        grown = grow(of_request(request, program), program)
        self._like = _kind(grown.form), study
        self.model.set(grown.form, f"{what} for {name}")
        other = grown.other or not os.access(study, os.W_OK)
        self.side.set_study(self._settings.free_study_path(f"{study.stem}-{what}") if other else study)
        self.banner.show_remark(grown.remark)
        self._leads = True
        return ""

    def _lead(self) -> None:
        """Move the focus to the first field with a fault, else to Run, after a request was proposed."""
        if not self._leads or not self.isVisible():
            return
        self._leads = False
        inside = (widget for section in self.sections for widget in section.findChildren(QWidget))
        missing = next((widget for widget in inside if widget.property("fault") and widget.isVisible()), None)
        if missing is not None:
            self.form_area.ensureWidgetVisible(missing)
        (missing or self.side.run).setFocus(Qt.FocusReason.OtherFocusReason)

    def _of_study(self, data: Mapping[str, Any], name: str, study: Path) -> Request:
        """Return the request stored in *study*; if its runs were typed here, it counts as the user's own."""
        request = self._kept = of_study(data, name)
        return request.with_origin(HERE) if study.resolve() in self._own else request

    def save(self, path: Path) -> None:
        """Write the request to *path*."""
        request, faults = read(self.model.form)
        if request is None or faults:
            self.banner.show_fault("\n".join(map(str, faults)))
            return
        try:
            write_atomic(path, request.to_toml())
            self._settings.add_recent(path)
        except ScaleGraphError as error:
            self.banner.show_fault(str(error))

    def ask_save(self) -> None:
        """Ask for a file and save the request there."""
        path, _kind = QFileDialog.getSaveFileName(self, "Save request", "request.toml", "Request (*.toml)")
        if path:
            self.save(Path(path))

    def stop(self) -> None:
        """Cancel pending checks; for closing the window."""
        self._timer.stop()
        self._checker.stop()
        self._describer.stop()

    def _ask_load(self) -> None:
        path, _kind = QFileDialog.getOpenFileName(self, "Load request", "", "Request (*.toml);;All files (*)")
        if path:
            self.load(Path(path))

    def _lay(self) -> None:
        page = QWidget()
        page.setProperty("page", True)
        column = vertical(page, (16, 12, 12, 16), spacing=10)
        self.form_area = QScrollArea()
        self.form_area.setWidgetResizable(True)
        self.form_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.form_area.setWidget(page)
        self.form_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.form_area.setMaximumWidth(_WIDEST_FIELDS)
        row = horizontal(self, (0, 0, 16, 12), spacing=8)
        row.addWidget(self.form_area, 3)
        # put the page in place before its sections are added: Qt restyles all of them whenever it moves
        column.addWidget(label("Run a program", "title"))
        column.addWidget(self.banner)
        for section in self.sections:
            column.addWidget(section)
        column.addStretch(1)
        page.installEventFilter(self)
        self.side.setContentsMargins(0, 12, 0, 0)
        self.side.setMinimumWidth(_SIDE_WIDTHS[0])
        self.side.setMaximumWidth(_SIDE_WIDTHS[1])
        row.addWidget(self.side, 2)

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: plan again, as runs may have ended in the meantime."""
        super().showEvent(event)
        if self.model.form.chosen:
            self._timer.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: divide the width again."""
        super().resizeEvent(event)
        self._share()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: divide the width again when the fields need more or less."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._share()
        return super().eventFilter(watched, event)

    def _share(self) -> None:
        """Give the fields the width they need; the plan takes the rest."""
        page = self.form_area.widget()
        need = page.minimumSizeHint().width() if page is not None else 0
        rest = self.width() - need - _BESIDE_FIELDS
        most = max(_SIDE_WIDTHS[1], self.width() - _WIDEST_FIELDS)
        self.side.setMaximumWidth(max(_SIDE_WIDTHS[0], min(most, rest)))

    def _show(self, form: RequestForm) -> None:
        for section in self.sections:
            section.show_form(form)
        align(field for section in self.sections for field in section.fields)
        if form.chosen:
            named = (form.program, form.sources, form.executable)
            other, self._named = named != self._named, named
            self.side.suggest_study(self._place(form), other=other)
        self.side.show_waiting()
        self._timer.start()
        self._describe(form.machine_path or form.machine)

    def _describe(self, machine: str) -> None:
        """Load the chosen machine's values, so that they can be changed."""
        if machine == self._machine:
            return
        self._machine, session = machine, self._session

        def look(_reporter: Reporter) -> Any:
            from scalegraph.machine import describe

            return describe(session.machine(machine))

        self._describer.ask(look, self.machine.set_values, self._no_machine)

    def _no_machine(self, error: Exception) -> None:
        self.machine.set_values(())
        if not self.model.form.chosen:  # otherwise the check reports it beside its field
            self.banner.show_fault(str(error))

    def _check(self) -> None:
        form = self.model.form
        request, faults = read(form)
        self._request = None
        if request is None:
            self._checker.stop()
            if form.chosen:
                self._take(faults)
            else:
                self._take([])
                self.side.show_empty()
            self.checked.emit(False)
            return
        session, place = self._session, self.side.study_path()
        kind, known = self._like
        like = known if kind == _kind(form) else None
        kept = self._kept if self._kept is not None and self._kept.origin is form.origin else None

        def look(reporter: Reporter) -> tuple[list[Fault], Any, bool]:
            found = [*faults, *_others(session.check(request), faults)]
            reporter.token.check()
            wrong = any(fault.severity == "error" for fault in found)
            # a request that was typed or approved here before counts as the user's own, and so do edits of it
            own = not wrong and kept is not None and _approved(session, kept)
            return found, None if wrong else session.plan(request, place, like), own

        self._checker.ask(look, lambda answer: self._answered(request, *answer), self._unplanned)

    def _answered(self, request: Request, faults: list[Fault], plan: Any, own: bool) -> None:
        if plan is None:
            self._take(faults)
            self.checked.emit(False)
            return
        remarks = self._take_in_sections(faults)
        self._request = request.with_origin(HERE) if own else request
        self.side.show_plan(plan, request.to_toml(), remarks)
        self._lead()
        self.checked.emit(True)
        if self._start_soon:
            self._start_soon = False
            self.start()

    def _unplanned(self, error: Exception) -> None:
        faults = error.faults if isinstance(error, InputError) else [Fault(str(error))]
        self._take(list(faults))
        self.checked.emit(False)

    def _take(self, faults: Sequence[Fault]) -> None:
        self._start_soon = False
        left = self._take_in_sections(faults)
        if faults:
            self.side.show_faults(left, len(faults))
            self._lead()

    def _take_in_sections(self, faults: Sequence[Fault]) -> list[Fault]:
        """Show each error in the section that matches most of its key; return the errors that no section shows."""
        nearest = [max(self.sections, key=lambda section: section.reach(fault.key)) for fault in faults]
        left = [fault for fault, section in zip(faults, nearest, strict=True) if not section.reach(fault.key)]
        for section in self.sections:
            own = [fault for fault, near in zip(faults, nearest, strict=True) if near is section and fault not in left]
            left += section.take_faults(own)
        return left

    def _place(self, form: RequestForm) -> Path:
        """Return the study's path: that of the last runs if only the target differs, otherwise a new one."""
        before = self._started
        if before is not None and self._started_in is not None and before.target != form.target:
            same = (before.program, before.sources, before.executable) == (form.program, form.sources, form.executable)
            if same and self._stem(before) == self._stem(form):
                return self._started_in
        return self._settings.free_study_path(self._stem(form))

    def _stem(self, form: RequestForm) -> str:
        return f"{_program_stem(form)}-{Path(form.machine_path or form.machine).stem}"

    def _title(self, form: RequestForm) -> str:
        found = self._catalog.programs.get(form.program)
        name = found.program.title if found is not None else _program_stem(form)
        machine = next((m.title for m in self._catalog.machines if m.name == form.machine), form.machine)
        return f"{name} on {Path(form.machine_path).stem if form.machine_path else machine}"


def _kind(form: RequestForm) -> tuple[object, ...]:
    """Return what runs of similar duration have in common."""
    return form.program, form.sources, form.executable, form.machine, form.machine_path, form.target


def _approved(session: Any, request: Request) -> bool:
    """Return whether *request* may run here without asking for consent."""
    try:
        return session.consent(request) is None
    except InputError:
        return False


def _program_stem(form: RequestForm) -> str:
    return Path(form.program or form.executable or (form.sources[0] if form.sources else "study")).stem


def _others(found: Sequence[Fault], typed: Sequence[Fault]) -> list[Fault]:
    """Return the check's errors that concern what was typed, not a default put in for an unreadable value."""
    keys = {fault.key for fault in typed}
    return [fault for fault in found if fault.key not in keys]
