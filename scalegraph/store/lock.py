"""A lock file beside a study: one writer at a time; the kernel releases it when the process ends."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.errors import StoreError
from scalegraph.base.files import reason
from scalegraph.base.locks import FileLock, Taken


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
