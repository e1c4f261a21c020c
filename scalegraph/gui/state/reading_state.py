"""The page shown while a file is read: a message, the progress, and a Stop button."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from scalegraph.base.measures import percent
from scalegraph.gui.base.widgets import button, label

_BAR_WIDTH = 320


class ReadingState(QWidget):
    """A centred message; a long read also shows a progress bar and a button."""

    stop_wanted = Signal()

    def __init__(self, text: str) -> None:
        super().__init__()
        self._said = label(text, "muted", wrap=True)
        self._said.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setFixedWidth(_BAR_WIDTH)
        self.bar.setAccessibleName("How much was read")
        self.stop = button("Stop reading", "Discards what was read", "flat")
        self.stop.clicked.connect(self.stop_wanted)
        column = QVBoxLayout(self)
        column.addStretch(1)
        column.addWidget(self._said)
        column.addWidget(self.bar, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.stop, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        self.say(text)

    def text(self) -> str:
        """Return the message."""
        return self._said.text()

    def say(self, text: str, share: float | None = None, *, stoppable: bool = False) -> None:
        """Show *text*, with a progress bar if there is a *share* (0 to 1), and a Stop button if *stoppable*."""
        self._said.setText(text)
        self.bar.setVisible(share is not None)
        self.stop.setVisible(stoppable or share is not None)
        if share is not None:
            self.show_share(share)

    def show_share(self, share: float) -> None:
        """Update the progress bar."""
        self.bar.setValue(round(1000 * share))
        self.bar.setFormat(percent(share, 0))
