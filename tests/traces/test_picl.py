from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.traces import checking
from scalegraph.traces.kinds import NO_TIME
from scalegraph.traces.reading import read

TEXT = """-3 -901 0.0 0 0 0
-3 -901 0.0 1 0 0
-3 -21 0.25 0 0 4 2 4096 9 1 0
-4 -21 0.375 0 0 0
-3 -52 0.125 1 0 3 2 9 0 0
-4 -52 0.5 1 0 4 2 4096 9 0 0
-2 17 0.625 1 0 0
-9 17 0.625 1 0 0
-4 -901 1.000000001 1 0 0
-4 -901 1.0 0 0 0
"""


def test_records_become_calls_messages_and_marks(tmp_path: Path) -> None:
    path = tmp_path / "a.trf"
    path.write_text(TEXT)
    trace = read(path)
    assert trace.counts() == {"calls": 8, "messages": 1, "marks": 1}
    message = {name: values.tolist()[0] for name, values in trace.columns("messages").items()}
    assert message == {
        "sent": 250_000_000,
        "left": 375_000_000,
        "posted": 125_000_000,
        "received": 500_000_000,
        "sender": 0,
        "receiver": 1,
        "size": 4096,
        "tag": 9,
        "communicator": -1,
    }
    assert trace.meta.end == 1_000_000_001
    assert [(note.what, note.count) for note in trace.meta.notes] == [("records of type -9", 1)]
    assert checking.check(trace).holds


def test_a_file_without_its_ending_is_recognised_and_lone_ends_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_text("".join(line + "\n" for line in TEXT.splitlines() if not line.startswith("-4 -52")))
    assert read(path).columns("messages")["received"].tolist() == [NO_TIME]


def test_a_broken_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.trf"
    path.write_text(TEXT + "-3 -21 2.0 0 0 4 2 4096\n")
    with pytest.raises(InputError, match=r"a\.trf:11: a record was expected"):
        read(path)
    assert read(path, partial=True).count("calls") == 8


def test_sends_and_receives_that_do_not_block_end_where_they_are_awaited(tmp_path: Path) -> None:
    path = tmp_path / "a.trf"
    path.write_text("""-202 -812 0.0 -1 -1 3 2 0 1 2
-3 -27 1.0 0 0 4 2 64 7 1 0
-4 -27 2.0 0 0 1 2 5
-3 -57 1.0 1 0 3 2 7 0 0
-4 -57 1.5 1 0 1 2 0
-3 -911 2.0 1 0 2 "%d %s %s" 5 two words
-4 -911 2.0 1 0 0
-3 -61 3.0 1 0 1 2 0
-4 -61 4.0 1 0 4 2 64 7 0 0
-3 -31 6.0 0 0 1 2 5
-4 -31 8.0 0 0 0
-3 -402 8.0 0 0 1 2 -1
-4 -402 9.0 0 0 0
""")
    trace = read(path)
    columns = trace.columns("messages")
    times = [columns[name].tolist() for name in ("sent", "left", "posted", "received", "size", "tag")]
    assert times == [[10**9], [8 * 10**9], [10**9], [4 * 10**9], [64], [7]]
    assert [location.name for location in trace.definitions.locations] == ["0", "1"]
    assert [(note.what, note.count) for note in trace.meta.notes] == [("records of type -202", 1)]
    assert checking.check(trace).holds
