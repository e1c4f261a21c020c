"""The tools above a trace's views: the visible time, back and forward, and the filter."""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QToolButton, QWidget
from shiboken6 import isValid

from scalegraph.base.measures import percent
from scalegraph.base.units import si
from scalegraph.gui.base.combo import ElidedCombo
from scalegraph.gui.base.layouts import horizontal, vertical
from scalegraph.gui.base.widgets import ElidedLabel, FittedLabel, empty, mark
from scalegraph.gui.trace.handle import TraceHandle

_LEAST_TOLD: Final = 70  # pixels of the text when space is short
_PARTS: Final = {
    "region": ("region", "part of a name", "Show only regions with this name; * and ? are wildcards"),
    "locations": ("locations", "0-15, 20", "Show only these locations: numbers, ranges, names with * or ?"),
    "duration": (
        "at least",
        "1e-6 s",
        "Show only visits, waits and messages at least this long (s)",
    ),
}


_WHOLE_FROM: Final = 560  # pixels of width at which the button for the whole run fits
_SEARCH: Final = (90, 150)  # least and most pixels of the search field


def _cursors_label() -> ElidedLabel:
    """Return the label that shows the interval between the cursors."""
    label = ElidedLabel()
    label.setMinimumWidth(_LEAST_TOLD)
    label.setAccessibleName("Cursors")
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setToolTip("Two cursors measure: drag them; Shift+Z selects what lies between, Shift+C clears them")
    label.hide()
    return label


