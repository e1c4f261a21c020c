"""What is known of functions from earlier builds, kept in the cache."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

from scalegraph.runtime import format as written
from scalegraph.runtime.cache import cache_root, tidy, touch

_LIMIT_BYTES: Final = 256 * 2**20
_FILE: Final = "functions.sqlite"
_WAIT_S: Final = 20.0  # for another process that is writing
_TABLE: Final = "CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


class Kept:
    """Values by key; this one forgets everything."""

    def get(self, _key: str) -> Any:
        """Return the value kept under *key*, None if there is none."""
        return None

    def put(self, _key: str, _value: object) -> None:
        """Keep a value, which JSON can express."""


class _Stored(Kept):
    """Values in a database; a fault of it only costs time."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._new: dict[str, bytes] = {}

    def get(self, key: str) -> Any:
        try:
            row = self._database.execute("SELECT value FROM kept WHERE key = ?", (key,)).fetchone()
            return None if row is None else json.loads(zlib.decompress(row[0]))
        except (sqlite3.Error, zlib.error, ValueError):
            return None

    def put(self, key: str, value: object) -> None:
        self._new[key] = zlib.compress(json.dumps(value).encode(), 1)

    def write(self) -> None:
        with self._database:
            self._database.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", self._new.items())


@contextmanager
def nothing_kept() -> Iterator[Kept]:
    """Give nothing, and keep nothing."""
    yield Kept()


@contextmanager
def kept_functions() -> Iterator[Kept]:
    """Give what is kept of functions; what was added is written at the end, unless that fails."""
    parent = cache_root() / "functions"
    place = parent / _code_digest()
    try:
        place.mkdir(parents=True, exist_ok=True)
        touch(place)
        tidy(parent, _LIMIT_BYTES, keep=place)
        database = sqlite3.connect(place / _FILE, timeout=_WAIT_S)
        database.execute(_TABLE)
    except (OSError, sqlite3.Error):
        yield Kept()
        return
    kept = _Stored(database)
    try:
        yield kept
        with suppress(sqlite3.Error):
            kept.write()
    finally:
        database.close()


@cache
def _code_digest() -> str:
    """Return a digest of the code that finds what is kept."""
    here = Path(__file__).parent.parent
    total = hashlib.sha256()
    for path in (
        *sorted(path for path in here.rglob("*.*") if path.suffix in (".py", ".c", ".h")),
        Path(written.__file__),
    ):
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:24]
