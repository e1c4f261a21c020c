"""Which part of the time limits a program, and from which N, for known times."""

from __future__ import annotations

from scalegraph.predict.limits import EVENTS, WAITING, Limit, limits
from scalegraph.predict.predicting import Predicted, RegionShare


def point(
    processors: int, n: int, work_s: float, serial_s: float, events_s: float, waiting_s: float = 0.0
) -> Predicted:
    regions = (
        RegionShare("loop", "a.c", 3, shared=True, busy_s=work_s / processors, memory_stall_s=0.0, formula=""),
        RegionShare("setup", "a.c", 1, shared=False, busy_s=serial_s, memory_stall_s=0.0, formula=""),
    )
    time_s = work_s / processors + serial_s + events_s + waiting_s
    return Predicted(processors, {"n": n}, time_s, time_s, time_s, regions, events_s, waiting_s)


def test_the_largest_part_on_the_most_processors_and_where_it_became_that() -> None:
    counts = (1, 4, 16, 64)
    small = [point(n, 10, 8.0, 1.0, 0.01 * n) for n in counts]  # 8/16 is less than 1
    large = [point(n, 90, 800.0, 1.0, 0.01 * n) for n in counts]
    events = [point(n, 50, 8.0, 0.01, 0.1 * n) for n in counts]  # 8/4 is more than 0.4, 8/16 less than 1.6
    waiting = [point(n, 70, 8.0, 0.01, 0.0, waiting_s=9.0) for n in counts]
    found = {one.values["n"]: one for one in limits([*large, *small, *events, *waiting])}
    assert found[10] == Limit({"n": 10}, "setup", 1 / (8 / 64 + 1 + 0.64), 64, 16, "loop")
    assert (found[90].part, found[90].since, found[90].before) == ("loop", 1, "")
    assert (found[50].part, found[50].since, found[50].before) == (EVENTS, 16, "loop")
    assert (found[70].part, found[70].since) == (WAITING, 1)


def test_a_part_that_leads_in_between_only_does_not_count() -> None:
    leading = [point(1, 10, 8.0, 9.0, 0.0), point(2, 10, 8.0, 1.0, 0.0), point(4, 10, 8.0, 5.0, 0.0)]
    assert [(one.part, one.since, one.before) for one in limits(leading)] == [("setup", 4, "loop")]


def test_one_count_says_nothing() -> None:
    assert limits([point(4, 10, 8.0, 1.0, 0.1)]) == []
