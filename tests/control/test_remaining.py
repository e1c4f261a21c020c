"""Remaining time, estimated from the finished runs."""

import pytest

from scalegraph.control.remaining import Remaining


def test_nothing_is_known_before_a_run_ended() -> None:
    assert Remaining([("a", None), ("b", None)], 2).seconds() is None


def test_average_of_the_finished_runs_is_shared_by_the_workers() -> None:
    left = Remaining([(name, None) for name in "abcde"], 2)
    left.ended("a", 4.0)
    assert left.seconds() == pytest.approx(4 * 4.0 / 2)


def test_estimates_are_corrected_by_what_runs_took() -> None:
    left = Remaining([("a", 1.0), ("b", 10.0)], 1)
    assert left.seconds() == pytest.approx(11.0)
    left.ended("a", 2.0)
    assert left.seconds() == pytest.approx(20.0)


def test_no_more_workers_than_runs_are_counted() -> None:
    left = Remaining([("a", 1.0), ("b", 10.0)], 8)
    left.ended("a", 1.0)
    assert left.seconds() == pytest.approx(10.0)


def test_nothing_left_takes_no_time() -> None:
    left = Remaining([("a", 1.0)], 8)
    left.ended("a", None)
    assert left.seconds() == 0
