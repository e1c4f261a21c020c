"""Turns of measurements: only one at a time on a computer, among this user's ScaleGraphs."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import RunError, WorkError
from scalegraph.base.files import reason
from scalegraph.base.locks import FileLock, Taken
from scalegraph.base.private import private_directory, state_root

_TURN_S: Final = 0.2  # delay in noticing the end of another measurement, or a request to stop
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")  # the same in every container of a computer


@contextlib.contextmanager
def alone(cancel: CancelToken, waits: Callable[[str], None] = lambda _why: None) -> Iterator[float]:
    """Wait until nothing else is measured on this computer for the same user; yield the waiting time in seconds.

    *waits* is called once, with a sentence, if there is a wait. Raises `Cancelled`, and `RunError` where no lock can be
    taken: without one, two measurements would distort each other.
    """
    began, lock = time.monotonic(), None
    path = _lock_path()
    while lock is None:
        cancel.check()
        try:
            lock = FileLock(path)
        except Taken as taken:
            waits(f"waits for another measurement on this computer (process {taken.holder})")
            waits = _silent
            cancel.wait(_TURN_S)
        except OSError as error:
            raise RunError(f"{path}: measurements cannot take turns: {reason(error)}") from error
    try:
        yield time.monotonic() - began
    finally:
        lock.release()


def _silent(_why: str) -> None:
    """Say nothing again."""


def _lock_path() -> Path:
    """Return the lock file, in a directory that only this user can write.

    It is in the state directory, which all of the user's processes share; if that cannot be written, in the runtime
    directory.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    places = [state_root(), *([Path(runtime) / "scalegraph"] if runtime else [])]
    faults = []
    for place in places:
        try:
            directory = private_directory(private_directory(place) / "locks")
            if os.access(directory, os.W_OK):
                return directory / f"measuring-{_computer()}"
            faults.append(f"{directory}: cannot be written")
        except WorkError as error:
            faults.append(str(error))
    raise RunError(f"measurements cannot take turns: {faults[0]}")


def _computer() -> str:
    """Return an identifier of this computer that differs from others with the same home directory."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return socket.gethostname()
