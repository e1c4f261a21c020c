"""Waits for a program on this computer to end."""

from __future__ import annotations

import os
import select
import subprocess
import time
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import RunError
from scalegraph.base.units import as_read

_POLL_S = 0.05


def await_end(child: subprocess.Popen[bytes], program: str, limit_s: float, cancel: CancelToken) -> None:
    """Return as soon as *child* has ended; its status has yet to be read.

    *program* is its path. Raises `RunError` after *limit_s* seconds, `Cancelled`; the child keeps running then.
    """
    start = time.perf_counter()
    handle = os.pidfd_open(child.pid)  # reports the end immediately; Popen.wait with a timeout polls
    try:
        while not select.select([handle], [], [], _POLL_S)[0]:
            cancel.check()
            if time.perf_counter() - start > limit_s:
                raise RunError(f"{Path(program).name}: took longer than {as_read(limit_s)} s on this host")
    finally:
        os.close(handle)
