"""The sentence above a study: two lines, or three in smaller type; the tooltip has all of it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from html import escape
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPalette, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from scalegraph.gui.base.widgets import elided, mark

LINES: Final = 2
TIGHT_LINES: Final = 3  # of smaller type
_LARGER: Final = 1.1  # factor from the small to the normal font size, as in the style sheet
_MARGINS: Final = 4  # pixels above and below, as in the style sheet
_AROUND: Final = 36  # pixels left and right, from the style sheet and a label's own layout


_DOES: Final = (
    Qt.TextInteractionFlag.TextSelectableByMouse
    | Qt.TextInteractionFlag.LinksAccessibleByMouse
    | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
)
_PLACE: Final = re.compile(r"(?<=\()[^\s()]+:\d+(?=\))")


class Headline(QLabel):
    """A sentence in smaller type if it would need more than `LINES` lines.

    If it needs more than `TIGHT_LINES` of those it is elided, before the sentence with a source location rather than in
    it: source locations are links. It can be selected and copied.
    """

    place_wanted = Signal(str)  # FILE:LINE, as named in the sentence

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
        """Show *text*, as much as fits."""
        self._whole = text
        self.setAccessibleDescription(text)
        self._fit()

    def text(self) -> str:
        """Return the part of the sentence shown."""
        return self._shown

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: fit the text again."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Qt: fit the text again if the font size changed."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and self._shown:
            self._colour()
            super().setText("")  # Qt keeps the colour that links had when the text was set
            self._say()
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        """Show the whole sentence, in smaller type if necessary; elide only what is still too long."""
        if self._fitting:
            return
        self._fitting = True  # smaller type is a font change, which would call this again
        try:
            font = QFont(self.font())
            if self.property("tight"):
                font.setPointSizeF(font.pointSizeF() * _LARGER)
            tight = self._as_much_as_fits(QFontMetrics(font), LINES) != self._whole
            mark(self, "tight", tight)
            shown = self._as_much_as_fits(self.fontMetrics(), TIGHT_LINES if tight else LINES)
            self.setMinimumHeight(LINES * self.fontMetrics().lineSpacing() + _MARGINS)  # nothing below moves
        finally:
            self._fitting = False
        if shown != self._shown:
            self._shown = shown
            self._colour()
            self._say()
        self.setToolTip("" if shown == self._whole else self._whole)

    def _say(self) -> None:
        super().setText(_PLACE.sub(r'<a href="\g<0>">\g<0></a>', escape(self._shown, quote=False)))

    def _colour(self) -> None:
        """Set the links' colour for this theme."""
        palette, wanted = self.palette(), self.palette().color(QPalette.ColorRole.Highlight)
        if palette.color(QPalette.ColorRole.Link) != wanted:
            palette.setColor(QPalette.ColorRole.Link, wanted)
            self.setPalette(palette)

    def _as_much_as_fits(self, metrics: QFontMetrics, lines: int) -> str:
        room = self.width() - _AROUND
        shown, place = elided(self._whole, metrics, room, lines), _PLACE.search(self._whole)
        if place is None or place[0] in shown:
            return shown
        begin = self._whole.rfind(". ", 0, place.start()) + 2
        words, end = self._whole[:begin].split(), self._whole[begin:]

        def too_long(count: int) -> bool:
            text = _cut(words, count, end)
            return elided(text, metrics, room, lines) != text

        kept = bisect_left(range(1, len(words)), True, key=too_long)
        return _cut(words, kept, end) if kept else shown


def _cut(words: Sequence[str], count: int, end: str) -> str:
    """Return the first *count* of *words*, an ellipsis and *end*, which has the link."""
    return f"{' '.join(words[:count])}… {end}"
