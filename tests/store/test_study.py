"""A study survives being killed, a full disk, foreign files and newer versions, and reports them in sentences."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.base.errors import InputError, StoreError
from scalegraph.base.run import LineCost, RegionCost, RunPoint, RunRecord
from scalegraph.store import FORMAT, Manifest, SourceText, Study, codec, migrations


def record(processors: int, n: int = 10, **more: Any) -> RunRecord:
    point = RunPoint(processors=processors, parameters={"n": n})
    values: dict[str, Any] = {"source": "simulated", "program": "p", "machine": "ksr1", "time_s": 1.5 / processors}
    return RunRecord(point=point, **(values | more))


MANIFEST = Manifest.new(
    title="t", program="p", machine="ksr1", identity={"program": "abc"}, sources=(SourceText.of("p.c", "x"),)
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a b#?.sgstudy"


def test_runs_come_back_as_they_were_added(path: Path) -> None:
    full = record(
        4,
        categories={"busy_int": 7},
        regions=(RegionCost(region=1, categories={"busy_int": 7}),),
        lines=(LineCost(file="p.c", line=3, misses=2),),
        stdout="out\n",
        stderr="err",
        warnings=("w",),
    )
    with Study.create(path, MANIFEST) as study:
        study.add_run(record(1))
        study.add_run(full)
    with Study.open(path) as study:
        assert study.manifest == MANIFEST
        assert study.run(full.point.key) == full
        assert [run.point.processors for run in study.runs()] == [1, 4]
        assert study.runs()[1].stdout == ""
        assert study.runs(output=True)[1] == full
        assert len(study) == 2


def test_a_second_run_of_a_point_replaces_the_first(path: Path) -> None:
    with Study.create(path, MANIFEST) as study:
        study.add_run(record(2, status="timeout", time_s=None))
        assert not study.has(record(2).point.key)
        assert study.has(record(2).point.key, ok=False)
        study.runs()
        study.add_run(record(2))
        assert [run.status for run in study.runs()] == ["ok"]
        assert study.keys() == {record(2).point.key}


def test_many_runs_are_added_together_or_not_at_all(path: Path) -> None:
    with Study.create(path, Manifest()) as study:
        study.add_run(record(1))

        def broken() -> Iterator[RunRecord]:
            yield record(2)
            raise KeyError

        with pytest.raises(KeyError):
            study.add_runs(broken())
        assert study.runs() == [record(1)]
        study.add_run(record(3))  # gets the number that the second one had
        assert study.runs() == [record(1), record(3)]
    with Study.open(path) as study:
        assert study.runs() == [record(1), record(3)]


def test_the_table_has_a_row_per_run_and_missing_is_missing(path: Path) -> None:
    with Study.create(path, MANIFEST) as study:
        study.add_run(record(1, misses=3))
        study.add_run(record(2))
        table = study.table()
    assert list(table["processors"]) == [1, 2]
    assert list(table["param.n"]) == [10, 10]
    assert table["misses"].isna().tolist() == [False, True]


def test_a_study_open_for_viewing_has_the_manifest_that_was_written_since(path: Path) -> None:
    with Study.create(path, Manifest.new(title="first")) as writing, Study.open(path) as viewing:
        assert viewing.manifest.title == "first"
        writing.set_manifest(Manifest.new(title="second"))
        assert viewing.manifest.title == "second"


def test_facts_live_beside_the_manifest(path: Path) -> None:
    with Study.create(path, MANIFEST) as study:
        study.set_facts("searches", [{"processors": 2}])
    with Study.open(path) as study:
        assert study.facts("searches") == [{"processors": 2}]
        assert study.facts("nothing") is None


def test_a_study_in_memory_can_be_saved(path: Path) -> None:
    with Study.memory(MANIFEST) as study:
        study.add_run(record(1))
        study.save_as(path)
    with Study.open(path) as study:
        assert len(study) == 1


def test_a_study_in_memory_has_what_it_was_given_before_and_after_it_is_saved(path: Path) -> None:
    given = [record(1, stdout="one"), record(2, stdout="two"), record(1, stdout="one again")]

    def broken() -> Iterator[RunRecord]:
        yield record(3)
        raise KeyError

    with Study.memory(MANIFEST) as study:
        for one in given:
            study.add_run(one)
        with pytest.raises(KeyError):
            study.add_runs(broken())
        before = study.runs(output=True)
        assert before == [given[1], given[2]]
        assert study.runs() == [one.model_copy(update={"stdout": ""}) for one in before]
        study.save_as(path)
        assert study.runs(output=True) == before
    with Study.open(path) as study:
        assert study.runs(output=True) == before


def test_save_as_copies_the_whole_study_and_leaves_no_litter(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.sgstudy"
    with Study.create(path, MANIFEST) as study:
        study.add_run(record(1, stdout="hello"))
        study.save_as(other)
        study.save_as(path)
    with Study.open(other) as study:
        assert study.runs(output=True)[0].stdout == "hello"
    assert sorted(item.name for item in tmp_path.rglob("*") if item.is_file()) == [path.name, "b.sgstudy"]


def test_an_existing_study_is_not_overwritten_unasked(path: Path) -> None:
    Study.create(path, MANIFEST).close()
    with pytest.raises(StoreError, match="exists already"):
        Study.create(path, MANIFEST)
    Study.create(path, MANIFEST, overwrite=True).close()


def test_two_writers_are_refused_and_a_viewer_is_not(path: Path) -> None:
    with Study.create(path, MANIFEST) as study:
        study.add_run(record(1))
        with pytest.raises(StoreError, match=f"being written by another ScaleGraph .process {os.getpid()}."):
            Study.open(path, write=True)
        with Study.open(path) as viewer:
            assert len(viewer) == 1
            study.add_run(record(2))
            assert len(viewer) == 2
            with pytest.raises(StoreError, match="viewing only"):
                viewer.add_run(record(3))
    with Study.open(path, write=True) as study:
        study.add_run(record(3))


def test_a_lock_file_left_behind_locks_nobody_out(path: Path) -> None:
    Study.create(path, MANIFEST).close()
    path.with_name(f".{path.name}.lock").write_text("12345\n")
    Study.open(path, write=True).close()


def test_a_newer_format_is_refused_with_both_versions(path: Path) -> None:
    Study.create(path, MANIFEST).close()
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version = {FORMAT + 6}")
    raw.close()
    with pytest.raises(StoreError, match=rf"newer ScaleGraph \(study format {FORMAT + 6}\).*up to {FORMAT}"):
        Study.open(path)


def test_migration_steps_run_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = sqlite3.connect(":memory:", isolation_level=None)
    migrations.lay_out(raw)
    steps = {
        FORMAT: lambda c: c.execute("ALTER TABLE meta ADD COLUMN a TEXT"),
        FORMAT + 1: lambda c: c.execute("ALTER TABLE meta RENAME COLUMN a TO b"),
    }
    monkeypatch.setattr(migrations, "STEPS", steps)
    migrations.migrate(raw, FORMAT, FORMAT + 2)
    assert raw.execute("PRAGMA user_version").fetchone() == (FORMAT + 2,)
    raw.execute("SELECT b FROM meta")
    raw.close()


def test_a_migration_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE meta ADD COLUMN a TEXT")
        raise RuntimeError

    raw = sqlite3.connect(":memory:", isolation_level=None)
    migrations.lay_out(raw)
    monkeypatch.setattr(migrations, "STEPS", {FORMAT: half})
    with pytest.raises(RuntimeError):
        migrations.migrate(raw, FORMAT, FORMAT + 1)
    assert raw.execute("PRAGMA user_version").fetchone() == (FORMAT,)
    with pytest.raises(sqlite3.OperationalError):
        raw.execute("SELECT a FROM meta")
    raw.close()


def test_what_is_no_study_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.sgstudy"
    text.write_text("hello")
    with pytest.raises(StoreError, match="not a ScaleGraph study"):
        Study.open(text)
    foreign = tmp_path / "foreign.sgstudy"
    raw = sqlite3.connect(foreign)
    raw.execute("CREATE TABLE t (a)")
    raw.commit()
    raw.close()
    with pytest.raises(StoreError, match="SQLite file, but not a ScaleGraph study"):
        Study.open(foreign)
    with pytest.raises(StoreError, match="no such study"):
        Study.open(tmp_path / "none")
    with pytest.raises(StoreError, match="is a directory"):
        Study.open(tmp_path)


def _spoil(path: Path, statement: str, *values: Any) -> None:
    raw = sqlite3.connect(path)
    raw.execute(statement, values)
    raw.commit()
    raw.close()


@pytest.mark.parametrize(
    ("statement", "values", "expected"),
    [
        ("UPDATE runs SET record = ?", (b"rubbish",), "damaged: run 1"),
        ("UPDATE runs SET record = ?", (zlib.compress(b'{"source": 3}'),), "damaged: run 1: "),
        ("UPDATE runs SET record = ?", (zlib.compress(b"[" * 100_000),), "damaged: run 1: "),
        ("UPDATE runs SET key = ?", ("other",), "another point"),
        ("UPDATE meta SET value = ?", ("{",), "not JSON"),
        ("UPDATE meta SET value = ?", ('{"sources": 3}',), r"manifest\.sources"),
        ("DELETE FROM meta WHERE key <> ?", ("",), "manifest"),
        ("DROP TABLE runs", (), "no such table"),
    ],
)
def test_a_hostile_study_is_a_sentence(path: Path, statement: str, values: tuple[Any, ...], expected: str) -> None:
    with Study.create(path, MANIFEST) as study:
        study.add_run(record(1))
    _spoil(path, statement, *values)
    with pytest.raises(StoreError, match=expected), Study.open(path) as study:
        study.runs()


def test_a_record_that_unpacks_without_end_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalegraph.store.codec._LARGEST", 1000)
    with Study.create(path, MANIFEST) as study:
        study.add_run(record(1))
    _spoil(path, "UPDATE runs SET record = ?", zlib.compress(b" " * 10_000))
    with Study.open(path) as study, pytest.raises(StoreError, match="larger than any record"):
        study.runs()


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(0, 2**31), st.binary(min_size=1, max_size=64))
def test_a_study_with_bytes_overwritten_never_crashes(
    tmp_path_factory: pytest.TempPathFactory, place: int, rubbish: bytes
) -> None:
    path = tmp_path_factory.mktemp("s") / "a.sgstudy"
    with Study.create(path, MANIFEST) as study:
        study.add_run(record(1))
    data = bytearray(path.read_bytes())
    place %= len(data)
    data[place : place + len(rubbish)] = rubbish
    path.write_bytes(bytes(data))
    with contextlib.suppress(StoreError), Study.open(path) as study:
        study.runs(output=True)
        study.table()


def test_a_truncated_study_is_a_sentence(path: Path) -> None:
    with Study.create(path, MANIFEST) as study:
        for n in range(40):
            study.add_run(record(1, n, stdout=os.urandom(500).hex()))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(StoreError, match="damaged"), Study.open(path) as study:
        study.runs()


_WRITER = """
import sys
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.store import Manifest, Study
study = Study.open(sys.argv[1], write=True)
for n in range(10**9):
    point = RunPoint(processors=1, parameters={"n": n})
    study.add_run(RunRecord(source="simulated", program="p", machine="m", point=point, time_s=1.0, stdout="x" * 5000))
    print(n, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 7, 20])
