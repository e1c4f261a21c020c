"""The critical path of traces with a known path."""

from __future__ import annotations

import numpy as np
import pytest

from scalegraph.analyze.trace.candidates import Cause
from scalegraph.analyze.trace.critical_path import Piece, critical_path
from scalegraph.analyze.trace.critical_path_profile import Contents, on_path
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.base.cancel import CancelToken, working
from scalegraph.base.errors import Cancelled
from scalegraph.traces.kinds import NO_TIME, LockStep, Operation, TaskStep, Wait
from scalegraph.traces.model import MemoryPart, State, Trace
from tests.analyze.trace.made import calls, path_of, ticks_at, told, trace

NO = NO_TIME


def test_a_location_alone_is_its_own_path() -> None:
    made = trace(1, {"calls": calls(0, (0, 100, "main"))})
    assert told(path_of(made)) == [(0, 100, 0, "compute")]


def test_fork_join_follows_the_member_with_most_work() -> None:
    """Location 0 forks at 10; 1 works until 70, 0 until 40, 2 until 50; the join releases at 70."""
    made = trace(
        3,
        {
            "calls": [*calls(0, (0, 100, "main")), *calls(1, (10, 70, "solve")), *calls(2, (10, 50, "solve"))],
            "waits": [
                (40, 75, 0, 1, Wait.BARRIER, 0, 4, 70),
                (0, 10, 1, 0, Wait.OTHER, 0, -1, 10),
                (70, 100, 1, 0, Wait.OTHER, 0, -1, 100),
                (0, 10, 2, 0, Wait.OTHER, 0, -1, 10),
                (50, 75, 2, 1, Wait.BARRIER, 0, 4, 70),
                (75, 100, 2, 0, Wait.OTHER, 0, -1, 100),
            ],
        },
    )
    path = path_of(made)
    assert told(path) == [
        (0, 10, 0, "compute"),
        (10, 70, 1, "compute"),
        (70, 75, 0, "hand_over"),
        (75, 100, 0, "compute"),
    ]
    assert path.length == 100
    assert path.hops == 2


def test_a_lock_convoy_is_one_chain() -> None:
    """Three locations request one lock at 10; each holds it for 20 ticks."""
    waits = [(10, 31, 1, 0, Wait.LOCK, 7, 5, 30), (10, 52, 2, 1, Wait.LOCK, 7, 5, 51)]
    made = trace(3, {"waits": waits, "states": [(0, 30, 0, 0), (0, 51, 1, 0), (0, 100, 2, 0)]})
    assert told(path_of(made)) == [
        (0, 30, 0, "compute"),
        (30, 31, 1, "hand_over"),
        (31, 51, 1, "compute"),
        (51, 52, 2, "hand_over"),
        (52, 100, 2, "compute"),
    ]


def test_locks_without_waits_are_derived_from_who_held_them() -> None:
    """Location 1 enters the critical section at 5 and gets the lock at 41, after 0 released it at 40."""
    made = trace(
        2,
        {
            "calls": [
                *calls(0, (0, 50, "main"), (10, 40, "omp critical")),
                *calls(1, (0, 100, "main"), (5, 60, "omp critical")),
            ],
            "locks": [
                (10, 0, 3, 1, LockStep.ACQUIRED),
                (40, 0, 3, 1, LockStep.RELEASED),
                (41, 1, 3, 2, LockStep.ACQUIRED),
                (60, 1, 3, 2, LockStep.RELEASED),
            ],
        },
    )
    path = path_of(made)
    assert told(path) == [(0, 40, 0, "compute"), (40, 41, 1, "hand_over"), (41, 100, 1, "compute")]
    assert Waits.of(made).rows.cause.tolist() == [Cause.LOCK]


def test_a_pipeline_of_messages_goes_through_all_stages() -> None:
    """Each rank receives, works for 20 ticks, sends; a message takes 5 ticks."""
    rows = {"calls": [], "messages": []}
    for rank in range(4):
        start = rank * 25
        spans = [(0, start + 20 if rank < 3 else 100, "main")]
        if rank:
            spans.append((0, start, "MPI_Recv"))
        rows["calls"] += calls(rank, *spans)
        if rank < 3:
            sent = start + 20
            rows["messages"].append((sent, sent, sent + 5, sent + 5, rank, rank + 1, 64, 0, 0))
    path = path_of(trace(4, rows, end=100))
    assert ticks_at(path) == {0: 20, 1: 25, 2: 25, 3: 30}
    assert [piece[3] for piece in told(path)] == ["compute", *["message", "compute"] * 3]
    assert path.length == 100


