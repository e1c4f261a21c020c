"""The sentence above a study, in one line; the tooltip and its ellipsis have all of it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from html import escape
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from scalegraph.gui.base import tips

_AROUND: Final = 24  # pixels left and right: 2 x 10 in the style sheet, and rounding
_LEAST: Final = 120  # pixels
_WHOLE: Final = "whole"  # what the link at the ellipsis leads to
_CUT: Final = "…"
_FEW: Final = 3  # words of a long clause that say something without its end

_DOES: Final = (
    Qt.TextInteractionFlag.TextSelectableByMouse
    | Qt.TextInteractionFlag.LinksAccessibleByMouse
    | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
)
_PLACE: Final = re.compile(r"(?<=\()[^\s()]+:\d+(?=\))")


class Headline(QLabel):
    """A sentence in one line, elided to fit.

    Where the time is lost stays: what is before it is elided. A source location is a link. The last ellipsis is a link,
    too, which shows the whole sentence. Tab and Return reach both. The sentence can be selected and copied.
    """

    place_wanted = Signal(str)  # FILE:LINE, as named in the sentence

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = self._shown = ""
        self.setTextFormat(Qt.TextFormat.RichText)
        self.linkActivated.connect(self._follow)
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

    def sizeHint(self) -> QSize:
        """Qt: one line of the whole sentence, whatever is shown of it."""
        return QSize(self.fontMetrics().horizontalAdvance(self._whole) + _AROUND, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Qt: a narrow line."""
        return QSize(_LEAST, super().minimumSizeHint().height())

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
        room, metrics = self.width() - _AROUND, self.fontMetrics()
        shown = one_line(self._whole, lambda text: metrics.horizontalAdvance(text) <= room)
        if shown != self._shown:
            self._shown = shown
            self._colour()
            self._say()
        self.setToolTip("" if shown == self._whole else self._whole)

    def _say(self) -> None:
        text = _PLACE.sub(r'<a href="\g<0>">\g<0></a>', escape(self._shown, quote=False))
        if self._shown != self._whole:
            before, _, after = text.rpartition(_CUT)
            text = f'{before}<a href="{_WHOLE}">{_CUT}</a>{after}'
        super().setText(text)

    def _follow(self, link: str) -> None:
        if link == _WHOLE:
            tips.show(self.mapToGlobal(QPoint(0, self.height())), self._whole, self)
        else:
            self.place_wanted.emit(link)

    def _colour(self) -> None:
        """Set the links' colour for this theme."""
        palette, wanted = self.palette(), self.palette().color(QPalette.ColorRole.Highlight)
        if palette.color(QPalette.ColorRole.Link) != wanted:
            palette.setColor(QPalette.ColorRole.Link, wanted)
            self.setPalette(palette)


def one_line(text: str, fits: Callable[[str], bool]) -> str:
    """Return as much of *text* as `fits`, with an ellipsis in place of what is left out.

    A source location in it is kept, if possible with its whole sentence, else with the word before it; without one, the
    end of the second of two sentences, which names where the time is lost. What is named before the first colon, which
    the navigator shows as well, gives way to the answer after it.
    """
    if fits(text):
        return text
    words = text.split()
    at = next((index for index, word in enumerate(words) if _PLACE.search(word)), None)
    if at is None and sum(word.endswith(".") for word in words[:-1]) == 1:
        at = len(words) - 1
    begin = 0 if at is None else _after(words[:at], ".", last=True)  # of the sentence with the location
    first = words[: begin or at][: _after(words[:-1], ".") or None]
    answer = _after(first[:-1], ":")
    clause = next((index + 1 for index in range(answer, begin) if words[index].endswith(";")), begin)
    if begin and fits(short := _cut(words[:clause], " ".join(words[begin:]))):
        return short
    if answer:
        words = [f"{_CUT}{words[answer]}", *words[answer + 1 :]]
        if fits(rest := " ".join(words)):
            return rest
    if at is None:
        return _first(words, "", fits) or _CUT
    at -= answer
    begin = max(0, begin - answer)
    after = [words[: at + 1], words] if at + 1 < len(words) else [words]
    if shown := _with_loss(words, begin, at, fits):
        return shown
    for start in dict.fromkeys((begin, max(begin, at - 1), at)):
        for kept in reversed(after):
            end = " ".join(kept[start:]) + ("" if kept is words else f" {_CUT}")
            if shown := _first(words[:start], end, fits):
                return shown
            if start == 0 and fits(end):
                return end
    return f"{_CUT} {words[at]}"


def _with_loss(words: Sequence[str], begin: int, at: int, fits: Callable[[str], bool]) -> str:
    """Return whole clauses of the answer and the sentence from *begin* on, which says what is lost at word *at*.

    Its processors give way first, then its share: "…fastest at 32… starting and ending parallel initialize (a.c:2)."
    Nothing if even that does not fit.
    """
    marks = ";." if _after(words[:begin], ";") else ",."
    clauses = [index + 1 for index in range(begin) if words[index].endswith(tuple(marks))]
    share = next((index - 1 for index in range(begin + 1, at) if words[index] == "%"), None)
    loss = next((index + 1 for index in range(share or at, at) if words[index] == "is"), None)
    for start in (begin, share, loss):
        for clause in reversed(clauses[: None if start == begin else 1]):
            if start is not None and fits(shown := _cut(words[:clause], " ".join(words[start:]))):
                return shown
        if start == share and clauses and clauses[0] > _FEW and start is not None:
            end = " ".join(words[start:])
            if fits(_cut(words[:_FEW], end)):
                return _first(words[: clauses[0]], end, fits)
    return ""


def _after(words: Sequence[str], mark: str, *, last: bool = False) -> int:
    """Return the position after the first or *last* of *words* that ends with *mark*, or 0."""
    found = [index + 1 for index, word in enumerate(words) if word.endswith(mark)]
    return found[-1 if last else 0] if found else 0


def _first(words: Sequence[str], end: str, fits: Callable[[str], bool]) -> str:
    """Return the first of *words*, as many as fit before an ellipsis and *end*, or nothing if none fits."""
    kept = bisect_left(range(1, len(words) + 1), True, key=lambda count: not fits(_cut(words[:count], end)))
    return _cut(words[:kept], end) if kept else ""


def _cut(words: Sequence[str], end: str) -> str:
    return f"{' '.join(words).rstrip(',;:.')}{_CUT} {end}".rstrip()
