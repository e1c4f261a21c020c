"""Long work is stopped, and reports progress, at checkpoints at any depth."""

from __future__ import annotations

import threading

import pytest

from scalegraph.base.cancel import AnyToken, CancelToken, checkpoint, stage, working
from scalegraph.base.errors import Cancelled


def test_outside_of_work_a_checkpoint_does_nothing() -> None:
    checkpoint()
    checkpoint(0.5)
    with stage(0.2, 0.4):
        checkpoint(0.5)


def test_a_checkpoint_stops_the_work_that_it_is_in_and_no_other() -> None:
    outer, inner = CancelToken(), CancelToken()
    outer.cancel()
    with working(outer):
        with working(inner):
            checkpoint()
        with pytest.raises(Cancelled):
            checkpoint()
    checkpoint()


def test_stages_share_the_work_around_them() -> None:
    told: list[float] = []
    with working(CancelToken(), told.append):
        checkpoint(0.0)
        with stage(0.2, 0.6):
            checkpoint(0.5)
            with stage(0.5, 1.0):
                checkpoint(1.0)
        checkpoint(2.0)
    assert told == pytest.approx([0.0, 0.4, 0.6, 1.0])


def test_shares_only_rise_and_not_by_less_than_a_hundredth() -> None:
    told: list[float] = []
    with working(CancelToken(), told.append):
        for number in range(10_001):
            checkpoint(number / 10_000)
        checkpoint(0.3)
    assert told == sorted(told)
    assert 90 < len(told) <= 101


def test_waiting_with_two_tokens_ends_when_the_other_is_cancelled() -> None:
    other = CancelToken()
    both = AnyToken(other)
    assert not both.wait(0)
    waited = threading.Thread(target=both.wait, args=(60,), daemon=True)
    waited.start()
    other.cancel()
    waited.join(30)
    assert not waited.is_alive()
    assert both.wait(60)