def test_a_late_receiver_holds_up_a_send_that_waits_for_it() -> None:
    """0 sends at 10 and can continue at 62; 1 posts the receive at 60."""
    made = trace(
        2,
        {
            "calls": [
                *calls(0, (0, 100, "main"), (10, 62, "MPI_Send")),
                *calls(1, (0, 80, "main"), (60, 62, "MPI_Recv")),
            ],
            "messages": [(10, 10, 62, 62, 0, 1, 8, 0, 0)],
        },
    )
    path = path_of(made)
    assert told(path) == [(0, 60, 1, "compute"), (60, 62, 0, "message"), (62, 100, 0, "compute")]
    assert Waits.of(made).rows.cause.tolist() == [Cause.LATE_RECEIVER]


def test_a_message_that_was_there_before_it_was_asked_for_holds_up_nobody() -> None:
    made = trace(
        2,
        {
            "states": [(0, 100, 1, 0), (0, 10, 0, 0)],
            # the fastest message takes 4 ticks, so the other one had arrived at 9, and copying it took 3
            "messages": [(5, 6, 50, 53, 0, 1, 8, 0, 0), (6, 7, 1, 10, 0, 1, 8, 1, 0)],
        },
    )
    waits = Waits.of(made)
    assert waits.rows.begin.tolist() == [1]
    assert told(path_of(made)) == [(0, 6, 0, "compute"), (6, 10, 1, "message"), (10, 100, 1, "compute")]


def test_a_message_in_transit_leads_to_its_sender() -> None:
    """The message is sent at 10, its receive is posted at 20, and it is 30 ticks in transit."""
    made = trace(2, {"states": [(0, 100, 1, 0), (0, 12, 0, 0)], "messages": [(10, 12, 20, 40, 0, 1, 8, 0, 0)]})
    assert told(path_of(made)) == [(0, 10, 0, "compute"), (10, 40, 1, "message"), (40, 100, 1, "compute")]


@pytest.mark.parametrize("told_by", ["waits", "collectives", "calls"])
def test_at_barriers_the_path_alternates_with_who_comes_last(told_by: str) -> None:
    """In round r location r % 2 works for 30 ticks, the other for 10; the barrier takes 3 after the last arrival."""
    rows: dict[str, list[tuple[int, ...]]] = {"calls": [], "waits": [], "collectives": []}
    spans = {0: [(0, 100, "main")], 1: [(0, 99, "main")]}
    for turn in range(3):
        start = turn * 33
        late, early = turn % 2, 1 - turn % 2
        for who, came in ((late, start + 30), (early, start + 10)):
            if told_by == "calls":
                spans[who].append((came, start + 33, "omp barrier"))
            elif told_by == "collectives":
                rows["collectives"].append((came, start + 33, who, Operation.BARRIER, 0, -1, 0, 0))
        if told_by == "waits":
            rows["waits"].append((start + 10, start + 33, early, late, Wait.BARRIER, 1, 4, start + 30))
    rows["collectives"].sort(key=lambda row: row[2])
    for who, some in spans.items():
        rows["calls"] += calls(who, *some)
    path = path_of(trace(2, rows, groups=True))
    busy = [piece[:3] for piece in told(path) if piece[3] == "compute"]
    assert path.length == 100
    # the last to arrive stays on its own path; the one that continues after the barrier came from the other
    assert busy == [(0, 30, 0), (33, 63, 1), (66, 100, 0)]
    assert path.ticks(Piece.HAND_OVER) == 6


def test_the_last_to_come_is_not_idle_without_a_cause_while_the_operation_ends() -> None:
    rows = [(30, 50, 0, Operation.BARRIER, 0, -1, 0, 0), (40, 50, 1, Operation.BARRIER, 0, -1, 0, 0)]
    states = [(0, 30, 0, 0), (30, 50, 0, 1), (50, 90, 0, 0), (0, 40, 1, 0), (40, 50, 1, 1), (50, 100, 1, 0)]
    made = trace(2, {"collectives": rows, "states": states})
    assert told(path_of(made)) == [(0, 40, 1, "compute"), (40, 50, 1, "hand_over"), (50, 100, 1, "compute")]
    assert Waits.of(made).rows.cause.tolist() == [Cause.BARRIER, Cause.COMPLETION]


