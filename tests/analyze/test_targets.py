"""Measured runs beside simulated ones, the error of the model, noise, and when repetitions are enough."""

import pytest

from scalegraph.analyze.targets import differences, missed, noise, pairs, representative, taken
from scalegraph.base.intervals import median_interval
from scalegraph.base.run import Region, RegionCost, RunPoint, RunRecord
from scalegraph.request.model.request import Request
from scalegraph.request.run.repeating import narrow, wanted

REGIONS = (
    Region(id=0, kind="program", name="program"),
    Region(id=1, kind="function", name="solve", file="p.c", line=3, parent=0),
    Region(id=2, kind="for", name="for", file="p.c", line=5, parent=1),
)


def run(time: int, *, target: str = "host", repetition: int = 0, preempted: int = 0, count: int = 2) -> RunRecord:
    """Return a run of *time* seconds on *count* processors; a cycle is a second."""
    whole = {"busy_compute": time * count - 2 - preempted, "idle_barrier": 2, "idle_preempted": preempted}
    if not target:
        whole = {"busy_int": time * count - 5, "stall_local": 4, "idle_barrier": 1}
    inside = (RegionCost(region=1, categories=whole),)
    if not target:
        split = {"busy_int": 1}
        rest = {name: value - split.get(name, 0) for name, value in whole.items()}
        inside = (RegionCost(region=1, categories=rest), RegionCost(region=2, categories=split))
    return RunRecord(
        source="measured" if target else "simulated",
        program="p",
        machine="m",
        point=RunPoint(processors=count, repetition=repetition, target=target),
        time_s=time,
        time_cycles=time,
        clock_hz=1,
        categories=whole,
        processor_categories={"idle_preempted": [0, preempted]} if target else {},
        regions=inside,
    )


def test_the_median_lies_between_two_values_with_a_known_confidence() -> None:
    assert median_interval([3.0]) == (3.0, 3.0, 0.0)
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) == (1.0, 5.0, 1 - 2 / 2**5)
    low, high, sure = median_interval([float(n) for n in range(1, 21)])
    assert (low, high) == (6.0, 15.0)
    assert sure == pytest.approx(0.9586, abs=1e-4)


def test_a_measured_run_is_paired_with_the_simulated_one_of_its_size() -> None:
    measured = [run(10, repetition=0), run(14, repetition=1), run(12, repetition=2)]
    (pair,) = pairs([run(11, target=""), run(5, target="", count=4)], measured)
    assert pair.measured.time_s == 12
    assert len(pair.runs) == 3
    assert representative([]) is None
    found = {one.cause: (one.simulated_s, one.measured_s, one.difference_s) for one in differences(pair)}
    assert found["compute_s"] == (21.0, 22.0, 1.0)  # stalls count as computing
    assert found["barrier_wait_s"] == (1.0, 2.0, 1.0)
    assert found["lock_s"] == (0.0, 0.0, 0.0)


def test_what_the_model_misses_comes_by_size_and_folds_regions_as_the_measurement_does() -> None:
    (pair,) = pairs([run(11, target="")], [run(20)])
    first, second, *_rest = missed(pair, REGIONS)
    assert (first.region, first.cause, first.difference_s) == (1, "compute_s", 38.0 - 21.0)
    assert (second.region, second.cause, second.difference_s) == (1, "barrier_wait_s", 1.0)
    assert {one.region for one in missed(pair, REGIONS)} == {1}


def test_outliers_and_the_processor_that_was_taken_are_found() -> None:
    times = [100, 101, 99, 100, 102, 300]
    (found,) = noise([run(time, repetition=n, preempted=30 if time == 300 else 0) for n, time in enumerate(times)])
    assert [one.time_s for one in found.outliers] == [300]
    assert (found.median_s, found.low_s, found.high_s) == (100.5, 99, 300)
    assert taken(found.outliers[0]) == (0.1, 1)
    assert taken(found.runs[0]) == (0.0, None)


def test_runs_are_repeated_until_the_interval_is_narrow() -> None:
    request = Request.model_validate(
        {"program": {"name": "ge1"}, "processors": [2], "target": {"name": "host", "until": 2, "most_runs": 8}}
    )
    runs = [run(100, repetition=n) for n in range(5)]
    assert [point.repetition for point in wanted(request, runs)] == [5]  # five runs never reach 95 % confidence
    assert wanted(request, [*runs, run(100, repetition=5)]) == []
    assert narrow([*runs, run(100, repetition=5)], request.target)
    disturbed = [*runs, run(100, repetition=5, preempted=50)]
    assert [point.repetition for point in wanted(request, disturbed)] == [6]  # a disturbed run does not count
    many = [run(100 + 10 * n, repetition=n) for n in range(8)]
    assert not narrow(many, request.target)
    assert wanted(request, many) == []  # given up
    plain = request.model_copy(update={"target": request.target.model_copy(update={"until": 0.0})})
    assert wanted(plain, runs) == []
