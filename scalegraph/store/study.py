"""A study: one SQLite file that holds a request, its program and machine as they were, and the runs so far."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from pydantic import ValidationError
from pydantic_core import from_json

from scalegraph.base.errors import StoreError
from scalegraph.base.files import check_directory, check_replaceable, reason
from scalegraph.base.run import RunRecord
from scalegraph.store import codec, migrations
from scalegraph.store.lock import WriteLock
from scalegraph.store.manifest import FORMAT, Manifest

if TYPE_CHECKING:
    import pandas as pd

    from scalegraph.measurements.mapping import Mapping
    from scalegraph.measurements.model import MeasurementSet

SUFFIX = ".sgstudy"
_BUSY_MS = 10_000  # a reader waits this long for a writer's commit, which takes milliseconds
_PATIENT_MS = 600_000  # a writer for readers: one that was stopped while it read must not end a sweep
_MAGIC = b"SQLite format 3\0"


class Study:
    """An open study. Made by `create`, `open` or `memory`; closed by `close` or at the end of a ``with``.

    Every run that is added is one transaction: killing the process at any moment loses at most the run in flight.
    May be used from several threads. Every method raises `StoreError` with one sentence when the file is
    damaged, cannot be read or written.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path | None, lock: WriteLock | None) -> None:
        self._connection = connection
        self._path = path
        self._lock = lock
        self._mutex = threading.RLock()
        self._cache: dict[int, RunRecord] = {}
        # By point: runs in memory with their output, which are packed only if the study is saved.
        self._unpacked: dict[str, RunRecord] = {}
        self._manifest: Manifest | None = None
        self._version = 0  # of the file, when the manifest was read
        self._set: tuple[MeasurementSet, Mapping | None] | None = None
        self.writable = lock is not None or path is None
        self.work = ""  # what W is for who looks at it now (`analyze.workload`); not kept

    @classmethod
    def create(cls, path: str | Path, manifest: Manifest, *, overwrite: bool = False) -> Study:
        """Make the study file *path* and open it for writing. An existing file is refused unless *overwrite*."""
        path = Path(path)
        if path.exists() and not overwrite:
            raise StoreError(f"{path}: exists already; open it, or choose another name")
        check_directory(path)
        with _sentences(path):
            lock = WriteLock(path)
            try:
                with _temporary(path) as fresh, cls.memory(manifest) as study:
                    study._copy_to(fresh)
                    # of a study that was here before, if its writer was killed: it is no part of this one
                    path.with_name(path.name + "-journal").unlink(missing_ok=True)
                    fresh.replace(path)
                return cls._opened(path, lock)
            except BaseException:
                lock.release()
                raise

    @classmethod
    def memory(cls, manifest: Manifest) -> Study:
        """Make a study in memory until it is saved by `save_as`."""
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrations.lay_out(connection)
        study = cls(connection, None, None)
        study._put("manifest", manifest.model_dump(mode="json"))
        return study

    @classmethod
    def open(cls, path: str | Path, *, write: bool = False) -> Study:
        """Open the study *path*, for viewing unless *write*. Runs nothing that the file holds.

        Raises `StoreError` for a missing, damaged or foreign file, for one of a newer ScaleGraph, and with
        *write* for one that another process is writing.
        """
        path = Path(path)
        with _sentences(path):
            _check_header(path)
            lock = WriteLock(path) if write else None
            try:
                return cls._opened(path, lock)
            except BaseException:
                if lock:
                    lock.release()
                raise

    @classmethod
    def _opened(cls, path: Path, lock: WriteLock | None) -> Study:
        # A journal left by a killed writer is rolled back by the next one who may write, a viewer included.
        mode = "rw" if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK) else "ro"
        if lock and mode == "ro":
            raise StoreError(f"{path}: cannot be written: permission denied")
        uri = f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}"
        connection = sqlite3.connect(
            uri,
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=(_PATIENT_MS if lock else _BUSY_MS) / 1000,
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection = _checked(connection, path, write=lock is not None)
            connection.execute(f"PRAGMA query_only = {'OFF' if lock else 'ON'}")
            study = cls(connection, path, lock)
            study._read_manifest()
        except BaseException:
            connection.close()
            raise
        return study

    @property
    def path(self) -> Path | None:
        """The file, or None for a study in memory."""
        return self._path

    @property
    def name(self) -> str:
        """Short name for display."""
        return self._path.stem if self._path else "unsaved study"

    def version(self) -> int:
        """Return a number that is another one when another connection has changed the file."""
        with self._mutex, self._said():
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    @property
    def manifest(self) -> Manifest:
        """Facts of the study besides its runs: title, program, machine, sources."""
        version = self.version()  # another process or window may have replaced it
        if self._manifest is None or version != self._version:
            self._manifest, self._version = self._read_manifest(), version
        return self._manifest

    def set_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest (a resumed study takes the request that resumed it)."""
        with self._mutex, self._said():
            self._put("manifest", manifest.model_dump(mode="json"))
            self._manifest = manifest

    def facts(self, key: str) -> Any:
        """Return the JSON value stored under *key* beside the manifest (``searches``, ..), or None."""
        with self._mutex, self._said():
            return self._get(f"fact.{key}")

    def set_facts(self, key: str, value: Any) -> None:
        """Store a JSON value under *key* beside the manifest."""
        with self._mutex, self._said():
            self._put(f"fact.{key}", value)

    def measurements(self) -> MeasurementSet | None:
        """Return the measurement set that the runs were made of; None where they were not made of one."""
        found = self._measured()
        return None if found is None else found[0]

    def mapping(self) -> Mapping | None:
        """Return what the names of the measurement set mean, None where that was never said."""
        found = self._measured()
        return None if found is None else found[1]

    def set_measurements(self, measured: MeasurementSet, mapping: Mapping | None = None) -> None:
        """Keep *measured* and what its names mean in the study, in place of an earlier set."""
        from scalegraph.store import sets

        packed = sets.pack(measured, mapping)
        with self._mutex, self._said():
            self._writable()
            self._connection.execute("INSERT OR REPLACE INTO measurements VALUES (1, ?, ?, ?, ?)", packed)
            self._set = (measured, mapping)

    def _measured(self) -> tuple[MeasurementSet, Mapping | None] | None:
        with self._mutex, self._said():
            if self._set is None:
                query = "SELECT description, points, call_paths, vals FROM measurements"
                row = self._connection.execute(query).fetchone()
                if row is None:
                    return None
                from scalegraph.store import sets

                try:
                    self._set = sets.unpack(row)
                except (ValueError, RecursionError) as error:
                    raise StoreError(f"{self._place}: is damaged: its measurements: {error}") from None
            return self._set

    def add_run(self, record: RunRecord) -> None:
        """Add *record*, in place of an earlier run of the same point; it is on the disk when this returns."""
        light, output = (b"", b"") if self._path is None else codec.pack(record)
        row = (record.point.key, record.point.processors, record.status, light, output)
        with self._mutex, self._said():
            self._writable()
            if self._path is None:
                self._unpacked[record.point.key] = record
            done = self._connection.execute(
                "INSERT OR REPLACE INTO runs (key, processors, status, record, output) VALUES (?, ?, ?, ?, ?)", row
            )
            assert done.lastrowid is not None
            self._cache[done.lastrowid] = record.model_copy(update={"stdout": "", "stderr": ""})  # need not be read

    def add_runs(self, records: Iterable[RunRecord]) -> None:
        """Add many records in one transaction: all of them or none."""
        with self._mutex, self._said():
            self._writable()
            before = dict(self._unpacked)
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for record in records:
                    self.add_run(record)
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                self._cache.clear()  # numbers of rows that are not there come again
                self._unpacked = before
                raise

    def has(self, key: str, *, ok: bool = True) -> bool:
        """Whether there is a run of the point *key* (`RunPoint.key`); with *ok* only one that ended well."""
        query = "SELECT 1 FROM runs WHERE key = ?" + (" AND status = 'ok'" if ok else "")
        with self._mutex, self._said():
            return self._connection.execute(query, (key,)).fetchone() is not None

    def keys(self, *, ok: bool = True) -> frozenset[str]:
        """Return the keys of the points that were run; with *ok* only of those that ended well."""
        query = "SELECT key FROM runs" + (" WHERE status = 'ok'" if ok else "")
        with self._mutex, self._said():
            return frozenset(row[0] for row in self._connection.execute(query))

    def __len__(self) -> int:
        """Return the number of runs, what-if runs included."""
        with self._mutex, self._said():
            return int(self._connection.execute("SELECT count(*) FROM runs").fetchone()[0])

    def runs(self, *, output: bool = False, target: str | None = None) -> list[RunRecord]:
        """Return the actual runs of *target* in the order they came; what the programs printed only with *output*.

        *target*: its name, empty for the simulated one; the study's first one (`targets`) if it is None. What-if runs
        are kept apart, see `variants`.
        """
        return self._of_target(output=output, target=target, variants=False)

    def variants(self, *, output: bool = False, target: str | None = None) -> list[RunRecord]:
        """Return the what-if runs of *target* in the order they came: of a machine or a program that is different."""
        return self._of_target(output=output, target=target, variants=True)

    def every_run(self, *, output: bool = False) -> list[RunRecord]:
        """Return all runs in the order they came: of every target, what-if runs included."""
        return self._all(output=output)

    def targets(self) -> tuple[str, ...]:
        """Return the targets that the study has runs of: the simulated one (an empty name) first, then by name."""
        return tuple(sorted({record.point.target for record in self._all(output=False)}))

    def _of_target(self, *, output: bool, target: str | None, variants: bool) -> list[RunRecord]:
        every = self._all(output=output)
        chosen = min((record.point.target for record in every), default="") if target is None else target
        return [one for one in every if one.point.target == chosen and bool(one.point.variant) == variants]

    def _all(self, *, output: bool) -> list[RunRecord]:
        columns = "id, key, record" + (", output" if output else "")
        with self._mutex, self._said():
            rows = self._connection.execute(f"SELECT {columns} FROM runs ORDER BY id").fetchall()
            return [self._record(*row) for row in rows]

    def run(self, key: str) -> RunRecord | None:
        """Return the run of the point *key* with all it printed, or None."""
        with self._mutex, self._said():
            row = self._connection.execute("SELECT id, key, record, output FROM runs WHERE key = ?", (key,)).fetchone()
            return self._record(*row) if row else None

    def table(self) -> pd.DataFrame:
        """Return the run table: one row per actual run, columns of `RunRecord.row`; missing is NaN."""
        import pandas as pd

        return pd.DataFrame([record.row() for record in self.runs()])

    def save_as(self, path: str | Path) -> None:
        """Write a copy to *path*, whole or not at all; an existing file there is replaced.

        Traces beside the study are not copied; the copy refers to them by their paths.
        """
        path = Path(path)
        if self._path and path.exists() and path.samefile(self._path):
            return
        check_replaceable(path)
        with self._mutex, _sentences(path):
            lock = WriteLock(path)
            try:
                with _temporary(path) as fresh:
                    self._copy_to(fresh, path)
                    fresh.replace(path)
            finally:
                lock.release()

    def close(self) -> None:
        """Close the file and let others write it. May be called again."""
        with self._mutex:
            self._connection.close()
            if self._lock:
                self._lock.release()
            self.writable = False

    def __enter__(self) -> Self:
        """Return the study."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the study."""
        self.close()

    def _said(self) -> contextlib.AbstractContextManager[None]:
        return _sentences(self._place)

    @property
    def _place(self) -> Path:
        """What sentences name: the file."""
        return self._path or Path("study in memory")

    def _writable(self) -> None:
        if not self.writable:
            raise StoreError(f"{self._place}: is open for viewing only")

    def _put(self, key: str, value: Any) -> None:
        self._writable()
        self._connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, json.dumps(value)))

    def _get(self, key: str) -> Any:
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        try:
            return from_json(row[0]) if row else None
        except (ValueError, TypeError) as error:
            raise StoreError(f"{self._place}: is damaged: its {key} is not JSON") from error

    def _read_manifest(self) -> Manifest:
        with self._mutex, self._said():
            try:
                return Manifest.model_validate(self._get("manifest"))
            except ValidationError as error:
                first = error.errors()[0]
                place = ".".join(map(str, ("manifest", *first["loc"])))
                what = "a table of values was expected" if not first["loc"] else first["msg"].lower()
                raise StoreError(f"{self._place}: is damaged: its {place}: {what}") from None

    def _record(self, number: int, key: str, light: bytes, output: bytes | None = None) -> RunRecord:
        if (record := self._unpacked.get(key)) is not None:
            if number not in self._cache:
                self._cache[number] = record.model_copy(update={"stdout": "", "stderr": ""})
            return self._cache[number] if output is None else record
        try:
            if number not in self._cache:
                self._cache[number] = codec.unpack(light, key)
            record = self._cache[number]
            if output is None:
                return record
            stdout, stderr = codec.unpack_output(output)
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{self._place}: is damaged: run {number}: {error}") from None
        return record.model_copy(update={"stdout": stdout, "stderr": stderr})

    def _copy_to(self, path: Path, final: Path | None = None) -> None:
        """Copy everything to the file *path*, which will be *final*: seen from there, traces are elsewhere."""
        for key, record in self._unpacked.items():
            packed = codec.pack(record)
            self._connection.execute("UPDATE runs SET record = ?, output = ? WHERE key = ?", (*packed, key))
        self._unpacked.clear()
        target = sqlite3.connect(path, isolation_level=None)
        try:
            self._connection.backup(target)
            before = (self._path or Path("study")).absolute().parent
            if final is not None and final.absolute().parent != before:
                for record in (one for one in self._all(output=False) if one.trace is not None):
                    light, _output = codec.pack(_seen_from(record, before, final.absolute().parent))
                    target.execute("UPDATE runs SET record = ? WHERE key = ?", (light, record.point.key))
        finally:
            target.close()


def _seen_from(record: RunRecord, before: Path, after: Path) -> RunRecord:
    """Return *record* with the path of its trace, relative to the directory *before*, relative to *after*."""
    if record.trace is None:
        return record
    path = os.path.relpath(before / record.trace.path, after)
    return record.model_copy(update={"trace": record.trace.model_copy(update={"path": path})})


def _check_header(path: Path) -> None:
    """Refuse what is plainly no study before SQLite examines it."""
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


def _checked(connection: sqlite3.Connection, path: Path, *, write: bool) -> sqlite3.Connection:
    """Return a connection whose tables are of this version; a viewer of an older file gets a migrated copy."""
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
def _temporary(path: Path) -> Iterator[Path]:
    """Yield a name in *path*'s directory for a file to be renamed to it; remove what is left of it."""
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
def _sentences(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say into one sentence for the user."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {_sentence(error)}") from error
    except UnicodeDecodeError as error:  # of a damaged name that SQLite wanted to complain of
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
