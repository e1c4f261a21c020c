"""The study's tables, and a migration step for every change since version 1."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from scalegraph.store.manifest import FORMAT

APPLICATION_ID = 0x53475354  # "SGST": identifies the file's owner in its header

_MEASUREMENTS = """
CREATE TABLE measurements (
    id          INTEGER PRIMARY KEY CHECK (id = 1),  -- a study has one set
    description TEXT NOT NULL,         -- JSON: parameters, metrics, format, files, notes, what was skipped, mapping
    points      BLOB NOT NULL,         -- Parquet: a column a parameter
    call_paths  BLOB NOT NULL,         -- Parquet: name, parent (-1: none), file, line
    vals        BLOB NOT NULL          -- Parquet: point, call_path, metric, repetition, value
) STRICT
"""

SCHEMA = f"""
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL            -- JSON
) STRICT;
CREATE TABLE runs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    key        TEXT NOT NULL UNIQUE,   -- RunPoint.key
    processors INTEGER NOT NULL,
    status     TEXT NOT NULL,
    record     BLOB NOT NULL,          -- zlib of the RunRecord's JSON, without its output
    output     BLOB NOT NULL           -- zlib of the JSON list [stdout, stderr]
) STRICT;
{_MEASUREMENTS};
"""

# version -> the step from it to the next one
STEPS: dict[int, Callable[[sqlite3.Connection], object]] = {
    1: lambda _connection: None,  # 2: runs have more fields (what-if, causes, variables); the tables are unchanged
    2: lambda connection: connection.execute(_MEASUREMENTS),  # 3: the measurement set that the runs were made from
}


def lay_out(connection: sqlite3.Connection) -> None:
    """Create the tables of the current version in an empty database."""
    connection.executescript(SCHEMA)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def migrate(connection: sqlite3.Connection, version: int, target: int = FORMAT) -> None:
    """Migrate the tables from *version* to *target*, each step in its own transaction."""
    while version < target:
        connection.execute("BEGIN IMMEDIATE")
        try:
            STEPS[version](connection)
            version += 1
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
