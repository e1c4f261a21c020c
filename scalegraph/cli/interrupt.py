"""Ctrl-C as a request to stop: finished work is kept, a second Ctrl-C quits at once."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from scalegraph.base.cancel import CancelToken, working


@contextlib.contextmanager
def interruptible() -> Iterator[CancelToken]:
    """Yield a token that Ctrl-C (or SIGTERM) cancels while the block runs; only effective in the main thread."""
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
