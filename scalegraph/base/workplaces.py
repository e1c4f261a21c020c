"""Temporary directories that do not stay behind: those of a ScaleGraph that was killed are removed by the next one."""

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

LOCK: Final = ".lock"  # in each directory: held as long as it is used
_OLD_S: Final = 60.0  # a directory without a lock is just being made, or removed, unless it is that old
_SWEEP_S: Final = 60.0  # from one look for what was left behind to the next, of one process

_due: dict[tuple[str, Path], float] = {}  # when it is looked for next, by the beginning of names and the directory


@contextlib.contextmanager
def workplace(kind: str, above: Path | None = None, *, shared: bool = False) -> Iterator[Path]:
    """Yield a new directory of mode 0700 in *above*, removed at the end; raise `OSError` if there can be none.

    Its name begins with *kind*. Directories of this kind that no process holds any more are removed first, if that was
    not done in the last minute. *above*: the directory of temporary files if None. *shared*: other computers write into
    *above*, too, and perhaps their locks are not seen here; only directories that this computer has made are removed.
    """
    above = Path(tempfile.gettempdir()) if above is None else above
    start = f"{kind}-{socket.gethostname()}-" if shared else f"{kind}-"
    if time.monotonic() >= _due.get((start, above), 0.0):  # a sweep of thousands of short runs has other things to do
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
        except (Taken, FileNotFoundError):  # another process took it for one that was left behind: the next
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
    """Remove the directory *path* if it is this user's and no process holds its lock."""
    status = path.lstat()
    if status.st_uid != os.geteuid() or path.is_symlink():
        return
    if not (path / LOCK).exists():
        if time.time() - status.st_mtime > _OLD_S:
            path.rmdir()  # which removes an empty one only: whoever made it was killed before it held the lock
        return
    lock = FileLock(path / LOCK)
    try:
        shutil.rmtree(path, ignore_errors=True)
    finally:
        lock.release()