def test_a_killed_writer_loses_at_most_the_run_in_flight(path: Path, after: int) -> None:
    Study.create(path, MANIFEST).close()
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    for _ in range(after):
        writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    said = after + len(writer.stdout.read().splitlines())
    writer.wait()
    writer.stdout.close()
    with Study.open(path, write=True) as study:
        assert len(study) in (said, said + 1)
        study.add_run(record(9))
    with Study.open(path) as study:
        assert study.runs()[-1] == record(9)


@pytest.mark.slow
def test_a_full_disk_is_a_sentence_and_the_study_stays_whole(path: Path, tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import resource, sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from scalegraph.base.errors import StoreError
        from test_study import MANIFEST, record
        from scalegraph.store import Study
        import os
        study = Study.create({str(path)!r}, MANIFEST)
        study.add_run(record(1))
        sys.dont_write_bytecode = True  # on a full disk, Python would keep truncated bytecode
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        for n in range(1000):
            try:
                study.add_run(record(2, n, stdout=os.urandom(4000).hex()))
            except StoreError as error:
                print(n, error)
                break
        try:
            study.save_as({str(tmp_path / "copy.sgstudy")!r})
            for n in range(1000):
                study.set_facts(f"x{{n}}", os.urandom(4000).hex())
        except StoreError as error:
            print(error)
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "the disk is full" in done.stdout
    stored = int(done.stdout.split()[0])
    with Study.open(path) as study:
        assert len(study) == 1 + stored


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_study_can_be_viewed_but_not_written(path: Path) -> None:
    Study.create(path, MANIFEST).close()
    path.chmod(0o444)
    with Study.open(path) as study:
        assert study.manifest == MANIFEST
    with pytest.raises(StoreError, match="permission denied"):
        Study.open(path, write=True)


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is not a directory"):
        Study.create(tmp_path / "file" / "x.sgstudy", MANIFEST)


def test_files_keep_the_earlier_name_of_categories() -> None:
    """Cycles by category are called leaves in files; both names are read."""
    accounts: dict[str, Any] = {
        "categories": {"busy_int": 7},
        "processor_categories": {"busy_int": [3, 4]},
        "regions": (RegionCost(region=0, categories={"busy_int": 7}),),
    }
    run = record(2, **accounts)
    text = zlib.decompress(codec.pack(run)[0]).decode()
    assert text.count('"leaves":{"busy_int":7}') == 2
    assert '"processor_leaves"' in text
    assert "categories" not in text
    for name in ('"categories"', '"leaves"'):
        assert codec.unpack(zlib.compress(text.replace('"leaves"', name).encode()), run.point.key) == run
