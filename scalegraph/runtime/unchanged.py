"""Whether files are unchanged, judged by file system metadata, so that their content need not be read again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scalegraph.runtime.cache import cache_root

Stamp = list[int]
"""Device, inode, size (bytes), and times of the last change of content and of the inode (ns); empty: no such file."""

# A file system may keep times in steps of up to two seconds (FAT). A file that was changed more recently than that
# could change again without a new time.
_STEP_NS = 2_000_000_000


def stamp(path: str) -> Stamp:
    """Return the stamp of the file or directory at *path*, following symbolic links."""
    try:
        status = os.stat(path)  # noqa: PTH116 - hundreds of paths, and objects of pathlib take as long as the call
    except OSError:
        return []
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def is_settled(found: Stamp, now_ns: int, step_ns: int | None = None) -> bool:
    """Return whether a change after *now_ns* would give the file another stamp than *found*.

    *step_ns*: resolution of its times, the coarsest of any file system if None.
    """
    return not found or max(found[3:]) + (_STEP_NS if step_ns is None else step_ns) <= now_ns


def kept(kind: str, name: str) -> Any:
    """Return the note *name* of a *kind* that `keep` wrote, None if there is no readable one."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads(_place(kind, name).read_bytes())
    return None


def keep(kind: str, name: str, note: object) -> None:
    """Write *note*, which is JSON, into the cache, atomically; do nothing if the cache is read-only."""
    place = _place(kind, name)
    fresh = place.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(note), encoding="utf-8")
        fresh.replace(place)


def _place(kind: str, name: str) -> Path:
    return cache_root() / kind / f"{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}.json"


def digest_of(paths: Sequence[str]) -> str:
    """Return a digest of the names and the content of the files at *paths*; cached until one of them changes."""
    began = time.time_ns()
    stamps = [stamp(path) for path in paths]
    name = "\0".join(paths)
    note = kept("digests", name)
    if isinstance(note, dict) and note.get("stamps") == stamps and isinstance(note.get("digest"), str):
        return str(note["digest"])
    total = hashlib.sha256()
    for path in map(Path, paths):
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    digest = total.hexdigest()
    if all(is_settled(item, began) for item in stamps) and stamps == [stamp(path) for path in paths]:
        keep("digests", name, {"stamps": stamps, "digest": digest})
    return digest
