"""Applies arrangements to the current study's views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from scalegraph import views
from scalegraph.gui.dock.arrangements import (
    COMPARE,
    OFFERED,
    SHORT_BELOW,
    TRACE_ARRANGEMENTS,
    TWO_BELOW,
    Layout,
    Placer,
    filled_first,
    layout_of,
    tiles,
    two_views,
)
from scalegraph.gui.dock.compared import has_runs, side_by_side
from scalegraph.gui.dock.content_holder import placing
from scalegraph.gui.dock.desk import Desk
from scalegraph.gui.dock.overviews import OVERVIEW, overview_of
from scalegraph.gui.dock.remembered import option_of
from scalegraph.gui.state.handle import Handle
from scalegraph.views.ways import OPEN_STUDY

if TYPE_CHECKING:
    from scalegraph.gui.dock.view_area import ViewArea
    from scalegraph.gui.dock.view_dock import ViewDock
    from scalegraph.subjects.study import StudyData

_AROUND_TAB: Final = 24  # pixels around the name in a tab
_COMPARED: Final = 0.44  # of the width, for the views of two studies in a low window
_NO_SECOND: Final = "Compare needs a second study."


class Arranging:
    """Places the views of *area*."""

    def __init__(self, area: ViewArea) -> None:
        self._area = area

    def names(self) -> list[str]:
        """Return the names of the ready-made arrangements, in menu order."""
        if self._area.desk is not None and self._area.desk.handle.subject == "trace":
            return list(TRACE_ARRANGEMENTS)
        return list(OFFERED)

    def apply(self, name: str) -> str:
        """Apply the arrangement *name*; return an error message or ""."""
        area, desk = self._area, self._area.desk
        if desk is None:
            return "No study is open."
        if name not in self.names():
            return ""
        if name == COMPARE:
            return self._compare(desk)
        area.bar.say("")
        handle = desk.handle
        data = handle.study()
        imported = data is not None and data.imported is not None
        overview = overview_of(data) if name == OVERVIEW and data is not None else None
        runs, height = data is not None and not data.table.empty, area.window().height()
        layout = overview or layout_of(name, imported=imported, runs=runs, short=height < SHORT_BELOW)
        known = views.registry(handle.subject)
        if data is not None and overview is None and not _grows(data):
            layout = filled_first(layout, lambda view: view in known and known[view].lacking(data, {}) is not None)
        content = {view: (view, handle) for view in known}
        self._place(desk, name, two_views(layout) if height < TWO_BELOW else layout, content)
        area.take_focus()
        return ""

    def tile_all(self) -> None:
        """Give every open view its own tile."""
        desk = self._area.desk
        if desk is None or not desk.docks:
            return
        self._area.restore_all()
        by_name = {dock.objectName(): dock for dock in desk.docks}
        window = desk.window
        with placing(by_name.values()):
            for dock in by_name.values():
                if dock.isFloating():
                    dock.setFloating(False)
                window.removeDockWidget(dock)
            window.settle()
            Placer(window, by_name.get).place(tiles(list(by_name)))
            for dock in by_name.values():
                dock.show()

    def _place(self, desk: Desk, name: str, layout: Layout, content: dict[str, tuple[str, Handle]]) -> None:
        """Apply *layout*, called *name*, whose names stand for (view, study) in *content*; close other views."""
        area, window = self._area, desk.window
        desk.leave()
        desk.arrangement = name
        area.bar.mark(name)
        area.restore_all()
        old = {dock.place: dock for dock in desk.docks}
        for dock in desk.docks:
            window.removeDockWidget(dock)
        window.settle()
        kept: list[ViewDock] = []

        def take(place: str) -> ViewDock | None:
            if place not in content or content[place][0] not in views.everything():
                return None
            view, handle = content[place]
            own = handle is desk.handle
            shown, options = desk.remembered.at(name, view) if own else (views.get(view), {})
            named = desk.name_of(view, handle)
            dock = old.pop((named, handle.key), None)
            if dock is None:
                dock = area.make(shown, handle, options, named)  # Qt treats it as floating until it has a place
            else:
                if other := option_of(dock.view, shown.name):
                    dock.set_options(other)
                if dock.isFloating():
                    dock.setFloating(False)
            kept.append(dock)
            return dock

        area.show_stack(some=True)
        window.setUpdatesEnabled(False)  # paint once, after all docks are placed
        try:
            with placing(desk.docks):
                Placer(window, take).place(layout)
            for dock in [dock for dock in desk.docks if dock not in kept]:
                area.remove(desk, dock)
        finally:
            window.setUpdatesEnabled(True)
        desk.docks = kept
        for dock in kept:
            dock.name_study(dock.handle is not desk.handle)
        area.show_stack()
        area.views_changed.emit()

    def _compare(self, desk: Desk) -> str:
        area, one = self._area, desk.handle
        others = self._others(desk)
        if not others:
            area.context.remark_wanted.emit(_NO_SECOND, OPEN_STUDY)
            return _NO_SECOND
        low = area.window().height() < TWO_BELOW
        layout, content = side_by_side(one, others[-1], area.current_dock(), fits=self._tabs_fit if low else None)
        self._place(desk, COMPARE, two_views(layout) if low else layout, content)
        for dock in area.docks:
            dock.name_study(not dock.view.several)
        self.say_compared()
        return ""

    def _tabs_fit(self, names: Sequence[str]) -> bool:
        """Return whether tabs with *names* fit above the views of two studies."""
        metrics = self._area.fontMetrics()
        return sum(metrics.horizontalAdvance(name) + _AROUND_TAB for name in names) <= _COMPARED * self._area.width()

    def _others(self, desk: Desk) -> list[Handle]:
        """Return the studies that *desk*'s is compared with."""
        others = [handle for handle in self._area.context.studies() if handle is not desk.handle]
        return [handle for handle in others if has_runs(handle)] or others

    def say_compared(self) -> None:
        """Say above the views which studies Compare shows now; nothing in other arrangements."""
        desk = self._area.desk
        others = self._others(desk) if desk is not None and desk.arrangement == COMPARE else []
        named = ", ".join(handle.title for handle in others)
        self._area.bar.say(f"{desk.handle.title} beside {named}" if desk is not None and others else "")


def _grows(data: StudyData) -> bool:
    """Return whether runs on requested processor counts are still to come: views without content may get some."""
    asked = set((data.manifest.get("request") or {}).get("processors") or ())
    return not asked <= (set() if data.table.empty else {int(n) for n in data.table["processors"]})
