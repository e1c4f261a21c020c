"""How long a cluster outlives a killed ScaleGraph: until its runs have ended and nobody has come for a while."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Final

_NAME: Final = "scalegraph-taken-over"  # what a ScaleGraph that took over the cluster writes at the scheduler
_LOOK_S: Final = 0.5
_ENDING_S: Final = 20.0
_PART: Final = -1


async def beat(client: Any) -> None:
    """Tell a cluster started by another ScaleGraph that this one uses it."""
    await client.set_metadata([_NAME], asyncio.get_running_loop().time())


async def end(client: Any) -> None:
    """Have the process that started the cluster end it; return when that is done."""
    with contextlib.suppress(Exception):
        await client.set_metadata([_NAME], _PART)
        async with asyncio.timeout(_ENDING_S):
            while client.status == "running":
                await asyncio.sleep(_LOOK_S / 5)
    with contextlib.suppress(Exception):
        await client.shutdown()


async def wait(client: Any, seconds: float) -> None:
    """Return once, for *seconds*, nothing has run at *client*'s scheduler and nobody has used it."""
    left, seen = seconds, None
    while left > 0 and client.status == "running":
        await asyncio.sleep(min(_LOOK_S, left))
        with contextlib.suppress(OSError, RuntimeError, TimeoutError, KeyError):
            mark = await client.get_metadata([_NAME], default=None)
            if mark == _PART:
                return
            busy = any((await client.processing()).values()) or mark != seen
            left, seen = seconds if busy else left - _LOOK_S, mark
