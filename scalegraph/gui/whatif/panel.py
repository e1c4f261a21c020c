"""The What if panel: switches for ideals, sliders for machine parameters, faster code; views show the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QProgressBar,
    QScrollArea,
    QSpinBox,
    QStackedWidget,
    QWidget,
)

from scalegraph.base.errors import Fault, ScaleGraphError
from scalegraph.base.run import IDEAL_NAMES, IDEALS, target_words
from scalegraph.base.units import counted, seconds
from scalegraph.gui.base.edit_model import EditModel
from scalegraph.gui.base.jobs import Jobs, Latest, Reporter
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.widgets import Group, button, label
from scalegraph.gui.queue.runner import QueueRunner
from scalegraph.gui.queue.state import QueueEntry
from scalegraph.gui.request.sections import dress
from scalegraph.gui.request.widgets import Entry
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.state.selection import Selection, SelectionModel
from scalegraph.gui.state.what_if_state import (
    WhatIfState,
    of_request,
    request_for,
    target_fault,
    typed_target,
)
from scalegraph.gui.study.studies import Studies
from scalegraph.gui.whatif.machine import MachineKnobs
from scalegraph.gui.whatif.widgets import CountButtons, SpeedupRows
from scalegraph.request.model.values import request_value

_DEBOUNCE_MS: Final = 600
_QUICK_S: Final = 20.0  # host seconds up to which changes start runs automatically
_NO_STUDY: Final = (
    "Open a study of simulated runs. Then choose here what to change: an ideal machine, other latencies,"
    " or a line that is faster."
)
_NOTHING: Final = "Choose what to change; the runs start at once and appear next to the actual ones."


class WhatIfPanel(QWidget):
    """Follows the current study; every study has its own settings with their own undo."""

    view_wanted = Signal(str)  # name of the view with the answer, once a study's first what-if runs start
    undo_changed = Signal()

    def __init__(
        self, session: Any, jobs: Jobs, studies: Studies, selection: SelectionModel, runner: QueueRunner
    ) -> None:
        super().__init__()
        self._session, self._studies, self._runner = session, studies, runner
        self._models: dict[str, EditModel[WhatIfState]] = {}
        self._handle: Handle | None = None
        self._entry: QueueEntry | None = None
        self._shown: set[str] = set()
        self._checks = Latest(jobs, "checking what-if runs", self)
        self._later = QTimer(self, singleShot=True, interval=_DEBOUNCE_MS)
        self._later.timeout.connect(self.run)
        self._build()
        selection.changed.connect(self._follow)
        studies.closed.connect(self._closed)
        runner.changed.connect(tied(self, lambda entry, _keys: self._progress(entry)))
        runner.ended.connect(self._ended)
        self._follow(selection.current)

    # display

    def _build(self) -> None:
        self._empty = label(_NO_STUDY, "muted", wrap=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._empty.setContentsMargins(12, 12, 12, 12)
        page = QWidget()
        page.setProperty("page", True)
        column = vertical(page, (6, 6, 6, 6), spacing=6)
        column.addWidget(self._make_counts())
        column.addWidget(self._make_ideals())
        column.addWidget(self._make_code())
        self.machine = MachineKnobs()
        self.machine.moved.connect(self._moved)
        column.addWidget(self.machine)
        column.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setAccessibleName("What should differ")
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(page)
        form = QWidget()
        whole = vertical(form, spacing=0)
        whole.addWidget(self._scroll, 1)
        whole.addWidget(self._make_footer())
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(form)
        layout = vertical(self)
        layout.addWidget(self._stack)
        self.setAccessibleName("What if")
        self.setFocusProxy(next(iter(self.ideals.values())))

    def _make_counts(self) -> QWidget:
        group = Group(request_value("what_if.processors").short)
        self.counts = CountButtons()
        dress(self.counts, "what_if.processors")
        self.counts.chosen.connect(lambda counts: self._edit("processor counts", processors=counts))
        group.column.addWidget(self.counts)
        return group

    def _make_ideals(self) -> QWidget:
        declared = request_value("what_if.ideal")
        group = Group(declared.short)
        self.ideals: dict[str, QCheckBox] = {}
        for name in IDEALS:
            box = QCheckBox(IDEAL_NAMES[name][0].upper() + IDEAL_NAMES[name][1:])
            box.setToolTip(declared.choices[name])
            box.clicked.connect(lambda on, name=name: self._switch(name, on=on))
            self.ideals[name] = box
            group.column.addWidget(box)
        self.apart = QCheckBox("each by itself, too")
        self.apart.setToolTip("Run each ideal alone as well as all together: which one limits the program?")
        self.apart.clicked.connect(lambda on: self._edit("each by itself", apart=on))
        group.column.addWidget(self.apart)
        return group

    def _make_code(self) -> QWidget:
        declared = request_value("what_if.speedup")
        group = Group(declared.short)
        self.speedups = SpeedupRows()
        self.speedups.changed.connect(self._faster)
        group.column.addWidget(self.speedups)
        line = QHBoxLayout()
        self.target = Entry(declared.hint)
        self.target.setAccessibleName("Code to be faster")
        dress(self.target, "what_if.speedup")
        self.target.returnPressed.connect(self._add_typed)
        self.add = button("Add", "See what changes if this is twice as fast")
        self.add.clicked.connect(self._add_typed)
        line.addWidget(self.target, 1)
        line.addWidget(self.add)
        group.column.addLayout(line)
        group.column.addLayout(self._make_sweep())
        return group

    def _make_sweep(self) -> QHBoxLayout:
        line = QHBoxLayout()
        declared = request_value("speedups.lines")
        self.sweep = QCheckBox("the")
        self.sweep.clicked.connect(lambda on: self._edit("hottest lines", sweep=on))
        self.lines = QSpinBox()
        self.lines.setRange(1, int(declared.most or 1))
        self.lines.setAccessibleName("How many of the hottest lines")
        self.lines.valueChanged.connect(lambda count: self._edit("hottest lines", typing="lines", lines=count))
        self._lines_word = label(declared.short)
        for widget in (self.sweep, self.lines, self._lines_word):
            line.addWidget(widget)
        line.addStretch(1)
        return line

    def _make_footer(self) -> QWidget:
        foot = QWidget()
        column = vertical(foot, (10, 6, 10, 8), spacing=4)
        self.said = label(_NOTHING, "muted", wrap=True)
        self.fault = label("", "fault", wrap=True)
        self.fault.hide()
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setMaximumHeight(6)
        self.bar.setAccessibleName("Progress of the what-if runs")
        line = QHBoxLayout()
        self.auto = QCheckBox("auto-run")
        self.auto.setToolTip("Start the runs shortly after every change; outdated runs are stopped")
        self.auto.setChecked(True)
        self.cancel = button("Cancel", "Stop the what-if runs; finished runs are kept")
        self.cancel.clicked.connect(self.stop_runs)
        self.go = button("Run", "Start the what-if runs now", "primary")
        self.go.clicked.connect(self.run)
        line.addWidget(self.auto, 1)
        line.addWidget(self.cancel)
        line.addWidget(self.go)
        for widget in (self.fault, self.said, self.bar):
            column.addWidget(widget)
        column.addLayout(line)
        return foot

    # the current study

    @property
    def state(self) -> WhatIfState:
        """The settings for the current study."""
        model = self._model()
        return model.state if model is not None else WhatIfState()

    @property
    def undo_stack(self) -> QUndoStack | None:
        """The settings' undo stack."""
        model = self._model()
        return model.undo_stack if model is not None else None

    @property
    def entry(self) -> QueueEntry | None:
        """The runs last started."""
        return self._entry

    def _model(self) -> EditModel[WhatIfState] | None:
        return self._models.get(self._handle.key) if self._handle is not None else None

    def _follow(self, selection: Selection) -> None:
        handle = self._studies.get(selection.study)
        if handle is self._handle:
            return
        if self._handle is not None:
            self._handle.changed.disconnect(self._study_changed)
        self._later.stop()
        self._handle = handle
        if handle is not None:
            handle.changed.connect(self._study_changed)
        self._study_changed()

    def _closed(self, key: str) -> None:
        self._models.pop(key, None)
        if self._handle is not None and self._handle.key == key:
            self._later.stop()
            self._handle = None
            self._study_changed()

    def _study_changed(self) -> None:
        handle = self._handle
        data = handle.study() if handle is not None else None
        counts = sorted({run.point.processors for run in data.runs if run.ok}) if data is not None else []
        request = data.manifest.get("request") if data is not None else None
        if handle is None or data is None or not counts or not request:
            self._empty.setText(_reason(handle, loaded=data is not None, runs=bool(counts)))
            self._stack.setCurrentIndex(0)
            self.undo_changed.emit()
            return
        if handle.key not in self._models:
            model = EditModel(of_request(request, counts), self)
            model.changed.connect(self._state_changed)
            model.undo_stack.indexChanged.connect(self._walked)
            self._models[handle.key] = model
            self.auto.setChecked(self._cost(model.state) <= _QUICK_S)
        elif self._models[handle.key].undo_stack.count() == 0:  # still unedited: new runs may have landed since
            with QSignalBlocker(self._models[handle.key]):
                self._models[handle.key].reset(of_request(request, counts))
        self.counts.offer(counts)
        self.machine.offer(data.manifest.get("machine_values") or {})
        self._stack.setCurrentIndex(1)
        self._show(self.state)
        self.undo_changed.emit()

    def _walked(self, _index: int) -> None:
        self.undo_changed.emit()

    def _show(self, state: WhatIfState) -> None:
        self.counts.show_counts(state.processors)
        for name, box in self.ideals.items():
            box.setChecked(name in state.ideals)
        self.apart.setChecked(state.apart)
        self.apart.setEnabled(len(state.ideals) > 1)
        self.speedups.show_speedups(state.speedups)
        self.sweep.setChecked(state.sweep)
        with QSignalBlocker(self.lines):
            self.lines.setValue(state.lines)
        declared = request_value("speedups.lines")
        self._lines_word.setText(declared.short.removesuffix("s") if state.lines == 1 else declared.short)
        factors = ", ".join("infinitely fast" if factor == "inf" else f"x {factor}" for factor in state.factors)
        tip = f"{declared.tip()}: {factors}; a curve for each line"
        self.sweep.setToolTip(tip)
        self.sweep.setAccessibleName(f"The {state.lines} hottest lines faster")
        self.lines.setToolTip(tip)
        self.machine.show_values(dict(state.machine))
        self._enable()

    def _enable(self) -> None:
        running = self._entry is not None and not self._entry.ended
        self.cancel.setEnabled(running)
        self.go.setEnabled(not self.state.empty)
        self.bar.setVisible(running)
        if not running and not self.fault.text():
            state = self.state
            cost = self._cost(state)
            about = f", at most about {seconds(cost)} of this computer" if cost >= 1 else ""
            self.said.setText(f"{_runs(state)}{about}." if not state.empty else _NOTHING)

    def _cost(self, state: WhatIfState) -> float:
        """Return the estimated host seconds of the runs, based on those of the actual runs."""
        data = self._handle.study() if self._handle is not None else None
        if data is None:
            return 0.0
        each = sum(run.host_s or 0.0 for run in data.runs if run.ok and run.point.processors in state.processors)
        return each * max(1, state.variants)

    # user actions

    def ask_faster(self, target: str, factor: str = "2") -> None:
        """Add a speedup of *target* by *factor*; twice as fast at first."""
        model = self._model()
        if model is None:
            return
        if target not in dict(model.state.speedups):
            self._edit(target_words(target), speedups=model.state.with_speedup(target, factor))
        box = self.speedups.factors.get(target)
        if box is not None:
            self._reach(box)

    def ask_ideal(self, name: str) -> None:
        """Switch the ideal *name* on."""
        self._switch(name, on=True)
        self._reach(self.ideals[name])

    def ask_sweep(self) -> None:
        """Add a speedup of each of the hottest lines."""
        self._edit("hottest lines", sweep=True)
        self._reach(self.sweep)

    def _reach(self, box: QWidget) -> None:
        self._scroll.ensureWidgetVisible(box)
        box.setFocus(Qt.FocusReason.OtherFocusReason)

    def _edit(self, text: str, *, typing: str = "", **changes: Any) -> None:
        model = self._model()
        if model is not None:
            model.edit(text, typing=typing, **changes)

    def _switch(self, name: str, *, on: bool) -> None:
        self._edit(IDEAL_NAMES[name], ideals=self.state.with_ideal(name, on=on))

    def _moved(self, key: str, value: str | None, sliding: bool) -> None:
        self._edit(key, typing=key if sliding else "", machine=self.state.with_machine(key, value))

    def _faster(self, target: str, factor: str | None) -> None:
        self._edit(target_words(target), speedups=self.state.with_speedup(target, factor))

    def _add_typed(self) -> None:
        target = typed_target(self.target.text())
        fault = target_fault(target) if target else "enter what to speed up, like line:solve.c:88"
        self._say_fault(fault)
        if not fault:
            self.target.clear()
            self.ask_faster(target)

    def _state_changed(self, state: WhatIfState) -> None:
        self._say_fault("")
        self._show(state)
        if state.empty:
            self._later.stop()
            self.stop_runs()
        elif self.auto.isChecked():
            self._later.start()

    # runs

    def run(self) -> None:
        """Check the settings and start their runs; runs of earlier settings are stopped."""
        self._later.stop()
        model = self._model()
        if model is not None:
            model.finish_typing()  # a change after seeing an answer is a step of its own
        handle, state, session = self._handle, self.state, self._session
        data = handle.study() if handle is not None else None
        if handle is None or data is None or state.empty:
            return
        reported: Mapping[str, Any] = data.manifest.get("request") or {}
        title = handle.title

        def check(_reporter: Reporter) -> tuple[Any, list[Fault]]:
            request = request_for(reported, state, title)
            return request, [fault for fault in session.check(request) if fault.severity == "error"]

        self._checks.ask(check, lambda answer: self._checked(handle, state, *answer), self._unreadable)

    def stop_runs(self) -> None:
        """Stop the runs; finished ones are kept."""
        self._later.stop()
        if self._entry is not None and not self._entry.ended:
            self._runner.cancel(self._entry)

    def _checked(self, handle: Handle, state: WhatIfState, request: Any, faults: list[Fault]) -> None:
        if faults:
            self._say_fault("; ".join(_plain(fault) for fault in faults))
            return
        self.stop_runs()
        self._entry = self._runner.submit(request, handle.path, f"{handle.title}: what if", quiet=True)
        self._enable()
        if handle.key not in self._shown:
            self._shown.add(handle.key)
            self.view_wanted.emit("what-if" if state.ideals or state.machine else "virtual-speedup")

    def _unreadable(self, error: Exception) -> None:
        self._say_fault(str(error) if isinstance(error, ScaleGraphError) else f"{type(error).__name__}: {error}")

    def _progress(self, entry: QueueEntry) -> None:
        if entry is not self._entry or entry.ended:
            return
        self.bar.setMaximum(max(1, entry.total))
        self.bar.setValue(entry.finished)
        self.said.setText(entry.said() or "starting")
        self._enable()

    def _ended(self, entry: QueueEntry) -> None:
        if entry is self._entry:
            if entry.phase == "failed":
                self._say_fault(entry.message or "the runs failed; the queue shows how")
            elif entry.failed:
                failed = [run for run in entry.runs.values() if run.phase == "failed"]
                self._say_fault(f"{counted(entry.failed, 'run')} failed: {failed[0].message or 'see the queue'}")
            self._enable()
        if entry.quiet and entry.phase != "failed":
            QTimer.singleShot(0, self, lambda: self._runner.remove(entry))

    def _say_fault(self, text: str) -> None:
        self.fault.setText(text)
        self.fault.setVisible(bool(text))
        self._enable()


def _reason(handle: Handle | None, *, loaded: bool, runs: bool) -> str:
    if handle is None:
        return _NO_STUDY
    if not loaded:
        return "The study is being read."
    if not runs:
        return "No run of this study has ended yet; what-if runs are compared with actual ones."
    return "This study was not simulated here, so it has no request to run again with changes."


def _runs(state: WhatIfState) -> str:
    count = state.variants * len(state.processors)
    return f"{counted(count, 'run')} beside the actual one{'s' if len(state.processors) != 1 else ''}"


def _plain(fault: Fault) -> str:
    """Return an error without its place in a request that the user has not written."""
    key = fault.key.split(".machine.", 1)[-1] if ".machine." in fault.key else ""
    return f"{key}: {fault.message}" if key else fault.message
