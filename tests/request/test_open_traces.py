"""Opening traces for viewing: any format, converted once, with their sources and studies."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from filelock import FileLock

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, InputError
from scalegraph.base.run import RunPoint, RunRecord, TraceFile
from scalegraph.request import Session
from scalegraph.request.imports import traces as opening
from scalegraph.request.imports.kinds import is_trace
from scalegraph.request.results import trace_quantities
from scalegraph.store import Manifest, Study
from scalegraph.traces.lod import stored, tiles


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "cache"))
    return Session()


def copies(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache" / "traces").glob("*/*.sgtrace"))


@pytest.mark.parametrize("name", ["pipeline.sgtrace", "pipeline.json", "pipeline.prv", "ring.trf", "calls.csv"])
def test_every_sample_opens_and_has_pictures(name: str, session: Session, root: Path) -> None:
    told: list[float] = []
    data = session.open_trace(root / "traces" / name, progress=told.append)
    with data.trace:
        assert data.name == name.partition(".")[0]
        figure = session.trace_view(data, "spacetime")
        assert figure.panels
        assert told[-1] == 1.0
        assert told == sorted(told)


def test_a_foreign_trace_is_converted_once_until_it_changes(session: Session, root: Path, tmp_path: Path) -> None:
    path = tmp_path / "ring.trf"
    shutil.copy(root / "traces" / "ring.trf", path)
    for _ in range(2):
        session.open_trace(path).trace.close()
    (first,) = copies(tmp_path)
    os.utime(path, ns=(1, 1))
    with session.open_trace(path).trace as again:
        assert again.count("messages") == 2
        assert again.meta.source == "ring.trf"
        assert again.meta.format == "picl"
    assert len(copies(tmp_path)) == 2
    assert first in copies(tmp_path)


@pytest.mark.parametrize("where", [0, 70, 0.5, 0.9, -1])
@pytest.mark.parametrize("digested", [True, False])  # for a copy of more than 32 MiB only the size is compared
def test_a_copy_that_was_damaged_is_made_again(
    digested: bool, where: float, session: Session, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not digested:
        monkeypatch.setattr("scalegraph.runtime.cache._DIGESTED", 0)
    path = root / "traces" / "pipeline.prv"
    with session.open_trace(path).trace as first:
        counts = first.counts()
    (copy,) = copies(tmp_path)
    data = bytearray(copy.read_bytes())
    place = int(where * len(data)) if isinstance(where, float) else where
    data[place] ^= 0x55
    copy.write_bytes(data)
    with suppress(InputError), session.open_trace(path).trace as told:  # a part is checked when it is needed
        for kind in counts:
            told.columns(kind)
    with session.open_trace(path).trace as again:
        assert again.counts() == counts
        assert all(len(again.columns(kind)) for kind, count in counts.items() if count)
    copy.write_bytes(b"")
    with session.open_trace(path).trace as again:
        assert again.counts() == counts


def test_who_waits_for_another_that_converts_is_told_and_can_stop(session: Session, root: Path, tmp_path: Path) -> None:
    path = root / "traces" / "ring.trf"
    (entry := tmp_path / "cache" / "traces" / opening._digest(path, partial=False)).parent.mkdir(parents=True)
    other = FileLock(entry.parent / f".{entry.name}.lock", is_singleton=False)
    other.acquire()  # another process converts
    token, told = CancelToken(), list[float]()

    def stop(seconds: float) -> None:
        told.append(seconds)
        if len(told) == 2:
            token.cancel()

    with pytest.raises(Cancelled):
        session.open_trace(path, token, waiting=stop)
    assert 0 < told[0] < told[1]

    def end(_seconds: float) -> None:  # it was killed: nothing was made
        other.release()

    with session.open_trace(path, waiting=end).trace as trace:
        assert trace.count("messages") == 2


def test_files_that_are_read_with_a_trace_count_as_it(session: Session, root: Path, tmp_path: Path) -> None:
    for ending in (".prv", ".pcf", ".row"):
        shutil.copy(root / "traces" / f"pipeline{ending}", tmp_path / f"a{ending}")
    session.open_trace(tmp_path / "a.prv").trace.close()
    os.utime(tmp_path / "a.pcf", ns=(1, 1))
    session.open_trace(tmp_path / "a.prv").trace.close()
    assert len(copies(tmp_path)) == 2


def test_our_own_trace_is_opened_where_it_lies(session: Session, root: Path, tmp_path: Path) -> None:
    session.open_trace(root / "traces" / "pipeline.sgtrace").trace.close()
    assert copies(tmp_path) == []


def test_a_cancelled_conversion_leaves_nothing(session: Session, root: Path, tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        session.open_trace(root / "traces" / "ring.trf", token)
    assert copies(tmp_path) == []


def test_of_a_damaged_trace_what_can_be_read_is_shown_if_wanted(session: Session, root: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.trf"
    path.write_text((root / "traces" / "ring.trf").read_text()[:-10])
    with pytest.raises(InputError, match="a record was expected"):
        session.open_trace(path)
    data = session.open_trace(path, partial=True)
    with data.trace:
        assert any("Only a part could be read" in note for note in session.trace_view(data, "spacetime").notes)


def test_a_trace_is_told_from_a_study_and_from_measurements(root: Path, tmp_path: Path) -> None:
    for name in ("pipeline.sgtrace", "pipeline.json", "pipeline.prv", "ring.trf", "calls.csv"):
        assert is_trace(root / "traces" / name)
    table = tmp_path / "runs.csv"
    table.write_text("processors,time_s\n1,2\n2,1\n")
    other = tmp_path / "other.json"
    other.write_text('{"measurements": []}')
    study = tmp_path / "a.sgstudy"
    Study.create(study, Manifest.new(title="a")).close()
    for path in (table, other, study, tmp_path, tmp_path / "missing.prv"):
        assert not is_trace(path)


def test_sources_are_found_beside_the_trace(session: Session, root: Path, tmp_path: Path) -> None:
    data = session.open_trace(root / "traces" / "pipeline.sgtrace")
    with data.trace:
        named = sorted({region.file for region in data.trace.definitions.regions if region.file})
    assert named
    shutil.copy(root / "traces" / "pipeline.sgtrace", tmp_path / "a.sgtrace")
    (tmp_path / Path(named[0]).name).write_text("int main(void)\n")
    data = session.open_trace(tmp_path / "a.sgtrace")
    with data.trace:
        assert data.text(named[0]) == "int main(void)\n"
        assert data.text("nowhere.c") is None


def test_a_trace_beside_its_study_knows_the_run(session: Session, root: Path, tmp_path: Path) -> None:
    place = tmp_path / "waves.traces"
    place.mkdir()
    shutil.copy(root / "traces" / "pipeline.sgtrace", place / "4-abc.sgtrace")
    with Study.create(tmp_path / "waves.sgstudy", Manifest.new(title="waves", program="waves")) as study:
        study.add_run(
            RunRecord(
                source="simulated",
                program="waves",
                machine="ksr1",
                work_ops=1000,
                point=RunPoint(processors=1),
                time_s=1.0,
            )
        )
        trace = TraceFile(path="waves.traces/4-abc.sgtrace")
        study.add_run(
            RunRecord(
                source="simulated",
                program="waves",
                machine="ksr1",
                work_ops=1010,
                time_s=0.3,
                point=RunPoint(processors=4),
                trace=trace,
            )
        )
    data = session.open_trace(place / "4-abc.sgtrace")
    with data.trace:
        assert data.name == "waves, N = 4"
        assert data.facts["work"] == 1000
        assert data.facts["processors"] == 4


def test_quantities_of_a_trace_are_computed_by_name(session: Session, root: Path) -> None:
    data = session.open_trace(root / "traces" / "pipeline.sgtrace")
    with data.trace:
        events = trace_quantities.compute(data, "events").set_index("kind")["count"]
        assert events["calls"] == 56
        assert events["messages"] == 9
        part = trace_quantities.compute(data, "events", {"locations": "0"}).set_index("kind")["count"]
        assert part["calls"] == 14
        with pytest.raises(InputError, match="unknown quantity 'event' of a trace; did you mean 'events'"):
            trace_quantities.compute(data, "event")
        with pytest.raises(InputError, match="has no option 'from'"):
            trace_quantities.compute(data, "events", {"from": "1"})
        with pytest.raises(InputError, match="there is no location '9'"):
            trace_quantities.compute(data, "locations", {"locations": "9"})


def test_a_trace_of_ours_without_a_pyramid_gets_one_once(
    root: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = root / "tests" / "traces" / "version1" / "pipeline.sgtrace"
    monkeypatch.setattr(tiles, "WORTH", 1)
    with session.open_trace(path).trace as first:
        assert not stored.lacks_pyramid(first)
        assert first.meta.source == path.name
    monkeypatch.setattr("scalegraph.request.imports.traces.write_container", None)  # not again
    data = session.open_trace(path)
    assert data.path == path
    data.trace.close()