def test_collective_operations_without_length_release_nobody() -> None:
    rows = [(5, 5, who, Operation.BARRIER, 0, -1, 0, 0) for who in range(2)]
    waits = [(0, 3, 0, 1, Wait.BARRIER, 0, -1, NO_TIME)]  # the trace does not record its release
    made = trace(2, {"collectives": rows, "waits": waits, "states": [(3, 10, 0, 0), (0, 10, 1, 0)]})
    found = Waits.of(made).rows
    assert [(int(found.begin[0]), int(found.end[0]), int(found.released[0]))] == [(0, 3, 3)]


def test_a_message_that_comes_while_the_receiver_computes_holds_up_nobody() -> None:
    made = trace(
        2,
        {
            "calls": [*calls(0, (0, 60, "main")), *calls(1, (0, 100, "main"), (10, 90, "solve"))],
            "messages": [(30, 31, 20, 50, 0, 1, 8, 0, 0)],
        },
    )
    assert told(path_of(made)) == [(0, 100, 1, "compute")]


def test_a_barrier_may_call_something_and_one_that_is_not_left_holds_up_no_other() -> None:
    made = trace(
        2,
        {
            "calls": [
                *calls(0, (0, 100, "main"), (10, 42, "omp barrier"), (12, 30, "load"), (60, 100, "omp barrier")),
                *calls(1, (0, 100, "main"), (40, 42, "omp barrier"), (41, 42, "load"), (90, 100, "omp barrier")),
            ]
        },
        groups=True,
    )
    columns = {name: values[:-2] for name, values in made.columns("calls").items()}  # the last two are never left
    made = Trace(made.definitions, made.meta, {"calls": [MemoryPart("calls", columns)]})
    waits = Waits.of(made)
    assert not waits.doubts
    rows = waits.rows
    assert np.column_stack((rows.begin, rows.end, rows.location, rows.holder, rows.released)).tolist() == [
        [10, 42, 0, 1, 40],
        [60, 100, 0, 1, 90],
    ]


def test_barriers_whose_calls_do_not_match_are_not_guessed() -> None:
    made = trace(
        2,
        {
            "calls": [
                *calls(0, (0, 100, "main"), (10, 30, "omp barrier"), (40, 50, "omp barrier")),
                *calls(1, (0, 90, "main"), (20, 30, "omp barrier")),
            ]
        },
        groups=True,
    )
    waits = Waits.of(made)
    assert not len(waits.rows)
    assert "no waits are derived" in waits.doubts[0]


def test_members_of_a_broadcast_wait_for_its_root_only() -> None:
    rows = [(10, 45, 0, 1, 0, 2, 0, 8), (70, 72, 1, 1, 0, 2, 0, 8), (40, 43, 2, 1, 0, 2, 8, 0)]
    made = trace(3, {"collectives": rows, "states": [(0, 100, 0, 0), (0, 80, 1, 0), (0, 50, 2, 0)]})
    waits = Waits.of(made).rows
    assert waits.location.tolist() == [0]
    assert waits.cause.tolist() == [Cause.LATE_ROOT]
    assert told(path_of(made)) == [(0, 40, 2, "compute"), (40, 45, 0, "hand_over"), (45, 100, 0, "compute")]


def test_the_root_of_a_reduction_waits_for_the_last_of_the_others() -> None:
    rows = [(10, 66, 0, 12, 0, 0, 0, 8), (60, 61, 1, 12, 0, 0, 8, 0), (20, 21, 2, 12, 0, 0, 8, 0)]
    made = trace(3, {"collectives": rows, "states": [(0, 100, 0, 0), (0, 80, 1, 0), (0, 50, 2, 0)]})
    waits = Waits.of(made).rows
    assert (waits.location.tolist(), waits.holder.tolist()) == ([0], [1])
    assert told(path_of(made)) == [(0, 60, 1, "compute"), (60, 66, 0, "hand_over"), (66, 100, 0, "compute")]


