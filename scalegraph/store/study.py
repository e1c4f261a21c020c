"""A study: one SQLite file with a request, its program and machine as they were, and the runs so far."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from pydantic import ValidationError
from pydantic_core import from_json

from scalegraph.base.errors import StoreError
from scalegraph.base.files import check_directory, check_replaceable
from scalegraph.base.points import setting_id
from scalegraph.base.run import RunRecord
from scalegraph.store import codec, members, migrations
from scalegraph.store.files import SUFFIX as SUFFIX
from scalegraph.store.files import check_header, checked, seen_from, sentences, temporary
from scalegraph.store.lock import WriteLock
from scalegraph.store.manifest import Manifest
from scalegraph.store.members import Choices

if TYPE_CHECKING:
    import pandas as pd

    from scalegraph.measurements.mapping import Mapping as Meaning
    from scalegraph.measurements.model import MeasurementSet

_MEMBERS = "members"  # choices of machine, split, schedule .. with runs
_BUSY_MS = 10_000  # a reader waits this long for a writer's commit, which takes milliseconds
_PATIENT_MS = 600_000  # a writer waits this long for readers: one suspended while reading must not abort a sweep


class Study:
    """An open study. Created by `create`, `open` or `memory`; closed by `close` or at the end of a ``with``.

    Every added run is one transaction: killing the process loses at most the run in flight. Thread-safe. Every method
    raises `StoreError` with a sentence if the file is damaged, or cannot be read or written.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path | None, lock: WriteLock | None) -> None:
        self._connection = connection
        self._path = path
        self._lock = lock
        self._mutex = threading.RLock()
        self._cache: dict[int, RunRecord] = {}
        # By point: runs in memory with their output, serialised only if the study is saved.
        self._unpacked: dict[str, RunRecord] = {}
        self._manifest: Manifest | None = None
        self._version = 0  # of the file, when the manifest was read
        self._set: tuple[MeasurementSet, Meaning | None] | None = None
        self._member: str | None = None  # None: the whole study, showing the runs of the first choice
        self._among: tuple[Mapping[str, str], ...] = ()  # choices in view, empty for all
        self._choices = Choices()  # shared by all views of the study
        self.writable = lock is not None or path is None
        self.work = ""  # definition of W for the current viewer (`analyze.workload`); not saved

    @classmethod
    def create(cls, path: str | Path, manifest: Manifest, *, overwrite: bool = False) -> Study:
        """Create the study file *path* and open it for writing. An existing file is rejected unless *overwrite*."""
        path = Path(path)
        if path.exists() and not overwrite:
            raise StoreError(f"{path}: exists already; open it, or choose another name")
        check_directory(path)
        with sentences(path):
            lock = WriteLock(path)
            try:
                with temporary(path) as fresh, cls.memory(manifest) as study:
                    study._copy_to(fresh)
                    # left by the killed writer of an earlier study: not part of this one
                    path.with_name(path.name + "-journal").unlink(missing_ok=True)
                    fresh.replace(path)
                return cls._opened(path, lock)
            except BaseException:
                lock.release()
                raise

    @classmethod
    def memory(cls, manifest: Manifest) -> Study:
        """Create a study in memory, which `save_as` can save."""
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrations.lay_out(connection)
        study = cls(connection, None, None)
        study._put("manifest", manifest.model_dump(mode="json"))
        return study

    @classmethod
    def open(cls, path: str | Path, *, write: bool = False) -> Study:
        """Open the study *path*, read-only unless *write*. Runs nothing from the file.

        Raises `StoreError` for a missing, damaged or foreign file, for one from a newer ScaleGraph, and with *write*
        for one being written by another process.
        """
        path = Path(path)
        with sentences(path):
            check_header(path)
            lock = WriteLock(path) if write else None
            try:
                return cls._opened(path, lock)
            except BaseException:
                if lock:
                    lock.release()
                raise

    @classmethod
    def _opened(cls, path: Path, lock: WriteLock | None) -> Study:
        # A journal left by a killed writer is rolled back by the next process with write permission, even a viewer.
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
            connection = checked(connection, path, write=lock is not None)
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
        """Return a number that changes when another connection changes the file."""
        with self._mutex, self._said():
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    @property
    def manifest(self) -> Manifest:
        """Everything about the study except its runs: title, program, machine, sources."""
        version = self.version()  # another process or window may have replaced it
        if self._manifest is None or version != self._version:
            self._manifest, self._version = self._read_manifest(), version
        return self._manifest

    def set_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest (a resumed study gets the request that resumed it)."""
        with self._mutex, self._said():
            self._put(self._own("manifest"), manifest.model_dump(mode="json"))
            self._manifest = manifest

    def facts(self, key: str) -> Any:
        """Return the JSON value stored under *key* besides the manifest (``searches``, ..), or None."""
        with self._mutex, self._said():
            return self._get(self._own(f"fact.{key}"))

    def set_facts(self, key: str, value: Any) -> None:
        """Store a JSON value under *key* besides the manifest."""
        with self._mutex, self._said():
            self._put(self._own(f"fact.{key}"), value)

    def members(self) -> tuple[Mapping[str, str], ...]:
        """Return the choices of machine, split, schedule .. with runs, in the order they were added.

        ``({},)`` for a study of one choice. The first is the one shown by `runs` and the manifest; `member` shows
        another.
        """
        if self._among:
            return self._among
        with self._mutex, self._said():
            return self._known_choices().settings

    def member(self, setting: Mapping[str, str]) -> Study:
        """Return the study restricted to the choice *setting*, with its manifest; closed with this one.

        Runs added to it are stored here. An unknown choice has no runs.
        """
        made = copy.copy(self)
        made._member, made._manifest = setting_id(setting), None
        return made

    def among(self, settings: Sequence[Mapping[str, str]]) -> Study:
        """Return a view of the study restricted to the choices *settings*, showing the first."""
        made = self.member(settings[0])
        made._among = tuple(settings)
        return made

    def add_member(self, setting: Mapping[str, str], manifest: Manifest) -> Study:
        """Add the choice *setting*, for runs to come, with its manifest; return the study restricted to it."""
        with self._mutex, self._said():
            known = self.members() if self._get(_MEMBERS) is not None or len(self) else ()
            if setting not in known:
                self._put(_MEMBERS, [dict(one) for one in (*known, setting)])
                self._choices.version = None
            made = self.member(setting)
            made.set_manifest(manifest)
        self._manifest = None
        return made

    @property
    def choice(self) -> Mapping[str, str]:
        """The choice shown by `runs` and the manifest: for the whole study the first; empty if there is only one."""
        found = self.members()
        if self._member is None:
            return found[0]
        with self._mutex, self._said():
            own = self._known_choices().by_id.get(self._member)
        return own if own is not None and own in found else {} if self._member else found[0]

    def _known_choices(self) -> Choices:
        """Return the choices, read again if another process has changed the file."""
        version = self.version()
        if self._choices.version != version:
            self._choices.take(members.read(self._get(_MEMBERS), self._place), version)
        return self._choices

    def _first(self) -> str:
        return self._known_choices().first

    def _own(self, key: str) -> str:
        """Return the key under which a value of the shown choice is stored."""
        return key if self._member is None or self._member == self._first() else f"{key}@{self._member}"

    def _mine(self, *, whole: bool) -> str:
        """Return the SQL condition for the rows of the shown choice; "" for all rows, if *whole* allows that."""
        if self._member is None and whole:
            return ""
        name = self._first() if self._member is None else self._member
        return f"key GLOB '{name}-*'" if name else "key NOT GLOB '*-*'"

    def measurements(self) -> MeasurementSet | None:
        """Return the measurement set that the runs were made from; None if there is none."""
        found = self._measured()
        return None if found is None else found[0]

    def mapping(self) -> Meaning | None:
        """Return the meaning of the names in the measurement set; None if never given."""
        found = self._measured()
        return None if found is None else found[1]

    def set_measurements(self, measured: MeasurementSet, mapping: Meaning | None = None) -> None:
        """Store *measured* and the meaning of its names in the study, replacing an earlier set."""
        from scalegraph.store import sets

        packed = sets.pack(measured, mapping)
        with self._mutex, self._said():
            self._writable()
            self._connection.execute("INSERT OR REPLACE INTO measurements VALUES (1, ?, ?, ?, ?)", packed)
            self._set = (measured, mapping)

    def _measured(self) -> tuple[MeasurementSet, Meaning | None] | None:
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
        """Add *record*, replacing an earlier run of the same point; it is on disk when this returns."""
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
            self._cache[done.lastrowid] = record.model_copy(update={"stdout": "", "stderr": ""})  # no need to read it

    def add_runs(self, records: Iterable[RunRecord]) -> None:
        """Add many records in one transaction: all or none."""
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
                self._cache.clear()  # SQLite reuses the numbers of deleted rows
                self._unpacked = before
                raise

    def has(self, key: str, *, ok: bool = True) -> bool:
        """Whether there is a run of the point *key* (`RunPoint.key`); with *ok* only a successful one."""
        query = "SELECT 1 FROM runs WHERE key = ?" + (" AND status = 'ok'" if ok else "")
        with self._mutex, self._said():
            return self._connection.execute(query, (key,)).fetchone() is not None

    def keys(self, *, ok: bool = True) -> frozenset[str]:
        """Return the keys of the points that were run; with *ok* only of successful runs."""
        query = "SELECT key FROM runs" + _where("status = 'ok'" if ok else "", self._mine(whole=True))
        with self._mutex, self._said():
            return frozenset(row[0] for row in self._connection.execute(query))

    def __len__(self) -> int:
        """Return the number of runs, including what-if runs."""
        with self._mutex, self._said():
            query = f"SELECT count(*) FROM runs{_where(self._mine(whole=True))}"
            return int(self._connection.execute(query).fetchone()[0])

    def runs(self, *, output: bool = False, target: str | None = None) -> list[RunRecord]:
        """Return the actual runs of *target* in the order added; with *output*, including what the programs printed.

        *target*: its name, empty for the simulated one; by default the study's first (`targets`). What-if runs are
        separate, see `variants`.
        """
        return self._of_target(output=output, target=target, variants=False)

    def variants(self, *, output: bool = False, target: str | None = None) -> list[RunRecord]:
        """Return the what-if runs of *target* in the order added: of a modified machine or program."""
        return self._of_target(output=output, target=target, variants=True)

    def every_run(self, *, output: bool = False) -> list[RunRecord]:
        """Return all runs in the order added: of every choice and target, including what-if runs."""
        return self._all(output=output, whole=True)

    def targets(self) -> tuple[str, ...]:
        """Return the targets with runs: the simulated one (an empty name) first, then by name."""
        return tuple(sorted({record.point.target for record in self._all(output=False)}))

    def _of_target(self, *, output: bool, target: str | None, variants: bool) -> list[RunRecord]:
        every = self._all(output=output)
        chosen = min((record.point.target for record in every), default="") if target is None else target
        return [one for one in every if one.point.target == chosen and bool(one.point.variant) == variants]

    def _all(self, *, output: bool, whole: bool = False) -> list[RunRecord]:
        columns = "id, key, record" + (", output" if output else "")
        with self._mutex, self._said():
            where = _where(self._mine(whole=whole))
            rows = self._connection.execute(f"SELECT {columns} FROM runs{where} ORDER BY id").fetchall()
            return [self._record(*row) for row in rows]

    def run(self, key: str) -> RunRecord | None:
        """Return the run of the point *key* with its output, or None."""
        with self._mutex, self._said():
            row = self._connection.execute("SELECT id, key, record, output FROM runs WHERE key = ?", (key,)).fetchone()
            return self._record(*row) if row else None

    def table(self) -> pd.DataFrame:
        """Return the run table: one row per actual run, columns of `RunRecord.row`; missing values are NaN."""
        import pandas as pd

        return pd.DataFrame([record.row() for record in self.runs()])

    def save_as(self, path: str | Path) -> None:
        """Write a copy to *path*, atomically; an existing file is replaced.

        Traces beside the study are not copied; the copy refers to them by path.
        """
        path = Path(path)
        if self._path and path.exists() and path.samefile(self._path):
            return
        check_replaceable(path)
        with self._mutex, sentences(path):
            lock = WriteLock(path)
            try:
                with temporary(path) as fresh:
                    self._copy_to(fresh, path)
                    fresh.replace(path)
            finally:
                lock.release()

    def close(self) -> None:
        """Close the file and release the lock. May be called again."""
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
        return sentences(self._place)

    @property
    def _place(self) -> Path:
        """The name of the file for messages."""
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
                return Manifest.model_validate(self._get(self._own("manifest")))
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
        """Copy everything to the file *path*, which becomes *final*, adjusting trace paths."""
        for key, record in self._unpacked.items():
            packed = codec.pack(record)
            self._connection.execute("UPDATE runs SET record = ?, output = ? WHERE key = ?", (*packed, key))
        self._unpacked.clear()
        target = sqlite3.connect(path, isolation_level=None)
        try:
            self._connection.backup(target)
            before = (self._path or Path("study")).absolute().parent
            if final is not None and final.absolute().parent != before:
                for record in (one for one in self._all(output=False, whole=True) if one.trace is not None):
                    light, _output = codec.pack(seen_from(record, before, final.absolute().parent))
                    target.execute("UPDATE runs SET record = ? WHERE key = ?", (light, record.point.key))
        finally:
            target.close()


def _where(*conditions: str) -> str:
    """Return the SQL clause for rows that meet all nonempty *conditions*."""
    said = " AND ".join(filter(None, conditions))
    return f" WHERE {said}" if said else ""
