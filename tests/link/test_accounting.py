"""The kernel's figures for a measured thread, taken out of its accounts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalegraph.link.accounting import COMPUTING, PREEMPTED, _share_of_others, _Thread

pytestmark = pytest.mark.slow

TICKS = st.integers(1, 10**12)


@given(TICKS, TICKS, TICKS, st.integers(0, 10**12), st.integers(0, 10**12))
def test_time_on_the_run_queue_leaves_what_the_thread_ran(
    computing: int, task: int, barrier: int, ran: int, waited: int
) -> None:
    row = {COMPUTING: computing, "prim_task": task, "idle_barrier": barrier, "idle_wait": 7}
    thread = _Thread(rows={0: dict(row)}, waited=waited)
    before = thread.sum()
    _share_of_others(thread, ran, late=before)
    assert thread.sum() == before
    kept = thread.sum((COMPUTING, "prim_task", "idle_barrier"))
    assert kept >= min(ran, computing + task + barrier)
    assert thread.sum((PREEMPTED,)) <= waited
    # it was observed there, so it cannot have been on the run queue for all of that time
    for name in (COMPUTING, "prim_task", "idle_barrier"):
        assert thread.sum((name,)) > 0, name
    assert thread.sum(("idle_wait",)) == 7
