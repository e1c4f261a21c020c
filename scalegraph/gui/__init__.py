"""The window. PySide6 and pyqtgraph are imported only here; decisions are made in `request.Session`."""

from scalegraph.gui.base.overrides import install

install()
