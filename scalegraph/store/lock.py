"""A lock file beside a study: one writer at a time; the kernel releases it when the process ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from scalegraph.base.errors import StoreError
from scalegraph.base.files import reason


class WriteLock:
    """Held from construction until `release`; raises `StoreError` naming the process that writes the study now.

    The kernel drops the lock when its holder ends in any way, so a lock file left behind blocks no process.
    """

    def __init__(self, study: Path) -> None:
        self._path = study.with_name(f".{study.name}.lock")
        self._handle = -1
        while self._handle < 0:
            self._handle = self._try(study)

    def _try(self, study: Path) -> int:
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StoreError(f"{study}: cannot be written: {reason(error)}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 32, 0).decode(errors="replace").strip()
            os.close(handle)
            by = f" (process {holder})" if holder.isdigit() else ""
            raise StoreError(f"{study}: is being written by another ScaleGraph{by}; wait for it or stop it") from None
        except OSError as error:
            os.close(handle)
            raise StoreError(f"{study}: cannot be locked: {reason(error)}") from error
        if not self._is_ours(handle):  # its last holder removed it between our open and our lock
            os.close(handle)
            return -1
        try:
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        except OSError:
            pass  # a full disk: the number is for display only, the lock holds without it
        return handle

    def _is_ours(self, handle: int) -> bool:
        try:
            there = self._path.stat()
        except FileNotFoundError:
            return False
        here = os.fstat(handle)
        return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)

    def release(self) -> None:
        """Let others write. May be called again."""
        if self._handle >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = -1
