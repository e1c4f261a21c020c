"""One token that stops long work: checked at loop steps, and asked by whoever waits for a child process."""

from __future__ import annotations

import threading

from scalegraph.base.errors import Cancelled


class CancelToken:
    """Thread-safe flag. Set once, never cleared."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise `Cancelled` if somebody asked."""
        if self._event.is_set():
            raise Cancelled("stopped by the user")

    def wait(self, seconds: float) -> bool:
        """Wait up to *seconds* for a request to stop; return whether there is one."""
        return self._event.wait(seconds)
