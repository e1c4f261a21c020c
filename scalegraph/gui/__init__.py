"""The window (PySide6 and pyqtgraph live nowhere else); it decides nothing, `request.Session` does."""

from scalegraph.gui.base.overrides import install

install()
