"""Commands of an open trace, shared by the keys of its views, the menu and the command palette."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scalegraph.gui.state.bookmark_store import Bookmark
from scalegraph.gui.state.selection import SelectionModel
from scalegraph.gui.trace.handle import TraceHandle

_AROUND: Final = 0.5  # margin on either side of a bookmark's interval, in lengths of the interval


def perform(handle: TraceHandle, selection: SelectionModel, command: str, at: float | None = None) -> None:
    """Run *command* (a key of `COMMANDS`) on the trace; *at* is the moment under the pointer, in s."""
    if handle.data() is not None:
        COMMANDS[command](handle, selection, at)


def interval_of(handle: TraceHandle, selection: SelectionModel) -> tuple[int, int] | None:
    """Return the selected interval of the trace in ticks."""
    current = selection.current
    return current.interval if current.study == handle.key else None


def jump(handle: TraceHandle, selection: SelectionModel, to: Bookmark) -> None:
    """Show a bookmark: select its interval or centre its moment; a visible replay moves there."""
    begin, end = handle.seconds(to.begin), handle.seconds(to.end)
    handle.bookmarks.last = to
    if to.moment:
        half = handle.window.width / 2
        if not handle.window.whole:
            handle.window.show(begin - half, begin + half)
        selection.select(study=handle.key)
    else:
        selection.select(study=handle.key, interval=(to.begin, to.end))
        handle.window.reach(begin, end, margin=_AROUND)
    if handle.replay.shown:
        handle.replay.seek(begin)


def _pointed(handle: TraceHandle, at: float | None) -> float:
    """Return the moment under the pointer, else of the replay, else the middle of the visible time."""
    if at is not None:
        return at
    return handle.replay.now if handle.replay.shown else sum(handle.window.shown) / 2


def _bookmark(handle: TraceHandle, selection: SelectionModel, at: float | None) -> None:
    tick = handle.tick(_pointed(handle, at))
    handle.bookmarks.add(*(interval_of(handle, selection) or (tick, tick)))


def _other(handle: TraceHandle, selection: SelectionModel, *, back: bool) -> None:
    """Jump to the next or previous bookmark, wrapping around."""
    known, last = handle.bookmarks.all, handle.bookmarks.last
    if not known:
        return
    if last in known:
        jump(handle, selection, known[(known.index(last) + (-1 if back else 1)) % len(known)])
        return
    here = handle.tick(_pointed(handle, None))
    beside = [one for one in known if (one.begin < here if back else one.begin > here)]
    jump(handle, selection, (beside or known)[-1 if back else 0])


def _between(handle: TraceHandle, selection: SelectionModel) -> None:
    """Select the interval between the cursors; all sums then cover it."""
    cursors = sorted(handle.marks.cursors.values())
    if len(cursors) > 1:
        begin, end = (handle.tick(moment) for moment in cursors)
        selection.select(study=handle.key, interval=(begin, end))


def _play_from(handle: TraceHandle, at: float | None) -> None:
    handle.replay.seek(_pointed(handle, at))
    handle.replay.play()


def _event(handle: TraceHandle, selection: SelectionModel, *, back: bool, selected: bool = False) -> None:
    """Show the nearest event outside the visible time, of the *selected* location or of all shown."""
    current = selection.current
    handle.events.go(back=back, location=current.location if selected and current.study == handle.key else None)


def _drag(handle: TraceHandle, at: float | None) -> None:
    handle.replay.drag(handle.replay.now if at is None else at)


def _loop(handle: TraceHandle) -> None:
    handle.replay.set_loop(not handle.replay.state.loop)


COMMANDS: Final[dict[str, Callable[[TraceHandle, SelectionModel, float | None], None]]] = {
    "play": lambda handle, _selection, _at: handle.replay.toggle(),
    "play_from": lambda handle, _selection, at: _play_from(handle, at),
    "step_on": lambda handle, _selection, _at: handle.steps.step(False),
    "step_back": lambda handle, _selection, _at: handle.steps.step(True),
    "next_event": lambda handle, selection, _at: _event(handle, selection, back=False),
    "last_event": lambda handle, selection, _at: _event(handle, selection, back=True),
    "next_event_there": lambda handle, selection, _at: _event(handle, selection, back=False, selected=True),
    "last_event_there": lambda handle, selection, _at: _event(handle, selection, back=True, selected=True),
    "loop": lambda handle, _selection, _at: _loop(handle),
    "drag_replay": lambda handle, _selection, at: _drag(handle, at),
    "drop_replay": lambda handle, _selection, _at: handle.replay.let_go(),
    "end_replay": lambda handle, _selection, _at: handle.replay.hide(),
    "bookmark": _bookmark,
    "bookmarks": lambda handle, _selection, _at: handle.bookmarks.list_wanted.emit(),
    "next_bookmark": lambda handle, selection, _at: _other(handle, selection, back=False),
    "last_bookmark": lambda handle, selection, _at: _other(handle, selection, back=True),
    "cursor": lambda handle, _selection, at: handle.marks.place(sum(handle.window.shown) / 2 if at is None else at),
    "no_cursors": lambda handle, _selection, _at: handle.marks.remove_cursors(),
    "between": lambda handle, selection, _at: _between(handle, selection),
    "whole": lambda handle, _selection, _at: handle.window.fit(),
}
