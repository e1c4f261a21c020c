from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze import bounds, fields, isospeed, matrix, metrics
from scalegraph.base.run import RunRecord
from tests.analyze import synthetic

SPEED, HALF = 2e6, 5e4
COUNTS = (1, 2, 4, 8, 16)
SIZES = tuple(float(w) for w in np.geomspace(1e3, 1e8, 21))


def ideal(n: int, work: float) -> float:
    """Time of *work* on *n* processors: Hockney's law on each, and overhead that grows with log N."""
    return (work / n + HALF) / SPEED + 0.003 * math.log2(n)


def rows(counts: tuple[int, ...] = COUNTS, sizes: tuple[float, ...] = SIZES, noise: float = 0.0) -> pd.DataFrame:
    random = np.random.default_rng(7)
    made = []
    for n in counts:
        for work in sizes:
            time = ideal(n, work) * (1 + noise * random.standard_normal())
            made.append((n, work, time, ideal(1, work) / (n * time)))
    table = pd.DataFrame(made, columns=["processors", "work", "time_s", "efficiency"])
    table["unit_speed"] = table["work"] / (table["processors"] * table["time_s"])
    table["latency_s"] = table["latency_method1_s"] = table["time_s"] * (1 - table["efficiency"])
    table["label"] = [f"W = {work:.3g}" for work in table["work"]]
    keys = [str(i) for i in range(len(table))]
    return table.assign(keys=keys, memory_bytes=np.nan, repetitions=1, work_unit="op")


def test_the_asymptote_of_a_known_law_is_found() -> None:
    found = isospeed.asymptotic_speed(isospeed.curve(rows(), 1))
    assert found is not None
    assert found.speed == pytest.approx(SPEED)
    assert found.half_work == pytest.approx(HALF)
    assert found.doubt == ""
    assert isospeed.reference_speed(rows()) == pytest.approx(SPEED / 2)


@pytest.mark.slow
def test_the_interval_of_the_asymptote_covers_it_at_its_rate() -> None:
    random = np.random.default_rng(3)
    inside = 0
    base = isospeed.curve(rows(), 1)
    for _ in range(200):
        noisy = base.assign(time_s=base["time_s"] * (1 + 0.03 * random.standard_normal(len(base))))
        noisy["unit_speed"] = noisy["work"] / noisy["time_s"]
        found = isospeed.asymptotic_speed(noisy)
        assert found is not None
        inside += found.low <= SPEED <= found.high
    assert 180 <= inside <= 199


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((1e3, 1e4), "2 sizes fit any such line"),
        ((1e2, 2e2, 4e2, 8e2), "run larger sizes"),
    ],
)
def test_an_asymptote_that_the_runs_do_not_show_is_doubted(sizes: tuple[float, ...], words: str) -> None:
    found = isospeed.asymptotic_speed(isospeed.curve(rows((1,), sizes), 1))
    assert found is not None
    assert words in found.doubt
    # then half of the fastest measured speed is the reference
    assert isospeed.reference_speed(rows((1,), sizes)) == pytest.approx(found.fastest / 2)


def test_a_speed_that_falls_and_a_time_that_does_not_grow_are_said() -> None:
    base = isospeed.curve(rows((1,)), 1)
    falling = base.assign(time_s=base["work"] / SPEED * (1 + 0.1 * np.log(base["work"])))
    falling["unit_speed"] = falling["work"] / falling["time_s"]
    found = isospeed.asymptotic_speed(falling)
    assert found is not None
    assert "falls as the problem grows" in found.doubt
    flat = base.assign(time_s=10.0 / (1 + np.arange(len(base))))
    assert isospeed.asymptotic_speed(flat).doubt.startswith("time does not grow")  # type: ignore[union-attr]
    assert isospeed.asymptotic_speed(base.iloc[:1]) is None
    assert isospeed.asymptotes(rows())[-1].processors == 16


