from __future__ import annotations

import re

import pandas as pd
import pytest

from scalegraph.analyze import fixed, metrics, series, wording
from scalegraph.base.run import RunRecord
from tests.analyze import synthetic


def _scaling(runs: list[RunRecord]) -> pd.DataFrame:
    return metrics.scaling(pd.DataFrame([run.row() for run in runs]))


def _times(**at: float) -> pd.DataFrame:
    counts = [int(name[1:]) for name in at]
    return metrics.scaling(pd.DataFrame({"processors": counts, "time_s": list(at.values()), "status": "ok"}))


def test_the_minimum_inside_is_the_turning_point() -> None:
    point = fixed.turning_point(_times(n1=10.0, n2=6.0, n4=5.0, n8=7.0))
    assert point is not None
    assert (point.processors, point.time_s, point.reached) == (4, 5.0, True)
    assert point.latency_s == pytest.approx(5.0 - 10.0 / 4)


def test_a_minimum_at_the_last_count_is_not_reached() -> None:
    point = fixed.turning_point(_times(n1=10.0, n2=6.0, n4=5.0))
    assert point is not None
    assert not point.reached


def test_of_equal_times_the_fewest_processors_count() -> None:
    point = fixed.turning_point(_times(n1=10.0, n2=5.0, n4=5.0))
    assert point is not None
    assert point.processors == 2


def test_one_count_has_no_turning_point() -> None:
    assert fixed.turning_point(_times(n4=5.0)) is None


@pytest.mark.slow
def test_what_grows_names_the_barrier_when_barriers_are_made_dear() -> None:
    rows = _scaling(synthetic.fixed((1, 8, 16, 32), barrier=400))
    assert fixed.what_grows(rows, 8, 32)[0].cause == "barrier_s"
    dear_memory = _scaling(synthetic.fixed((1, 8, 16, 32), barrier=0, miss=900))
    assert fixed.what_grows(dear_memory, 8, 32)[0].cause == "stall_s"


def test_the_richest_problem_is_the_main_series() -> None:
    runs = [*synthetic.fixed((1, 2, 4, 8), balls=100), *synthetic.fixed((1, 2), balls=5000)]
    found = series.fixed_size(_scaling(runs))
    assert [one.label for one in found] == ["balls = 100, steps = 40", "balls = 5000, steps = 40"]
    assert found[0].processors == (1, 2, 4, 8)


def test_of_equally_rich_problems_one_with_a_reference_run_then_the_larger_wins() -> None:
    runs = [
        *synthetic.fixed((2, 4), balls=9000),
        *synthetic.fixed((1, 2), balls=100),
        *synthetic.fixed((1, 2), balls=300),
    ]
    labels = [one.label.split(",")[0] for one in series.fixed_size(_scaling(runs))]
    assert labels == ["balls = 300", "balls = 100", "balls = 9000"]


def test_scattered_sizes_form_no_fixed_series() -> None:
    assert series.main_series(_scaling([synthetic.run(1, 10), synthetic.run(2, 20)])) is None


def test_sequential_series_hold_all_other_parameters() -> None:
    runs = [synthetic.run(1, balls, 40) for balls in (10, 20, 40)] + [
        synthetic.run(1, 10, steps) for steps in (80, 160)
    ]
    found = {one.label: len(one.rows) for one in series.sequential(_scaling(runs))}
    assert found["balls grows"] == 3
    assert found["steps grows"] == 3


def test_sizes_that_grow_together_are_method_four() -> None:
    runs = [synthetic.run(1, 10 * k, 5 * k) for k in (1, 2, 4, 8)]
    (found,) = series.sequential(_scaling(runs))
    assert found.label == "balls and steps grow"
    assert list(found.rows["param.balls"]) == [10, 20, 40, 80]


@pytest.mark.slow
def test_the_header_names_program_machine_counts_and_the_turn() -> None:
    scaling = _scaling(synthetic.fixed(barrier=400))
    text = wording.header(scaling, series.main_series(scaling), {"title": "billiard", "machine_title": "KSR-1 (rings)"})
    assert text.startswith("billiard on KSR-1, 1 to 64 processors, fixed size: fastest at ")
    assert re.search(r"fastest at (\d+); beyond \1, added barrier execution outweighs the extra processors\.$", text)


def test_the_header_is_honest_about_a_minimum_not_reached() -> None:
    scaling = _scaling(synthetic.fixed((1, 2, 4), balls=20_000))
    text = wording.header(scaling, series.main_series(scaling), {})
    assert "still faster at 4, the largest count run" in text


@pytest.mark.slow
def test_the_header_is_honest_about_few_data() -> None:
    one = _scaling([synthetic.run(4)])
    assert "too few runs for a verdict" in wording.header(one, None, {})
    assert wording.header(_scaling([]), None, {}) == "No run has succeeded yet."


@pytest.mark.slow
def test_a_program_that_only_slows_down_is_said_to() -> None:
    scaling = _scaling(synthetic.fixed((1, 2, 4), balls=4, barrier=900))
    main = series.main_series(scaling)
    assert main is not None
    assert wording.fixed_size(main) == (
        "fastest on one processor, more are slower: added barrier execution outweighs the extra processors"
    )


@pytest.mark.parametrize("words", [*(words for _, words, _, _ in metrics.CAUSES), metrics.STALL_CAUSE[1]])
def test_every_cause_of_latency_can_be_the_reason_in_the_header(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    grown = fixed.Growth("cause", words, 0.0, 1.0)
    monkeypatch.setattr(wording, "what_grows", lambda *_: (grown,))
    main = series.main_series(_scaling(synthetic.fixed(barrier=400)))
    assert main is not None
    assert "outweighs the extra processors" in wording.fixed_size(main)
