"""A lock file beside a study: one writer at a time; the kernel releases it when the process ends."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from scalegraph.base.errors import StoreError
from scalegraph.base.files import reason
from scalegraph.base.locks import FileLock, Taken

_LOCKS: Final = Path("/proc/locks")  # this kernel's locks, of processes visible from here
_LATELY_S: Final = 60.0


class WriteLock:
    """Held from construction until `release`; raises `StoreError` naming the process that is writing the study."""

    def __init__(self, study: Path) -> None:
        try:
            self._lock = FileLock(lock_path(study), 0o666)
        except Taken as taken:
            by = f" (process {taken.holder})" if taken.holder else ""
            raise StoreError(f"{study}: is being written by another ScaleGraph{by}; wait for it or stop it") from None
        except OSError as error:
            raise StoreError(f"{study}: cannot be written: {reason(error)}") from error

    def release(self) -> None:
        """Release the lock. May be called again."""
        self._lock.release()


def lock_path(study: Path) -> Path:
    """Return the lock file of *study*."""
    return study.with_name(f".{study.name}.lock")


def writer(study: Path) -> int | None:
    """Return the process that is writing *study*, 0 if its number is unknown, None if there is no writer.

    This takes no lock: viewers must not block writers. A lock invisible from here, as on another computer, counts while
    the study grows.
    """
    path = lock_path(study)
    try:
        status = path.stat()
        holder = path.read_text(encoding="ascii", errors="replace").strip()[:20]
        held = f":{status.st_ino} " in _LOCKS.read_text(encoding="ascii")
        lately = time.time() - study.stat().st_mtime < _LATELY_S and not _is_left(holder)
    except OSError:
        return None
    if not held and not lately:
        return None
    return int(holder) if holder.isdecimal() else 0


def _is_left(holder: str) -> bool:
    """Return whether the process *holder* was on this computer and is gone, as far as can be determined."""
    return holder.isdecimal() and not os.path.exists(f"/proc/{holder}")  # noqa: PTH110 - a number, not a path