def test_in_a_scan_members_wait_for_those_of_lower_rank() -> None:
    rows = [
        (30, 32, 0, 14, 0, -1, 8, 8),
        (10, 33, 1, 14, 0, -1, 8, 8),
        (50, 52, 2, 14, 0, -1, 8, 8),
        (20, 54, 3, 14, 0, -1, 8, 8),
    ]
    made = trace(4, {"collectives": rows, "states": [(0, 90, who, 0) for who in range(3)] + [(0, 100, 3, 0)]})
    waits = Waits.of(made).rows
    assert list(zip(waits.location.tolist(), waits.holder.tolist(), strict=True)) == [(1, 0), (3, 2)]
    assert told(path_of(made))[0] == (0, 50, 2, "compute")


def test_who_is_idle_until_a_task_is_created_waited_for_its_creator() -> None:
    made = trace(
        2,
        {
            "states": [(0, 60, 0, 0), (0, 43, 1, 1), (43, 100, 1, 0)],
            "tasks": [
                (40, 0, 5, TaskStep.CREATED, 1),
                (43, 1, 5, TaskStep.SWITCHED_TO, 1),
                (100, 1, 5, TaskStep.ENDED, 1),
            ],
        },
    )
    assert told(path_of(made)) == [(0, 40, 0, "compute"), (40, 43, 1, "hand_over"), (43, 100, 1, "compute")]


def test_threads_are_taken_to_be_started_by_the_first_of_their_process() -> None:
    made = trace(2, {"calls": [*calls(0, (0, 90, "main")), *calls(1, (30, 100, "solve"))]}, groups=True)
    waits = Waits.of(made)
    assert told(path_of(made)) == [(0, 30, 0, "compute"), (30, 100, 1, "compute")]
    assert waits.assumed == 1


def test_who_has_nothing_left_to_do_waits_for_the_one_that_has() -> None:
    """The first thread was started by location 0 and ends on 2; all leave the outermost region when the run ends."""
    rows = {
        "calls": [call for who in range(3) for call in calls(who, (0, 100, "main"))],
        "states": [(0, 60, 0, 0), (60, 100, 0, 1), (0, 70, 1, 0), (70, 100, 1, 1), (0, 100, 2, 0)],
    }
    made = trace(3, rows)
    made.definitions.states[1] = State("finished", key="idle_finished")
    waits = Waits.of(made).rows
    assert list(zip(waits.location.tolist(), waits.holder.tolist(), strict=True)) == [(0, 2), (1, 2)]
    assert told(path_of(made)) == [(0, 100, 2, "compute")]


def test_a_wait_without_a_known_cause_is_named_and_not_part_of_the_length() -> None:
    made = trace(2, {"states": [(0, 20, 0, 0), (20, 60, 0, 1), (60, 100, 0, 0), (0, 30, 1, 0)]})
    path = path_of(made)
    assert told(path) == [(0, 20, 0, "compute"), (20, 60, 0, "unexplained"), (60, 100, 0, "compute")]
    assert path.length == 60
    assert path.ticks(Piece.UNEXPLAINED) == 40


def test_a_wait_of_which_a_part_is_told_is_unexplained_in_the_rest() -> None:
    made = trace(
        2,
        {
            "states": [(0, 20, 0, 0), (20, 60, 0, 1), (60, 100, 0, 0), (0, 60, 1, 0)],
            "waits": [(30, 50, 0, 1, Wait.LOCK, 0, -1, 50)],
        },
    )
    assert told(path_of(made))[1:] == [(50, 60, 0, "unexplained"), (60, 100, 0, "compute")]


def test_what_lets_go_before_the_wait_began_is_not_followed() -> None:
    """Nobody waited for the holder: resuming took 10 ticks."""
    made = trace(2, {"states": [(0, 100, 0, 0), (0, 20, 1, 0)], "waits": [(40, 50, 0, 1, Wait.LOCK, 0, -1, 20)]})
    assert told(path_of(made)) == [(0, 40, 0, "compute"), (40, 50, 0, "hand_over"), (50, 100, 0, "compute")]


def test_locations_that_wait_for_each_other_in_a_ring_do_not_hold_up_the_walk() -> None:
    waits = [(10, 50, 0, 1, Wait.OTHER, 0, -1, 50), (10, 50, 1, 0, Wait.OTHER, 0, -1, 50)]
    made = trace(2, {"states": [(0, 10, 0, 0), (50, 100, 0, 0), (0, 10, 1, 0), (50, 60, 1, 0)], "waits": waits})
    path = path_of(made)
    assert path.ticks(Piece.UNEXPLAINED) == 40


