"""The per-user cache: results that can be recomputed at any time, kept to save that time."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import platformdirs

from scalegraph.base.errors import WorkError
from scalegraph.base.files import reason
from scalegraph.base.private import private_directory

Waiting = Callable[[float], None]  # called with the seconds waited so far; may raise to stop waiting

_STALE_S = 3600.0  # a temporary directory this old belongs to a process that was killed
_PATIENCE_S = 0.2  # between two checks whether another process is done
_TIDIED = ".tidied"  # marks when the entries next to it were last trimmed
_CONTENTS = ".contents.json"  # size and digest of every file of an entry, written last
_DIGESTED = 32 * 2**20  # bytes; for larger files only the size is compared: formats that large have checksums


def cache_root() -> Path:
    """Return the cache directory: ``SCALEGRAPH_CACHE`` if set, otherwise the user's (``~/.cache/scalegraph``)."""
    override = os.environ.get("SCALEGRAPH_CACHE")
    return Path(override).absolute() if override else _users_own(Path(platformdirs.user_cache_dir("scalegraph")))


@cache
def _users_own(path: Path) -> Path:
    """Return *path*, after making sure that no other account can write it: programs in it are executed."""
    with suppress(WorkError):  # whoever writes there gets the system's reason
        private_directory(path)
    return path


def get_or_make(directory: Path, make: Callable[[Path], None], waiting: Waiting | None = None) -> Path:
    """Return *directory*, filled by *make* if it does not exist yet, or if files in it are damaged or missing.

    *make* gets a temporary directory that takes its final name only when complete, so a process that sees *directory*
    sees all of it. If two processes (or threads) need it at once, one makes it and the other waits; *waiting* is called
    repeatedly with the seconds so far.

    Raises `WorkError` when the cache cannot be written, and whatever *make* and *waiting* raise.
    """
    if _is_whole(directory):
        touch(directory)
        return directory
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with _alone(directory.parent / f".{directory.name}.lock", waiting):
            if not _is_whole(directory):
                shutil.rmtree(directory, ignore_errors=True)
                _make(directory, make)
    except OSError as error:
        raise WorkError(
            f"{directory.parent}: the cache cannot be written: {reason(error)}; "
            "set SCALEGRAPH_CACHE to a writable directory"
        ) from error
    return directory


def spoil(directory: Path) -> None:
    """Note damage to the entry *directory* that its file sizes do not show, so that `get_or_make` makes it again."""
    with suppress(OSError):
        (directory / _CONTENTS).unlink()


@contextmanager
def _alone(path: Path, waiting: Waiting | None) -> Iterator[None]:
    """Hold the lock at *path*; a lock is released when the process holding it ends."""
    # imported late: a cache hit needs no lock, and importing this takes as long as a short run
    from filelock import FileLock, Timeout

    lock, began = FileLock(path, is_singleton=False), time.monotonic()
    while True:
        try:
            lock.acquire(timeout=-1 if waiting is None else _PATIENCE_S)
            break
        except Timeout:
            if waiting is not None:
                waiting(time.monotonic() - began)
    try:
        yield
    finally:
        lock.release()


def _make(directory: Path, make: Callable[[Path], None]) -> None:
    temporary = Path(tempfile.mkdtemp(dir=directory.parent, prefix=".new-"))
    try:
        make(temporary)
        files = sorted(path for path in temporary.rglob("*") if path.is_file())
        listed = {str(path.relative_to(temporary)): _stamp(path) for path in files}
        (temporary / _CONTENTS).write_text(json.dumps(listed), encoding="utf-8")
        temporary.chmod(0o755)
        temporary.replace(directory)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _is_whole(directory: Path) -> bool:
    """Return whether the entry *directory* exists with all its files unchanged."""
    try:
        listed = json.loads((directory / _CONTENTS).read_text(encoding="utf-8"))
        return all(_stamp(directory / name) == stamp for name, stamp in listed.items())
    except (OSError, ValueError, AttributeError):
        return False


def _stamp(path: Path) -> list[int | str]:
    """Return the size of a file and, unless it is very large, its digest."""
    size = path.stat().st_size
    return [size, hashlib.sha256(path.read_bytes()).hexdigest() if size <= _DIGESTED else ""]


def touch(directory: Path) -> None:
    """Note that *directory* was used now; `trim` removes the least recently used first."""
    try:
        os.utime(directory)
    except OSError:
        return  # a read-only cache is still of use


def trim(parent: Path, limit_bytes: int, keep: Path | None = None) -> None:
    """Remove the least recently used entries of *parent* until the rest takes at most *limit_bytes*; never *keep*.

    Entries used within the last hour stay, since another process may be running them.
    """
    now = time.time()
    entries: list[tuple[float, int, Path]] = []
    try:
        for entry in parent.iterdir():
            used = entry.stat().st_mtime
            if entry.name.startswith(".") and now - used > _STALE_S:
                _remove(entry)
            elif not entry.name.startswith("."):
                entries.append((used, _size(entry), entry))
    except OSError:
        return
    total = sum(size for _, size, _ in entries)
    for used, size, entry in sorted(entries, key=lambda item: item[0]):
        if total <= limit_bytes or now - used < _STALE_S:
            return
        if entry != keep:
            _remove(entry)
            total -= size


def tidy(parent: Path, limit_bytes: int, keep: Path | None = None) -> None:
    """Do what `trim` does, but at most once an hour.

    A trim visits every file of the cache: with some thousand builds that takes a third of the time of one more build.
    """
    stamp = parent / _TIDIED
    with suppress(OSError):
        if time.time() - stamp.stat().st_mtime < _STALE_S:
            return
    with suppress(OSError):
        stamp.touch()
        trim(parent, limit_bytes, keep)


def _size(entry: Path) -> int:
    if not entry.is_dir():
        return entry.stat().st_size
    return sum(path.stat().st_size for path in entry.iterdir() if path.is_file())


def _remove(entry: Path) -> None:
    if entry.is_dir():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        entry.unlink(missing_ok=True)
