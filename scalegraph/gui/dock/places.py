"""Open views and their places, serialised to bytes for the settings."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any, Final

from PySide6.QtCore import QByteArray, Qt

from scalegraph import views
from scalegraph.gui.dock.desk import Desk
from scalegraph.gui.dock.remembered import view_options
from scalegraph.gui.dock.view_dock import ViewDock
from scalegraph.gui.state.handle import Handle

log: Final = logging.getLogger(__name__)
_VERSION: Final = 1

# Creates the dock of a study's view with options, under a name.
Make = Callable[[views.View, Handle, dict[str, Any], str], ViewDock]


def saved(desk: Desk) -> QByteArray:
    """Return the open views of *desk* with options and places."""
    docks = [
        {"name": d.objectName(), "view": d.view.name, "options": d.chosen}
        for d in desk.docks
        if d.handle is desk.handle  # a compared study may not be open next time
    ]
    state = bytes(desk.window.saveState(_VERSION).toBase64().data()).decode()
    content = {
        "version": _VERSION,
        "docks": docks,
        "places": state,
        "arrangement": desk.arrangement,
        "remembered": desk.remembered.written(),
    }
    return QByteArray(json.dumps(content).encode())


def restored(desk: Desk, state: QByteArray, make: Make, *, whole: bool = False) -> bool:
    """Open the views of `saved` on *desk* in their places; return whether that worked.

    *whole*: also what its other arrangements showed.

    A state from another version or source is ignored. It only names views; nothing in it is executed.
    """
    try:
        content = json.loads(bytes(state.data()).decode())
        if content["version"] != _VERSION or not content["docks"]:
            return False
        for item in content["docks"]:
            view = views.registry(desk.handle.subject).get(item["view"])
            if view is not None:
                dock = make(view, desk.handle, view_options(view, item["options"]), item["name"])
                desk.window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
        if whole:
            desk.remembered.read(content.get("remembered") or {})
        places = QByteArray.fromBase64(str(content["places"]).encode())
    except (ValueError, KeyError, TypeError, AttributeError):
        log.warning("the saved places of %s cannot be read; using the overview", desk.handle.title)
        return False
    if not desk.docks:
        return False
    desk.window.restoreState(places, _VERSION)
    desk.arrangement = str(content.get("arrangement", ""))
    return True