def test_time_after_the_last_event_and_before_the_first_is_unexplained() -> None:
    made = trace(1, {"calls": calls(0, (20, 80, "main"))})
    assert told(path_of(made)) == [(0, 20, 0, "unexplained"), (20, 80, 0, "compute"), (80, 100, 0, "unexplained")]


def test_an_empty_trace_has_no_path() -> None:
    made = trace(0, {})
    path = critical_path(made, Waits.of(made))
    assert (len(path), path.length) == (0, 0)


def test_nested_and_equal_waits_count_once() -> None:
    waits = [
        (10, 50, 0, 1, Wait.COLLECTIVE, 0, -1, 45),
        (10, 50, 0, 1, Wait.RECEIVE, 0, -1, 20),
        (20, 30, 0, 1, Wait.LOCK, 0, -1, 30),
        (45, 60, 0, 1, Wait.LOCK, 0, -1, 55),
    ]
    made = trace(2, {"states": [(0, 100, 0, 0), (0, 70, 1, 0)], "waits": waits})
    rows = Waits.of(made).rows
    assert list(zip(rows.begin, rows.end, rows.released, strict=True)) == [(10, 50, 45), (50, 60, 55)]


def test_the_walk_can_be_stopped() -> None:
    made = trace(1, {"calls": calls(0, (0, 100, "main"))})
    waits, token = Waits.of(made), CancelToken()
    with working(token):
        assert len(critical_path(made, waits)) == 1
        token.cancel()
        with pytest.raises(Cancelled):
            Waits.of(made)
        with pytest.raises(Cancelled):
            critical_path(made, waits)


def test_what_lies_on_the_path_is_summed_by_region_state_and_location() -> None:
    made = trace(
        2,
        {
            "calls": [
                *calls(0, (0, 100, "main"), (10, 60, "solve"), (20, 30, "load"), (70, 90, "omp barrier")),
                *calls(1, (0, 100, "main"), (60, 85, "step")),
            ],
            "waits": [(70, 90, 0, 1, Wait.BARRIER, 0, 4, 85), (90, 100, 1, 0, Wait.JOIN, 0, 0, 100)],
            "states": [(0, 100, 0, 0), (0, 100, 1, 0)],
        },
    )
    waits = Waits.of(made)
    path = critical_path(made, waits)
    assert told(path) == [(0, 85, 1, "compute"), (85, 90, 0, "hand_over"), (90, 100, 0, "compute")]
    found = on_path(Contents(made, waits), path)
    regions = found.regions.set_index("region")
    assert regions.path.to_dict() == {0: 70.0, 8: 25.0, 1: 0.0, 4: 0.0, 7: 0.0}
    assert regions.inclusive[0] == 95
    assert regions.total.to_dict() == {0: 105.0, 8: 25.0, 1: 40.0, 4: 20.0, 7: 10.0}
    assert regions.imbalance[8] == 25 - 12.5
    assert found.locations.set_index("location").path.to_dict() == {1: 85, 0: 10}
    assert found.states.path.tolist() == [95.0]
    assert found.outside == 5


def test_shares_cut_at_the_pieces_give_exact_sums_by_state_and_region() -> None:
    shares = [
        (0, 40, 0, 0, 0, 30),
        (0, 40, 0, 1, 1, 10),
        (40, 80, 0, 1, 4, 40),
        (80, 100, 0, 0, 0, 20),
        (0, 70, 1, 0, 8, 69),
        (0, 70, 1, 1, 8, 1),
        (70, 100, 1, 1, -1, 30),
    ]
    made = trace(2, {"shares": shares, "waits": [(40, 80, 0, 1, Wait.BARRIER, 0, 4, 70)]})
    waits = Waits.of(made)
    path = critical_path(made, waits)
    assert told(path) == [(0, 70, 1, "compute"), (70, 80, 0, "hand_over"), (80, 100, 0, "compute")]
    found = on_path(Contents(made, waits), path)
    assert found.states.set_index("state").path.to_dict() == {0: 89.0, 1: 1.0}
    assert found.regions.set_index("region").path.to_dict() == {8: 70.0, 0: 20.0, 4: 0.0, -1: 0.0, 1: 0.0}
    assert found.states.total.sum() == 200
    assert np.isclose(found.regions.total.sum(), 200)
