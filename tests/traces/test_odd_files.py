"""Odd but legal files are read correctly, and invalid ones are refused in one sentence."""

from __future__ import annotations

import gzip
import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.errors import InputError
from scalegraph.traces import text as text_files
from scalegraph.traces.container import ContainerWriter
from scalegraph.traces.lod import Timeline
from scalegraph.traces.model import Trace
from scalegraph.traces.reading import read
from tests.traces.made import small

AT = '"pid":1,"tid":1'
ENTER = f'{{"ph":"B","name":"a","ts":1,{AT}}}'
LEAVE = f'{{"ph":"E","ts":5,{AT}}}'
ARRAY = f"[{ENTER},{LEAVE}]"
PACKED = gzip.compress(ARRAY.encode(), mtime=0)
LONG = "9" * 5000
TABLE = "Timestamp (ns),Event Type,Name,Process,Thread\n"
HEADER = "#Paraver (01/01/2020 at 10:00):100_ns:1(2):1:1(2:1)\n"
RECORD = "2:1:1:1:1:5:50000001:31\n2:1:1:1:1:9:50000001:0\n"


def put(place: Path, ending: str, text: str | bytes) -> Path:
    path = place / f"t{ending}"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def notes(trace: Trace) -> str:
    return "; ".join(note.words for note in trace.meta.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "text", "said"),
    [
        (".json", "", "is empty; a trace was expected"),
        (".json", " \n ", "holds nothing but space"),
        (".json", ARRAY.encode("utf-16"), "is text in UTF-16; text in UTF-8 was expected"),
        (".json", "[1, 2, 3]", "is not a trace: none of its 3 elements is an event"),
        (".json", '{"traceEvents": ["a"]}', "is not a trace: none of its 1 element is an event"),
        (".json.gz", b"BZh91AY", "is packed with bzip2"),
        (".json", b"PK\x03\x04....", "is packed with zip"),
        (".json", f'[{{"ph":"B","name":"a","ts":{LONG},{AT}}}]', "character 2: no JSON: a number with too many digits"),
        (".json", "[" + '{"a":' * 100_000 + "1", "character 2: no JSON: nested too deeply"),
        (".json", "[" + "[" * 100_000, "character 2: no JSON: nested too deeply"),
        (".json.gz", PACKED[:-6], "the compressed file is cut off"),
        (
            ".json.gz",
            PACKED[:-8] + b"\0" * 8,
            "the compressed file is damaged near byte 0",
        ),
        (".json.gz", gzip.compress(b"[" + b"\n" * (20 << 20), mtime=0), "unpacks to more than 250 times its size"),
        (".json.gz", gzip.compress(b"[" + b" " * (20 << 20), mtime=0), "unpacks to more than 250 times its size"),
        (
            ".csv.gz",
            gzip.compress(TABLE.encode() + b"\n" * (20 << 20), mtime=0),
            "unpacks to more than 250 times its size",
        ),
        (
            ".prv.gz",
            gzip.compress(HEADER.encode() + b"\n" * (20 << 20), mtime=0),
            "unpacks to more than 250 times its size",
        ),
        (".json.gz", PACKED + b"junk", "the compressed file is damaged"),
        (".csv", f"{TABLE}1e999999999,Enter,a,0,0\n", "2: 5 cells were expected, with a time"),
        (".csv", f"{TABLE}{2**62},Enter,a,0,0\n", "2: 5 cells were expected, with a time"),
        (".csv", f"{TABLE}1,Enter,{'x' * 200_000},0,0\n", "2: a line of a table was expected (field larger"),
        (".csv", f'{TABLE}1,Enter,"a,0,0\n2,Leave,a,0,0\n', "3: 5 cells were expected"),
        (".prv", f"{HEADER}{RECORD}".replace("\n", "\r"), "1: line feeds were expected at the ends of lines"),
        (".prv", HEADER.replace("100_ns", "9" * 30 + "_ns"), "1: a header was expected"),
        (".prv", HEADER.replace("100_ns", f"{LONG}_ns"), "1: a header was expected"),
        (".prv", HEADER.replace("(2:1)", f"({LONG}:1)"), "1: the header names more threads than there can be"),
        (".prv", HEADER.replace("1(2:1)", "2(600000:1,600000:1)"), "1: the header names more threads"),
        (".prv", HEADER.replace(":1:1(", f":{LONG}:1("), "1: the header names another number of applications"),
        (".prv", f"{HEADER}c:1:1:1:{LONG}\n{RECORD}", "2: a communicator was expected"),
        (".prv", f"{HEADER}c:1:1:1:\u00b2\n{RECORD}", "2: a communicator was expected"),
        (".trf", "", "1: a record of PICL was expected; the file has none"),
        (".trf", "-3 -901 1e999999999 0 0 0\n", "1: a record was expected"),
        (".trf", "-3 -901 4611686018.427387904 0 0 0\n", "1: a record was expected"),
        (".trf", f"-3 -21 0.1 0 0 3 2 8 {2**63} 1\n", "1: a record was expected"),
        (".trf", f"-3 -21 0.1 0 0 3 2 {2**70} 5 1\n", "1: a record was expected"),
    ],
    ids=itertools.count(),
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path: Path, ending: str, text: str | bytes, said: str) -> None:
    path = put(tmp_path, ending, text)
    with pytest.raises(InputError, match=re.escape(said)) as error:
        read(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_of_a_packed_file_that_is_damaged_at_its_end_everything_before_is_read(tmp_path: Path) -> None:
    for text in (PACKED[:-6], PACKED[:-8] + b"\0" * 8, PACKED + b"junk"):
        with read(put(tmp_path, ".json.gz", text), partial=True) as trace:
            assert trace.count("calls") == 2
            assert len(trace.meta.damage) == 1


@pytest.mark.parametrize("behind", ["garbage", ARRAY, "\0\0\0"])
@pytest.mark.parametrize("text", [ARRAY, f'{{"traceEvents":{ARRAY}}}'])
def test_what_stands_behind_the_events_is_told(tmp_path: Path, text: str, behind: str) -> None:
    with read(put(tmp_path, ".json", text + behind)) as trace:
        assert trace.count("calls") == 2
        assert "after the end of the trace" in notes(trace)


def test_times_that_lie_too_far_apart_for_64_bits_are_counted_and_left_out(tmp_path: Path) -> None:
    far = [
        f'{{"ph":"X","name":"a","ts":{time},"dur":{length},{AT}}}'
        for time, length in ((-8e15, 0), (8e15, 1), (3e15, 3e15), (4, 2))
    ]
    with read(put(tmp_path, ".json", f"[{','.join(far)}]")) as trace:
        assert (trace.meta.begin, trace.meta.end) == (4000, 6000)
        assert "3 × events of phase 'X'" in notes(trace)
        line = Timeline.open(trace)
        assert line.lanes("region", line.begin, line.end, 10).covered.min() == 1


def test_half_a_character_in_a_name_becomes_a_sign_that_can_be_written(tmp_path: Path) -> None:
    named = '{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"\\udfff"}}'
    event = f'{{"ph":"X","name":"\\ud800x","ts":1,"dur":1,{AT}}}'
    phase = f'{{"ph":"\\ud801","name":"x","ts":1,{AT}}}'
    with read(put(tmp_path, ".json", f"[{named},{event},{phase}]")) as trace:
        assert trace.definitions.regions[0].name == "?x"
        assert trace.definitions.locations[0].name == "?"
        notes(trace).encode()


def test_a_name_in_a_table_may_hold_ends_of_lines(tmp_path: Path) -> None:
    rows = "".join(
        f'{time},{what},"ma\n{sign}in",0,0\n'
        for sign in ("", "\u2028", "\x0b", "\x85")
        for time, what in ((1, "Enter"), (9, "Leave"))
    )
    with read(put(tmp_path, ".csv", TABLE + rows)) as trace:
        assert [region.name for region in trace.definitions.regions] == [
            "ma\nin",
            "ma\n\u2028in",
            "ma\n\x0bin",
            "ma\n\x85in",
        ]


def test_numbers_of_rows_and_empty_lines_in_a_table_are_no_events(tmp_path: Path) -> None:
    text = f",{TABLE}0,1,Enter,a,0,0\n\n  \n1,5,Leave,a,0,0\n"
    with read(put(tmp_path, ".csv", text)) as trace:
        assert trace.counts() == {"calls": 2}


@pytest.mark.parametrize(
    ("ending", "text"), [(".prv", HEADER + RECORD), (".trf", "-3 -901 0 0 0 0\n-4 -901 1 0 0 0\n"), (".json", ARRAY)]
)
def test_a_mark_of_utf_8_at_the_beginning_is_no_damage(tmp_path: Path, ending: str, text: str) -> None:
    with read(put(tmp_path, ending, b"\xef\xbb\xbf" + text.encode())) as trace:
        assert trace.count("calls") == 2


@pytest.mark.parametrize(("ending", "begin"), [(".csv", TABLE), (".prv", HEADER), (".trf", "")])
def test_a_file_without_ends_of_lines_is_not_held_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, begin: str
) -> None:
    monkeypatch.setattr(text_files, "LONGEST", 2 << 20)
    with pytest.raises(InputError, match="a line end was expected within 2 MiB"):
        read(put(tmp_path, ending, begin + "1" * (4 << 20)))


@pytest.mark.slow
def test_totals_of_very_many_regions_have_fewer_bins(tmp_path: Path) -> None:
    events = ",".join(f'{{"ph":"X","name":"r{n}","ts":{n},"dur":1,{AT}}}' for n in range(10_000))
    with read(put(tmp_path, ".json", f"[{events}]")) as trace:
        line = Timeline.open(trace)
        values = line.totals("region", line.begin, line.end, 2000).values
    assert values.size <= 1.5 * 2**22
    assert values.sum(axis=0) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    "known",
    [
        {"begin": -(10**30)},
        {"end": 10**30},
        {"begin": -(2**63) + 1, "end": 2**63 - 1},
        {"ticks_per_second": 10**30},
        {"properties": ["x"]},
    ],
)
def test_a_file_of_ours_with_a_run_that_no_number_holds_is_refused(tmp_path: Path, known: dict[str, Any]) -> None:
    trace = small()
    writer = ContainerWriter(tmp_path / "t.sgtrace")
    writer.define(trace.definitions, replace(trace.meta, **known))
    writer.finish()
    with pytest.raises(InputError, match="the definitions are not as specified"):
        read(tmp_path / "t.sgtrace")
