"""What the views of a window share, and what they ask of the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from scalegraph.gui.base.jobs import Jobs
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.state.selection import SelectionModel


class Context(QObject):
    """What all parts of a view share. A part emits one of its signals to ask the window for something.

    *studies* returns the open studies and traces, with or without views. Without *settings* the places of views are not
    saved.
    """

    way_wanted = Signal(object)  # follow this Way on from a figure
    faster_wanted = Signal(str)  # what if this target of a virtual speedup were faster?
    source_wanted = Signal(object)  # open the selected source location beside this dock
    remark_wanted = Signal(str, object)  # show this sentence, with a button for the Way

    def __init__(
        self,
        selection: SelectionModel,
        theme: Theme,
        jobs: Jobs | None = None,
        settings: Settings | None = None,
        studies: Callable[[], Sequence[Handle]] = tuple,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.selection, self.theme, self.settings, self.studies = selection, theme, settings, studies
        self.jobs = jobs or Jobs(self)

    def beside(self, window: QObject) -> Context:
        """Return the context of the views in another *window* of the session."""
        return Context(self.selection, self.theme, self.jobs, self.settings, self.studies, window)
