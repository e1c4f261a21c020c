"""The monitor accounts for every tick of a real run, by thread, region and cause of waiting."""

from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import build
from scalegraph.link import Job, Measuring
from scalegraph.link.targets import named
from tests.monitor import programs

pytestmark = pytest.mark.slow


def measured(place: Path, text: str, processors: int, **measuring: object) -> RunRecord:
    """Return the record of a run of the C program *text* on that many processors of this computer."""
    (place / "p.c").write_text(text, encoding="utf-8")
    built = build(["p.c"], cwd=place, builds="host", detail="all")
    point = RunPoint(processors=processors, target="host")
    options = Measuring(**{"pin": "none", "fold_s": 0.0, **measuring})  # type: ignore[arg-type]
    record = named("host").run(Job(built, machines.load("ksr1"), point, measuring=options))
    assert record.ok, record.message
    return record


def names(record: RunRecord, place: Path) -> dict[str, int]:
    """Return the numbers of the regions by name."""
    built = build(["p.c"], cwd=place, builds="host", detail="all")
    return {
        region.name.split()[-1].partition("(")[0]: region.id for region in built.regions if region.kind == "function"
    }


def waited(record: RunRecord, category: str) -> float:
    """Return the seconds in *category*, and those during which other programs had the processor."""
    assert record.clock_hz is not None
    return (record.categories[category] + record.categories["idle_preempted"]) / record.clock_hz


def check_identity(record: RunRecord) -> None:
    """Every processor's categories add up to the time of the run, and so do those of the regions."""
    assert record.time_cycles is not None
    sums = [sum(values) for values in zip(*record.processor_categories.values(), strict=True)]
    assert sums == [record.time_cycles] * record.point.processors
    for name, ticks in record.categories.items():
        assert ticks == sum(region.categories.get(name, 0) for region in record.regions), name
        assert ticks >= 0


def test_every_tick_of_a_team_is_in_one_category(tmp_path: Path) -> None:
    record = measured(tmp_path, programs.TEAM, 2)
    check_identity(record)
    for name in ("busy_compute", "idle_barrier", "idle_wait", "prim_fork_join", "prim_schedule", "prim_task"):
        assert record.categories[name] > 0, name
    assert record.clock_hz is not None
    # thread 1 waits at the barrier while thread 0 sleeps; other programs may use its processor meanwhile
    assert waited(record, "idle_barrier") > 0.01
    assert record.categories["idle_wait"] / record.clock_hz > 0.01
    assert (record.counters["tasks"], record.counters["locks"]) == (5, 2)
    assert record.counters["chunks"] >= 10
    assert (record.memory_stall_s, record.misses, record.work_ops) == (None, None, None)


def test_regions_of_all_threads_have_their_visits_and_times(tmp_path: Path) -> None:
    record = measured(tmp_path, programs.TEAM, 2)
    number = names(record, tmp_path)
    costs = {cost.region: cost for cost in record.regions}
    assert costs[number["spin"]].counters["visits"] == 2 + 10 + 5
    assert costs[number["rest"]].categories["idle_wait"] > 0
    assert costs[number["main"]].counters["visits"] == 1
    elapsed = costs[number["main"]].elapsed
    assert elapsed is not None
    assert record.time_cycles is not None
    assert 0 < elapsed <= record.time_cycles


def test_a_lock_that_is_held_and_a_thread_that_is_joined_are_waits(tmp_path: Path) -> None:
    record = measured(tmp_path, programs.THREADS, 2)
    check_identity(record)
    assert record.clock_hz is not None
    assert waited(record, "idle_lock") > 0.005
    assert record.counters["locks"] == 2
    assert record.stdout == "joined\n"


def test_threads_that_are_too_many_share_the_processors(tmp_path: Path) -> None:
    record = measured(tmp_path, programs.THREADS, 1)
    check_identity(record)
    assert any("threads shared 1 processors" in text for text in record.warnings)


def test_regions_left_by_a_jump_and_deep_recursion_are_closed(tmp_path: Path) -> None:
    record = measured(tmp_path, programs.JUMPS, 1)
    check_identity(record)
    number = names(record, tmp_path)
    costs = {cost.region: cost for cost in record.regions}
    assert costs[number["deep"]].counters["visits"] == 3 * 2001
    assert costs[number["main"]].elapsed is not None


def test_cheap_regions_count_for_what_contains_them_and_are_named(tmp_path: Path) -> None:
    record = measured(tmp_path, programs.TEAM, 2, fold_s=3600.0)
    check_identity(record)
    assert [cost.region for cost in record.regions] == [0]
    assert any("spin (p.c:" in text for text in record.warnings)


@pytest.mark.parametrize(("policy", "expected"), [("none", []), ("close", [2, 3, 5, 7]), ("spread", [2, 5, 3, 7])])
def test_threads_are_pinned_by_policy(policy: str, expected: list[int]) -> None:
    from scalegraph.link.targets.host import pinned

    assert pinned(policy, [2, 3, 5, 7]) == expected
