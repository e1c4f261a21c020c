"""Records failures while the window is in use: swallowed exceptions, Qt warnings, stalls."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

import pyqtgraph.debug
from PySide6.QtCore import QAbstractEventDispatcher, QMessageLogContext, QtMsgType, qInstallMessageHandler

_INNER: Final = 3  # innermost calls shown even if not ours
_HARMLESS: Final = (  # Qt's platform plug-in reports these about itself without a screen
    "This plugin does not support",
    "QFontDatabase",
    "Could not register",
)


class Stall(NamedTuple):
    """A stretch that was too long: CPU seconds, the step that began it, and the calls it was found in."""

    seconds: float
    step: str
    place: str


class Watch:
    """Collects faults, with tracebacks, and stretches of the window's thread longer than *limit_s*.

    A stretch is the time between two polls of an event loop, nested loops included (`QTest` runs one after every press
    and release; dialogs and menus have their own). It is measured in the thread's CPU time, so that a busy machine does
    not lengthen it, and divided by the processor's current slowdown, as other programs share its caches and units.
    """

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self.faults: Counter[str] = Counter()
        self.stalls: list[Stall] = []
        self.step = ""  # the current action
        self._places: list[str] = []
        self._since = 0.0  # CPU time (s) of the window's thread at the start of the stretch
        self._best = min(_pace() for _ in range(20))  # CPU seconds of fixed work at the processor's best

    @contextmanager
    def watching(self) -> Iterator[Watch]:
        """Watch until the end of the block; restore the previous hooks afterwards."""
        hook, thread_hook, unraisable = sys.excepthook, threading.excepthook, sys.unraisablehook
        printed = pyqtgraph.debug.printExc
        sys.excepthook = lambda _kind, error, _trace: self._fault("exception", error)
        threading.excepthook = lambda told: self._fault("exception in a thread", told.exc_value)
        sys.unraisablehook = lambda told: self._fault(f"unraisable in {told.object!r}", told.exc_value)
        pyqtgraph.debug.printExc = lambda *_args, **_more: self._fault("swallowed by pyqtgraph", sys.exc_info()[1])
        log = _Log(self)
        logging.getLogger("scalegraph").addHandler(log)
        before = qInstallMessageHandler(self._said_by_qt)
        alarm = signal.signal(signal.SIGPROF, self._look)
        try:
            yield self
        finally:
            signal.signal(signal.SIGPROF, alarm)
            qInstallMessageHandler(before)
            logging.getLogger("scalegraph").removeHandler(log)
            pyqtgraph.debug.printExc = printed
            sys.excepthook, threading.excepthook, sys.unraisablehook = hook, thread_hook, unraisable

    def stretch(self, act: Callable[[], object]) -> None:
        """Do *act*; the window's thread is back in its loop afterwards."""
        dispatcher = QAbstractEventDispatcher.instance()
        assert dispatcher is not None
        self._begin()
        dispatcher.awake.connect(self._lap)
        try:
            act()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            self._fault("exception", error)
        finally:
            dispatcher.awake.disconnect(self._lap)
            self._end()

    def _begin(self) -> None:
        self._places.clear()
        if self.limit_s > 0:
            signal.setitimer(signal.ITIMER_PROF, self.limit_s / 2, self.limit_s / 4)
        self._since = time.thread_time()

    def _end(self) -> None:
        took = time.thread_time() - self._since
        signal.setitimer(signal.ITIMER_PROF, 0)
        if took > self.limit_s:
            now = _pace()
            self._best = min(self._best, now)
            took *= self._best / now
        if took > self.limit_s:
            self.stalls.append(Stall(took, self.step, self._place()))

    def _lap(self) -> None:
        """An event loop polls: end the stretch."""
        self._end()
        self._begin()

    def report(self) -> str:
        """Return every kind of fault, most frequent first, and every stall; empty if there are none."""
        said = [f"{count} times: {text}" for text, count in self.faults.most_common()]
        said += [f"{1e3 * one.seconds:.0f} ms in the window's thread by {one.step}\n{one.place}" for one in self.stalls]
        return "\n\n".join(said)

    def _place(self) -> str:
        """Return the most frequent position of the window's thread, innermost call last."""
        found = Counter(self._places).most_common(1)
        return "".join(f"found {count} of {len(self._places)} times at\n{place}" for place, count in found)

    def _look(self, _signal: int, frame: FrameType | None) -> None:
        """Record the position of the window's thread, from within it.

        Another thread must not hold its frames with painters.
        """
        calls = traceback.extract_stack(frame)
        mine = [call for call in calls[:-_INNER] if "/scalegraph/gui/" in call.filename] + calls[-_INNER:]
        self._places.append(
            "".join(f"    {Path(call.filename).name} {call.name}, line {call.lineno}\n" for call in mine)
        )

    def _fault(self, what: str, error: BaseException | None) -> None:
        lines = traceback.format_exception(error) if error is not None else ["?"]
        self.faults[f"{what} after {self.step}\n{''.join(lines)}"] += 1

    def fault(self, text: str) -> None:
        """Record a failure without an exception."""
        self.faults[f"{text} (after {self.step})"] += 1

    def _said_by_qt(self, kind: QtMsgType, _where: QMessageLogContext, text: str) -> None:
        if kind not in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) and not any(part in text for part in _HARMLESS):
            self.fault(f"Qt: {text}")


def _pace() -> float:
    """Return the CPU time (s) that a fixed piece of Python work takes now, a few milliseconds."""
    begin = time.thread_time()
    sum(len(str(number)) for number in range(20_000))
    return time.thread_time() - begin


class _Log(logging.Handler):
    """Records errors that the window logs: a view or job that failed through no fault of the user."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(logging.ERROR)
        self._watch = watch

    def emit(self, record: logging.LogRecord) -> None:
        """Record one."""
        trace: Any = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        self._watch.fault(f"logged: {record.getMessage()}\n{trace}")
