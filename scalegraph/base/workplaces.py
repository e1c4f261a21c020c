"""Temporary directories that are cleaned up: those of a killed ScaleGraph are removed by the next one."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scalegraph.base.locks import FileLock, Taken

LOCK: Final = ".lock"  # in each directory: held while it is in use
_OLD_S: Final = 60.0  # a directory without a lock is just being created or removed, unless it is this old
_SWEEP_S: Final = 60.0  # minimum time between two clean-ups by a process

_due: dict[tuple[str, Path], float] = {}  # when the next clean-up is due, by name prefix and directory


@contextlib.contextmanager
def workplace(kind: str, above: Path | None = None, *, shared: bool = False) -> Iterator[Path]:
    """Yield a new directory of mode 0700 in *above*, removed at the end; raise `OSError` if it cannot be created.

    Its name begins with *kind*. Abandoned directories of this kind are removed first, at most once a minute. *above*:
    by default the directory for temporary files. *shared*: other computers also write into *above*, and their locks may
    be invisible here; only directories created by this computer are removed.
    """
    above = Path(tempfile.gettempdir()) if above is None else above
    start = f"{kind}-{socket.gethostname()}-" if shared else f"{kind}-"
    # a sweep of thousands of short runs should not clean up each time
    if time.monotonic() >= _due.get((start, above), 0.0):
        _sweep(start, above)
        _due[start, above] = time.monotonic() + _SWEEP_S
    place, lock = _made(start, above)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        lock.release()


def _made(start: str, above: Path) -> tuple[Path, FileLock]:
    while True:
        place = Path(tempfile.mkdtemp(prefix=start, dir=above))
        try:
            return place, FileLock(place / LOCK)
        except (Taken, FileNotFoundError):  # another process removed it as abandoned: try again
            continue
        except OSError:
            place.rmdir()
            raise


def _sweep(start: str, above: Path) -> None:
    pattern = re.compile(rf"{re.escape(start)}[^-]*")
    for path in above.iterdir():
        if pattern.fullmatch(path.name):
            with contextlib.suppress(OSError, Taken):
                _remove_left(path)


def _remove_left(path: Path) -> None:
    """Remove the directory *path* if it belongs to this user and no process holds its lock."""
    status = path.lstat()
    if status.st_uid != os.geteuid() or path.is_symlink():
        return
    if not (path / LOCK).exists():
        if time.time() - status.st_mtime > _OLD_S:
            path.rmdir()  # removes only an empty directory: its creator was killed before locking it
        return
    lock = FileLock(path / LOCK)
    try:
        shutil.rmtree(path, ignore_errors=True)
    finally:
        lock.release()
