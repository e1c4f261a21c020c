"""Syntax highlighting for C: comments, strings, preprocessor lines, keywords, numbers. Does not parse."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

_KEYWORDS: Final = (
    "auto break case const continue default do else enum extern for goto if inline register restrict return sizeof "
    "static struct switch typedef union volatile while _Atomic _Bool _Static_assert"
)
_TYPES: Final = (
    "char double float int long short signed unsigned void size_t bool FILE u?int(?:8|16|32|64)_t omp_lock_t"
)
_COLOURS: Final = {
    "light": {
        "comment": "#5F6B76",
        "string": "#8A4B00",
        "directive": "#7A3E9D",
        "word": "#0B5394",
        "number": "#A02C1C",
    },
    "dark": {"comment": "#93A1AD", "string": "#E0AF68", "directive": "#C7A0E8", "word": "#7DB8F0", "number": "#F09A86"},
}
_TOKENS: Final = re.compile(
    r"(?P<comment>//.*|/\*.*?\*/)"
    r'|(?P<string>"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')'
    r"|(?P<directive>^\s*#.*?(?=//|/\*|$))"
    rf"|(?P<word>\b(?:{'|'.join((_KEYWORDS + ' ' + _TYPES).split())})\b)"
    r"|(?P<number>\b(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?)[uUlLfF]*\b)"
    r"|(?P<open>/\*)"
)
_INSIDE_COMMENT: Final = 1


class CHighlighter(QSyntaxHighlighter):
    """Highlights C in the colours of a theme."""

    def __init__(self, document: QTextDocument, theme: str) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        self._theme = ""
        self.set_theme(theme)

    def set_theme(self, theme: str) -> None:
        """Use the colours of *theme*."""
        if theme == self._theme:  # highlighting a long file takes time
            return
        self._theme = theme
        for name, value in _COLOURS["dark" if theme == "dark" else "light"].items():
            made = QTextCharFormat()
            made.setForeground(QColor(value))
            if name == "comment":
                made.setFontItalic(True)
            if name == "word":
                made.setFontWeight(QFont.Weight.DemiBold)
            self._formats[name] = made
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Qt: highlight one line; a comment may continue from the previous one."""
        at = 0
        self.setCurrentBlockState(0)
        if self.previousBlockState() == _INSIDE_COMMENT:
            end = text.find("*/")
            if end < 0:
                self.setFormat(0, len(text), self._formats["comment"])
                self.setCurrentBlockState(_INSIDE_COMMENT)
                return
            at = end + 2
            self.setFormat(0, at, self._formats["comment"])
        for found in _TOKENS.finditer(text, at):
            kind = found.lastgroup or ""
            if kind == "open":
                self.setFormat(found.start(), len(text) - found.start(), self._formats["comment"])
                self.setCurrentBlockState(_INSIDE_COMMENT)
                return
            self.setFormat(found.start(), found.end() - found.start(), self._formats[kind])
