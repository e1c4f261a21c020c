"""Disturbances of measured runs are found in the monitor's results, and the least disturbed run is kept."""

from __future__ import annotations

import pytest

from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.link.targets._quiet import Disturbance, disturbance, stolen_s
from scalegraph.link.targets.host import _least_disturbed
from scalegraph.runtime.results import Result


def result(*waited_ms: int, begin: int = 2_000_000, end: int = 2_000_000) -> Result:
    """Return the monitor's result of one second in which each thread waited that long for its processor."""
    threads = {
        f"thread.{number}": f"10 900000000 {ms * 1_000_000} {number} {1000 + number}"
        for number, ms in enumerate(waited_ms)
    }
    meta = {"time_cycles": "1000", "frequency_hz": "1000.0", "khz_begin": str(begin), "khz_end": str(end), **threads}
    return Result(meta, {})


def record(time: float, *, ok: bool = True) -> RunRecord:
    point = RunPoint(processors=1, target="host")
    status = "ok" if ok else "crashed"
    return RunRecord(source="measured", program="p", machine="host", point=point, status=status, time_s=time)


@pytest.mark.parametrize(
    ("left", "stolen", "share", "words"),
    [
        (result(10, 120), 0.0, 0.12, "other programs took 12\u00a0% of processor 1"),
        (result(10, end=1_500_000), 0.0, 0.25, "the processor's frequency went from 2.00 GHz to 1.50 GHz"),
        (result(10, 20, 900), 0.0, 0.0, "went"),  # threads beyond the number of processors take time from each other
    ],
)
def test_the_largest_disturbance_is_named(left: Result, stolen: float, share: float, words: str) -> None:
    found = disturbance([left], 2, 1.0, stolen)
    assert found.share == pytest.approx(share)
    assert words in found.words


def test_time_that_the_host_of_a_virtual_machine_kept_is_a_disturbance() -> None:
    found = disturbance([], 1, 1.0, 1e6)
    assert found.share > 1
    assert found.words.startswith("the host of this virtual machine kept")
    assert stolen_s() >= 0


def test_the_least_disturbed_run_is_kept_and_the_others_are_named() -> None:
    loud, quiet = Disturbance(0.5, "other programs took 50 % of processor 0"), Disturbance(0.01, "little")
    kept = _least_disturbed([(loud, record(2.0)), (quiet, record(1.0))], 0.1)
    assert kept.time_s == 1.0
    assert kept.warnings == ("repeated: other programs took 50 % of processor 0",)
    assert _least_disturbed([(quiet, record(1.0))], 0.1).warnings == ()
    worse = Disturbance(0.6, "worse")
    kept = _least_disturbed([(worse, record(3.0)), (loud, record(2.0))], 0.1)
    assert kept.warnings == (f"repeated: worse; the least disturbed of 2 runs is kept: {loud.words}",)


def test_a_run_that_failed_is_kept_as_it_ended() -> None:
    runs = [(Disturbance(0.5, "loud"), record(1.0)), (Disturbance(0.9, "louder"), record(1.0, ok=False))]
    assert not _least_disturbed(runs, 0.1).ok
