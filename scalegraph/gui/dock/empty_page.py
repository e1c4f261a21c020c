"""The middle of the window while no view is open."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget


class EmptyPage(QWidget):
    """A hint and a button for the first arrangement."""

    arrangement_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.addStretch(1)
        text = QLabel("No view is open. Choose an arrangement, or add a view.")
        text.setProperty("role", "muted")
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        overview = QPushButton("Show the first arrangement")
        overview.clicked.connect(lambda: self.arrangement_wanted.emit())
        column.addWidget(text)
        column.addWidget(overview, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
