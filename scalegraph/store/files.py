"""The file of a study: its header and version, how it is replaced, and error messages."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scalegraph.base.errors import StoreError
from scalegraph.base.files import reason
from scalegraph.base.run import RunRecord
from scalegraph.store import migrations
from scalegraph.store.manifest import FORMAT

SUFFIX = ".sgstudy"
_MAGIC = b"SQLite format 3\0"


def seen_from(record: RunRecord, before: Path, after: Path) -> RunRecord:
    """Return *record* with its trace path converted from relative to *before* to relative to *after*."""
    if record.trace is None:
        return record
    path = os.path.relpath(before / record.trace.path, after)
    return record.model_copy(update={"trace": record.trace.model_copy(update={"path": path})})


def check_header(path: Path) -> None:
    """Reject files that are obviously not studies before SQLite reads them."""
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
    except FileNotFoundError:
        raise StoreError(f"{path}: no such study") from None
    except IsADirectoryError:
        raise StoreError(f"{path}: is a directory; a study file ({SUFFIX}) was expected") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {reason(error)}") from error
    if head != _MAGIC:
        raise StoreError(f"{path}: is not a ScaleGraph study")


def checked(connection: sqlite3.Connection, path: Path, *, write: bool) -> sqlite3.Connection:
    """Return a connection with tables of the current version; a viewer of an older file gets a migrated copy."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != migrations.APPLICATION_ID:
        raise StoreError(f"{path}: is an SQLite file, but not a ScaleGraph study")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > FORMAT:
        raise StoreError(
            f"{path}: was written by a newer ScaleGraph (study format {version}); this one reads formats up to {FORMAT}"
        )
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise StoreError(f"{path}: is damaged: {found}")
    if version < 1:
        raise StoreError(f"{path}: is damaged: study format {version} was never written")
    if version < FORMAT:
        if not write:
            copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            connection.backup(copy)
            connection.close()
            connection = copy
        migrations.migrate(connection, version)
    return connection


@contextlib.contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """Yield a temporary name in *path*'s directory for a file to be renamed to it; remove any leftovers."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    umask = os.umask(0)
    os.umask(umask)
    os.fchmod(handle, 0o666 & ~umask)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
        Path(f"{name}-journal").unlink(missing_ok=True)


@contextlib.contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Convert errors of SQLite and the system to a sentence for the user."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {_sentence(error)}") from error
    except UnicodeDecodeError as error:  # SQLite failed to report a damaged name
        raise StoreError(f"{path}: is damaged") from error
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {reason(error)}") from error


def _sentence(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return {
        sqlite3.SQLITE_FULL: "cannot be written: the disk is full",
        sqlite3.SQLITE_IOERR: "cannot be read or written: the disk is full or failing",
        sqlite3.SQLITE_READONLY: "cannot be written: it is read-only",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened: the file or its directory does not allow it",
        sqlite3.SQLITE_BUSY: "is locked by another program that writes it",
        sqlite3.SQLITE_LOCKED: "is locked by another program that writes it",
        sqlite3.SQLITE_CORRUPT: "is damaged",
        sqlite3.SQLITE_NOTADB: "is not a ScaleGraph study, or is damaged",
    }.get(code, f"cannot be used: {error}")
