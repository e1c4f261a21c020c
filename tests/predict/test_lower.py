"""Segment times from sample runs: the paper's formulas against brute force, and fits with known answers."""

import pytest

from scalegraph.base.errors import InputError
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.predict import measures
from scalegraph.predict.counts import CannotTellError, Sample, fit_count
from scalegraph.predict.lower import (
    Growth,
    cluster,
    data_parallel,
    fit_times,
    growths,
    iterations,
    lowered,
    ranges,
    scaled,
)


def busiest(size: int, processors: int) -> int:
    """Distribute *size* iterations one by one; return the iterations of the busiest processor."""
    dealt = [0] * processors
    for i in range(size):
        dealt[i % processors] += 1
    return max(dealt)


def test_costs_in_proportion_to_a_count_are_predicted_without_error() -> None:
    for n0, n in ((10, 1000), (64, 800), (3, 3)):
        assert scaled(2.5e-6 * n0**3, n**3, n0**3) == pytest.approx(2.5e-6 * n**3)
    with pytest.raises(CannotTellError, match="no iteration"):
        scaled(1.0, 5, 0)


def test_iterations_of_the_busiest_processor_are_those_of_dealing_out() -> None:
    for size in range(1, 41):
        for processors in range(1, 41):
            assert iterations(size, processors) == busiest(size, processors)


@pytest.mark.slow
def test_the_factor_of_parallel_blocks_is_that_of_dealing_out_for_whole_sample_shares() -> None:
    """Eq. (2.6) rounds up in units of the sample's share: exact for one iteration per processor, otherwise an upper
    bound.
    """
    every = range(1, 41)
    shares = {(size, n): busiest(size, n) for size in every for n in every}
    for (sampled, n0), own in shares.items():
        if own > 1 and sampled % n0:
            continue
        wrong = [at for at, most in shares.items() if data_parallel(*at, sampled, n0) != -(-most // own)]
        assert wrong == []


def test_a_cluster_takes_its_representative_and_all_critical_sections() -> None:
    assert cluster(3.0, 0.5, 0.25, 8) == 3.0 + 8 * 0.5 + 0.25


def cubic(n: int) -> float:
    return 3e-9 * n**3 + 2e-7 * n**2


def test_two_samples_solve_two_coefficients() -> None:
    count = fit_count([Sample({"n": n}, 8, n**3) for n in (8, 16, 24, 32, 40)])
    runs = [({"n": n}, 8) for n in (64, 160)]
    found = fit_times(growths(count), runs, [cubic(64), cubic(160)])
    assert found.coefficients == pytest.approx((3e-9, 2e-7, 0, 0))
    assert found.at({"n": 800}, 8).time_s == pytest.approx(cubic(800))
    assert found.residual < 1e-9


def test_coefficients_are_never_negative_and_the_interval_holds_what_a_rival_says() -> None:
    terms = lowered(Growth("n ** 2", lambda values, n: values["n"] ** 2), ["n"], 2)
    runs = [({"n": n}, 1) for n in (10, 20, 40, 80)]
    noisy = [1.1 * 100, 0.95 * 400, 1.02 * 1600, 0.99 * 6400]
    found = fit_times(terms, runs, noisy)
    assert min(found.coefficients) >= 0
    at = found.at({"n": 800}, 1)
    assert at.low_s < 640000 < at.high_s
    assert at.time_s == pytest.approx(640000, rel=0.05)


def test_a_segment_without_time_stays_without_and_one_without_samples_is_refused() -> None:
    term = Growth("n", lambda values, n: values["n"])
    assert fit_times([term], [({"n": 4}, 1)], [0.0]).at({"n": 40}, 1).time_s == 0
    with pytest.raises(CannotTellError, match="no sample run"):
        fit_times([term], [], [])


def test_samples_fall_into_ranges_where_misses_per_iteration_rise() -> None:
    counts = [400.0, 100.0, 200.0, 3200.0, 1600.0, 800.0]
    rates = {100.0: 0.02, 200.0: 0.015, 400.0: 0.012, 800.0: 0.2, 1600.0: 0.21, 3200.0: 0.21}
    assert ranges([rates[count] * count for count in counts], counts) == [[1, 2, 0], [5, 4, 3]]


def test_measures_of_a_prediction() -> None:
    assert measures.prediction_ratio(100.0, 4.0, 1.0) == 20
    assert measures.known_ratio(100.0, 4.0, 1.0) == 20
    assert measures.known_ratio(None, 4.0, 1.0) is None
    assert measures.known_ratio(100.0, 0.0, 0.0) is None
    timed = RunRecord(source="simulated", program="p", machine="m", point=RunPoint(processors=1), host_s=3.0)
    assert measures.host_seconds([timed, timed.model_copy(update={"host_cpu_s": 0.5})]) == 3.5
    assert measures.error(10.0, 9.0) == pytest.approx(0.1)
    assert measures.error(10.0, 11.0) == pytest.approx(0.1)
    assert measures.mean_error([0.1, 0.3]) == pytest.approx(0.2)
    for refused in (
        lambda: measures.prediction_ratio(1, 0, 0),
        lambda: measures.error(0, 1),
        lambda: measures.mean_error([]),
    ):
        with pytest.raises(InputError):
            refused()
