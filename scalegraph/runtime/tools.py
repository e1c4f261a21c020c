"""Runs compilers and build commands: keeps their output, and stops when the user asks."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import WorkError
from scalegraph.runtime.cache import cache_root

_POLL_S = 0.1


def call(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    stdin: str = "",
    cancel: CancelToken | None = None,
    env: Mapping[str, str] | None = None,
    merge: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run *command* with *env* added to the environment; with *merge*, stderr is mixed into stdout, in order.

    Raises `Cancelled` when *cancel* requests it (the command and its children are then ended), `WorkError` if the disk
    is full.
    """
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merge else subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, **(env or {})},
        start_new_session=True,
    )
    given: str | None = stdin
    try:
        while True:
            try:
                out, err = process.communicate(given, timeout=_POLL_S)
                if process.returncode and "No space left on device" in (err or out):
                    where = f"the cache in {cache_root()}, temporary files in {tempfile.gettempdir()}"
                    raise WorkError(f"the compiler cannot write its output: the disk is full ({where})")
                return subprocess.CompletedProcess(command, process.returncode, out, err or "")
            except subprocess.TimeoutExpired:
                given = None  # a repeated communicate goes on where it was
                if cancel is not None:
                    cancel.check()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
