"""The critical path of programs run by a small model, against the longest path in their event graph."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.trace.critical_path import Piece, critical_path
from scalegraph.analyze.trace.critical_path_profile import Contents, on_path
from scalegraph.analyze.trace.wait_states import by_place, wait_states, worst
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.traces.kinds import Operation, Wait
from scalegraph.traces.model import Trace
from tests.analyze.trace.made import NAMES, calls, check, told, trace
from tests.traces.made import traces

pytestmark = pytest.mark.slow

_RECV, _BARRIER = NAMES.index("MPI_Recv"), NAMES.index("omp barrier")


class Model:
    """Locations with clocks. Each step adds a node whose time is the latest of its dependencies plus a cost.

    So the longest path to a node is its time, and the run is as long as the longest path: dynamic programming by
    construction. Dependencies are kept, to traverse them in a different way than the program does.
    """

    def __init__(self, count: int) -> None:
        self.clock = [0] * count
        self.rows: dict[str, list[tuple[Any, ...]]] = {"waits": [], "messages": [], "collectives": [], "states": []}
        self.spans: list[list[tuple[int, int, str]]] = [[] for _ in range(count)]
        self.edges: list[tuple[int, int, int, int]] = []  # from (location, time) to (location, time), if it waited
        self.flying: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def work(self, who: int, ticks: int) -> None:
        if ticks:
            self.rows["states"].append((self.clock[who], self.clock[who] + ticks, who, 0))
            self.clock[who] += ticks

    def wait(self, who: int, holders: list[int], released: int, cost: int, how: str) -> None:
        begin, end = self.clock[who], max(self.clock[who], released) + cost
        if end > begin:
            self.spans[who].append((begin, end, how))
        if released > begin:
            self.edges.extend((holder, released, who, end) for holder in holders)
        self.clock[who] = end

    def send(self, who: int, other: int) -> None:
        self.flying.setdefault((who, other), []).append((self.clock[who], len(self.rows["messages"])))
        self.rows["messages"].append(())
        self.work(who, 1)

    def receive(self, who: int, other: int, transfer: int) -> None:
        waiting = self.flying.get((other, who))
        if not waiting:
            return
        sent, row = waiting.pop(0)
        begin = self.clock[who]
        if sent + transfer > begin:
            self.edges.append((other, sent, who, sent + transfer))
            self.clock[who] = sent + transfer
            self.spans[who].append((begin, self.clock[who], "MPI_Recv"))
        self.rows["messages"][row] = (sent, sent + 1, begin, max(begin, sent + transfer), other, who, 8, row, 0)

    def barrier(self, cost: int, how: str) -> None:
        last = max(range(len(self.clock)), key=lambda who: self.clock[who])
        came, at = list(self.clock), self.clock[last]
        for who in range(len(self.clock)):
            if how == "waits" and came[who] < at:
                self.rows["waits"].append((came[who], at + cost, who, last, Wait.BARRIER, 0, _BARRIER, at))
            tied = [other for other, time in enumerate(came) if time == at]
            self.wait(who, tied, at, cost, "omp barrier" if how == "calls" else "step")
            if how == "collectives":
                self.rows["collectives"].append((came[who], at + cost, who, Operation.ALL_REDUCE, 0, -1, 8, 8))

    def fork_join(self, work: list[int]) -> None:
        """Location 0 forks: the others are idle until then, and it waits for the last of them to end."""
        start = self.clock[0]
        for who, ticks in enumerate(work):
            if who and self.clock[who] < start:
                self.rows["waits"].append((self.clock[who], start + 2, who, 0, Wait.OTHER, 0, -1, start))
                self.wait(who, [0], start, 2, "step")
            self.work(who, ticks)
        last = max(range(len(work)), key=lambda who: self.clock[who])
        if self.clock[last] > self.clock[0]:
            self.rows["waits"].append((self.clock[0], self.clock[last], 0, last, Wait.JOIN, 0, -1, self.clock[last]))
            self.wait(0, [last], self.clock[last], 0, "step")

    def made(self) -> Trace:
        rows = dict(self.rows)
        rows["messages"] = [row for row in rows["messages"] if row]
        rows["collectives"] = sorted(rows["collectives"], key=lambda row: row[2])
        rows["calls"] = [
            step
            for who, spans in enumerate(self.spans)
            if self.clock[who]
            for step in calls(who, (0, self.clock[who], "main"), *spans)
        ]
        del rows["states"]  # anything outside waiting calls is computation
        return trace(len(self.clock), rows, groups=True, end=max(*self.clock, 1))

    def longest(self) -> set[tuple[int, int, int]]:
        """Return every (location, begin, end) on some longest path, following edges back from the end."""
        found, pending, seen = set(), [], set()
        end = max(self.clock)
        into: dict[int, list[tuple[int, int, int, int]]] = {}
        for edge in self.edges:
            into.setdefault(edge[2], []).append(edge)
        pending = [(who, end) for who, clock in enumerate(self.clock) if clock == end]
        while pending:
            who, now = pending.pop()
            if (who, now) in seen:
                continue
            seen.add((who, now))
            before = [edge for edge in into.get(who, ()) if edge[3] <= now and edge[3] > 0]
            latest = max((edge[3] for edge in before), default=0)
            found.add((who, latest, now))
            for edge in before:
                if edge[3] == latest:
                    pending.append((edge[0], edge[1]))
        return found


@st.composite
def programs(draw: st.DrawFn) -> Model:
    count = draw(st.integers(2, 5))
    model = Model(count)
    ticks = st.integers(0, 30)
    some = st.integers(0, count - 1)
    barrier = draw(st.sampled_from(["waits", "collectives", "calls"]))
    transfer, cost = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    steps = ["work", "send", "receive", "barrier"]
    if barrier != "calls":  # a trace that records some waits is assumed to record those at barriers as well
        steps.append("fork")
    for step in draw(st.lists(st.sampled_from(steps), min_size=1, max_size=25)):
        who = draw(some)
        other = (who + draw(st.integers(1, count - 1))) % count
        if step == "work":
            model.work(who, draw(ticks))
        elif step == "send":
            model.send(who, other)
        elif step == "receive":
            model.receive(who, other, transfer)
        elif step == "barrier":
            model.barrier(cost, barrier)
        else:
            model.fork_join([draw(ticks) for _ in range(count)])
    model.work(draw(some), draw(st.integers(1, 30)))
    return model


@settings(max_examples=150, deadline=None)
@given(programs())
def test_the_path_is_a_longest_path_and_as_long_as_the_run(model: Model) -> None:
    made = model.made()
    waits = Waits.of(made)
    path = critical_path(made, waits)
    check(made, waits, path)
    assert path.length == max(model.clock)
    assert not path.ticks(Piece.UNEXPLAINED)
    chains = model.longest()
    for begin, end, who in zip(path.begin, path.end, path.location, strict=True):
        if any(who == chain[0] and begin >= chain[1] and end <= chain[2] for chain in chains):
            continue
        # edges that are not on a location connect two locations
        assert any(who == edge[2] and edge[1] <= begin and end <= edge[3] for edge in model.edges), (
            told(path),
            chains,
            model.edges,
            {k: v for k, v in model.rows.items() if k != "states"},
            model.spans,
        )


@settings(max_examples=60, deadline=None)
@given(traces())
def test_of_any_trace_the_pieces_cover_the_run_and_are_never_longer(made: Trace) -> None:
    waits = Waits.of(made)
    path = critical_path(made, waits)
    if len(path):
        check(made, waits, path)
    found = on_path(Contents(made, waits), path)
    assert found.outside <= path.ticks()
    states = wait_states(made, waits)
    assert states.total == int((waits.rows.end - waits.rows.begin).sum())
    assert len(worst(made, states)) == min(len(waits.rows), 200)
    assert by_place(made, states)["count"].sum() == len(waits.rows)
