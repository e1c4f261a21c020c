"""The best schedule of each loop, checked against times computed by hand."""

from __future__ import annotations

from scalegraph.base.run import Region, RegionCost, RunPoint, RunRecord
from scalegraph.subjects import loop_schedules
from scalegraph.subjects.loop_schedules import WRITTEN, LoopTimes

REGIONS = (
    Region(id=0, kind="program", name="program"),
    Region(id=1, kind="for", name="for main:5", file="/a/solve.c", line=5),
    Region(id=2, kind="parallel", name="parallel for main:9", file="/a/solve.c", line=9),
    Region(id=3, kind="loop", name="loop main:12", file="/a/solve.c", line=12),
    Region(id=4, kind="do", name="do sweep:7", file="/b/sweep.f90", line=7),
    Region(id=5, kind="for", name="for main:5", file="/b/solve.c", line=5),
)


def record(*elapsed: int, time: int = 10_000) -> RunRecord:
    return RunRecord(
        source="simulated",
        program="solve",
        machine="ksr1",
        point=RunPoint(processors=4),
        time_cycles=time,
        regions=tuple(RegionCost(region=i, elapsed=cycles or None) for i, cycles in enumerate(elapsed, start=1)),
    )


def test_the_best_schedule_of_each_loop() -> None:
    records = {
        WRITTEN: record(1000, 4000, 50, 2000, 0),
        "EA": record(900, 5000, 1, 1999, 7),
        "runtime=ML": record(1100, 2000, 1, 1999, 7),
    }
    found = loop_schedules.loop_times(REGIONS, records)
    # line 12 is a single-threaded loop; line 5 of the other solve.c did not run as written
    assert [(loop.loop, loop.best, loop.saved) for loop in found] == [
        ("/a/solve.c:9", "runtime=ML", 2000),
        ("sweep.f90:7", WRITTEN, 0),  # one cycle is not worth a change
        ("/a/solve.c:5", "EA", 100),
    ]
    assert loop_schedules.together(found) == "/a/solve.c:9=ML;/a/solve.c:5=EA"
    assert loop_schedules.expected_cycles(found, records[WRITTEN]) == 10_000 - 2100


def test_where_nothing_is_faster_all_loops_stay_as_they_are() -> None:
    found = [LoopTimes(1, "a.c:1", {WRITTEN: 100, "EA": 100})]
    assert loop_schedules.together(found) == ""
