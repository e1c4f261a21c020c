from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.errors import InputError, MissingTool
from scalegraph.traces import checking, otf2_library
from scalegraph.traces.kinds import NO_TIME, What
from scalegraph.traces.reading import read

otf2 = pytest.importorskip("otf2")


def archive(place: Path, name: str = "odd") -> Any:
    """Return a writer of the otf2 package, with two locations and a communicator of both."""
    writer = otf2.writer.Writer(str(place), archive_name=name, timer_resolution=1000)
    made = writer.definitions
    node = made.system_tree_nodes.create("node", class_name="node", parent=None)
    groups = [made.location_groups.create(f"rank {n}", system_tree_parent=node) for n in range(2)]
    places = [made.locations.create(f"thread {n}", group=groups[n]) for n in range(2)]
    made.groups.create("all", group_type=otf2.GroupType.COMM_LOCATIONS, paradigm=otf2.Paradigm.MPI, members=places)
    group = made.groups.create("w", group_type=otf2.GroupType.COMM_GROUP, paradigm=otf2.Paradigm.MPI, members=places)
    made.comms.create("world", group=group, _type=otf2.definitions.Comm)
    return writer, places


def filled(place: Path, name: str) -> Path:
    """Write an archive with some typical content, and return its anchor file."""
    writer, places = archive(place, name)
    made = writer.definitions
    region = made.region("solve", source_file="a.c", begin_line_number=12)
    member = made.metric_member("flops", unit="#", value_type=otf2.Type.UINT64)
    metric = made.metrics.create(members=(member,), _type=otf2.definitions.MetricClass)
    world = next(iter(made.comms))
    one, two = (writer.event_writer_from_location(place) for place in places)
    one.enter(1000, region)
    one.metric(1001, metric, [2**53 + 1])
    one.mpi_isend(1002, 1, world, 7, 64, 1)
    one.mpi_send(1003, 1, world, 7, 65)
    one.mpi_isend_complete(1004, 1)
    one.leave(1010, region)
    two.mpi_irecv_request(1001, 5)
    two.mpi_recv(1005, 0, world, 7, 65)
    two.mpi_irecv(1009, 0, world, 7, 64, 5)
    two.mpi_recv(1010, 0, world, 9, 1)
    two.thread_acquire_lock(1010, otf2.Paradigm.PTHREAD, 3, 1)
    two.omp_fork(1011, 4)
    writer.close()
    return place / f"{name}.otf2"


def test_an_archive_of_the_package_is_read_event_by_event(tmp_path: Path) -> None:
    trace = read(filled(tmp_path / "a", "any name"))
    assert trace.meta.ticks_per_second == 1000
    assert trace.meta.offset == 1000
    calls = trace.columns("calls")
    assert (calls["time"].tolist(), calls["what"].tolist()) == ([0, 10], [What.ENTER, What.LEAVE])
    assert trace.definitions.regions[calls["region"][0]].line == 12
    assert trace.columns("counters")["exact"].tolist() == [2**53 + 1]
    messages = trace.columns("messages")
    rows = list(zip(*(messages[n].tolist() for n in ("sent", "left", "posted", "received", "size")), strict=True))
    assert rows == [(2, 4, 1, 9, 64), (3, 3, 5, 5, 65), (NO_TIME, NO_TIME, 10, 10, 1)]
    assert trace.columns("locks")["lock"].tolist() == [3]
    assert [(note.what, note.count) for note in trace.meta.notes] == [("OmpFork events, kept as marks", 1)]
    assert [v.rule for v in checking.check(trace).violations] == ["receive_without_send"]


@pytest.mark.parametrize("name", ["ping-pong-otf2"])
def test_totals_are_those_that_the_library_counts(data: Path, name: str) -> None:
    anchor = data / "otf2" / name / "traces.otf2"
    with otf2.reader.open(str(anchor)) as source:
        counted = Counter(type(event).__name__ for _, event in source.events)
    trace = read(anchor.parent)
    assert trace.count("calls") == counted["Enter"] + counted["Leave"]
    assert trace.count("messages") == counted["MpiSend"] == counted["MpiRecv"]
    assert sum(trace.counts().values()) == sum(counted.values()) - counted["MpiRecv"]
    assert checking.check(trace).holds


