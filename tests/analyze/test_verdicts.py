from __future__ import annotations

import pandas as pd
import pytest

from scalegraph.analyze import loss, verdicts
from scalegraph.analyze.series import main_series
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.measurements.mapping import Mapping
from scalegraph.measurements.model import CallPath, MeasurementSet, Metric
from scalegraph.subjects.judgement import said
from scalegraph.subjects.study import StudyData
from scalegraph.views.study.overview.verdicts import VIEW
from tests.analyze import synthetic


def _data(runs):
    return StudyData.from_runs(runs, regions=synthetic.REGIONS)


def test_the_parts_of_the_loss_add_up_to_what_is_lost():
    one, run = synthetic.run(1), synthetic.run(16)
    parts = loss.by_region(run, one, synthetic.REGIONS)
    assert parts["loss_s"].sum() == pytest.approx(16 * run.time_s - one.time_s)
    assert parts["share"].sum() == pytest.approx(1)
    assert set(parts["cause"]) >= {"barrier_s", "serial_wait_s", "stall_s"}


def test_the_most_expensive_part_is_named_with_its_place():
    data = _data(synthetic.fixed((1, 2, 4, 48), barrier=2000))
    found = said(data)
    lost = [item for item in found if item.kind == "loss"]
    assert lost[0].text == "On 48 processors nearly all of the loss is barrier execution of barrier model.c:22."
    assert lost[0].place == 4


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.66, "two thirds"),
        (0.5, "half"),
        (0.27, "a quarter"),
        (0.43, "43\u00a0%"),
        (1.0, "nearly all"),
        (1.4, "140\u00a0%"),
    ],
)
def test_shares_in_words(share, words):
    assert verdicts.share_words(share) == words


def test_efficiencies_above_one_on_very_many_processors_are_named_in_full():
    times = {1: 3.0, 2_000_001: 1e-7, 2**31: 1e-10}
    runs = [
        RunRecord(source="measured", program="p", machine="m", point=RunPoint(processors=n), status="ok", time_s=t)
        for n, t in times.items()
    ]
    measured = StudyData.from_runs(runs)
    assert "on 2000001 and 2147483648 it is above 1" in verdicts.strong(main_series(measured.scaling)).text


def test_strong_scaling_says_up_to_where_it_is_good():
    main = main_series(_data(synthetic.fixed()).scaling)
    found = verdicts.strong(main)
    assert found.rating == "poor"
    at = dict(zip(main.rows["processors"], main.rows["efficiency"], strict=True))
    assert at[8] >= 0.8 > at[16]
    assert "good up to 8 processors" in found.text
    assert "fastest on" in found.text


def test_weak_scaling_compares_runs_of_equal_work_per_processor():
    runs = [synthetic.run(n, balls=64 * n, serial=0) for n in (1, 2, 4, 8)]
    ones = [synthetic.run(1, balls=64 * n, serial=0) for n in (2, 4, 8)]
    data = _data(runs + ones)
    chain = verdicts.weak_series(data.scaling)
    assert list(chain.rows["processors"]) == [1, 2, 4, 8]
    assert list(chain.rows["param.balls"]) == [64, 128, 256, 512]
    found = verdicts.weak(chain)
    assert found.value == pytest.approx(runs[0].time_s / runs[-1].time_s)


def _set(extent="exclusive"):
    # main (0) calls solve (1), which calls wait (2); in seconds per processor
    times = {1: (1.0, 8.0, 0.0), 4: (1.0, 2.5, 0.5)}
    if extent == "inclusive":
        times = {n: (a + b + c, b + c, c) for n, (a, b, c) in times.items()}
    rows = [(i, path, 0, 0, value) for i, n in enumerate((1, 4)) for path, value in enumerate(times[n])]
    return MeasurementSet(
        ("p",),
        pd.DataFrame({"p": [1, 4]}),
        (CallPath("main"), CallPath("solve", 0, "solve.c", 40), CallPath("wait", 1)),
        (Metric("time", "s", "time", extent),),
        pd.DataFrame(rows, columns=["point", "call_path", "metric", "repetition", "value"]),
    )


@pytest.mark.parametrize("extent", ["exclusive", "inclusive"])
def test_call_paths_lose_what_their_processors_spend_more(extent):
    parts = loss.by_path(_set(extent), Mapping(processors="p", time="time", unit="s", total="main"), 1, 0)
    at = dict(zip(parts["name"], parts["loss_s"], strict=True))
    assert at == pytest.approx({"main": 3.0, "solve": 2.0, "wait": 2.0})
    assert loss.place_words(parts[parts["name"] == "solve"].iloc[0]) == "solve (solve.c:40)"


def test_a_point_is_found_by_processors_and_parameters():
    meaning = Mapping(processors="p", time="time", unit="s")
    assert loss.point_of(_set(), meaning, 4, {}) == 1
    assert loss.point_of(_set(), meaning, 8, {}) is None


@pytest.mark.slow
def test_a_single_run_says_what_it_does_besides_computing():
    assert VIEW.build(_data([synthetic.run(1)])).empty
    assert "anything but computing" in VIEW.build(_data([synthetic.run(48, barrier=2000)])).sentence


@pytest.mark.slow
def test_the_view_shows_verdicts_and_the_parts_of_the_loss():
    figure = VIEW.build(_data(synthetic.fixed()))
    assert figure.sentence.startswith("Strong scaling of")
    assert len(figure.panels) == 2
