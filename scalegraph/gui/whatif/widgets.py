"""Parts of the What if panel: a machine parameter's slider, buttons for processor counts, speedups."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QSlider, QToolButton, QWidget

from scalegraph.base.run import target_words
from scalegraph.base.units import counted, significant
from scalegraph.gui.base.layouts import horizontal, vertical
from scalegraph.gui.base.widgets import empty, label, mark
from scalegraph.gui.request.widgets import Entry
from scalegraph.gui.state.what_if_state import FACTORS, Pairs, factor_fault
from scalegraph.machine.knobs import Knob

_COUNTS_IN_A_ROW = 6


class Slider(QSlider):
    """A slider that ignores the mouse wheel unless focused, so that the panel scrolls."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt: pass the wheel on to the panel, unless the slider has the focus."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class KnobRow(QWidget):
    """One parameter of the machine; *moved* has its key and new value, ``None`` for the file's."""

    moved = Signal(str, object, bool)  # key, text or None, whether still dragging or typing

    def __init__(self, knob: Knob) -> None:
        super().__init__()
        self.knob = knob
        self._stops = knob.stops()
        name = f"{knob.section}: {knob.title}"
        unit = f" {knob.unit}" if knob.unit else ""
        tip = f"{knob.description}\n{knob.key} = {knob.text(knob.value)}{unit} in the machine's file"
        self._title = label(knob.title, wrap=True)
        self._title.setMinimumWidth(60)
        self.entry = Entry()
        self.entry.setFixedWidth(72)
        self.entry.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.entry.setAccessibleName(f"{name}, {knob.unit or 'number'}")
        self.entry.editingFinished.connect(self._typed)
        self.reset = QToolButton()
        self.reset.setText("↺")
        self.reset.setToolTip(f"Back to {knob.text(knob.value)}{unit}, as in the machine's file")
        self.reset.setAccessibleName(f"Reset {name}")
        self.reset.clicked.connect(lambda: self.moved.emit(knob.key, None, False))
        self.slider = Slider()
        self.slider.setRange(0, len(self._stops) - 1)
        self.slider.setPageStep(max(1, len(self._stops) // 4))
        self.slider.setAccessibleName(name)
        self.slider.valueChanged.connect(self._slid)
        for widget in (self, self._title, self.entry, self.slider):
            widget.setToolTip(tip)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(0, 1)
        grid.addWidget(self._title, 0, 0)
        grid.addWidget(self.entry, 0, 1)
        unit_label = label(knob.unit, "muted")
        unit_label.setMinimumWidth(44)
        grid.addWidget(unit_label, 0, 2)
        grid.addWidget(self.reset, 0, 3)
        grid.addWidget(self.slider, 1, 0, 1, 4)
        self.show_value(None)

    @property
    def words(self) -> str:
        """The text that the filter searches."""
        return f"{self.knob.section} {self.knob.title} {self.knob.key} {self.knob.description}".lower()

    def show_value(self, text: str | None) -> None:
        """Show the value *text*, or the file's for ``None``."""
        value = self.knob.value if text is None else _number(text, self.knob.value)
        self.entry.show_text(self.knob.text(value))
        with QSignalBlocker(self.slider):
            self.slider.setValue(min(range(len(self._stops)), key=lambda i: abs(self._stops[i] - value)))
        changed = text is not None
        self.reset.setEnabled(changed)
        mark(self.entry, "fault", False)
        mark(self._title, "role", "heading" if changed else "")
        self.slider.setAccessibleDescription(f"{self.knob.text(value)} {self.knob.unit}")

    def _slid(self, position: int) -> None:
        value = self._stops[position]
        text = None if value == self.knob.value else self.knob.text(value)
        self.moved.emit(self.knob.key, text, True)

    def _typed(self) -> None:
        value = _number(self.entry.text().replace(",", "."), float("nan"))
        fault = self.knob.fault(value)
        mark(self.entry, "fault", bool(fault))
        self.entry.setAccessibleDescription(fault)
        if fault:
            self.entry.setToolTip(fault)
            return
        self.moved.emit(self.knob.key, None if value == self.knob.value else self.knob.text(value), False)


def _number(text: str, otherwise: float) -> float:
    try:
        return float(text)
    except ValueError:
        return otherwise


class CountButtons(QWidget):
    """Buttons for a study's processor counts; *chosen* has those switched on, at least one."""

    chosen = Signal(tuple)

    def __init__(self) -> None:
        super().__init__()
        self._buttons: dict[int, QToolButton] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(3)

    def offer(self, counts: Sequence[int]) -> None:
        """Offer *counts*."""
        if tuple(self._buttons) == tuple(counts):
            return
        empty(self._grid)
        self._buttons = {}
        for index, count in enumerate(counts):
            made = QToolButton()
            made.setText(str(count))
            made.setCheckable(True)
            made.setMinimumWidth(34)
            made.setToolTip(f"Show the run on {count} processor{'s' if count > 1 else ''}")
            made.setAccessibleName(counted(int(count), "processor"))
            made.clicked.connect(self._clicked)
            self._grid.addWidget(made, index // _COUNTS_IN_A_ROW, index % _COUNTS_IN_A_ROW)
            self._buttons[count] = made
        self._grid.setColumnStretch(_COUNTS_IN_A_ROW, 1)

    def show_counts(self, counts: Sequence[int]) -> None:
        """Check the buttons of *counts*."""
        for count, made in self._buttons.items():
            made.setChecked(count in counts)

    def button(self, count: int) -> QToolButton:
        """Return the button of *count*."""
        return self._buttons[count]

    def _clicked(self) -> None:
        on = tuple(count for count, made in self._buttons.items() if made.isChecked())
        if on:
            self.chosen.emit(on)
        else:  # one count must stay on
            sender = self.sender()
            if isinstance(sender, QToolButton):
                sender.setChecked(True)


class SpeedupRows(QWidget):
    """The requested virtual speedups; *changed* has a target and its factor, ``None`` to remove it."""

    changed = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._column = vertical(self, spacing=3)
        self.factors: dict[str, QComboBox] = {}
        self._shown: Pairs = ()

    def show_speedups(self, pairs: Pairs) -> None:
        """Show *pairs* of target and factor."""
        if pairs == self._shown and self.factors:
            return
        self._shown = pairs
        if tuple(self.factors) != tuple(target for target, _ in pairs):
            empty(self._column)
            self.factors = {}
            for target, _factor in pairs:
                self._column.addWidget(self._row(target))
        for target, factor in pairs:
            if self.factors[target].currentText() != _said(factor):
                with QSignalBlocker(self.factors[target]):
                    self.factors[target].setCurrentText(_said(factor))

    def _row(self, target: str) -> QWidget:
        row = QWidget()
        line = horizontal(row, spacing=6)
        words = target_words(target)
        name = label(words)
        name.setToolTip(target)
        name.setMinimumWidth(40)
        factor = QComboBox()
        factor.setEditable(True)
        factor.addItems([_said(text) for text in FACTORS])
        factor.setFixedWidth(84)
        factor.setToolTip("How many times faster: a number above 0, or inf. Below 1 it is slower.")
        factor.setAccessibleName(f"Factor of {words}")
        factor.activated.connect(lambda _index: self._typed(target))
        line_edit = factor.lineEdit()
        if line_edit is not None:
            line_edit.editingFinished.connect(lambda: self._typed(target))
        drop = QToolButton()
        drop.setText("✕")
        drop.setToolTip(f"Remove {words}")
        drop.setAccessibleName(f"Remove {words}")
        drop.clicked.connect(lambda: self.changed.emit(target, None))
        line.addWidget(name, 1)
        line.addWidget(factor)
        line.addWidget(drop)
        self.factors[target] = factor
        return row

    def _typed(self, target: str) -> None:
        box = self.factors.get(target)
        if box is None:
            return
        text = box.currentText().removeprefix("x").strip()
        fault = factor_fault(text)
        mark(box, "fault", bool(fault))
        box.setToolTip(fault or "How many times faster: a number above 0, or inf. Below 1 it is slower.")
        if not fault and dict(self._shown).get(target) != text:
            self.changed.emit(target, text)


def _said(factor: str) -> str:
    return factor if factor == "inf" else f"x {significant(float(factor), 4) if '.' in factor else factor}"
