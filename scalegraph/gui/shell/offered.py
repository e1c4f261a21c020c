"""Enables the window's commands that are available now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from scalegraph.gui.dock.arrangements import TRACE_ARRANGEMENTS
from scalegraph.gui.shell.actions import ARRANGEMENT_NAMES, Spec
from scalegraph.gui.shell.pages import IMPORT, LEFT, MEASURE, REQUEST, STUDY

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow


class Offered(QObject):
    """Enables and disables a window's commands, and adds one per view."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)  # connections to it end with the window
        self._window = window
        self._views: tuple[Any, ...] = ()  # views with a command of their own

    def add_views(self) -> None:
        """Add every view to the palette, and one of each family to the menu, once the views are loaded."""
        from scalegraph.gui.base.menus import grouped

        window = self._window
        groups = [*grouped("study").items(), *grouped("trace").items()]
        listed = [view for _, some in groups for view in some]
        self._views = tuple(member for view in listed for member in view.members)
        for view in listed:
            for member in view.members:
                shown, menu = (view, f"View/{view.group}") if member.name == view.name else (member, "")
                called = f"Show {member.title}"
                spec = Spec(f"view_{member.name}", shown.title, menu, called=called, also=view.title.lower())
                action = window.actions_.add(spec)
                action.setToolTip(shown.description)
                action.triggered.connect(lambda _checked=False, name=member.name: window.show_view(name))
        self.update()

    def update(self, *_what: object) -> None:
        """Enable the commands that apply to the current page and selection."""
        window = self._window
        state, undo, handle = window.selection.state, window.history.stack, window.study.handle
        data = handle.study() if handle is not None else None
        page = window.page
        enabled = {
            "back": state.can_go_back or page in LEFT,
            "forward": state.can_go_forward,
            "clear_selection": not state.current.empty or page in LEFT,
            "change_meaning": page == STUDY and data is not None and data.imported is not None,
            "undo": undo.canUndo(),
            "redo": undo.canRedo(),
            "start_request": (page == REQUEST and window.request.can_run)
            or (page == MEASURE and window.measure.can_run)
            or page == IMPORT,
            "save_request": window.late.model.form.chosen,
            "instrumentation": window.late.model.form.chosen,
            "edit_request": data is not None and bool(data.manifest.get("request")),
            "predict_larger": data is not None and bool((data.manifest.get("request") or {}).get("program")),
            "save_study": handle is not None and handle.subject == "study",
            "write_report": data is not None,
            "reveal_study": handle is not None,
            "close_study": handle is not None,
            "new_window": len(window.studies) > 0,
            "float_view": page == STUDY and handle is not None,
            "go_study": len(window.studies) > 0,
            "cancel_all": window.runner.busy,
            "clear_finished": any(entry.ended for entry in window.runner.entries),
        }
        subject = handle.subject if handle is not None and page == STUDY else ""
        enabled |= dict.fromkeys(window.view_commands.names(), bool(subject)) | window.view_commands.offered(subject)
        enabled |= {f"arrange_{name}": subject == "study" for name in ARRANGEMENT_NAMES}
        enabled |= {f"arrange_{name}": subject == "trace" for name in TRACE_ARRANGEMENTS}
        enabled |= dict.fromkeys(("find_next", "find_before"), subject == "trace")
        enabled |= {f"view_{view.name}": _fits(view, subject) for view in self._views}
        for name, on in enabled.items():
            window.actions_[name].setEnabled(on)
        window.actions_.show_filled()
        window.trace_actions.show(handle if page == STUDY else None)
        for name, verb, text in (("undo", "Undo", undo.undoText()), ("redo", "Redo", undo.redoText())):
            window.actions_[name].setToolTip(f"{verb} {text}".strip())


def _fits(view: Any, subject: str) -> bool:
    """Return whether *view* fits the current subject; true if there is none."""
    return not subject or view.subject == subject
