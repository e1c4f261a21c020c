"""Cancellation of long work: loops check a token, and so does code that waits for a child process.

The caller announces the work once (`working`); loops inside it, however deep, call `checkpoint`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final

from scalegraph.base.errors import Cancelled

_REPORTED: Final = 0.01  # share of the work between two progress reports
_LOOK_S: Final = 0.05  # interval for polling another token


class CancelToken:
    """Thread-safe flag. Set once, never cleared."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether a stop was requested."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise `Cancelled` if a stop was requested."""
        if self._event.is_set():
            raise Cancelled("stopped by the user")

    def wait(self, seconds: float) -> bool:
        """Wait up to *seconds* for a request to stop; return whether there is one."""
        return self._event.wait(seconds)


class AnyToken(CancelToken):
    """Cancelled by itself or by another token."""

    def __init__(self, other: CancelToken) -> None:
        super().__init__()
        self._other = other

    @property
    def cancelled(self) -> bool:
        """Whether this or the other token is cancelled."""
        return super().cancelled or self._other.cancelled

    def wait(self, seconds: float) -> bool:
        """Wait up to *seconds* for cancellation of either token; return whether it happened."""
        end = time.monotonic() + seconds
        while not self.cancelled and (left := end - time.monotonic()) > 0:
            super().wait(min(left, _LOOK_S))
        return self.cancelled

    def check(self) -> None:
        """Raise `Cancelled` if either token is cancelled."""
        super().check()
        self._other.check()


class Deadline(AnyToken):
    """Cancelled by another token, or when its time is up."""

    def __init__(self, other: CancelToken, seconds: float) -> None:
        super().__init__(other)
        self._end = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """The seconds left, at least 0."""
        return max(0.0, self._end - time.monotonic())

    @property
    def cancelled(self) -> bool:
        """Whether it is cancelled or the time is up."""
        return super().cancelled or not self.left_s

    def check(self) -> None:
        """Raise `Cancelled` if it is cancelled or the time is up."""
        super().check()
        if not self.left_s:
            raise Cancelled("the time is up")


@dataclass
class _Work:
    """The work of this thread: its token, its progress sink, and the part of the whole that is running."""

    token: CancelToken
    report: Callable[[float], None]
    low: float = 0.0
    high: float = 1.0


_current: Final[ContextVar[_Work | None]] = ContextVar("work", default=None)


@contextmanager
def working(token: CancelToken, report: Callable[[float], None] = lambda _share: None) -> Iterator[None]:
    """Let *token* stop the work inside at a `checkpoint`, and report its progress (0 to 1) to *report*.

    Reported values only increase, by at least 0.01.
    """
    most = -1.0

    def told(share: float) -> None:
        nonlocal most
        if share >= most + _REPORTED:
            most = share
            report(share)

    mark = _current.set(_Work(token, told))
    try:
        yield
    finally:
        _current.reset(mark)


@contextmanager
def stage(low: float, high: float) -> Iterator[None]:
    """Treat the work inside as the part from *low* to *high* (0 to 1) of the surrounding work."""
    work = _current.get()
    if work is None:
        yield
        return
    length = work.high - work.low
    mark = _current.set(replace(work, low=work.low + low * length, high=work.low + high * length))
    try:
        yield
    finally:
        _current.reset(mark)


def checkpoint(share: float | None = None) -> None:
    """Raise `Cancelled` if the surrounding work was cancelled; otherwise report that *share* (0 to 1) of it is done.

    Does nothing outside `working`. Call it every few milliseconds.
    """
    work = _current.get()
    if work is None:
        return
    work.token.check()
    if share is not None:
        work.report(work.low + min(max(share, 0.0), 1.0) * (work.high - work.low))
