"""Traces of ranks on several computers: their times on one clock, and no message received before it was sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.base.errors import WorkError
from scalegraph.link.targets import _one_clock, _traces
from scalegraph.link.targets._records import Process
from scalegraph.runtime.format import CATEGORY_NAMES, EVENT, TRACE_HEADER, TRACE_RECORD, TRACE_STATES, TRACED
from scalegraph.runtime.results import Result
from scalegraph.runtime.trace import write_trace
from scalegraph.traces.checking import check
from scalegraph.traces.kinds import Operation
from scalegraph.traces.reading import read

HERTZ = 10**9  # rank 0's clock rate: a tick is a nanosecond
START = 10**12
COMPUTING, TOGETHER = CATEGORY_NAMES.index("busy_int"), CATEGORY_NAMES.index("idle_collective")
RECEIVING = CATEGORY_NAMES.index("idle_message")
EVERYTHING = (1 << len(TRACED)) - 1


@dataclass
class Rank:
    """What one rank recorded, in true time; so far only its beginning."""

    number: int
    now: int = START
    rows: list[tuple[int, ...]] = field(default_factory=list)

    def put(self, event: str, what: int, region: int, time: int, first: int, second: int) -> None:
        self.rows.append((EVENT[event], what, self.number, region, time, first, second))

    def spend(self, ticks: int, category: int = COMPUTING) -> int:
        """Let *ticks* pass; return when they began."""
        begin, self.now = self.now, self.now + ticks
        if ticks:
            self.put("share", category, 1, self.now, begin, ticks)
        return begin


def message(sender: Rank, receiver: Rank, takes: int) -> None:
    """Let *receiver* wait for a message that *sender* sends now, which *takes* that many ticks."""
    begin = sender.spend(300)
    sender.put("sent", 0, receiver.number, sender.now, begin, 7 << 32)
    sender.put("parcel", 0, 0, sender.now, 64, 0)
    posted = receiver.spend(max(begin + takes - receiver.now, 1), RECEIVING)
    receiver.put("wait", 7, 1, receiver.now, posted, 0)
    receiver.put("waker", 0, 0, receiver.now, 0, 0)
    receiver.put("taken", 0, sender.number, receiver.now, posted, 7 << 32)


def together(ranks: Sequence[Rank], turn: int, takes: int) -> None:
    """Let all *ranks* reduce a value: none continues before the last one has arrived."""
    until = max(rank.now for rank in ranks) + takes
    for rank in ranks:
        begin = rank.spend(until - rank.now, TOGETHER)
        rank.put("wait", 9, 1, rank.now, begin, 0)
        rank.put("waker", 0, 0, rank.now, 0, 0)
        rank.put("collective", Operation.ALL_REDUCE, 0, rank.now, begin, 0)
        rank.put("carried", 0, 1, turn, 8, 8)


def run(seed: int, computers: int, takes: int) -> list[Rank]:
    """Return the ranks' records of a random program whose messages take between *takes* and 1.5 *takes* ticks."""
    random = Random(seed)
    ranks = [Rank(number) for number in range(2 * computers)]
    for rank in ranks:
        rank.put("call", 1, 1, rank.now, 0, 0)
    for turn in range(1, 56):
        for rank in ranks:
            rank.spend(random.randrange(0, 3 * takes))
        if turn % 10:
            sender, receiver = random.sample(ranks, 2)
            message(sender, receiver, takes + random.randrange(takes // 2))
        else:
            together(ranks, turn // 10, takes)
    for rank in ranks:
        rank.spend(10)
        rank.put("call", 2, 1, rank.now, 0, 0)
    return ranks


def parts_of(ranks: Sequence[Rank]) -> list[Process]:
    made = []
    for rank in ranks:
        header = np.zeros(1, TRACE_HEADER)
        header["begin"], header["end"], header["clock_hz"] = START, rank.now, HERTZ
        header["processors"] = 1
        header["state"] = [name for name, _ in TRACE_STATES].index("whole")
        made.append(Process(header[0], np.array(rank.rows, TRACE_RECORD), rank.number, 1))
    return made


@dataclass(frozen=True)
class Drift:
    """The clock of a computer: *rate* ticks for each of rank 0's; at the start it shows *offset*.

    *error*: what the comparison of the clocks states, in ticks of rank 0; *begin*, *end*: its real error, as a share.
    """

    rate: float
    offset: int
    error: int
    begin: float
    end: float

    def stamp(self, times: Any) -> Any:
        since = np.asarray(times).astype(np.int64) - START
        return self.offset + np.rint(since * self.rate).astype(np.int64)

    def meta(self, end: int) -> dict[str, str]:
        found = {"computer": f"boot-{self.offset} x", "frequency_hz": str(HERTZ * self.rate)}
        for number, (at, wrong) in enumerate(((START, self.begin), (end, self.end))):
            there = at + round(wrong * self.error)
            found[f"clock.{number}"] = f"{self.stamp(at)} {there} {round(self.error * self.rate)}"
        return found


def distorted(parts: Sequence[Process], drifts: Sequence[Drift]) -> tuple[list[Process], list[Result]]:
    """Return *parts*, two per computer, in times of their computers' clocks, and the ranks' other results."""
    end = max(int(part.header["end"]) for part in parts)
    found, results = [], []
    for number, part in enumerate(parts):
        header, records = part.header.copy(), part.records.copy()
        meta = {"computer": "boot x", "frequency_hz": str(HERTZ)}
        if number > 1:
            drift = drifts[number // 2 - 1]
            meta = drift.meta(end)
            for name in ("begin", "end"):
                header[name] = drift.stamp(header[name])
            times = records["event"] != EVENT["carried"]
            both = np.isin(records["event"], [EVENT[name] for name in ("share", "wait", "sent", "taken", "collective")])
            records["time"][times] = drift.stamp(records["time"][times])
            records["first"][both] = drift.stamp(records["first"][both])
            shares = records["event"] == EVENT["share"]
            records["second"][shares] = (records["time"] - records["first"])[shares]
        found.append(replace(part, header=header, records=records))
        results.append(Result({**meta, "rank": str(number), "pid": str(number)}, {}))
    return found, results


def stamps(part: Process) -> Any:
    return part.records["time"][part.records["event"] != EVENT["carried"]].astype(np.int64)


drifts = st.builds(
    Drift,
    st.floats(0.2, 5),
    st.integers(10**9, 10**16),
    st.integers(1, 2000),
    st.floats(-1, 1),
    st.floats(-1, 1),
)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.lists(drifts, min_size=1, max_size=3, unique_by=lambda one: one.offset))
def test_times_of_other_clocks_come_back_to_the_error_of_their_comparison(seed: int, clocks: list[Drift]) -> None:
    parts = parts_of(run(seed, 1 + len(clocks), takes=5000))  # no message is faster than two clocks are apart
    found, results = distorted(parts, clocks)
    (remark,) = _one_clock.convert(found, results)
    assert remark.startswith(
        f"trace: ranks on {1 + len(clocks)} computers; their clocks were compared by messages, to "
    )
    assert "; none of " in remark
    for part, one in zip(parts, found, strict=True):
        clock = clocks[part.first // 2 - 1] if part.first > 1 else None
        within = 0 if clock is None else clock.error + 2 + 1 / clock.rate
        assert np.abs(stamps(one) - stamps(part)).max() <= within
        assert abs(int(one.header["end"]) - int(part.header["end"])) <= within
        assert (np.diff(stamps(one)) >= 0).all()
        for name in ("event", "what", "processor", "region"):
            assert np.array_equal(one.records[name], part.records[name])
        stay = np.isin(part.records["event"], [EVENT[name] for name in ("wait", "sent", "taken", "collective")])
        assert np.array_equal(one.records["second"][stay], part.records["second"][stay])
        rest = np.isin(part.records["event"], [EVENT[name] for name in ("parcel", "carried")])
        assert np.array_equal(one.records["first"][rest], part.records["first"][rest])
        turns = part.records["event"] == EVENT["carried"]
        assert np.array_equal(one.records["time"][turns], part.records["time"][turns])
        assert one.header["clock_hz"] == HERTZ


def merged(parts: Sequence[Process], place: Path) -> Any:
    raw, out = place / "raw", place / "run.sgtrace"
    _traces.merge(parts, raw, EVERYTHING)
    write_trace(raw, out, regions=[], ranks=len(parts), measured=True)
    return read(out)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), clocks=st.lists(drifts, min_size=1, max_size=3, unique_by=lambda one: one.offset))
def test_messages_keep_their_order_where_the_clocks_are_not_known_so_well(
    seed: int, clocks: list[Drift], tmp_path_factory: pytest.TempPathFactory
) -> None:
    parts = parts_of(run(seed, 1 + len(clocks), takes=40))  # ns, although clocks are only known to microseconds
    found, results = distorted(parts, clocks)
    (remark,) = _one_clock.convert(found, results)
    apart = sum(2 * clock.error + 3 / clock.rate + 3 for clock in clocks)
    for part, one in zip(parts, found, strict=True):
        assert np.abs(stamps(one) - stamps(part)).max() <= apart
        shares = one.records[one.records["event"] == EVENT["share"]]
        assert (shares["first"][1:] == shares["time"][:-1]).all()
        assert (shares["time"] - shares["first"] == shares["second"]).all()
        assert (shares["first"] <= shares["time"]).all()
    with merged(found, tmp_path_factory.mktemp("trace")) as trace:
        assert check(trace).violations == []
        rows = trace.columns("messages", ("sent", "left", "posted", "received", "sender", "receiver"))
        assert (rows["received"] >= rows["sent"]).all()
        elsewhere = rows["sender"] // 2 != rows["receiver"] // 2
        assert f" of {int(elsewhere.sum())} messages between computers" in remark
        members = trace.columns("collectives", ("begin", "end", "location"))
        ranks = [members["location"] == number for number in range(len(parts))]
        begins, ends = (np.stack([np.sort(members[name][mine]) for mine in ranks]) for name in ("begin", "end"))
        assert len(begins[0]) == 5
        assert (ends.min(axis=0) >= begins.max(axis=0)).all()


def test_a_message_that_seems_to_arrive_early_is_moved_and_what_follows_comes_back_to_the_clock() -> None:
    ranks = [Rank(number) for number in range(4)]
    message(ranks[0], ranks[2], takes=100)
    for _ in range(1000):
        ranks[2].spend(1000)
    clock = Drift(1.0, 5 * 10**12, 500, -1.0, -1.0)  # half a microsecond early
    parts, results = distorted(parts_of(ranks), [clock])
    wrong = parts_of(ranks)[2].records["time"].astype(np.int64) - 500
    (remark,) = _one_clock.convert(parts, results)
    assert remark.endswith(
        "; 1 of 1 messages between computers were received before they were sent: "
        "times after that were moved, by up to 400 ns"
    )
    moved = parts[2].records["time"].astype(np.int64) - wrong
    assert moved[0] == 400  # received when it was sent
    assert (np.diff(moved) <= 0).all()
    took = np.diff(parts[2].records["time"][4:].astype(np.int64))
    assert took.min() >= 1000 * 127 // 128
    assert moved[-1] == 0


def test_clocks_that_contradict_each_other_are_left_alone() -> None:
    """By its own clock, each of two computers receives before it sends what the other received even earlier."""
    ranks = [Rank(number) for number in range(4)]
    for one, other in ((0, 3), (2, 1)):
        ranks[one].spend(1000)
        message(ranks[one], ranks[other], takes=-900)
    parts, results = distorted(parts_of(ranks), [Drift(1.0, 5 * 10**12, 5, 0.0, 0.0)])
    before = [part.records.copy() for part in parts_of(ranks)]
    (remark,) = _one_clock.convert(parts, results)
    assert remark.endswith(
        "; 2 of 2 messages between computers were received before they were sent, but clocks contradict each other: "
        "times are kept"
    )
    assert all(np.array_equal(part.records, rows) for part, rows in zip(parts, before, strict=True))


def test_without_a_comparison_of_the_clocks_there_is_no_trace() -> None:
    parts = parts_of(run(1, 2, 100))
    results = [
        Result({"computer": f"boot-{one // 2} x", "frequency_hz": str(HERTZ), "rank": str(one)}, {}) for one in range(4)
    ]
    with pytest.raises(WorkError, match="ranks on 2 computers, whose clocks were not compared"):
        _one_clock.convert(parts, results)
    same = [Result({**result.meta, "computer": "boot x"}, {}) for result in results]
    assert _one_clock.convert(parts, same) == ()
