"""The window (PySide6 and pyqtgraph are imported nowhere else); it decides nothing, `request.Session` does."""

from scalegraph.gui.base.overrides import install

install()