def test_more_events_than_the_definitions_say_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As APEX writes them: the same number of events for every location, whatever the real number."""
    kind = otf2.definitions.Location

    def write(location: Any, *arguments: Any) -> None:
        location._number_of_events = 4
        super(kind, location).write(*arguments)

    monkeypatch.setattr(kind, "write", write)
    writer, places = archive(tmp_path / "a")
    region = writer.definitions.region("solve")
    for place, times in zip(places, (1, 5), strict=True):
        out = writer.event_writer_from_location(place)
        for n in range(times):
            out.enter(2 * n, region)
            out.leave(2 * n + 1, region)
    writer.close()
    trace = read(tmp_path / "a" / "odd.otf2")
    assert trace.count("calls") == 12
    assert [note.what for note in trace.meta.notes] == ["archives whose definitions give wrong numbers of events"]


def test_fewer_events_than_the_definitions_say_are_told(tmp_path: Path) -> None:
    writer, places = archive(tmp_path / "a")
    region = writer.definitions.region("solve")
    for place in places:
        out = writer.event_writer_from_location(place)
        out.enter(1, region)
        out.leave(2, region)
    writer.close()
    first, second = sorted((tmp_path / "a" / "odd").glob("*.evt"))
    whole = first.read_bytes()
    first.write_bytes(whole[:20] + b"\0" * (len(whole) - 20))
    with pytest.raises(InputError, match=r"odd\.otf2: .*location 0"):
        read(tmp_path / "a" / "odd.otf2")
    assert second.is_file()
    assert read(tmp_path / "a" / "odd.otf2", partial=True).count("calls") >= 2


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(_name: str) -> None:
        raise ImportError

    (tmp_path / "a.otf2").write_bytes(b"OTF2")
    monkeypatch.setattr(otf2_library.importlib, "import_module", missing)
    with pytest.raises((MissingTool, ImportError)):
        otf2_library.package()


def test_an_archive_is_never_written_over(tmp_path: Path) -> None:
    from tests.traces.made import small
    from tests.traces.test_formats import written

    written(small(), tmp_path / "a.otf2")
    with pytest.raises(InputError, match="exists already"):
        written(small(), tmp_path / "a.otf2")


def test_sends_that_end_much_later_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalegraph.traces.otf2_events._PACK", 1)
    monkeypatch.setattr("scalegraph.traces.readers.otf2.BATCH", 2)
    writer, places = archive(tmp_path / "a")
    world = next(iter(writer.definitions.comms))
    one, two = (writer.event_writer_from_location(place) for place in places)
    for n in range(5):
        one.mpi_isend(n, 1, world, 7, n, n)
        two.mpi_recv(10 + n, 0, world, 7, n)
    for n in range(5):
        one.mpi_isend_complete(20 + n, n)
    writer.close()
    messages = read(tmp_path / "a" / "odd.otf2").columns("messages")
    assert messages["left"].tolist() == [20, 21, 22, 23, 24]
    assert messages["received"].tolist() == [10, 11, 12, 13, 14]
    assert messages["size"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", ["odd.def", "odd/0.evt"])
@pytest.mark.parametrize("left", [None, b"", b"\0" * 100])
def test_a_file_of_the_archive_that_is_missing_or_empty_is_told(tmp_path: Path, name: str, left: bytes | None) -> None:
    path = filled(tmp_path / "a", "odd")
    part = path.parent / name
    part.unlink()
    if left is not None:
        part.write_bytes(left)
    with pytest.raises(InputError, match=r"odd\.otf2: .*(missing, empty, or none|no record|inconsistent)") as error:
        read(path)
    if not left:
        assert "its file is missing, empty, or none of OTF2" in str(error.value)
