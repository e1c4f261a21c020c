"""Preloads modules for views in another thread while the user reads the first page."""

from __future__ import annotations

import importlib
from typing import Any

from PySide6.QtCore import QCoreApplication

from scalegraph.gui.base.garbage import Collector
from scalegraph.gui.base.jobs import Jobs, Reporter


def load_ahead(jobs: Jobs, session: Any) -> None:
    """Import numpy, pandas, views, readers and drawing code: a second or two.

    Importing only defines classes. A Qt object created here would belong to this thread.
    """

    def load(_reporter: Reporter) -> None:
        from scalegraph.measurements.reader import readers
        from scalegraph.traces.formats import readers as trace_readers

        session.views()
        readers()
        trace_readers()
        for name in ("pyqtgraph", "scalegraph.gui.dock.view_area", "scalegraph.gui.imports.page"):
            importlib.import_module(name)

    jobs.start("loading views", load, done=lambda _nothing: _settle())


def _settle() -> None:
    application = QCoreApplication.instance()
    collector = application.property("collector") if application is not None else None
    if isinstance(collector, Collector):
        collector.settle()
