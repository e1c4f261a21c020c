"""Schedules worth trying, from chunks with known times."""

from __future__ import annotations

import numpy as np
import pytest

from scalegraph.analyze.loops import selection
from scalegraph.analyze.loops.selection import Seen
from scalegraph.base.loops import Chunks, LoopCost


def _seen(work: list[float], members: int = 4, chunk: float = 1.0, home: float = 1.0) -> Seen:
    return Seen(np.concatenate(([0.0], np.cumsum(work))), members, chunk, home)


def test_even_iterations_are_left_as_they_are() -> None:
    even = _seen([100.0] * 64)
    assert even.imbalance == 0
    assert selection.worth_trying(even) == []
    assert selection.worth_trying(even, written=3000.0) == ["static"]  # the program uses a queue, which has a cost
    assert "would cost more" in selection.why(even, [], 1600.0, is_static=True)


def test_times_of_a_triangle_by_hand() -> None:
    """1 + 2 + .. + 8 on 2 threads: equal shares take 26; dynamic gives 1, 3, 5, 7 and 2, 4, 6, 8, 4 chunks each."""
    triangle = _seen([float(i) for i in range(1, 9)], members=2, chunk=0.0)
    found = selection.predicted(triangle)
    assert found["static"] == 26
    assert found["dynamic"] == 20
    assert triangle.imbalance == pytest.approx(1 - 18 / 26)


def test_one_thread_at_a_time_obtains_a_chunk() -> None:
    """16 empty iterations, 10 cycles per chunk: 160 in one queue, 40 with a queue for each of 4 threads."""
    empty = _seen([0.0] * 16, chunk=10.0)
    assert selection.predicted(empty)["dynamic"] == 160
    assert selection.predicted(empty)["steal"] == pytest.approx(40, abs=20)


def test_uneven_iterations_get_a_queue_and_one_that_leaves_them_at_home() -> None:
    names = selection.worth_trying(_seen([float(i) for i in range(1000)], chunk=5.0))
    assert {"ML", "steal"} & set(names)
    assert {"guided", "FAC2", "TSS"} & {name.partition(",")[0] for name in names} or names[0].startswith("dynamic")
    assert len(names) <= 3


def test_iterations_that_are_dearer_away_from_home_stay_there() -> None:
    mild = [100.0 + i % 3 for i in range(99)] + [110.0]
    assert selection.worth_trying(_seen(mild, home=0.5), None) == []
    uneven = _seen([float(i) for i in range(1000)], chunk=5.0, home=0.6)
    assert selection.worth_trying(uneven)[0] in ("ML", "steal")


def test_a_queue_that_costs_more_than_the_imbalance_is_not_tried() -> None:
    assert selection.worth_trying(_seen([float(i % 7) for i in range(64)], chunk=500.0)) == ["static"]


def test_chunks_of_whole_executions_show_the_iterations() -> None:
    """Two executions of iterations 10 to 16 in steps of 2, chunks of 2; the second is slower; a third is truncated."""
    chunks = Chunks(
        execution=(0, 0, 1, 1, 2),
        processor=(0, 1, 0, 1, 0),
        member=(0, 1, 0, 1, 0),
        owner=(-1,) * 5,
        state=(0,) * 5,
        first=(10, 14, 14, 10, 10),
        count=(2,) * 5,
        step=(2,) * 5,
        control=(0,) * 5,
        begin=(0,) * 5,
        end=(20, 60, 120, 40, 999),
        stall=(0,) * 5,
    )
    loop = LoopCost(
        iterations=4,
        executions=3,
        members=2,
        processor=(0, 1),
        entered=(3, 3),
        chunks={"central": (3, 3)},
        body=(1, 1),
        stall=(0, 0),
        asking=(50, 30),
        lock=(10, 10),
        ending=(0, 0),
        history=chunks,
    )
    found = selection.seen(loop)
    assert found is not None
    assert found.upto.tolist() == [0, 15, 30, 75, 120]
    assert found.chunk == pytest.approx(60 / 6)
    assert selection.seen(loop.model_copy(update={"history": Chunks()})) is None


def test_more_chunks_than_are_dealt_out_singly_are_summed() -> None:
    many = _seen([1.0] * 100_000, chunk=2.0)
    assert selection.predicted(many)["dynamic"] == pytest.approx(200_000)
