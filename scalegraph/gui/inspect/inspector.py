"""The panel on the right: everything about the selection, with formulas and origins; its text can be copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QScrollArea, QWidget

from scalegraph.gui.base.jobs import Jobs, Latest, Reporter
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.base.widgets import empty, label
from scalegraph.gui.inspect.explain import Part, explain
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.state.selection import Selection, SelectionModel
from scalegraph.gui.study.studies import Studies
from scalegraph.gui.trace.handle import TraceHandle

if TYPE_CHECKING:
    from scalegraph.subjects.trace import TraceData


class Inspector(QScrollArea):
    """The inspector's panel; follows the selection."""

    def __init__(self, studies: Studies, selection: SelectionModel, jobs: Jobs) -> None:
        super().__init__()
        self._asks = Latest(jobs, "summing up what is selected", self)
        self._studies, self._selection = studies, selection
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Inspector")
        self._parts: tuple[Part, ...] | None = None
        self._page = QWidget()
        self._page.setProperty("page", True)
        self._column = vertical(self._page, (10, 6, 10, 10))
        self.setWidget(self._page)
        selection.changed.connect(self._follow_soon)
        studies.opened.connect(self._opened)
        studies.closed.connect(self._again)
        self._follow(selection.current)

    def parts(self) -> tuple[Part, ...]:
        """Return the parts shown."""
        if turn_queue().has(self):
            self._again()
        return self._parts or ()

    def _follow_soon(self, _selection: Selection) -> None:
        """Follow in a later turn of the event loop; the views and the navigator follow in this one."""
        if not turn_queue().has(self):
            turn_queue().add(self, self._again, heavy=True)

    def _opened(self, handle: Handle) -> None:
        handle.changed.connect(self._again)

    def _again(self, *_what: object) -> None:
        turn_queue().drop(self)
        self._follow(self._selection.current)

    def _follow(self, selection: Selection) -> None:
        handle = self._studies.get(selection.study)
        data = handle.study() if handle is not None else None
        traced = handle.data() if isinstance(handle, TraceHandle) else None
        if isinstance(handle, TraceHandle) and traced is not None:
            self._ask(handle, traced, selection)
            return
        self._asks.stop()
        if data is None:
            words = f"The {handle.subject} is being read." if handle is not None else "Nothing is open."
            parts: tuple[Part, ...] = (Part("", (), words),)
        else:
            parts = explain(data, selection)
        self._tell(parts)

    def _ask(self, handle: TraceHandle, data: TraceData, selection: Selection) -> None:
        """Sum up a trace's selection in another thread."""
        unit = handle.marks.unit

        def work(reporter: Reporter) -> tuple[Part, ...]:
            from scalegraph.gui.inspect.explain_trace import explain_trace

            reporter.token.check()
            return explain_trace(data, selection, unit)

        self._asks.ask(work, self._tell, lambda error: self._tell((Part("", (), str(error)),)))

    def _tell(self, parts: tuple[Part, ...]) -> None:
        if parts != self._parts:
            self._parts = parts
            self._show(parts)

    def _show(self, parts: Sequence[Part]) -> None:
        empty(self._column)
        for part in parts:
            self._column.addWidget(_part(part))
        self._column.addStretch(1)


def _part(part: Part) -> QWidget:
    made = QWidget()
    grid = QGridLayout(made)
    grid.setContentsMargins(0, 0, 0, 10)
    grid.setHorizontalSpacing(10)
    grid.setVerticalSpacing(2)
    grid.setColumnStretch(0, 1)
    row = 0
    if part.title:
        grid.addWidget(label(part.title, "heading", wrap=True), row, 0, 1, 2)
        row += 1
    for fact in part.facts:
        grid.addWidget(label(fact.name, wrap=True), row, 0)
        grid.addWidget(_value(fact.value), row, 1, Qt.AlignmentFlag.AlignRight)
        row += 1
        if fact.formula:
            formula = _value(fact.formula)
            formula.setProperty("role", "muted")
            formula.setWordWrap(True)
            grid.addWidget(formula, row, 0, 1, 2)
            row += 1
    if part.origin:
        grid.addWidget(label(part.origin, "muted", wrap=True), row, 0, 1, 2)
    return made


def _value(text: str) -> QLabel:
    made = label(text)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made
