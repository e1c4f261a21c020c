"""Files written whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from scalegraph.base.errors import Fault, InputError, WorkError


def check_directory(path: Path) -> None:
    """Raise `InputError` if the directory that *path* is to be written into does not exist: none is made for it."""
    if path.parent.exists() and not path.parent.is_dir():
        raise InputError(Fault(f"'{path.parent}' is no directory", file=str(path)))
    if not path.parent.is_dir():
        raise InputError(Fault(f"there is no directory '{path.parent}'; make it first", file=str(path)))


def check_replaceable(path: Path) -> None:
    """Raise unless *path* can be written or replaced.

    Raises `InputError` if its directory does not exist, `WorkError` if it is no regular file: a device or directory is
    not to be replaced.
    """
    check_directory(path)
    if path.exists() and not path.is_file():
        raise WorkError(f"{path}: is not a regular file; the name of a file was expected")


def write_atomic(path: Path, data: bytes | str, *, private: bool = False) -> None:
    """Write *data* to *path* so that a reader sees the old content or the new, never a part.

    *private*: only this user may read it.

    Raises `WorkError` with one sentence when the disk is full or the place cannot be written, `InputError` when
    there is no such directory.
    """
    raw = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    check_replaceable(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(raw)
                out.flush()
                os.fsync(out.fileno())
            if not private:  # as it is made, nobody else may read it
                umask = os.umask(0)
                os.umask(umask)
                Path(temporary).chmod(0o666 & ~umask)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise WorkError(f"{path}: cannot be written: {reason(error)}") from error


def reason(error: OSError) -> str:
    """Return the operating system's reason in words."""
    if error.errno == errno.ENOSPC:
        return "the disk is full"
    return (error.strerror or str(error)).lower()


# A file that unpacks to more than this many times its size was made to fill memory: logs and traces reach some 50.
MOST_EXPANSION = 250
_ALWAYS_UNPACKED = 16 << 20  # bytes; empty lines of this size are read in some seconds


def expands_too_much(packed: int, unpacked: int) -> bool:
    """Return whether a container of *packed* bytes holds more than any honest one, with *unpacked* bytes so far."""
    return unpacked > _ALWAYS_UNPACKED and unpacked > MOST_EXPANSION * packed
