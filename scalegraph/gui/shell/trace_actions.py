"""The Trace menu; the keys shown beside its entries work in the views over time."""

from __future__ import annotations

from typing import Final

from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.shell.actions import Actions
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.state.selection import SelectionModel
from scalegraph.gui.trace.commands import perform
from scalegraph.gui.trace.handle import TraceHandle

PREFIX: Final = "trace_"


class TraceActions:
    """Connects the window's actions ``trace_..`` to the current trace."""

    def __init__(self, actions: Actions, selection: SelectionModel) -> None:
        self._actions, self._selection = actions, selection
        self._handle: TraceHandle | None = None
        for name in actions.names():
            if name.startswith(PREFIX):
                command = name.removeprefix(PREFIX)
                act = tied(actions[name], lambda _checked=False, command=command: self._do(command))
                actions[name].triggered.connect(act)

    def show(self, handle: Handle | None) -> None:
        """Act on *handle*, if it is a trace that has been read."""
        trace = handle if isinstance(handle, TraceHandle) and handle.data() is not None else None
        if trace is not self._handle:
            if self._handle is not None:
                for signal in (self._handle.marks.changed, self._handle.bookmarks.changed, self._handle.replay.changed):
                    signal.disconnect(self._enable)
            self._handle = trace
            if trace is not None:
                for signal in (trace.marks.changed, trace.bookmarks.changed, trace.replay.changed):
                    signal.connect(self._enable)
        self._enable()

    def _enable(self) -> None:
        trace = self._handle
        off: set[str] = set()
        if trace is not None:
            off |= {"between"} if len(trace.marks.cursors) < 2 else set()
            off |= {"no_cursors"} if not trace.marks.cursors else set()
            off |= {"next_bookmark", "last_bookmark"} if not trace.bookmarks.all else set()
            off |= {"end_replay"} if not trace.replay.shown else set()
        for name in self._actions.names():
            if name.startswith(PREFIX):
                self._actions[name].setEnabled(trace is not None and name.removeprefix(PREFIX) not in off)

    def _do(self, command: str) -> None:
        if self._handle is not None:
            perform(self._handle, self._selection, command)
