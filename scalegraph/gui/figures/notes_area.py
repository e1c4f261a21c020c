"""The notes below a picture: in full if short, otherwise folded behind a count."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QSizePolicy, QWidget

from scalegraph.gui.base.layouts import vertical

_OPEN_SHARE = 0.18  # of the picture's height that unfolded notes may take
_ASKED_SHARE = 0.45


class NotesArea(QWidget):
    """Shows notes; many notes are folded to leave the picture room."""

    def __init__(self) -> None:
        super().__init__()
        self._notes: tuple[str, ...] = ()
        self._room = 0
        self.fold = QPushButton()
        self.fold.setProperty("link", True)
        self.fold.setCheckable(True)
        self.fold.setAutoDefault(False)
        self.fold.toggled.connect(lambda _on: self._settle())
        self._text = QLabel()
        self._text.setProperty("role", "muted")
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._scroll = QScrollArea()
        self._scroll.setWidget(self._text)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.viewport().setAutoFillBackground(False)
        self._text.setAutoFillBackground(False)
        column = vertical(self, spacing=0)
        column.addWidget(self.fold, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._scroll)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_notes(self, notes: Sequence[str], room: int) -> None:
        """Show *notes* below a picture of *room* pixels height."""
        if tuple(notes) != self._notes:
            self._notes = tuple(notes)
            self._text.setText("\n".join(notes))
        self._room = room
        self._settle()

    def text(self) -> str:
        """Return all notes as text."""
        return "\n".join(self._notes)

    def text_visible(self) -> bool:
        """Return whether the notes are unfolded."""
        return self._scroll.isVisible()

    def _settle(self) -> None:
        self.setVisible(bool(self._notes))
        if not self._notes:
            return
        full = self._text.heightForWidth(max(120, self.width())) + 2
        short = full <= _OPEN_SHARE * self._room
        word = "note" if len(self._notes) == 1 else "notes"
        self.fold.setText(f"{len(self._notes)} {word} {'▾' if self.fold.isChecked() else '▸'}")
        self.fold.setVisible(not short)
        self.fold.setToolTip("" if self.fold.isChecked() else self.text())
        self._scroll.setVisible(short or self.fold.isChecked())
        self._scroll.setFixedHeight(min(full, max(40, int(_ASKED_SHARE * self._room))))
