"""Sentences on measured times unlike simulated ones: superlinear, without parts, many constant parameters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scalegraph.analyze import fits
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.request.imports.sets import opened
from scalegraph.request.results.data import study_data
from scalegraph.subjects import fitted_models
from scalegraph.subjects.judgement import said
from scalegraph.subjects.study import StudyData


def _data(times: dict[int, float], **parameters: int) -> StudyData:
    return StudyData.from_runs(
        [
            RunRecord(
                source="imported",
                program="p",
                machine="unknown",
                point=RunPoint(processors=count, parameters=dict(parameters)),
                time_s=time,
            )
            for count, time in times.items()
        ]
    )


@pytest.mark.slow
def test_efficiencies_above_one_are_spoken_of() -> None:
    text = said(_data({1: 219, 2: 32.8, 4: 29.4, 8: 33.3}))[0].text
    assert "on 2 and 4 it is above 1, so the one-processor run is slower than its work explains" in text
    assert "above 1" not in said(_data({1: 100, 2: 50.2, 4: 24.9}))[0].text


@pytest.mark.slow
def test_constants_do_not_fill_the_labels_of_measurements() -> None:
    data = _data({1: 8, 2: 4.5, 4: 2.6}, nodes=1, tasks=1, points=100)
    assert said(data)[0].text.startswith("Strong scaling of the program to 4")
    assert set(_data({1: 8, 2: 4}, n=100).scaling["label"]) == {"n = 100"}


def test_no_interval_of_a_time_is_negative() -> None:
    for law in fits.fit_laws([1, 2, 4, 8], [219, 32.8, 29.4, 33.3]):
        low, high = law.band([2, 64, 1000])
        assert (low >= 0).all(), law.law
        assert (np.isinf(high) | (high >= law.predict([2, 64, 1000]))).all()


def test_noise_that_hides_the_laws_asks_for_repetitions_not_for_absurd_counts() -> None:
    counts = np.arange(1, 65)
    times = 5.5 * (0.08 + 0.92 / counts + 0.0004 * counts)
    noisy = times * (1 + 0.5 * np.sin(counts * 12.9898))
    for law in fits.fit_laws(counts, noisy):
        asked = law.doubt.partition("measure at N >= ")[2].rstrip(".")
        assert not asked or float(asked) <= 64 * 64, law.doubt


@pytest.mark.slow
def test_weak_scaling_without_a_size_has_a_verdict(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("ranks,nodes,time_s\n27,1,100\n64,2,110\n125,4,125\n")
    with opened([table], said={"scaling": "weak"}) as study:
        found = said(study_data(study))
    assert found[0].text == (
        "Weak scaling from 27 to 125 processors is good: the measurement set says that the problem grows with N, and "
        "the time becomes 1.25 times as long (efficiency 0.80)."
    )


@pytest.mark.slow
def test_weak_scaling_without_a_size_has_laws(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("ranks,time_s\n" + "".join(f"{n},{100 * (1 + 0.02 * (n - 1))}\n" for n in (1, 2, 4, 8, 16, 32)))
    with opened([table], said={"scaling": "weak"}) as study:
        found = fitted_models.laws(study_data(study))
    assert found is not None
    assert found[0].scaling == "weak"
    assert found[1][0].predict([64])[0] == pytest.approx(100 * (1 + 0.02 * 63), rel=0.02)


def test_repetitions_that_differ_alike_everywhere_are_fitted() -> None:
    assert fits.fit_laws([1, 1, 2, 2], [[1.0, 1.0, 0.5]] * 4)
