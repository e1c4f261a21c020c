"""Search above a trace's views: what a text matches, and its next occurrence in time."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from scalegraph.base.units import thousands
from scalegraph.gui.base.jobs import Jobs, Latest, Reporter
from scalegraph.gui.base.layouts import horizontal
from scalegraph.gui.base.search_list import SearchList
from scalegraph.gui.base.widgets import ElidedLabel, mark
from scalegraph.gui.state.selection import SelectionModel
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.gui.trace.link import TraceLink
from scalegraph.views.trace.places import Place, place_of

if TYPE_CHECKING:
    import pandas as pd

    from scalegraph.analyze.trace.find import Occurrence, Target

log: Final = logging.getLogger(__name__)
_MOST: Final = 30  # of the longest, listed
_TIP: Final = (
    "A region, location, mark, wait, state, metric or tag (/). Return goes to the next occurrence, "
    "Shift+Return to the previous one, Ctrl+Return lists the longest; F3 and Shift+F3 work from anywhere."
)


class TraceSearch(QWidget):
    """A search field with a list of matches below; *answer*, placed elsewhere, shows the current occurrence."""

    answered = Signal(bool)  # whether there is an answer to show

    def __init__(self, selection: SelectionModel, jobs: Jobs) -> None:
        super().__init__()
        self._selection, self._jobs = selection, jobs
        self._trace: TraceHandle | None = None
        self._link: TraceLink | None = None
        self._target: Target | None = None
        self._last: Occurrence | None = None
        self._lists = Latest(jobs, "searching", self, quick=True)
        self._steps = Latest(jobs, "going to what was found", self, quick=True)
        self._lengths = Latest(jobs, "searching for the longest", self)
        self.field = QLineEdit()
        self.field.setPlaceholderText("Search  /")
        self.field.setAccessibleName("Search in the trace")
        self.field.setToolTip(_TIP)
        self.field.setClearButtonEnabled(True)
        self.before = self._tool("↑", "Previous occurrence (Shift+F3)", forward=False)
        self.after = self._tool("↓", "Next occurrence (F3)", forward=True)
        self.said = ElidedLabel()
        self.said.setProperty("role", "muted")
        self.said.setAccessibleName("What was found")
        self.answer = QWidget()  # beside the field, if there is room
        self.list: SearchList | None = None
        row = horizontal(self, spacing=2)
        row.addWidget(self.field)
        beside = horizontal(self.answer, spacing=2)
        for widget in (self.said, self.before, self.after):
            beside.addWidget(widget)
        self.field.textEdited.connect(self._typed)
        self.field.textChanged.connect(lambda text: None if text else self._clear())
        self.field.installEventFilter(self)
        self._clear()

    def _tool(self, text: str, tip: str, *, forward: bool) -> QToolButton:
        made = QToolButton()
        made.setText(text)
        made.setToolTip(tip)
        made.setAccessibleName(tip)
        made.clicked.connect(lambda: self.step(forward=forward))
        return made

    # called by the rest of the window

    def show_trace(self, trace: TraceHandle | None) -> None:
        """Search in *trace* from now on; None: in nothing."""
        if trace is self._trace:
            return
        for work in (self._lists, self._steps, self._lengths):
            work.stop()
        if self._link is not None:
            self._link.stop()
            self._link.deleteLater()
        self._trace = trace
        self._link = None if trace is None else TraceLink(trace, self._selection, self._jobs, self)
        self.field.clear()
        self._clear()

    def start(self) -> None:
        """Let the user type a search."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        self._typed(self.field.text())

    def step(self, *, forward: bool = True) -> None:
        """Go to the next or previous occurrence of the chosen match."""
        if self._trace is None or self._trace.data() is None:
            return
        listed = self.list is not None and self.list.isVisible()
        target = self.list.target() if listed and self.list is not None else self._target
        if target is None:
            self.start()
            return
        if target != self._target:
            self._target, self._last = target, None
        self.hide_list()
        self._go(target, forward=forward)

    def hide_list(self) -> None:
        """Hide the list of matches."""
        if self.list is not None:
            self.list.hide()

    # matches

    def _typed(self, text: str) -> None:
        from scalegraph.subjects import interval_sums

        data = self._trace.data() if self._trace is not None else None
        if data is None:
            return
        self._target = self._last = None
        wanted = text.strip()

        def look(reporter: Reporter) -> list[Target]:

            return interval_sums.finder(data).targets(wanted, reporter.token)

        self._lists.ask(look, self._listed, self._failed)

    def _listed(self, targets: list[Target]) -> None:
        if not self.field.hasFocus():
            return
        self._made_list().show_targets(targets, self.field)
        wrong = bool(self.field.text().strip()) and not targets
        mark(self.field, "fault", wrong)
        self._say("")

    def _made_list(self) -> SearchList:
        if self.list is None:
            self.list = SearchList(self.window())
            self.list.chosen.connect(self.step)
            self.list.place_chosen.connect(self._to_place)
            self.list.longest_wanted.connect(self.show_longest)
        return self.list

    def show_longest(self) -> None:
        """List the longest occurrences of the chosen match."""
        from scalegraph.subjects import interval_sums

        trace, shown = self._trace, self.list
        data = trace.data() if trace is not None else None
        target = (shown.target() if shown is not None and shown.isVisible() else None) or self._target
        if data is None or target is None:
            return

        def look(_reporter: Reporter) -> pd.DataFrame:
            from scalegraph.analyze.trace import found

            calls = interval_sums.calls(data) if target.sort == "region" else None
            meta, everywhere = data.trace.meta, range(len(data.trace.definitions.locations))
            return found.longest(data.trace, calls, [target], _MOST, meta.begin, meta.end, everywhere)

        def listed(table: pd.DataFrame) -> None:
            self._target = target
            self._made_list().show_longest(target, table, data, self.field)

        self._made_list().say_looking(target)
        self._lengths.ask(look, listed, self._failed)

    # jumps

    def _go(self, target: Target, *, forward: bool) -> None:
        from scalegraph.subjects import interval_sums

        trace = self._trace
        data = trace.data() if trace is not None else None
        if trace is None or data is None:
            return
        after = self._last.key if self._last is not None and self._stands(self._last) else self._from(forward=forward)
        meta = data.trace.meta

        def look(reporter: Reporter) -> tuple[Occurrence | None, bool]:

            finder = interval_sums.finder(data)
            there = finder.next(target, after, forward=forward, cancel=reporter.token)
            if there is not None:
                return there, False
            end = meta.begin - 1 if forward else meta.end + 1
            return finder.next(target, end, forward=forward, cancel=reporter.token), True

        self._steps.ask(look, lambda answer: self._arrive(target, *answer, forward=forward), self._failed)

    def _stands(self, last: Occurrence) -> bool:
        """Whether the last occurrence found is still selected; the search then continues from it."""
        assert self._trace is not None
        now = self._selection.current
        return now.study == self._trace.key and now.interval == (last.begin, last.end)

    def _from(self, *, forward: bool) -> int:
        """Return the tick to start from: a visible cursor, else the edge of the visible time."""
        assert self._trace is not None
        begin, end = self._trace.window.shown
        cursors = [at for at in self._trace.marks.cursors.values() if begin <= at <= end]
        if cursors:
            return self._trace.tick(min(cursors) if forward else max(cursors))
        return self._trace.tick(begin) if forward else self._trace.tick(end) + 1

    def _arrive(self, target: Target, there: Occurrence | None, around: bool, *, forward: bool) -> None:
        trace = self._trace
        data = trace.data() if trace is not None else None
        if trace is None or data is None:
            return
        if there is None:
            self._say(f"{target.name} never occurs")
            self._select(target, None)
            return
        self._last = there
        self._select(target, there)
        which = f"{thousands(there.which)} of {thousands(there.of)}" if there.which else f"one of {thousands(there.of)}"
        again = (", from the start again" if forward else ", from the end again") if around else ""
        where = "" if target.sort == "location" else f" on {data.location_name(there.location)}"
        self._say(f"{target.name}: {which}{where}{again}")

    def _select(self, target: Target, there: Occurrence | None) -> None:
        assert self._trace is not None
        assert self._link is not None
        if there is None:
            if target.sort == "location":
                self._selection.select(study=self._trace.key, location=target.number)
            elif target.sort == "region":
                self._selection.select(study=self._trace.key, **self._link.region_changes(target.number))
            return
        self._link.show_place(Place(there.begin, there.end, there.location, there.region), keep_zoom=True)

    def _to_place(self, key: str, said: str) -> None:
        place = place_of(key)
        if place is not None and self._link is not None and self._trace is not None and self._trace.data() is not None:
            self._link.show_place(place, keep_zoom=True)
            self._say(said)
            self.hide_list()

    # furniture

    def _say(self, text: str) -> None:
        self.said.setText(text)
        self.said.setToolTip(text)
        self.said.setMinimumWidth(min(self.said.fontMetrics().horizontalAdvance(text) + 6 if text else 0, 420))
        self._enable()

    def _clear(self) -> None:
        self._target = self._last = None
        self._say("")
        mark(self.field, "fault", False)
        self.hide_list()

    def _enable(self) -> None:
        self.answer.setVisible(bool(self.said.text()))
        self.answered.emit(bool(self.said.text()))
        for tool in (self.before, self.after):
            tool.setVisible(self._target is not None)

    def _failed(self, error: Exception) -> None:
        log.info("the search ended: %s", error)
        self._say(str(error))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: handle the list's keys while the user types; leaving the field closes the list."""
        shown = self.list
        if event.type() == QEvent.Type.FocusOut and shown is not None and not shown.underMouse():
            shown.hide()
        if not isinstance(event, QKeyEvent) or event.type() not in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride):
            return super().eventFilter(watched, event)
        acts = event.type() == QEvent.Type.KeyPress
        key, modifiers = event.key(), event.modifiers()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if acts:
                self._return(modifiers)
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up) and shown is not None and shown.isVisible():
            if acts:
                shown.move_by(1 if key == Qt.Key.Key_Down else -1)
        elif key == Qt.Key.Key_Escape:
            if acts:
                self._leave()
        else:
            return super().eventFilter(watched, event)
        event.accept()
        return True

    def _return(self, modifiers: Qt.KeyboardModifier) -> None:
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            self.show_longest()
        elif (self.list is not None and self.list.isVisible() and self.list.choose_place()) or self._lists.busy:
            return
        else:
            self.step(forward=not modifiers & Qt.KeyboardModifier.ShiftModifier)

    def _leave(self) -> None:
        """Close the list; a second time, leave the field."""
        if self.list is not None and self.list.isVisible():
            self.list.hide()
            return
        self.field.clearFocus()
        parent = self.parentWidget()
        if parent is not None:
            parent.setFocus()