def test_half_of_the_asymptote_is_the_usual_speed_and_gives_the_matrix() -> None:
    table = rows()
    made = matrix.scalability(table, metric="isospeed", bound="speed")
    assert made is not None
    assert made.target == pytest.approx(SPEED / 2)
    # at r_inf/2: W/N = W_0 + overhead x r, which gives psi
    need = {n: HALF + SPEED * 0.003 * math.log2(n) for n in COUNTS}
    for n in COUNTS:
        for n2 in COUNTS:
            if n <= n2:
                assert made.value(n, n2) == pytest.approx(need[n] / need[n2], rel=0.02)
    assert made.value(1, 1) == 1


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.floats(0.1, 0.9), st.floats(0.0, 0.03), st.floats(0.0, 2.0))
def test_psi_is_the_ratio_of_times_and_multiplies(share: float, grain: float, power: float) -> None:
    """psi(N,N') = T_N/T_N' (isospeed eq. 2), and psi(N,N'') = psi(N,N') psi(N',N'') for any overhead."""
    speed = share * SPEED
    anchors = []
    for n in COUNTS:
        overhead = grain * math.log2(n) ** power if n > 1 else 0.0
        work = n * (HALF + SPEED * overhead) / (SPEED / speed - 1)  # W/(N T) = speed
        time = (work / n + HALF) / SPEED + overhead
        anchors.append(bounds.Anchor(n, "measured", work=work, time_s=time, unit_speed=speed))
    made = matrix.from_anchors(anchors, "isospeed", "speed", speed)
    assert made.residual() == pytest.approx(0.0, abs=1e-9)
    for n, n2 in made.values:
        ratio = made.anchors[n].time_s / made.anchors[n2].time_s  # type: ignore[operator]
        assert made.value(n, n2) == pytest.approx(ratio, rel=1e-9)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.floats(1e-4, 1.0), st.floats(1.01, 5.0), st.floats(1e3, 1e6))
def test_theorem_1_gives_the_psi_of_its_premises(overhead: float, growth: float, speed: float) -> None:
    """isospeed eq. 5 equals N'W/(NW') if loads are balanced and mu is one processor's speed with its share."""
    n, n2 = 4, 64
    share = 0.3 * speed  # the constant unit speed, below mu

    def mu(part: float) -> float:
        return speed * part / (part + 100.0)

    def held(count: int, extra: float) -> float:
        low, high = 1e-3, 1e15
        for _ in range(300):
            middle = math.sqrt(low * high)
            unit = middle / (middle / mu(middle) + extra)
            low, high = (middle, high) if unit < share else (low, middle)
        return low * count

    work, work2 = held(n, overhead), held(n2, growth * overhead)
    part, part2 = work / n, work2 / n2
    psi = isospeed.predicted_psi(part / mu(part), overhead, growth * overhead, mu(part), mu(part2))
    assert psi == pytest.approx(n2 * work / (n * work2), rel=1e-6)


def test_psi_cannot_be_predicted_without_an_overhead() -> None:
    with pytest.raises(ValueError, match="positive overhead"):
        isospeed.predicted_psi(1.0, 0.0, 0.0, 1.0, 1.0)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0.05, 0.95), min_size=2, max_size=5),
    st.floats(1e-9, 1e-3),
    st.floats(1e-3, 1e3),
)
def test_equations_12_and_13_hold_at_equal_time(efficiencies: list[float], t_c: float, time: float) -> None:
    """scale-graph eq. 10 to 13: at equal T_para and constant t_c, L/L' = (1-E)/(1-E') and (W'/N')/(W/N) = E'/E."""
    anchors = []
    for i, e in enumerate(efficiencies):
        n = 2 << i
        anchors.append(
            bounds.Anchor(n, "measured", work=time * n * e / t_c, latency_s=time * (1 - e), time_s=time, efficiency=e)
        )
    made = matrix.from_anchors(anchors, "latency", "time", time)
    table = matrix.over_estimation(made)
    for row in table.to_dict("records"):
        low, high = made.anchors[row["n"]], made.anchors[row["n2"]]
        assert row["latency_ratio"] == pytest.approx(row["eq12"], rel=1e-9)
        assert low.work
        assert high.work
        assert row["eq13"] == pytest.approx((high.work / row["n2"]) / (low.work / row["n"]), rel=1e-9)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.floats(1e-3, 1e3), min_size=4, max_size=4), min_size=1, max_size=6))
def test_the_average_over_efficiencies_lies_between_them(times: list[list[float]]) -> None:
    matrices = [matrix.from_times((1, 2, 4, 8), tuple(row)) for row in times]
    made = matrix.average(matrices)
    for pair, value in made.values.items():
        single = [one.values[pair] for one in matrices]
        assert min(single) * (1 - 1e-9) <= value <= max(single) * (1 + 1e-9)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.15, 0.85))
def test_latency_and_isoefficiency_matrices_agree_at_constant_t_c(efficiency: float) -> None:
    """latency-metric Theorem 2 (eq. 3.13): L/L' = (W/N)/(W'/N')."""
    anchors = [
        bounds.Anchor(n, "measured", work=w, latency_s=w / n * (1 - efficiency) / efficiency, efficiency=efficiency)
        for n, w in ((2, 1e4), (4, 5e4), (8, 3e5))
    ]
    latency, work = (matrix.from_anchors(anchors, m, "efficiency", efficiency) for m in ("latency", "isoefficiency"))  # type: ignore[arg-type]
    for pair, value in latency.values.items():
        assert work.values[pair] == pytest.approx(value, rel=1e-9)


