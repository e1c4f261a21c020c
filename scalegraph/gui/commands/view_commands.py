"""Commands on the current view and on the arrangement: export, copy, tile, save."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.commands.arrangement_dialogs import ManageDialog, NameDialog
from scalegraph.gui.commands.saved_arrangements import SavedArrangements
from scalegraph.gui.dock.arrangements import TRACE_ARRANGEMENTS
from scalegraph.gui.shell.actions import ARRANGEMENT_NAMES, Spec
from scalegraph.gui.shell.pages import STUDY

if TYPE_CHECKING:
    from scalegraph.gui.dock.view_area import ViewArea
    from scalegraph.gui.dock.view_dock import ViewDock
    from scalegraph.gui.shell.main_window import MainWindow


class ViewCommands(QObject):
    """Connects the actions of *window* that need an open study or trace to its views."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.saved = SavedArrangements(window.settings, self)
        self._offered: dict[str, str] = {}  # arrangement name -> action
        doing: dict[str, Callable[[], object]] = {
            "copy_view": lambda: self._with_dock(lambda dock: dock.furnish().copy_picture.trigger()),
            "reset_zoom": lambda: self._with_dock(lambda dock: dock.picture.fit()),
            "tile_views": lambda: self._with_area(lambda area: area.tile_all()),
            "save_arrangement": self.ask_save,
        }
        self._doing = doing
        for name, act in doing.items():
            window.actions_[name].triggered.connect(tied(self, act))
        window.actions_["export_view"].triggered.connect(tied(self, self.export))
        window.actions_["manage_arrangements"].triggered.connect(self.manage)
        self.saved.changed.connect(self._offer)
        self._offer()

    def names(self) -> list[str]:
        """Return the names of the actions that need an open study or trace."""
        return list(self._doing)

    def export(self) -> None:
        """Export the view that has or last had the focus; if there is none, say why."""
        window = self._window
        area = window.study.area
        dock = area.current_dock() if area is not None and window.page == STUDY else None
        figure = dock.figure() if dock is not None else None
        if dock is not None and figure is not None and figure.panels:
            dock.export_wanted.emit()
        elif dock is not None:
            self._say(f"“{dock.view.title}” has nothing to export yet: choose a view that shows something.")
        elif window.page != STUDY and len(window.studies):
            self._say("Views are exported from the study's page: go back there first (Ctrl+T).")
        elif window.study.handle is not None:
            self._say("No view is open: choose an arrangement or Add view first.")
        else:
            self._say("Nothing is open: open a study, measurements or a trace first, then export its views.")

    def _say(self, sentence: str) -> None:
        self._window.statusBar().showMessage(sentence, 10_000)

    def offered(self, subject: str) -> dict[str, bool]:
        """Return by action whether each saved arrangement fits the current subject."""
        mine = self.saved.names(subject) if subject else []
        return {action: name in mine for name, action in self._offered.items()}

    def ask_save(self) -> None:
        """Ask for a name and save the current arrangement."""
        if self._window.study.area is None or self._window.study.handle is None:
            return
        dialog = NameDialog(self.saved, [*ARRANGEMENT_NAMES, *TRACE_ARRANGEMENTS], self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: self.save(dialog.chosen()))
        dialog.open()

    def save(self, name: str) -> None:
        """Save the current arrangement as *name*."""
        area, handle = self._window.study.area, self._window.study.handle
        if area is not None and handle is not None:
            self.saved.save(name, handle.subject, area.save_state())
            self._window.statusBar().showMessage(f"Arrangement “{name}” is saved", 6000)

    def apply(self, name: str) -> None:
        """Apply the arrangement saved as *name*."""
        self._with_area(lambda area: area.apply_state(self.saved.state_of(name)))

    def manage(self) -> None:
        """Show the saved arrangements."""
        dialog = ManageDialog(self.saved, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _offer(self, _state: object = None) -> None:
        actions = self._window.actions_
        for action in self._offered.values():
            actions.remove(action)
        self._offered = {name: f"saved_{name}" for name in self.saved.names()}
        for name, action in self._offered.items():
            spec = Spec(action, name.replace("&", "&&"), "View/Arrangements", called=f"Arrange: {name}")
            actions.add(spec).triggered.connect(lambda _on=False, name=name: self.apply(name))
        if _state is not None:
            self._window.arrangements_changed()

    def _with_area(self, act: Callable[[ViewArea], object]) -> None:
        area = self._window.study.area
        if area is not None and self._window.study.handle is not None:
            act(area)

    def _with_dock(self, act: Callable[[ViewDock], object]) -> None:
        area = self._window.study.area
        dock = area.current_dock() if area is not None else None
        if dock is not None:
            act(dock)
