"""File locks: held by one process at a time, and released by the kernel however the process ends."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Unix: there are no simulations there, and existing studies are opened without a lock
    fcntl = None  # type: ignore[assignment]


class Taken(Exception):  # noqa: N818 - reads as what it is in an except clause
    """Another process holds the lock; *holder* is its process number, 0 if unknown."""

    def __init__(self, holder: int = 0) -> None:
        super().__init__(f"is held by process {holder}")
        self.holder = holder


class FileLock:
    """An exclusive lock on the file at *path*, held from construction until `release`.

    Unlike a process number in a file name, the lock works in every PID namespace. Symbolic links are not followed.
    Raises `Taken` while another process, or another lock of this one, holds it, `OSError` if the file cannot be
    created.
    """

    def __init__(self, path: Path, mode: int = 0o600) -> None:
        self._path = path
        self._handle = -1
        while self._handle < 0:
            self._handle = self._try(mode)

    def _try(self, mode: int) -> int:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self._is_ours(handle):  # its last holder removed the file between our open and our lock
                os.close(handle)
                return -1
        except BlockingIOError:
            holder = os.pread(handle, 32, 0).decode(errors="replace").strip()
            os.close(handle)
            raise Taken(int(holder) if holder.isdecimal() else 0) from None
        except OSError:
            os.close(handle)
            raise
        with contextlib.suppress(OSError):  # disk full: the number is for display only, the lock works without it
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        return handle

    def _is_ours(self, handle: int) -> bool:
        try:
            there = self._path.lstat()
        except FileNotFoundError:
            return False
        here = os.fstat(handle)
        return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)

    def release(self) -> None:
        """Remove the file and release the lock. May be called again."""
        if self._handle >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = -1