@pytest.mark.slow
def test_measured_computed_and_best_are_kept_apart() -> None:
    table = metrics.scaling(pd.DataFrame([run.row() for run in synthetic.grid()]))
    best = bounds.anchors(table, "efficiency", 0.5, tolerance=0.05)
    measured = bounds.anchors(table, "efficiency", 0.5, tolerance=0.05, way="measured")
    computed = bounds.anchors(table, "efficiency", 0.5, tolerance=0.05, way="computed")
    assert {anchor.way for anchor in measured} <= {"measured", ""}
    assert {anchor.way for anchor in computed} <= {"computed", ""}
    assert {anchor.way for anchor in best} == {"measured", "computed", ""}
    for one, other in zip(best, measured, strict=True):
        if one.way == "measured":
            assert other == one
        elif one.way == "computed":
            assert other.reason == f"no run at N = {other.processors} meets E within the tolerance"


@pytest.mark.slow
def test_common_efficiencies_are_met_at_as_many_counts_as_any() -> None:
    table = metrics.scaling(pd.DataFrame([run.row() for run in synthetic.grid()]))
    found = matrix.common_efficiencies(table)
    assert len(found) >= 2
    matrices = [matrix.scalability(table, target=target) for target in found]
    made = matrix.average([one for one in matrices if one is not None])
    assert sum(n < n2 for n, n2 in made.values) >= 3
    assert matrix.common_efficiencies(table, ()) == ()


def test_a_field_is_the_runs_and_lines_between_them_and_nothing_beyond() -> None:
    table = rows((1, 2, 4), (1e3, 1e4, 1e5, 1e6))
    made = fields.over_work(table, "unit_speed")
    assert made is not None
    assert made.processors == made.columns == (1, 2, 4)
    assert made.work == (1e3, 1e4, 1e5, 1e6)
    assert made.values[2, 1] == pytest.approx(1e5 / (2 * ideal(2, 1e5)))
    assert fields.over_work(table[table["processors"] == 1], "unit_speed") is None
    dense = fields.over_work(rows((1, 2), tuple(np.geomspace(1e3, 1e6, 300))), "efficiency", most_rows=40)
    assert dense is not None
    assert dense.values.shape == (40, 2)


@pytest.mark.slow
def test_a_line_goes_on_between_counts_that_a_search_ran_with_other_sizes() -> None:
    table = rows((1, 2, 4), (1e3, 1e4, 1e5, 1e6))
    work, n = table["work"], table["processors"]
    table = table[((n == 1) & (work < 2e4)) | ((n == 2) & (work > 5e3) & (work < 2e5)) | ((n == 4) & (work > 5e4))]
    made = fields.over_work(table, "unit_speed")
    assert made is not None
    assert made.processors == (1, 2, 4)
    assert {1.0, 2.0, 4.0} <= set(made.columns)
    known = np.isfinite(made.values)
    assert known.any(axis=0).all()  # no empty columns, so that a line can pass
    assert not known[0, -1]  # nothing below the smallest size of a count
    assert not known[-1, 0]  # nor above the largest
    assert made.values[0, 0] == pytest.approx(1e3 / ideal(1, 1e3))


def imported(run: RunRecord, **changes: object) -> RunRecord:
    return run.model_copy(update={"source": "imported", **changes})


@pytest.mark.slow
def test_imported_runs_use_the_operations_that_most_of_them_know() -> None:
    runs = [imported(run, work_ops=None) for run in synthetic.grid((2, 4), (64, 128))]
    table = metrics.scaling(pd.DataFrame([run.row() for run in runs]))
    assert set(table["work_unit"]) == {"flop"}
    assert list(table["work"]) == list(table["work_flops"])
    assert metrics.work_unit(table) == "flop"


def test_imported_runs_without_operations_measure_work_in_one_processor_time() -> None:
    runs = [imported(run, work_ops=None, work_flops=None) for run in synthetic.grid((1, 2, 4))]
    table = metrics.scaling(pd.DataFrame([run.row() for run in runs]))
    assert set(table["work_unit"]) == {"s"}
    assert list(table["work"]) == list(table["t_seq_s"])
    target = bounds.usual_target(table, "efficiency")
    made = matrix.scalability(table, metric="latency", target=target, latency="method1")
    same = matrix.scalability(table, metric="isoefficiency", target=target)
    assert made is not None
    assert same is not None
    value = made.value(2, 4)
    assert value is not None
    assert same.value(2, 4) == pytest.approx(value, rel=0.1)
    assert made.to_json()["work_unit"] == "s"


def test_simulated_runs_keep_the_operations_of_the_one_processor_run() -> None:
    table = metrics.scaling(pd.DataFrame([run.row() for run in synthetic.grid((2, 4), (64, 128))]))
    assert set(table["work_unit"]) == {"op"}
    assert table["work"].isna().all()
