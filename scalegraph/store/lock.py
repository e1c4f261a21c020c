"""A lock file beside a study: one writer at a time; the kernel releases it when the process ends."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from scalegraph.base.errors import StoreError
from scalegraph.base.files import reason
from scalegraph.base.locks import FileLock, Taken

_LOCKS: Final = Path("/proc/locks")  # what this kernel has, of processes that are seen from here
_LATELY_S: Final = 60.0


class WriteLock:
    """Held from construction until `release`; raises `StoreError` naming the process that writes the study now."""

    def __init__(self, study: Path) -> None:
        try:
            self._lock = FileLock(lock_path(study), 0o666)
        except Taken as taken:
            by = f" (process {taken.holder})" if taken.holder else ""
            raise StoreError(f"{study}: is being written by another ScaleGraph{by}; wait for it or stop it") from None
        except OSError as error:
            raise StoreError(f"{study}: cannot be written: {reason(error)}") from error

    def release(self) -> None:
        """Let others write. May be called again."""
        self._lock.release()


def lock_path(study: Path) -> Path:
    """Return the lock file of a *study*."""
    return study.with_name(f".{study.name}.lock")


def writer(study: Path) -> int | None:
    """Return the process that writes *study* now, 0 if its number is not known, None if nobody writes it.

    Nothing is locked for that: who only looks must not be in the way of who writes. A lock that is not seen from here,
    as of another computer, counts while the study grows.
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
    """Whether the process *holder* was one of this computer that is gone, as far as can be told."""
    return holder.isdecimal() and not os.path.exists(f"/proc/{holder}")  # noqa: PTH110 - a number, not a path
