from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.traces import checking
from scalegraph.traces.digits import parse
from scalegraph.traces.kinds import What
from scalegraph.traces.reading import read

HEADER = "#Paraver (01/01/2024 at 10:00):1000_ns:1(2):1:2(2:1,1:1)\n"
RECORDS = """c:1:1:2:1:2
1:1:1:1:1:0:50:1
1:2:1:2:1:0:1000:0
# a remark
2:1:1:1:1:10:50000001:3:42000050:77
2:1:1:1:1:20:50000001:0:9:-5
3:1:1:1:1:11:12:2:1:2:1:5:30:64:7
"""
PCF = """STATES
0    Idle
1    Running

STATES_COLOR
1    {0,0,255}

EVENT_TYPE
9    50000001    MPI Point-to-point
VALUES
3   MPI_Isend
0   Outside MPI

EVENT_TYPE
7  42000050  PAPI_TOT_INS
"""
ROW = "LEVEL CPU SIZE 1\nx\n\nLEVEL THREAD SIZE 3\none\ntwo\nthree\n"


def put(place: Path, records: str = RECORDS, header: str = HEADER) -> Path:
    path = place / "a.prv"
    path.write_text(header + records)
    path.with_suffix(".pcf").write_text(PCF)
    path.with_suffix(".row").write_text(ROW)
    return path


def test_records_and_names(tmp_path: Path) -> None:
    trace = read(put(tmp_path))
    assert [location.name for location in trace.definitions.locations] == ["one", "two", "three"]
    assert trace.counts() == {"calls": 2, "messages": 1, "counters": 2, "states": 2}
    calls = trace.columns("calls")
    assert (calls["time"].tolist(), calls["what"].tolist()) == ([10, 20], [What.ENTER, What.LEAVE])
    assert {trace.definitions.regions[number].name for number in calls["region"]} == {"MPI_Isend"}
    counters = trace.columns("counters")
    metrics = [trace.definitions.metrics[number].name for number in counters["metric"]]
    assert list(zip(metrics, counters["exact"].tolist(), strict=True)) == [("PAPI_TOT_INS", 77), ("9", -5)]
    messages = {name: values.tolist()[0] for name, values in trace.columns("messages").items()}
    assert messages == {
        "sent": 11,
        "left": 12,
        "posted": 5,
        "received": 30,
        "sender": 0,
        "receiver": 2,
        "size": 64,
        "tag": 7,
        "communicator": -1,
    }
    states = [
        (trace.definitions.states[n].name, trace.definitions.states[n].colour) for n in trace.columns("states")["state"]
    ]
    assert states == [("Running", "#0000ff"), ("Idle", "")]
    assert trace.definitions.communicators[0].members == (0, 2)
    assert (trace.meta.begin, trace.meta.end, trace.meta.ticks_per_second) == (0, 1000, 10**9)
    assert checking.check(trace).holds


def test_without_its_other_files_numbers_stand_for_names(tmp_path: Path) -> None:
    path = put(tmp_path)
    packed = tmp_path / "b.prv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    trace = read(packed)
    assert trace.count("calls") == 2
    assert trace.meta.notes[0].what.startswith("missing .pcf file")
    assert trace.definitions.states[0].name == "state 0"


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ("1:1:1:1:1:0:50\n", r"a\.prv:2: no whole record: it begins with 1 and has 7 fields"),
        ("1:1:1:1:1:0:50:1\n2:1:1:1:1:10:5\n", r"a\.prv:3: no whole record"),
        ("1:1:1:1:1:0:50:1\n\n7:1\n", r"a\.prv:4: no whole record"),
        ("1:1:1:1:1:0:5x:1\n", r"a\.prv:2: only numbers"),
        ("1:1:1:1:1:0::1\n", r"a\.prv:2: only numbers"),
    ],
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, records: str, words: str) -> None:
    path = put(tmp_path, records)
    with pytest.raises(InputError, match=words):
        read(path)
    assert read(path, partial=True).count("states") == records.count("0:50:1\n")


@pytest.mark.parametrize(
    "header", ["#Paraver\n", "", "#Paraver (x):5_ns:1(1):2:1(1:1)\n", "#Paraver (x):5_ns:1(1):1:2(1:1)\n"]
)
def test_a_header_that_is_none_is_refused(tmp_path: Path, header: str) -> None:
    with pytest.raises(InputError, match="header"):
        read(put(tmp_path, RECORDS if header else "", header))


def test_numbers_are_read_to_the_last_bit() -> None:
    text = b"9223372036854775807:-9223372036854775808:0\n-1\n12:x\n5\n"
    found = parse(text)
    assert found.wrapped == 0
    assert found.values.tolist() == [2**63 - 1, -(2**63), 0, -1]
    assert (found.counts.tolist(), found.starts.tolist(), found.bad) == ([3, 1], [0, 3], 2)


def test_numbers_without_a_sign_keep_their_bits() -> None:
    found = parse(b"9223372036854775808:18446744073709551615:9999999999999999999\n")
    assert found.values.view("u8").tolist() == [2**63, 2**64 - 1, 9999999999999999999]
    assert (found.bad, found.wrapped) == (-1, 3)
    for text in (b"18446744073709551616", b"99999999999999999999", b"-9223372036854775809", b"100000000000000000000"):
        assert parse(text).bad == 0


def test_old_traces_have_communicators_of_nobody_and_counters_without_sign(tmp_path: Path) -> None:
    header = "#Paraver (26/01/04 at 16:35):1000:4:1:2(1:1,1:2),2\n"
    records = "c:1:91:2:1:2\nc:1:92:1:-1\n2:1:1:1:1:10:42000050:11307243107305783794\n4:2:1:2:1:10:91:32:0:10:0\n"
    trace = read(put(tmp_path, records, header))
    assert [communicator.members for communicator in trace.definitions.communicators] == [(0, 1), (-1,)]
    assert trace.columns("counters")["exact"].view("u8").tolist() == [11307243107305783794]
    assert [note.count for note in trace.meta.notes if "2^63" in note.what or "type 4" in note.what] == [1, 1]
    assert trace.meta.ticks_per_second == 10**6


def test_totals_are_those_of_a_direct_count(data: Path) -> None:
    path = data / "paraver" / "lulesh_7+1.prv"
    lines = [line.split(":") for line in path.read_text().splitlines() if line[0] in "123"]
    trace = read(path)
    counts = trace.counts()
    assert counts["states"] == sum(line[0] == "1" for line in lines) == 1704
    assert counts["messages"] == sum(line[0] == "3" for line in lines) == 160
    assert counts["calls"] + counts["counters"] == sum((len(line) - 6) // 2 for line in lines if line[0] == "2")
    assert trace.meta.properties["events records"] == "2640"
    assert checking.check(trace).holds
