"""The page that measures a command as it is: fields on the left, points as they arrive on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QHBoxLayout, QScrollArea, QWidget

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import counted, seconds
from scalegraph.gui.base.banner import Banner
from scalegraph.gui.base.jobs import Jobs, Latest, Reporter
from scalegraph.gui.base.layouts import horizontal, vertical
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.widgets import Field, Group, align, button, label
from scalegraph.gui.measure.form import CommandForm, of_request, read, what_n_sets
from scalegraph.gui.queue.state import QueueEntry
from scalegraph.gui.request.sections import dress
from scalegraph.gui.request.widgets import Choice, Entry
from scalegraph.link.targets import targets
from scalegraph.request.model.origin import HERE, Origin, of_study
from scalegraph.request.model.request import Request
from scalegraph.request.model.values import request_value

if TYPE_CHECKING:
    from scalegraph.gui.measure.points_panel import PointsPanel

_PAUSE_MS: Final = 150  # after the last keystroke, before the command is checked
_SETTING: Final = "measure/form"  # setting: the last command
_SIDE: Final = 360  # least pixels of the picture
_NO_POINTS: Final = "Points appear here as they are measured, with intervals."


class CommandPage(QWidget):
    """Edits one command, starts it, and shows its points as they arrive."""

    run_wanted = Signal(object, object, str)  # Request, Path of the study, title
    stop_wanted = Signal(object)  # QueueEntry
    study_wanted = Signal(object)  # Path
    checked = Signal(bool)  # the command was checked; whether it can run

    def __init__(self, session: Any, jobs: Jobs, theme: Theme, settings: Settings) -> None:
        super().__init__()
        self._session, self._settings, self._theme = session, settings, theme
        self._request: Request | None = None
        self._origin: Origin = HERE
        self._study: Path | None = None  # the study to extend; None: a new one
        self._entry: QueueEntry | None = None
        self._wanted: Path | None = None  # the study of the run started here
        self._checker = Latest(jobs, "checking the command", self)
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._timer.timeout.connect(self._check)
        self.banner = Banner()
        self.points: PointsPanel | None = None  # created at the first point
        self.fields: list[Field] = []
        self._entries: dict[str, Entry] = {}
        self._lay()
        theme.changed.connect(self._dress)
        self._show_points([])
        self._show_form(CommandForm(command=settings.text(_SETTING)))

    # editing

    @property
    def form(self) -> CommandForm:
        """The form as typed."""
        typed = {name: entry.text() for name, entry in self._entries.items()}
        return CommandForm(
            **typed,
            shell=self.shell.isChecked(),
            stacks=self.stacks.isChecked(),
            target=self.target.currentData() or "host",
            pin=self.pin.currentData() or "close",
            origin=self._origin,
        )

    def show_request(self, data: Mapping[str, Any], name: str, study: Path, processors: str = "") -> str:
        """Show the command of *study*, with *processors* as its counts; return an error message or ""."""
        try:
            request = of_study(data, name)
        except InputError as error:
            return f"The request of this study cannot be shown: {error}"
        self._origin, self._study = request.origin, study
        form = of_request(request)
        self._show_form(replace(form, processors=processors) if processors else form)
        self.banner.clear()
        return ""

    def show_loaded(self, request: Request) -> None:
        """Show the command of a request file; nothing is run."""
        self._origin, self._study = request.origin, None
        self._show_form(of_request(request))
        self.banner.clear()

    @property
    def can_run(self) -> bool:
        """Whether the command has been checked and can run."""
        return self.go.isEnabled()

    def start(self) -> None:
        """Start the command, if it can run."""
        if self._request is None or self._running():
            return
        self._settings.set_text(_SETTING, self.form.command)
        name = self._request.program.command.split()[0]
        path = self._study or self._settings.free_study_path(Path(name).stem or "command")
        self._wanted, self._entry = path, None
        self._show_points([])
        self.state.setText("Starting …")
        self.run_wanted.emit(self._request, path, self._request.program.command[:60])

    def stop(self) -> None:
        """Cancel pending checks; for closing the window."""
        self._timer.stop()
        self._checker.stop()

    # results

    def follow(self, entry: QueueEntry) -> None:
        """Follow the queued request if it was started here."""
        if self._wanted is not None and entry.path == self._wanted and self._entry is None:
            self._entry = entry
            self._update()

    def changed(self, entry: QueueEntry, _keys: Sequence[str] = ()) -> None:
        """Show the progress of *entry* if it was started here."""
        if entry is self._entry:
            self._update()

    def _running(self) -> bool:
        return self._entry is not None and not self._entry.ended

    def _update(self) -> None:
        entry = self._entry
        if entry is None:
            return
        records = [item.record for item in entry.runs.values() if item.record is not None]
        self._show_points(records)
        left = entry.left_s()
        words = f"{entry.finished} of {counted(entry.total, 'run')}"
        words += f", about {seconds(left)} left" if left and not entry.ended else ""
        self.state.setText(entry.said() or words if entry.ended else words)
        if entry.phase == "failed" and entry.message:
            self.banner.show_fault(entry.message)
        self._offer()
        if entry.ended and self._study is None and entry.finished:
            self._study = entry.path  # starting again extends this study

    def _show_points(self, records: Sequence[Any]) -> None:
        if records and self.points is None:
            # drawing code is preloaded in the background, not while the window opens
            from scalegraph.gui.measure.points_panel import PointsPanel

            self.points = PointsPanel(self._theme.name)
            self._pictures.insertWidget(1, self.points, 5)
        self.sentence.setText(self.points.show_points(records) if self.points and records else _NO_POINTS)
        if self.points is not None:
            self.points.setVisible(bool(records))
        self.blank.setVisible(not records)
        faults = list(dict.fromkeys(run.message for run in records if not run.ok and run.message))
        self.faults.setText("\n".join(faults[:3]))
        self.faults.setVisible(bool(faults))

    def _offer(self) -> None:
        running, entry = self._running(), self._entry
        self.go.setEnabled(self._request is not None and not running)
        self.halt.setVisible(running)
        self.open.setVisible(entry is not None and bool(entry.finished))
        self.checked.emit(self.go.isEnabled())

    # the form

    def _show_form(self, form: CommandForm) -> None:
        for name, entry in self._entries.items():
            entry.show_text(getattr(form, name))
        self.shell.setChecked(form.shell)
        self.stacks.setChecked(form.stacks)
        self.target.show_value(form.target)
        self.pin.show_value(form.pin)
        self._edited()

    def _typed(self) -> None:
        if not self._entry_is_of_form():
            self._study = None  # another command needs another study
        if not self._entries["command"].text().strip():
            self._origin = HERE  # edits are the user's own; a command from a file keeps its origin, however edited
        self._edited()

    def _entry_is_of_form(self) -> bool:
        request = self._request
        return request is not None and request.program.command == self._entries["command"].text().strip()

    def _edited(self) -> None:
        self.sets.setText(what_n_sets(self.form))
        self.go.setEnabled(False)
        self._timer.start()

    def _check(self) -> None:
        form = self.form
        request, faults = read(form)
        if request is None:
            self._checker.stop()
            self._take(faults if form.command.strip() else [])
            self._request = None
            self._offer()
            return
        session = self._session

        def look(_reporter: Reporter) -> list[Fault]:
            return list(session.check(request))

        self._checker.ask(look, lambda found: self._checked(request, found), lambda error: self._broken(error))

    def _checked(self, request: Request, faults: Sequence[Fault]) -> None:
        wrong = [fault for fault in faults if fault.severity == "error"]
        self._take(wrong)
        self._request = None if wrong else request
        runs = len({1, *request.processors}) * request.repetitions
        if not wrong and self._entry is None:
            self.state.setText(f"{counted(runs, 'run')}, each after a warm-up of its N")
        self._offer()

    def _broken(self, error: Exception) -> None:
        self._take(list(error.faults) if isinstance(error, InputError) else [Fault(str(error))])
        self._request = None
        self._offer()

    def _take(self, faults: Sequence[Fault]) -> None:
        left = list(faults)
        for field in self.fields:
            own = [fault for fault in left if any(_below(fault.key, key) for key in field.keys)]
            field.show_fault("\n".join(fault.message for fault in own))
            left = [fault for fault in left if fault not in own]
        self.other.setText("\n".join(map(str, left)))
        self.other.setVisible(bool(left))

    # layout

    def _lay(self) -> None:
        row = horizontal(self, (0, 0, 16, 12), spacing=12)
        page = QWidget()
        page.setProperty("page", True)
        column = vertical(page, (16, 12, 8, 16), spacing=10)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(page)
        row.addWidget(area, 5)
        row.addWidget(self._side(), 6)
        column.addWidget(label("Measure a command", "title"))
        column.addWidget(label("Any program as it is: no build, no change to it.", "muted", wrap=True))
        column.addWidget(self.banner)
        for group in (self._command(), self._runs(), self._time(), self._sizes(), self._where()):
            column.addWidget(group)
        self.other = label("", "fault", wrap=True)
        self.other.hide()
        column.addWidget(self.other)
        column.addStretch(1)
        align(self.fields)

    def _command(self) -> Group:
        group = Group("Command")
        self._add(group, "command", "program.command", "program", beside=False)
        self.sets = label("", "muted", wrap=True)
        self.sets.setAccessibleName("What N sets")
        group.column.addWidget(self.sets)
        self.shell = self._switch(group, "program.shell")
        return group

    def _runs(self) -> Group:
        group = Group("Runs")
        self._add(group, "processors", "processors", title="Counts N", hint="1, 2, 4 or 1-8")
        self._add(group, "repetitions", "repetitions")
        self._add(group, "until", "target.until", title="Until the interval is", hint="for instance 2 %")
        self.pin = Choice()
        self.pin.offer(list(request_value("target.pin").choices.items()))
        self.pin.chosen.connect(lambda _value: self._typed())
        self._field(group, "Processors used", self.pin, ("target.pin",), request_value("target.pin").tip())
        self._add(group, "time_s", "limits.time_s")
        self.stacks = self._switch(group, "program.stacks")
        return group

    def _time(self) -> Group:
        group = Group("Time", "From start to end, unless the command prints its own time or rate.")
        self._add(group, "time_from", "program.time_from")
        self._add(group, "rate_from", "program.rate_from")
        return group

    def _sizes(self) -> Group:
        group = Group("Problem size", "A name in braces in the command, such as {n}, stands for a parameter.")
        self._add(group, "parameters", "parameters", hint="n=1000, 2000; m=5")
        self._add(group, "grow", "scaling.grow", "scaling", title="Grows with N", hint="n=1000*N (weak scaling)")
        return group

    def _where(self) -> Group:
        group = Group("Where it runs")
        self.target = Choice()
        self.target.offer([(name, target.title) for name, target in targets().items() if _measures(target)])
        self.target.chosen.connect(lambda _value: self._typed())
        self._field(group, "Target", self.target, ("target.name", "target"), request_value("target.name").tip())
        self._add(group, "settings", "target.settings", hint="host=me@node7 or partition=batch; nodes=2")
        entry = self._entry_of("directory", "the directory in which ScaleGraph was started")
        browse = button("Browse…")
        browse.clicked.connect(self._browse)
        line = QWidget()
        inside = horizontal(line)
        inside.addWidget(entry, 1)
        inside.addWidget(browse)
        line.setFocusProxy(entry)
        entry.setAccessibleName("Directory")
        tip = "Directory in which the command runs"
        self._field(group, "Directory", line, ("program.directory", "program.cwd"), tip)
        return group

    def _side(self) -> QWidget:
        side = QWidget()
        side.setMinimumWidth(_SIDE)
        column = self._pictures = vertical(side, (0, 14, 0, 0), spacing=8)
        self.sentence = label(_NO_POINTS, "heading", wrap=True)
        self.sentence.setAccessibleName("What the points say")
        self.blank = label("", "muted")
        self.faults = label("", "fault", wrap=True)
        self.state = label("", "muted", wrap=True)
        self.state.setAccessibleName("Progress")
        column.addWidget(self.sentence)
        column.addWidget(self.blank, 5)
        column.addWidget(self.faults)
        column.addLayout(self._buttons())
        return side

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.go = button("Measure", "Start the runs (Ctrl+Return)", "primary")
        self.go.setMinimumWidth(110)
        self.go.clicked.connect(self.start)
        self.halt = button("Stop", "Stop the runs; those that ended are kept")
        self.halt.clicked.connect(lambda: self.stop_wanted.emit(self._entry))
        self.open = button("Open the study", "Speedup, laws, noise and every other view that needs no regions")
        self.open.clicked.connect(lambda: self.study_wanted.emit(self._entry.path if self._entry else None))
        row.addWidget(self.state, 1)
        for widget in (self.open, self.halt, self.go):
            row.addWidget(widget)
        self.halt.hide()
        self.open.hide()
        return row

    def _add(
        self, group: Group, name: str, key: str, *also: str, title: str = "", hint: str = "", beside: bool = True
    ) -> None:
        said = request_value(key)
        entry = self._entry_of(name, hint or said.placeholder())
        if key.startswith("program."):
            dress(entry, key)
        self._field(group, title or said.label, entry, (key, *also), said.tip(), beside=beside)

    def _switch(self, group: Group, key: str) -> QCheckBox:
        made = QCheckBox(request_value(key).label)
        dress(made, key)
        made.toggled.connect(lambda _on: self._typed())
        group.column.addWidget(made)
        return made

    def _entry_of(self, name: str, hint: str) -> Entry:
        made = self._entries[name] = Entry(hint)
        made.textEdited.connect(lambda _text: self._typed())
        made.returnPressed.connect(self.start)
        return made

    def _field(
        self, group: Group, title: str, editor: QWidget, keys: tuple[str, ...], tip: str, *, beside: bool = True
    ) -> None:
        made = Field(title, editor, keys, tip, beside=beside)
        self.fields.append(made)
        group.column.addWidget(made)

    def _browse(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, "Directory", self._entries["directory"].text())
        if chosen:
            self._entries["directory"].setText(chosen)
            self._typed()

    def _dress(self, name: str) -> None:
        if self.points is not None:
            self.points.set_theme(name)


def _below(key: str, above: str) -> bool:
    return key == above or key.startswith(f"{above}.")


def _measures(target: Any) -> bool:
    return target.source != "simulated" and not target.on_workers and target.name != "mpi"
