"""Atomic file writing."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from scalegraph.base.errors import Fault, InputError, WorkError


def check_directory(path: Path) -> None:
    """Raise `InputError` if the directory of *path* does not exist; it is not created."""
    if path.parent.exists() and not path.parent.is_dir():
        raise InputError(Fault(f"'{path.parent}' is not a directory", file=str(path)))
    if not path.parent.is_dir():
        raise InputError(Fault(f"there is no directory '{path.parent}'; create it first", file=str(path)))


def check_replaceable(path: Path) -> None:
    """Raise unless *path* can be written or replaced.

    Raises `InputError` if its directory does not exist, `WorkError` if it is not a regular file: devices and
    directories are never replaced.
    """
    check_directory(path)
    if path.exists() and not path.is_file():
        raise WorkError(f"{path}: is not a regular file; the name of a file was expected")


def write_atomic(path: Path, data: bytes | str, *, private: bool = False, brief: bool = False) -> None:
    """Write *data* to *path* atomically: a reader sees either the old or the new content.

    *private*: readable by this user only. *brief*: needed for a moment only, so that the disk need not have it.

    Raises `WorkError` with a sentence if the disk is full or the file cannot be written, `InputError` if the directory
    does not exist.
    """
    raw = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    check_replaceable(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(raw)
                out.flush()
                if not brief:
                    os.fsync(out.fileno())
            if not private:  # private from its creation
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
    """Return the operating system's error message."""
    if error.errno == errno.ENOSPC:
        return "the disk is full"
    return (error.strerror or str(error)).lower()


# A file that unpacks to more than this many times its size is a decompression bomb: logs and traces reach about 50.
MOST_EXPANSION = 250
_ALWAYS_UNPACKED = 16 << 20  # bytes; empty lines of this size take some seconds to read


def expands_too_much(packed: int, unpacked: int) -> bool:
    """Return whether a container of *packed* bytes expands suspiciously, with *unpacked* bytes so far."""
    return unpacked > _ALWAYS_UNPACKED and unpacked > MOST_EXPANSION * packed
