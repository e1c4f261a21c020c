"""Reads frames from standard input, and ends other work when standard input closes."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Coroutine
from typing import Any, TypeAlias, TypeVar

from scalegraph.link.cluster import frames

_Entered = TypeVar("_Entered")
_Frame: TypeAlias = tuple[dict[str, Any], list[bytes]]


class Inbox:
    """The frames of standard input, then None; *closed* is set as soon as no more will come."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._frames: asyncio.Queue[_Frame | None] = asyncio.Queue()
        self.closed = asyncio.Event()

        def put(frame: _Frame | None) -> None:
            self._frames.put_nowait(frame)
            if frame is None or frame[0].get("do") == "close":
                self.closed.set()

        def read() -> None:
            data: bytes | None = b""
            while data is not None:
                data = frames.read(sys.stdin.buffer)
                loop.call_soon_threadsafe(put, None if data is None else frames.unpack(data))

        threading.Thread(target=read, daemon=True, name="frames").start()

    async def get(self) -> _Frame | None:
        """Return the next frame."""
        return await self._frames.get()


async def unless_closed(entered: Coroutine[Any, Any, _Entered], inbox: Inbox) -> _Entered | None:
    """Return the result of *entered*; if the other end closes or goes away first, stop *entered* and return None."""
    opening = asyncio.ensure_future(entered)
    closing = asyncio.ensure_future(inbox.closed.wait())
    try:
        await asyncio.wait({opening, closing}, return_when=asyncio.FIRST_COMPLETED)
        if opening.done():
            return await opening
        opening.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await opening
        return None
    finally:
        closing.cancel()
