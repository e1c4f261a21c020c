"""Files and directories accessible to this user only."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import platformdirs

from scalegraph.base.errors import WorkError
from scalegraph.base.files import reason, write_atomic

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def state_root() -> Path:
    """Return the directory for this user's ScaleGraph state (``XDG_STATE_HOME``, ``~/.local/state/scalegraph``)."""
    return Path(platformdirs.user_state_dir("scalegraph", appauthor=False))


def private_directory(path: Path) -> Path:
    """Return the directory *path*, created with mode 0700 if missing; an existing one of this user gets that mode.

    Raises `WorkError` if it cannot be created, is a symbolic link, or belongs to another account.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            raise WorkError(f"{path}: is not a directory of this account; remove it")
        if status.st_mode & _OTHERS:
            path.chmod(0o700)
    except OSError as error:
        raise WorkError(f"{path}: cannot be used: {reason(error)}") from error
    return path


def write_private(path: Path, data: str) -> None:
    """Write *data* to *path* atomically, readable by this user only; raise as `write_atomic`."""
    write_atomic(path, data, private=True)


def read_private(path: Path) -> str | None:
    """Return the text of *path* if only this user can read or write it, otherwise None."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(handle, encoding="utf-8", errors="replace") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & _OTHERS:
            return None
        return file.read()
