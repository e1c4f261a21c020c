from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scalegraph.analyze import advise
from scalegraph.analyze.metrics import scaling

pytestmark = pytest.mark.slow


def _table(counts, time, *, sizes=(None,), repetitions=3, noise=0.02, seed=1):
    random = np.random.default_rng(seed)
    rows = []
    for n in counts:
        for size in sizes:
            for repetition in range(repetitions):
                factor = 1 + noise * random.standard_normal()
                row = {"processors": n, "time_s": time(n, size) * factor, "repetition": repetition, "status": "ok"}
                rows.append(row | ({} if size is None else {"param.n": size}))
    return pd.DataFrame(rows)


def _model(table):
    return advise.model_of(table, scaling(table))


def amdahl(n, _size):
    return 1 + 9 / n


def test_more_processors_are_advised_to_know_the_time_far_away():
    model = _model(_table((1, 2, 4, 8), amdahl))
    found = advise.advise(model, (64,))
    assert found
    assert found[0].processors >= 8
    assert found[0].then < found[0].now


def test_a_measurement_at_the_advised_point_narrows_the_interval():
    table = _table((1, 2, 4, 8), amdahl)
    before = _model(table)
    best = advise.advise(before, (64,))[0]
    more = _table((best.processors,), amdahl, seed=2)
    after = _model(pd.concat([table, more], ignore_index=True))
    goal = np.array([[64.0]])
    assert np.subtract(*after.band(goal)[::-1])[0] < np.subtract(*before.band(goal)[::-1])[0]


def test_the_order_is_by_what_each_second_brings():
    found = advise.advise(_model(_table((1, 2, 4, 8), amdahl)), (64,))
    worth = [entry.worth for entry in found]
    assert worth == sorted(worth, reverse=True)
    assert found[0].worth == pytest.approx((found[0].now - found[0].then) / found[0].cost)


def test_processor_time_makes_many_processors_dear():
    model = _model(_table((1, 2, 4, 8), amdahl))
    elapsed, processor = (advise.advise(model, (64,), cost=cost) for cost in ("elapsed", "processor"))
    at = {entry.processors: entry.cost for entry in processor}
    for entry in elapsed:
        assert at[entry.processors] == pytest.approx(entry.cost * entry.processors)


def test_sizes_are_candidates_where_sizes_were_run():
    table = _table((1, 2, 4, 8), lambda n, size: size**2 / n * 1e-6 + 0.01 * n, sizes=(100, 200, 400))
    model = _model(table)
    assert model.size == "n"
    found = advise.advise(model, (64, 800))
    assert {entry.parameters["n"] for entry in found} >= {100, 800}
    assert all(isinstance(entry.parameters["n"], int) for entry in found)


def test_sizes_that_are_advised_are_numbers_that_a_program_takes():
    whole = _table((1, 2, 4, 8), lambda n, size: size**2 / n * 1e-6 + 0.01 * n, sizes=(110, 220, 430))
    whole["param.steps"] = (whole["param.n"] * 0.77).round().astype(int)
    model = _model(whole)
    assert model.parameters(np.array([4.0, 140.0]))["steps"] == 108  # rounds 107.80000000000001
    parts = whole.assign(**{"param.steps": whole["param.n"] * 0.77})
    assert _model(parts).parameters(np.array([4.0, 140.0]))["steps"] == 107.8
    fractions = _table((1, 2, 4, 8), lambda n, size: size**2 / n + 0.01 * n, sizes=(0.1, 0.2, 0.4))
    assert set(advise.candidates(_model(fractions))[:, 1]) >= {0.1, 0.141, 0.2, 0.283, 0.4, 0.8}


def test_no_run_is_advised_whose_effect_cannot_be_seen():
    model = _model(_table((1, 2, 4, 8, 16, 32), amdahl, repetitions=60))
    found = advise.advise(model, (64,))
    assert all(advise.half_width(entry.then) != advise.half_width(entry.now) for entry in found)
    cheap = advise.advise(model, (4,), np.array([[2.0]]))
    assert cheap == [], "one repetition more of sixty narrows an interval by less than is shown"
    assert np.isfinite(model.interval((4,)))


def test_candidates_keep_within_what_can_be_run():
    model = _model(_table((1, 2, 4, 8), amdahl))
    assert advise.candidates(model).max() == 32
    assert advise.candidates(model, most=16).max() == 16
    assert set(advise.candidates(model)[:, 0]) >= {1, 2, 3, 4, 6, 8, 16, 32}


def test_host_time_counts_for_simulated_runs():
    model = _model(_table((1, 2, 4, 8), amdahl))
    host = {(1.0,): 1.0, (8.0,): 20.0}
    found = {entry.processors: entry.cost for entry in advise.advise(model, (64,), cost="host", host=host)}
    assert found[8] == pytest.approx(20.0)


def test_two_points_are_too_few():
    assert _model(_table((1, 2), amdahl)) is None
