"""A combo box that elides its current text if it does not fit; the tooltip then has the full text."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter


class ElidedCombo(QComboBox):
    """A combo box with an ellipsis where Qt would clip the text in the middle of a letter."""

    def shown(self) -> str:
        """Return the current text, elided to the width available."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self).width()
        return self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room - 2)

    def tip(self) -> str:
        """Return the tooltip: the full text if it is elided, then what the list is for."""
        cut = self.shown() != self.currentText()
        return "\n".join(part for part in (self.currentText() if cut else "", self.toolTip()) if part)

    def showPopup(self) -> None:
        """Qt: show the list, as wide as its longest entry."""
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0))
        super().showPopup()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame and the elided text."""
        if self.currentIndex() < 0:
            super().paintEvent(event)
            return
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = self.shown()
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