class TraceBar(QWidget):
    """Shows a trace's visible time and filter; each part of the filter is a chip that removes it when clicked.

    *line*, in the views' bar, is always visible; the rest is shown only while in use.
    """

    def __init__(self) -> None:
        super().__init__()
        self._trace: TraceHandle | None = None
        self._answered = False
        column = vertical(self, (8, 0, 8, 3), spacing=2)
        self.line = _Line(self)
        row = horizontal(self.line, spacing=4)
        self.back = self._tool("◀", "Previous time range (Alt+Left)")
        self.forward = self._tool("▶", "Next time range (Alt+Right)")
        self.whole = self._tool("Whole run", "Show the whole run (F)")
        self.shown = FittedLabel()
        self.shown.setMinimumWidth(_LEAST_TOLD)  # the filter's chips shrink first
        self.shown.setAccessibleName("Visible time")
        self.shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.part = ElidedCombo()
        self.part.setAccessibleName("What to filter by")
        for name, (title, _example, _tip) in _PARTS.items():
            self.part.addItem(f"Only {title}", name)
        self.entry = QLineEdit()
        self.entry.setAccessibleName("Filter")
        self.entry.setMinimumWidth(110)
        self.entry.setMaximumWidth(220)
        self.entry.setClearButtonEnabled(True)
        self.entry.returnPressed.connect(self._add)
        self.part.currentIndexChanged.connect(lambda _index: self._explain())
        self.measured = _cursors_label()
        self._chips = QHBoxLayout()
        self._chips.setSpacing(4)
        self.filter = self._tool("Filter", "Filter the views of this trace by region, location or duration")
        self.replay = self._tool("Replay", "Replay and bookmarks (Space plays)")
        for toggle in (self.filter, self.replay):
            toggle.setCheckable(True)
        self.filter.toggled.connect(self._show_entry)
        for widget in (self.back, self.forward, self.whole):
            row.addWidget(widget)
        row.addWidget(self.shown, 1)
        self.tools = QHBoxLayout()  # filled by others: search
        self.tools.setSpacing(4)
        row.addLayout(self.tools)
        row.addWidget(self.filter)
        row.addWidget(self.replay)
        self.below = QHBoxLayout()  # the filter, the cursors' interval, and what a search found
        self.below.setSpacing(8)
        self.below.addWidget(self.part)
        self.below.addWidget(self.entry)
        self.below.addLayout(self._chips)
        self.below.addWidget(self.measured)
        self.below.addStretch(1)
        column.addLayout(self.below)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._explain()
        self._show_entry(False)

    def fit(self, width: int) -> None:
        """Lay out the line for *width* pixels; what does not fit is still in menus and on keys."""
        self.whole.setVisible(width >= _WHOLE_FROM)
        item = self.tools.itemAt(0)
        search = item.widget() if item is not None else None
        if search is not None:
            least, most = _SEARCH
            search.setFixedWidth(max(least, min(most, width // 4)))

    def fold(self) -> None:
        """Hide the row while nothing in it is used."""
        used = self.filter.isChecked() or bool(self.chips()) or not self.measured.isHidden()
        self.setVisible(self._trace is not None and (used or self._answered))

    def answered(self, there: bool) -> None:
        """Show or hide a search's answer in the row."""
        self._answered = there
        self.fold()

    def _show_entry(self, on: bool) -> None:
        for widget in (self.part, self.entry):
            widget.setVisible(on)
        if on and self._trace is not None:
            self.entry.setFocus(Qt.FocusReason.OtherFocusReason)
        self.fold()

    def _tool(self, text: str, tip: str) -> QToolButton:
        made = QToolButton()
        made.setText(text)
        made.setToolTip(tip)
        made.setAccessibleName(tip)
        return made

    def show_trace(self, trace: TraceHandle | None) -> None:
        """Show the time and filter of *trace*; hide the bar if None."""
        before, self._trace = self._trace, trace
        if before is not None and before is not trace and isValid(before):
            before.window.changed.disconnect(self._show_time)
            before.window.history_changed.disconnect(self._show_history)
            before.filter.changed.disconnect(self._show_filter)
            before.marks.changed.disconnect(self._show_measured)
            for tool in (self.back, self.forward, self.whole):
                tool.clicked.disconnect()
        self.line.setVisible(trace is not None)
        self.fold()
        if trace is None or trace is before:
            return
        window = trace.window
        self.back.clicked.connect(window.back)
        self.forward.clicked.connect(window.forward)
        self.whole.clicked.connect(window.fit)
        window.changed.connect(self._show_time)
        window.history_changed.connect(self._show_history)
        trace.filter.changed.connect(self._show_filter)
        trace.marks.changed.connect(self._show_measured)
        self._show_measured()
        self._show_time()
        self._show_history()
        self._show_filter()

    def chips(self) -> list[str]:
        """Return the texts of the chips."""
        items = [self._chips.itemAt(index) for index in range(self._chips.count())]
        widgets = [item.widget() for item in items if item is not None]
        return [widget.text().removesuffix("  ×") for widget in widgets if isinstance(widget, QToolButton)]

    def chip(self, name: str) -> QToolButton:
        """Return the chip of the filter's part *name*; a click removes that part."""
        found = self.findChild(QToolButton, f"chip-{name}")
        assert isinstance(found, QToolButton)
        return found

    def _show_time(self, *_shown: float) -> None:
        from scalegraph.subjects import window as trace_window

        if self._trace is None:
            return
        from scalegraph.figures.timelines import time_text

        begin, end = self._trace.window.shown
        finest = (end - begin) / 2000
        share, data = (end - begin) / self._trace.window.length, self._trace.data()
        run = "what was traced" if data is not None and trace_window.run_seconds(data) is not None else "the run"
        of = f"{percent(share)} of {run}"
        if self._trace.window.whole:
            of = trace_window.all_of(data) if data is not None else "the whole run"
        ends = f"{time_text(begin, finest)} to {time_text(end, finest)}"
        text = f"{ends}, {si(end - begin, 's', 4)}, {of}"
        self.shown.set_texts((text, f"{ends}, {si(end - begin, 's', 4)}", ends, si(end - begin, "s", 3)))
        self.shown.setToolTip(f"Visible: {text}")
        self.whole.setEnabled(not self._trace.window.whole)
        self._show_history()

    def _show_measured(self) -> None:
        said = self._trace.marks.said() if self._trace is not None else ""
        self.measured.setText(said)
        self.measured.setVisible(bool(said))
        self.fold()

    def _show_history(self) -> None:
        if self._trace is not None:
            self.back.setEnabled(self._trace.window.can_go_back)
            self.forward.setEnabled(self._trace.window.can_go_forward)

    def _show_filter(self) -> None:
        empty(self._chips)
        if self._trace is None:
            return
        for name, text in self._trace.filter.current.chips():
            chip = self._tool(f"{text}  ×", f"Remove the filter '{text}'")
            chip.setObjectName(f"chip-{name}")
            chip.setProperty("chip", True)
            chip.clicked.connect(partial(self._remove, name))
            self._chips.addWidget(chip)
        self._explain()
        self.fold()

    def _remove(self, name: str, _checked: bool = False) -> None:
        if self._trace is not None:
            self._trace.filter.set(**{name: 0.0 if name == "duration" else ""})

    def _explain(self) -> None:
        _title, example, tip = _PARTS[str(self.part.currentData())]
        self.entry.setPlaceholderText(example)
        self.entry.setToolTip(f"{tip}. Return filters all views of this trace.")
        mark(self.entry, "fault", False)

    def _add(self) -> None:
        name, text = str(self.part.currentData()), self.entry.text().strip()
        if self._trace is None:
            return
        try:
            value = self._checked(name, text)
        except ValueError as error:
            mark(self.entry, "fault", True)
            self.entry.setToolTip(str(error))
            return
        mark(self.entry, "fault", False)
        self._trace.filter.set(**{name: value})
        self.entry.clear()

    def _checked(self, name: str, text: str) -> str | float:
        """Return the value of *text* for a part of the filter. Raises `ValueError`, with a message, if it has none."""
        from scalegraph.subjects import window as trace_window

        data = self._trace.data() if self._trace is not None else None
        if name == "duration":
            return float(text.removesuffix("s").strip() or 0)
        if text and data is not None:
            from scalegraph.base.errors import InputError

            try:
                known = trace_window.chosen_regions if name == "region" else trace_window.chosen_locations
                known(data, text)
            except InputError as error:
                raise ValueError(str(error)) from error
        return text


class _Line(QWidget):
    """The part of the trace tools that is always visible."""

    def __init__(self, bar: TraceBar) -> None:
        super().__init__()
        self._bar = bar
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: hide what does not fit."""
        super().resizeEvent(event)
        self._bar.fit(event.size().width())
