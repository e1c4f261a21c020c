"""The user's choice of studies that a view of several compares with its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from scalegraph import views
from scalegraph.gui.dock.arrangements import COMPARED, TOGETHER, Layout, Split, Tabs
from scalegraph.gui.dock.tab_names import tab_name
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.handle import Handle
from scalegraph.views import View, ways

if TYPE_CHECKING:
    from scalegraph.gui.dock.view_dock import ViewDock


class Compared(QObject):
    """The studies compared with the view's own: all comparable ones except those the user excludes."""

    changed = Signal()

    def __init__(self, view: View, handle: Handle, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view, self._handle, self._context = view, handle, context
        self._left_out: set[str] = set()  # keys of excluded studies

    def handles(self) -> list[Handle]:
        """Return the studies compared with; none for a view of a single study."""
        if not self._view.several:
            return []
        return [other for other in self._comparable() if other.key not in self._left_out]

    def _comparable(self) -> list[Handle]:
        return [other for other in self._context.studies() if other is not self._handle and self._fits(other)]

    def _fits(self, other: Handle) -> bool:
        if self._view.subject == "trace":
            return other.subject == "trace" and other.data() is not None
        return has_runs(other)

    def offer(self, menu: QMenu) -> None:
        """List the studies in *menu*, with the compared ones checked."""
        menu.clear()
        for other in self._comparable():
            action = menu.addAction(other.title)
            action.setCheckable(True)
            action.setChecked(other.key not in self._left_out)
            action.toggled.connect(lambda on, key=other.key: self._choose(key, on=on))
        if menu.isEmpty():
            way = ways.OPEN_TRACE if self._view.subject == "trace" else ways.OPEN_STUDY
            menu.addAction(way.text, lambda: self._context.way_wanted.emit(way)).setToolTip(way.tip)

    def _choose(self, key: str, *, on: bool) -> None:
        (self._left_out.discard if on else self._left_out.add)(key)
        self.changed.emit()


def study_tab(view: View, handle: Handle, number: int = 1) -> str:
    """Return the text of the tab of *view* where views of several studies are open."""
    return f"{tab_name(view, number)}: {handle.title}"


def has_runs(handle: Handle) -> bool:
    """Return whether a study has runs to compare."""
    data = handle.study()
    return data is not None and not data.table.empty


def side_by_side(
    one: Handle, other: Handle, current: ViewDock | None, *, fits: Callable[[Sequence[str]], bool] | None = None
) -> tuple[Layout, dict[str, tuple[str, Handle]]]:
    """Return the arrangement that compares two studies, and the (view, study) of each of its names.

    Views of both studies come first. The *current* view and those in `COMPARED` are shown once per study; with *fits*,
    which tells whether tabs of these names fit beside one another, at most two of each, or as many as it allows.
    """
    data = other.study()
    usable = current is not None and data is not None and current.view.lacking(data, {}) is None
    names = [current.view.name] if current is not None and usable and not current.view.several else []
    names += [name for name in COMPARED if name not in names]
    if fits is not None:
        tabs = [[study_tab(views.get(name), side) for side in (one, other)] for name in names]
        names = names[:2] if fits([*tabs[0], *tabs[1]]) else names[:1]
    content = {f"{side}/{name}": (name, handle) for side, handle in (("a", one), ("b", other)) for name in names}
    content |= {name: (name, one) for name in TOGETHER}
    sides = tuple(Tabs(tuple(f"{side}/{name}" for name in names)) for side in ("a", "b"))
    return Split("beside", (Tabs(TOGETHER, 5), Split("below", sides, 4))), content
