"""The sentence above a study: two lines of it at most, or three of smaller letters, all of it in its tooltip."""

from __future__ import annotations

import re
from html import escape
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPalette, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from scalegraph.gui.base.widgets import elided, mark

LINES: Final = 2
TIGHT_LINES: Final = 3  # of smaller letters
_LARGER: Final = 1.1  # times: its letters by those that it has where there is little room, in the style sheet
_MARGINS: Final = 4  # pixels above and below, in the style sheet
_AROUND: Final = 36  # pixels that the style sheet leaves left and right, and by which a label lays out text otherwise


_DOES: Final = (
    Qt.TextInteractionFlag.TextSelectableByMouse
    | Qt.TextInteractionFlag.LinksAccessibleByMouse
    | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
)
_PLACE: Final = re.compile(r"(?<=\()[^\s()]+:\d+(?=\))")


class Headline(QLabel):
    """A sentence that has smaller letters where it would take more than `LINES` lines.

    It ends in dots where `TIGHT_LINES` of those are too few. It can be selected and copied. Places in the source are
    links.
    """

    place_wanted = Signal(str)  # FILE:LINE, as the sentence names it

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = self._shown = ""
        self._fitting = False
        self.setTextFormat(Qt.TextFormat.RichText)
        self.linkActivated.connect(self.place_wanted)
        self.setWordWrap(True)
        self.setProperty("role", "verdict")
        self.setTextInteractionFlags(_DOES)
        self.setAccessibleName("Verdict")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def setText(self, text: str) -> None:
        """Show *text*, or as much of it as has room."""
        self._whole = text
        self.setAccessibleDescription(text)
        self._fit()

    def text(self) -> str:
        """Return what is shown of the sentence."""
        return self._shown

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: the room changed."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Qt: the size of text may have changed."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and self._shown:
            self._colour()
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        """Show all of the sentence, in smaller letters where it needs them; only what is longer still is cut."""
        if self._fitting:
            return
        self._fitting = True  # smaller letters are a change of the font, which would come back here
        try:
            font = QFont(self.font())
            if self.property("tight"):
                font.setPointSizeF(font.pointSizeF() * _LARGER)
            tight = self._as_much_as_fits(QFontMetrics(font), LINES) != self._whole
            mark(self, "tight", tight)
            shown = self._as_much_as_fits(self.fontMetrics(), TIGHT_LINES if tight else LINES)
            self.setMinimumHeight(LINES * self.fontMetrics().lineSpacing() + _MARGINS)  # nothing below it moves
        finally:
            self._fitting = False
        if shown != self._shown:
            self._shown = shown
            self._colour()
            super().setText(_PLACE.sub(r'<a href="\g<0>">\g<0></a>', escape(shown, quote=False)))
        self.setToolTip("" if shown == self._whole else self._whole)

    def _colour(self) -> None:
        """Give links the colour of what can be clicked, in this theme."""
        palette, wanted = self.palette(), self.palette().color(QPalette.ColorRole.Highlight)
        if palette.color(QPalette.ColorRole.Link) != wanted:
            palette.setColor(QPalette.ColorRole.Link, wanted)
            self.setPalette(palette)

    def _as_much_as_fits(self, metrics: QFontMetrics, lines: int) -> str:
        return elided(self._whole, metrics, self.width() - _AROUND, lines)
