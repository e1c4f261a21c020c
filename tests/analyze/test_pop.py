from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalegraph.analyze import pop
from scalegraph.analyze.metrics import scaling
from scalegraph.subjects.study import StudyData
from scalegraph.views.study.losses.pop import VIEW
from tests.analyze import synthetic


def _found(runs):
    data = StudyData.from_runs(runs, regions=synthetic.REGIONS)
    return data, pop.efficiencies(data.scaling, data.by_key)


def test_factors_of_a_run_that_is_counted_by_hand():
    # two processors, T = 10: one computes for 8 and executes primitives for 1, the other computes for 4; alone it took
    # 9
    one = lambda value: np.array([float(value)])  # noqa: E731
    found = pop.tree(
        one(10), one(6), one(8), one(9), useful_ratio=one(9 / 12), instructions_ratio=one(0.9), frequency_ratio=one(1)
    ).iloc[0]
    assert found["parallel"] == pytest.approx(0.6)
    assert found["load_balance"] == pytest.approx(0.75)
    assert found["communication"] == pytest.approx(0.8)
    assert found["transfer"] == pytest.approx(0.9)
    assert found["serialisation"] == pytest.approx(8 / 9)
    assert found["global"] == pytest.approx(0.45)
    assert found["ipc"] == pytest.approx(0.75 / 0.9)


@pytest.mark.slow
@given(
    st.lists(st.tuples(*[st.floats(0.01, 1.0)] * 7), min_size=1, max_size=8),
)
def test_every_parent_is_the_product_of_its_children(rows):
    a = np.array(rows).T
    elapsed = 1 + a[0]
    most = elapsed * a[1]
    mean = most * a[2]
    free = most + (elapsed - most) * a[3]
    found = pop.tree(elapsed, mean, most, free, useful_ratio=a[4], instructions_ratio=a[5], frequency_ratio=a[6])
    assert np.allclose(found["global"], found["parallel"] * found["computation"])
    assert np.allclose(found["parallel"], found["load_balance"] * found["communication"])
    assert np.allclose(found["communication"], found["serialisation"] * found["transfer"])
    assert np.allclose(found["computation"], found["instructions"] * found["ipc"] * found["frequency"])


def test_global_efficiency_is_the_efficiency_where_one_processor_only_computes():
    data, found = _found(synthetic.fixed())
    assert np.allclose(found["global"], data.scaling["efficiency"])
    assert list(found["processors"]) == [1, 2, 4, 8, 16, 32, 64]
    assert np.allclose(found.iloc[0][list(pop.NAMES)].astype(float), 1)


def test_primitives_of_the_busiest_processor_are_its_transfer():
    run = synthetic.run(8)
    _, found = _found([synthetic.run(1), run])
    row = found[found["processors"] == 8].iloc[0]
    primitive = run.processor_categories["prim_barrier"][0] + run.processor_categories["prim_fork_join"][0]
    assert row["transfer"] == pytest.approx(1 - primitive / run.time_cycles)
    assert row["transfer_by"] == "accounts"


@pytest.mark.slow
def test_messages_on_their_way_are_transfer_and_late_partners_are_serialisation():
    run = synthetic.run(8)
    accounts = {name: list(cycles) for name, cycles in run.processor_categories.items()}
    busiest = max(range(8), key=lambda p: sum(accounts[name][p] for name in pop.USEFUL_CATEGORIES if name in accounts))
    waited = 0
    for name, cycles in {"idle_transfer": 300, "idle_network": 200, "idle_late_sender": 1000, "prim_send": 50}.items():
        accounts[name] = [0] * 8
        accounts[name][busiest] = cycles
        waited += cycles
    accounts["idle_barrier"][busiest] -= waited
    _, plain = _found([synthetic.run(1), run])
    _, found = _found([synthetic.run(1), run.model_copy(update={"processor_categories": accounts})])
    at, before = (table[table["processors"] == 8].iloc[0] for table in (found, plain))
    assert at["transfer"] == pytest.approx(before["transfer"] - 550 / run.time_cycles)
    assert at["communication"] == pytest.approx(before["communication"])
    assert at["serialisation"] > before["serialisation"]


def test_a_what_if_run_measures_the_transfer():
    runs = synthetic.fixed((1, 4))
    table = scaling(StudyData.from_runs(runs).table)
    key = next(run.point.key for run in runs if run.point.processors == 4)
    found = pop.efficiencies(table, {run.point.key: run for run in runs}, {key: 0.5 * runs[1].time_s})
    row = found[found["processors"] == 4].iloc[0]
    assert row["transfer"] == pytest.approx(0.5)
    assert row["transfer_by"] == "what-if"


def test_without_accounts_of_processors_only_sums_are_known():
    runs = [run.model_copy(update={"processor_categories": {}}) for run in synthetic.fixed((1, 4))]
    _, found = _found(runs)
    assert np.isfinite(found["parallel"]).all()
    assert found["load_balance"].isna().all()


def test_regions_lose_what_the_program_loses():
    one, run = synthetic.run(1), synthetic.run(16)
    found = pop.region_efficiencies(run, one)
    barrier = found[found["region"] == 4].iloc[0]
    assert barrier["parallel"] == 0
    sweep = found[found["region"] == 3].iloc[0]
    assert sweep["load_balance"] == pytest.approx(1)
    assert found["share"].sum() == pytest.approx(1)
    assert pop.dominant(sweep.to_dict()).name == "computation"


@pytest.mark.slow
def test_the_view_names_what_is_lost_and_where():
    data = StudyData.from_runs(synthetic.fixed(), regions=synthetic.REGIONS)
    figure = VIEW.build(data)
    assert "global efficiency" in figure.sentence
    assert "most is lost to" in figure.sentence
    assert len(figure.panels) == 3
    assert VIEW.build(StudyData.from_runs([])).empty
