"""Digests of what this user built or approved on this computer: in the user's state directory, never in a study."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from scalegraph.base.errors import WorkError
from scalegraph.base.files import write_atomic
from scalegraph.base.private import private_directory, state_root

_MOST: Final = 20_000  # lines; the oldest are dropped


def record_path() -> Path:
    """Return the file of the digests, one per line, oldest first."""
    return state_root() / "approved"


def is_known(fingerprint: str) -> bool:
    """Return whether this user has run or approved the code with this *fingerprint* here."""
    return fingerprint in _lines()


def remember(fingerprint: str) -> None:
    """Add *fingerprint* to the record. If it cannot be written, the user is asked again next time."""
    known = _lines()
    if fingerprint in known:
        return
    path = record_path()
    try:
        private_directory(path.parent)
        if len(known) >= _MOST:
            write_atomic(path, "".join(f"{line}\n" for line in known[-_MOST // 2 :]))
        # a short line is written atomically, even if two processes write at once
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, f"{fingerprint}\n".encode("ascii"))
        finally:
            os.close(handle)
    except (OSError, WorkError):
        return


def _lines() -> list[str]:
    try:
        return record_path().read_text(encoding="ascii", errors="replace").split()
    except OSError:
        return []
