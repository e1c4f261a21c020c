"""Floor 7: the window (PySide6 and pyqtgraph live nowhere else); it decides nothing, `request.Session` does."""

from scalegraph.gui.overrides import install

install()
