"""A part of the runs timed separately: which two clock reads enclose it, and its speedup."""

from __future__ import annotations

import pytest

from scalegraph.analyze import timed
from scalegraph.base.errors import InputError
from scalegraph.base.run import PROGRAM, ClockRead, Region, RegionCost, RunPoint, RunRecord


def read(places: str, first: int, work: int, last: int | None = None, last_work: int | None = None) -> ClockRead:
    return ClockRead(
        places=tuple(places.split()),
        count=1 if last is None else 2,
        first=first,
        first_work=work,
        last=first if last is None else last,
        last_work=work if last_work is None else last_work,
    )


def run(processors: int, cycles: int, *reads: ClockRead, regions: tuple[RegionCost, ...] = ()) -> RunRecord:
    return RunRecord(
        source="simulated",
        program="p",
        machine="m",
        point=RunPoint(processors=processors),
        time_s=cycles / 100,
        time_cycles=cycles,
        clock_hz=100,
        readings=reads,
        regions=regions,
    )


def test_the_shortest_stretch_with_the_parallel_work_is_the_part() -> None:
    reads = (read("a.c:1", 0, 0), read("a.c:2", 400, 10), read("a.c:3", 900, 490), read("a.c:4", 1000, 500))
    part = timed.clock_part([run(1, 1000, *reads)])
    assert part is not None
    assert (part.label, list(part.times.values())) == ("a.c:2 to 3", [5.0])


def test_a_loop_that_is_timed_again_and_again_counts_from_its_first_to_its_last_time() -> None:
    reads = (read("a.c:5", 100, 0, 700, 400), read("a.c:7", 200, 100, 800, 500))
    part = timed.clock_part([run(1, 1000, *reads)])
    assert part is not None
    assert (part.label, list(part.times.values())) == ("a.c:5 to 7", [7.0])


def test_one_place_that_is_passed_twice_is_enough() -> None:
    part = timed.clock_part([run(1, 1000, read("a.c:5", 100, 0, 800, 600))])
    assert part is not None
    assert part.label == "a.c:5 (first to last time)"


def test_a_function_that_wraps_the_clock_stands_for_its_callers() -> None:
    reads = (
        read("now.c:3 timer.c:9 main.c:4", 100, 0),
        read("now.c:3 timer.c:9 main.c:6", 300, 0),
        read("now.c:3 timer.c:12 main.c:8", 900, 600),
    )
    assert set(timed.by_place(reads)) == {"main.c:4", "main.c:6", "timer.c:12"}
    once = (read("a.c:4 b.c:2", 1, 1), read("a.c:6 b.c:2", 2, 2))
    assert set(timed.by_place(once)) == {"a.c:4", "a.c:6"}


def test_the_run_on_the_fewest_processors_decides_and_others_follow() -> None:
    one = run(1, 1000, read("a.c:1", 0, 0), read("a.c:2", 100, 0), read("b.c:3", 900, 800))
    four = run(4, 400, read("a.c:1", 0, 0), read("a.c:2", 100, 400), read("b.c:3", 300, 800))
    lost = run(8, 300, read("a.c:1", 0, 0))
    part = timed.clock_part([lost, four, one])
    assert part is not None
    assert part.label == "a.c:2 to b.c:3"
    ratios = timed.ratios(part, [one, four, lost])
    assert ratios[four.point.key] == timed.Ratio(2.0, 4.0, 1.0)
    assert lost.point.key not in ratios
    assert timed.sentence(part, [one, four]) == (
        "The program times a.c:2 to b.c:3 itself: there the speedup is 4.00 on 4 processors, and "
        "2.50 for the whole run."
    )


def test_nothing_is_said_where_nothing_is_timed_or_it_is_the_same() -> None:
    serial = run(1, 1000, read("a.c:1", 0, 0), read("a.c:2", 100, 0))
    assert timed.clock_part([serial]) is None
    assert timed.clock_part([run(1, 1000)]) is None
    assert timed.clock_part([]) is None
    one = run(1, 1000, read("a.c:1", 0, 0), read("a.c:2", 990, 900))
    four = run(4, 250, read("a.c:1", 0, 0), read("a.c:2", 248, 900))
    assert timed.sentence(timed.clock_part([one, four]), [one, four]) == ""
    assert timed.sentence(timed.clock_part([four]), [four]) == ""


REGIONS = [
    PROGRAM,
    Region(id=1, kind="loop", name="loop main:40", file="a.c", line=40),
    Region(id=2, kind="phase", name="phase solve", file="a.c", line=50),
    Region(id=3, kind="function", name="function work", file="a.c", line=3),
]


@pytest.mark.parametrize(("name", "seconds"), [("loop main:40", 6.0), ("a.c:40", 6.0), ("solve", 3.0)])
def test_a_region_is_named_as_tables_and_sources_name_it(name: str, seconds: float) -> None:
    regions = (RegionCost(region=1, elapsed=600), RegionCost(region=2, elapsed=300), RegionCost(region=3))
    one = run(1, 1000, regions=regions)
    assert timed.region_part([one], REGIONS, name).times == {one.point.key: seconds}


def test_a_region_that_is_not_there_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"no region 'loop main:41'; .*did you mean 'loop main:40'\?"):
        timed.region_part([run(1, 9)], REGIONS, "loop main:41")
    with pytest.raises(InputError, match="the main thread was never in 'function work'"):
        timed.region_part([run(1, 9, regions=(RegionCost(region=3),))], REGIONS, "function work")
