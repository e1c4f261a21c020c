"""Closes the window on Ctrl+C in the terminal or SIGTERM, as if the user had closed it."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from PySide6.QtCore import QObject, QSocketNotifier

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Interrupt(QObject):
    """Runs Python's signal handlers, which Qt's loop does not.

    A signal writes a byte to a socket that wakes the loop.
    """

    def __init__(self, act: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._act = act
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        self._before_fd = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        self._before: dict[int, Any] = {number: signal.signal(number, self._handle) for number in _SIGNALS}
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._drain)

    def end(self) -> None:
        """Restore the previous handlers."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._before_fd)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._read.close()
        self._write.close()

    def _drain(self) -> None:
        self._read.recv(64)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self._act()
