"""The billiard with linked bins: same result as the other version, each bin covers its range, and inputs matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.base.resources import resource_dir
from scalegraph.base.run import RunRecord
from scalegraph.request import Session

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
COUNTS = (1, 2, 5, 32, 64)


def runs(name: str, *arguments: str, processors: tuple[int, ...] = COUNTS, **overrides: str) -> list[RunRecord]:
    source: Path = resource_dir("programs") / f"{name}.c"
    with Session(workers=1).simulate(
        [source], machine="ksr1", processors=processors, args=arguments, ldflags=("-lm",), overrides=overrides
    ) as study:
        found = study.runs(output=True)
    assert all((run.status, run.exit_code) == ("ok", 0) for run in found), [run.message for run in found]
    return found


@pytest.mark.parametrize("size", [("1", "7"), ("60", "900"), ("700", "150")])
def test_result_is_that_of_the_other_billiard_with_one_meeting_and_with_two(size: tuple[str, str]) -> None:
    (expected,) = {run.stdout for run in runs("billiard", *size)}
    for meetings in ("1", "2"):
        assert {run.stdout for run in runs("billiard-linked", *size, meetings)} == {expected}


def test_speed_and_space_scale_time_and_length() -> None:
    """Twice the speed is half the time; positions, which are exact in binary here, are the same."""
    (one,) = runs("billiard-linked", "50", "200", "2", "1.0", "0.125", "0.0", "1.0", processors=(1,))
    (fast,) = runs("billiard-linked", "50", "200", "2", "1.0", "0.125", "0.0", "2.0", processors=(1,))
    (large,) = runs("billiard-linked", "50", "200", "2", "2.0", "0.25", "0.0", "1.0", processors=(1,))

    def told(run: RunRecord) -> tuple[float, float, float]:
        words = run.stdout.replace(",", " ").split()
        return float(words[words.index("time") + 1]), float(words[words.index("energy") + 1]), float(words[-1])

    time, energy, moment = told(one)
    assert told(fast) == pytest.approx((time / 2, 4 * energy, moment), abs=2e-9)
    assert told(large) == pytest.approx((2 * time, energy, 2 * moment), abs=2e-9)


def test_unevenness_of_the_first_positions_changes_the_course() -> None:
    (even,) = runs("billiard-linked", "50", "200", "2", "1.0", "0.1", "0.0", processors=(1,))
    (uneven,) = runs("billiard-linked", "50", "200", "2", "1.0", "0.1", "0.9", processors=(1,))
    assert even.stdout.splitlines()[0] != uneven.stdout.splitlines()[0]


def test_no_single_bin_stops_many_processors() -> None:
    """If one bin holds all distant balls, its lock costs a fifth of the time on 64 processors; not with ranges."""
    shares = {}
    for name in ("billiard", "billiard-linked"):
        run = runs(name, "2000", "400", processors=(64,), **{"synchronisation.create_cycles": "0"})[-1]
        shares[name] = run.categories["idle_lock"] / sum(run.categories.values())
    assert shares["billiard"] > 0.1
    assert shares["billiard-linked"] < 0.03


@pytest.mark.parametrize(
    "wrong", [("3",), ("2", "0.1", "0.2"), ("2", "1.0", "0.1", "2.0"), ("2", "1", "0.1", "0", "0")]
)
def test_impossible_inputs_are_refused(wrong: tuple[str, ...]) -> None:
    source = resource_dir("programs") / "billiard-linked.c"
    with Session(workers=1).simulate([source], machine="ksr1", args=("9", "9", *wrong), ldflags=("-lm",)) as study:
        (run,) = study.runs(output=True)
    assert run.exit_code == 2
    assert run.stderr.startswith("usage: ")
