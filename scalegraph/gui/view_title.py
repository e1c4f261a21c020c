"""The title of a view's window: what it shows of which study, and the buttons that move it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from scalegraph.gui.theme import Theme


class ViewTitle(QWidget):
    """Drag it to move the view (Qt does that: pointer events are passed on); a double click maximises."""

    maximise_wanted = Signal()
    float_wanted = Signal()
    close_wanted = Signal()

    def __init__(self, title: str, study: str, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._title, self._study_text = title, study
        self._name = QLabel()
        self._name.setTextFormat(Qt.TextFormat.PlainText)
        self._name.setStyleSheet("font-weight: 600;")
        self._study = QLabel()
        self._study.setTextFormat(Qt.TextFormat.PlainText)
        self._study.setProperty("role", "muted")
        for label in (self._name, self._study):
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._busy = QLabel("drawing …")
        self._busy.setProperty("role", "muted")
        self._busy.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 2, 2, 2)
        row.setSpacing(6)
        row.addWidget(self._name, 3)
        row.addWidget(self._study, 2)
        row.addWidget(self._busy)
        self.maximise = self._button("⤢", "Maximise (double click on the title)", self.maximise_wanted)
        self.float = self._button("❐", "A window of its own, or back", self.float_wanted)
        self.close_button = self._button("✕", "Close this view", self.close_wanted)
        for button in (self.maximise, self.float, self.close_button):
            row.addWidget(button)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._elide()

    def _button(self, text: str, tip: str, signal: Signal) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setStyleSheet("QToolButton { padding: 0px 3px; }")
        button.clicked.connect(signal)
        return button

    def show_busy(self, busy: bool) -> None:
        """Say that a newer picture is being made."""
        self._busy.setVisible(busy)

    def show_maximised(self, on: bool) -> None:
        """Change the button's meaning."""
        self.maximise.setText("⤡" if on else "⤢")
        self.maximise.setToolTip("Show all views again" if on else "Maximise (double click on the title)")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten what does not fit."""
        super().resizeEvent(event)
        self._study.setVisible(self.width() > 300)
        self._elide()

    def _elide(self) -> None:
        for label, text in ((self._name, self._title), (self._study, self._study_text)):
            width = max(label.width(), 40)
            label.setText(label.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, width))
            label.setToolTip(text)

    def minimumSizeHint(self) -> QSize:
        """Small."""
        return QSize(120, self.sizeHint().height())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Maximise, or show all again."""
        event.accept()
        self.maximise_wanted.emit()
