"""The page of the current study: its verdict above, its views below."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from scalegraph.base.units import seconds
from scalegraph.gui.base.banner import Banner
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.state.loss import place_of_line
from scalegraph.gui.state.reading_state import ReadingState
from scalegraph.gui.state.selection import Selection
from scalegraph.gui.study.header import Header
from scalegraph.gui.study.studies import Studies
from scalegraph.gui.trace.handle import STOPPED, TraceHandle

if TYPE_CHECKING:
    from scalegraph.figures.way import Way
    from scalegraph.gui.dock.view_area import ViewArea


_LEAST: Final = (360, 200)


class StudyPage(QWidget):
    """Shows the selected study. The area of views is created with the first study.

    *context* is that of its views; *slot* distinguishes the saved places of views of several windows.
    """

    area_made = Signal()  # views can be opened from now on

    def __init__(self, studies: Studies, context: Context, *, slot: str = "") -> None:
        super().__init__()
        self._studies, self._context, self._slot = studies, context, slot
        context.remark_wanted.connect(self._remark)
        self._handle: Handle | None = None
        self.area: ViewArea | None = None
        self.header = Header(context.selection)
        self.header.verdict.place_wanted.connect(self._go_to)
        self._stack = QStackedWidget()
        self._stack.setMinimumSize(*_LEAST)  # views yield to the docks; they must not push the window off the screen
        self._state = ReadingState("No study is open.")
        self._state.stop_wanted.connect(self._stop_reading)
        self._stack.addWidget(self._state)
        column = vertical(self, spacing=0)
        column.addWidget(self.header)
        column.addWidget(self._stack, 1)
        context.selection.changed.connect(self._follow)

    @property
    def banner(self) -> Banner:
        """Where errors of this page are shown."""
        return self.header.banner

    @property
    def handle(self) -> Handle | None:
        """The current study."""
        return self._handle

    def show_study(self, handle: Handle) -> None:
        """Show *handle*."""
        if handle is self._handle:
            return
        if self._handle is not None:
            self._handle.changed.disconnect(self._changed)
            self._handle.failed.disconnect(self._failed)
            if isinstance(self._handle, TraceHandle):
                self._handle.progressed.disconnect(self._progressed)
                self._handle.waits.disconnect(self._waits)
        self._handle = handle
        handle.changed.connect(self._changed)
        handle.failed.connect(self._failed)
        if isinstance(handle, TraceHandle):
            handle.progressed.connect(self._progressed)
            handle.waits.connect(self._waits)
        self.banner.clear()
        self._changed()

    def forget(self, key: str) -> None:
        """Remove a closed study."""
        if self._handle is not None and self._handle.key == key:
            self.keep()
            self._handle = None
            self._changed()
        if self.area is not None:
            self.area.forget(key)

    def show_view(self, name: str) -> None:
        """Open the view *name* of the current study."""
        if self.area is not None and self._handle is not None:
            self.area.show_view(self._handle, name)

    def show_answer(self, name: str) -> None:
        """Open the view *name*, which answers a question just asked, in the largest place."""
        if self.area is not None and self._handle is not None:
            for dock in self.area.docks:  # the curves that the answer refers to
                if any(option.name == "what_if" for option in dock.view.options):
                    dock.set_options({"what_if": True})
            self.area.show_view(self._handle, name, roomy=True)

    def arrange(self, name: str) -> None:
        """Apply a ready-made arrangement."""
        if self.area is not None:
            self.area.apply_arrangement(name)

    def search(self) -> bool:
        """Start a search in the current trace; return whether there is one."""
        there = self.area is not None and isinstance(self._handle, TraceHandle) and self._handle.data() is not None
        if there and self.area is not None:
            self.area.search.start()
        return there

    def find_next(self, *, forward: bool) -> None:
        """Go to the next or previous match of the search in the current trace."""
        if self.area is not None and isinstance(self._handle, TraceHandle):
            self.area.search.step(forward=forward)

    def _go_to(self, place: str) -> None:
        """Select a line named in the sentence above, and show its source."""
        data = self._handle.study() if self._handle is not None else None
        name, _, line = place.rpartition(":")
        files = {region.file for region in data.regions} if data is not None else set()
        file = next((file for file in sorted(files) if PurePath(file).name == PurePath(name).name), "")
        if data is None or self.area is None or not file:
            return
        self._context.selection.select(**place_of_line(data, f"{file}:{line}"))
        self.show_view("source")

    def keep(self) -> None:
        """Save the places of the views; for closing the window."""
        settings = self._context.settings
        if settings is not None and self.area is not None and self._handle is not None and self.area.docks:
            settings.set_bytes(f"places{self._slot}/{self._handle.key}", self.area.save_state())

    def release(self) -> None:
        """Delete all views, before their studies are deleted."""
        if self.area is not None:
            for handle in self._studies:
                self.area.forget(handle.key)

    def _follow(self, selection: Selection) -> None:
        handle = self._studies.get(selection.study)
        if handle is not None:
            self.show_study(handle)

    def _changed(self) -> None:
        self.header.show_study(self._handle)
        handle = self._handle
        if handle is None:
            self._say("No study is open.")
        elif handle.error and handle.data() is None:
            self._say("Nothing was read." if handle.error == STOPPED else "This file cannot be shown.")
        elif isinstance(handle, TraceHandle) and handle.data() is None:
            self._say_reading(handle)
            self._stack.setCurrentWidget(self._state)
        elif handle.data() is None:
            self._say("Reading the study…")
        else:
            self._show_views(handle)

    def _progressed(self, _share: float) -> None:
        if isinstance(self._handle, TraceHandle):
            self._say_reading(self._handle)

    def _say_reading(self, handle: TraceHandle) -> None:
        self._state.say(f"Reading {handle.title} …", handle.share)

    def _waits(self, waited: float) -> None:
        if isinstance(self._handle, TraceHandle):
            name = self._handle.path.name
            said = f"Waiting for another ScaleGraph that converts {name}, for {seconds(waited)} now"
            self._state.say(said, None, stoppable=True)

    def _stop_reading(self) -> None:
        if isinstance(self._handle, TraceHandle):
            self._handle.stop()

    def _failed(self, _sentence: str) -> None:
        self._changed()

    def _say(self, text: str) -> None:
        self._state.say(text)
        self._stack.setCurrentWidget(self._state)

    def _show_views(self, handle: Handle) -> None:
        if self.area is not None and self.area.has_views_of(handle):
            self._stack.setCurrentWidget(self.area)
            self.area.show_study(handle)
            return
        if self.area is None:
            self._make_area()
        turn_queue().add(self, self._show_first, heavy=True)  # placing new views takes a turn of its own

    def _show_first(self) -> None:
        if self.area is not None and self._handle is not None and self._handle.data() is not None:
            self._stack.setCurrentWidget(self.area)
            self.area.show_study(self._handle)

    def _make_area(self) -> None:
        from scalegraph.gui.dock.view_area import ViewArea

        self.area = ViewArea(self._context, slot=self._slot)
        self._studies.changed.connect(self.area.others_changed)
        self._stack.addWidget(self.area)
        self.area_made.emit()

    def _remark(self, said: str, way: Way) -> None:
        self.banner.show_remark(said, way.text, lambda: self._context.way_wanted.emit(way))
