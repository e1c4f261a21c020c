"""Wait states in the trace of an MPI program add up to the waiting in its accounts, rank by rank."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from scalegraph import control, machine
from scalegraph.analyze.trace.candidates import Cause
from scalegraph.analyze.trace.critical_path import Piece, critical_path
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.base.run import RunPoint
from scalegraph.link import Job, Simulated, TraceOrder
from scalegraph.traces import checking
from scalegraph.traces.container import open_container
from scalegraph.traces.model import Trace

pytestmark = pytest.mark.compiler

RANKS = 4
ALL = ("regions", "waits", "shares", "messages")
CAUSES = {
    "idle_late_sender": {Cause.LATE_SENDER},
    "idle_late_receiver": {Cause.LATE_RECEIVER},
    "idle_collective": {Cause.COLLECTIVE, Cause.BARRIER, Cause.LATE_ROOT, Cause.EARLY_ROOT, Cause.SCAN},
}
MACHINES = ("ncube2", "now-ethernet", "cluster-hdr", "bus-smp")


@pytest.fixture(scope="module")
def program() -> control.Program:
    return control.build([Path(__file__).parent / "waits.c"])


def _run(program: control.Program, name: str, directory: Path, what: tuple[str, ...]) -> Trace:
    order = TraceOrder(directory, "run", what)
    record = Simulated().run(Job(program, machine.load(name), RunPoint(processors=RANKS), trace=order))
    assert record.ok, record.message
    assert record.trace is not None
    return open_container(Path(record.trace.path))


def _accounts(trace: Trace) -> dict[str, list[int]]:
    leaves: dict[str, list[int]] = json.loads(trace.meta.properties["accounting"])["leaves"]
    return {name: cycles for name, cycles in leaves.items() if name.startswith("idle_")}


def _by_rank(waits: Waits, causes: set[Cause] | None = None) -> list[int]:
    rows = waits.rows
    chosen = np.isin(rows.cause, list(causes)) if causes is not None else np.ones(len(rows), bool)
    sums = np.zeros(RANKS, np.int64)
    np.add.at(sums, rows.location[chosen], (rows.end - rows.begin)[chosen])
    found: list[int] = sums.tolist()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_wait_states_are_the_waiting_of_the_accounts(program: control.Program, name: str, tmp_path: Path) -> None:
    trace = _run(program, name, tmp_path, ALL)
    accounts, waits = _accounts(trace), Waits.of(trace)
    assert _by_rank(waits) == np.sum(list(accounts.values()), axis=0).tolist()
    for category, causes in CAUSES.items():
        assert _by_rank(waits, causes) == accounts.get(category, [0] * RANKS), category
    under_way = np.sum([accounts.get(one, [0] * RANKS) for one in ("idle_transfer", "idle_network")], axis=0)
    assert _by_rank(waits, {Cause.TRANSIT}) == under_way.tolist()
    assert not checking.check(trace).violations


@pytest.mark.slow
@pytest.mark.parametrize("what", [("regions", "messages", "shares"), ("messages", "shares")])
def test_derived_wait_states_are_no_more_than_that(
    program: control.Program, what: tuple[str, ...], tmp_path: Path
) -> None:
    trace = _run(program, "ncube2", tmp_path, what)
    assert _by_rank(Waits.of(trace)) == np.sum(list(_accounts(trace).values()), axis=0).tolist()


@pytest.mark.slow
def test_recorded_waits_stand_alone_without_shares(program: control.Program, tmp_path: Path) -> None:
    whole = _run(program, "ncube2", tmp_path / "whole", ALL)
    trace = _run(program, "ncube2", tmp_path / "waits", ("regions", "messages", "waits"))
    known = {cause for causes in CAUSES.values() for cause in causes} | {Cause.TRANSIT}
    assert _by_rank(Waits.of(trace), known) == _by_rank(Waits.of(whole), known)


def test_the_critical_path_goes_from_message_to_message(program: control.Program, tmp_path: Path) -> None:
    trace = _run(program, "now-ethernet", tmp_path, ALL)
    path = critical_path(trace, Waits.of(trace))
    assert path.ticks() == trace.meta.end
    assert path.ticks(Piece.UNEXPLAINED) < 0.01 * trace.meta.end  # locks of windows: the holder is not recorded
    assert path.ticks(Piece.MESSAGE) > 0.8 * trace.meta.end  # a shared Ethernet
