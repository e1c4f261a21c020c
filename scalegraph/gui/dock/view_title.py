"""The line above a view: its name and study, its options, and buttons to export, maximise and move it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from scalegraph.base.measures import percent
from scalegraph.gui.base.icons import icon
from scalegraph.gui.base.layouts import horizontal
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.dock.view_options import OptionBar

_STUDY_FROM: Final = 620  # pixels of width at which the study's name fits
_GAP: Final = 2  # pixels between buttons
_SIDES: Final = 32  # pixels of margins, also around the options
_LEAST: Final = 40  # pixels of the name
_NAME: Final = 0.42  # largest share of the width for the view's name
_NAMED: Final = 0.6  # of the width, for a title with a study's name


class ViewTitle(QWidget):
    """Drag it to move the view (pointer events are passed on to Qt); a double click maximises."""

    maximise_wanted = Signal()
    float_wanted = Signal()
    close_wanted = Signal()

    def __init__(self, title: str, study: str, options: OptionBar, theme: Theme, least: str = "") -> None:
        super().__init__()
        self._theme = theme
        self._smallest: QSize | None = None
        self._short = title  # used if the title does not fit
        self._least = least or title  # has room before "show as" is hidden, whichever view that chooses
        self._title, self._study_text = title, study
        self._named = False
        self._options = options
        self._name = QLabel()
        self._name.setProperty("role", "name")
        self._study = QLabel()
        self._study.setProperty("role", "muted")
        for label in (self._name, self._study):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._busy = QLabel("drawing …")
        self._busy.setProperty("role", "muted")
        self._busy.hide()
        row = horizontal(self, (10, 2, 4, 2), spacing=_GAP)
        row.addWidget(self._name)
        row.addSpacing(6)
        row.addWidget(self._study)
        row.addSpacing(6)
        row.addWidget(options, 1)
        row.addStretch(0)  # for views without options
        row.addWidget(self._busy)
        self.export = self._button("", "Export: save as picture or data (Ctrl+E)")
        self.more = self._button("⋯", "Copy, reset zoom, close")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setProperty("arrow", "own")
        self.maximise = self._button("⤢", "Maximise (double click on the title)")
        self.float = self._button("❐", "Float or dock this view")
        self.close_button = self._button("✕", "Close this view")
        self.maximise.clicked.connect(self.maximise_wanted)
        self.float.clicked.connect(self.float_wanted)
        self.close_button.clicked.connect(self.close_wanted)
        self._buttons = (self.export, self.more, self.maximise, self.float, self.close_button)
        for button in self._buttons:
            row.addWidget(button)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._dress)
        self._dress()
        self._fit()

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setProperty("narrow", True)
        return button

    def set_menu(self, menu: QMenu) -> None:
        """Set the menu of the button with the dots."""
        self.more.setMenu(menu)

    def show_busy(self, busy: bool, share: float | None = None) -> None:
        """Show that a newer picture is being made, and its progress *share* (0 to 1) if known."""
        self._busy.setText("drawing …" if share is None else f"drawing … {percent(share, 0)}")
        self._busy.setVisible(busy and self.width() > _STUDY_FROM)

    @property
    def progress(self) -> str:
        """The progress text shown."""
        return self._busy.text()

    def show_maximised(self, on: bool) -> None:
        """Switch the button between maximise and restore."""
        self.maximise.setText("⤡" if on else "⤢")
        self.maximise.setToolTip("Restore all views" if on else "Maximise (double click on the title)")

    def show_view(self, title: str, short: str) -> None:
        """Show the name of another view."""
        self._title, self._short = title, short
        self._fit()

    def name_study(self, on: bool) -> None:
        """Show the study's name, even where there is little room: views of several studies are open."""
        if on != self._named:
            self._named = on
            self._fit()

    def _dress(self, _name: str = "") -> None:
        paper = self._theme.paper
        self.export.setIcon(icon("export", paper.text, paper.line))
        self.export.setIconSize(QSize(16, 16))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: shorten what does not fit."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        width = self.width()
        self._study.setVisible(width > _STUDY_FROM)
        buttons = sum(button.sizeHint().width() + _GAP for button in self._buttons) + _SIDES
        options, choice = self._options.least_width(), self._options.choice_width()
        metrics = self._name.fontMetrics()
        if width - buttons - options - choice >= metrics.horizontalAdvance(self._least):
            options += choice  # says what is shown, so that the short name will do
        room = max(int(_NAME * width), min(metrics.horizontalAdvance(self._title), width - buttons - options))
        room = max(_LEAST, min(room, width - buttons - options))
        if self._named and width <= _STUDY_FROM:
            room = max(room, min(width - buttons - options, int(_NAMED * width)))
            titles = [f"{title}: {self._study_text}" for title in (self._title, self._short)]
        else:
            titles = [self._title, self._short]
        title = next((one for one in titles if metrics.horizontalAdvance(one) <= room), titles[-1])
        self._name.setText(metrics.elidedText(title, Qt.TextElideMode.ElideRight, room))
        study = self._study.fontMetrics()
        self._study.setText(study.elidedText(self._study_text, Qt.TextElideMode.ElideRight, max(60, int(0.2 * width))))
        self.setToolTip(f"{self._title} — {self._study_text}")
        used = self._name.sizeHint().width() + (self._study.sizeHint().width() if width > _STUDY_FROM else 0) + 170
        self._options.make_room(width - used)
        self._smallest = None  # options that come or go may change the height

    def minimumSizeHint(self) -> QSize:
        """Qt: small. Kept: with many views open Qt asks for it thousands of times a turn."""
        if self._smallest is None:
            self._smallest = QSize(160, self.sizeHint().height())
        return self._smallest

    def changeEvent(self, event: QEvent) -> None:
        """Qt: another font has another height."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._smallest = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Qt: maximise, or show all views again."""
        event.accept()
        self.maximise_wanted.emit()
