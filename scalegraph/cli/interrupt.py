"""Ctrl-C as a request to stop: what is finished is kept, a second Ctrl-C ends at once."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from scalegraph.base.cancel import CancelToken, working


@contextlib.contextmanager
def interruptible() -> Iterator[CancelToken]:
    """Yield a token that Ctrl-C (and SIGTERM) cancels while the block runs; only the main thread can listen."""
    token = CancelToken()
    if threading.current_thread() is not threading.main_thread():
        with working(token):
            yield token
        return

    def stop(number: int, _frame: FrameType | None) -> None:
        token.cancel()
        signal.signal(number, before[signal.Signals(number)])

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, stop)
    try:
        with working(token):
            yield token
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
