"""What is said of measured times that no simulated machine shows: superlinear, without parts, of many constants."""

from __future__ import annotations

import numpy as np

from scalegraph.analyze import fits
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.views import StudyData
from scalegraph.views.verdicts import said


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


def test_efficiencies_above_one_are_spoken_of() -> None:
    text = said(_data({1: 219, 2: 32.8, 4: 29.4, 8: 33.3}))[0].text
    assert "on 2 and 4 it is above 1, so the one-processor run is slower than its work explains" in text
    assert "above 1" not in said(_data({1: 100, 2: 50.2, 4: 24.9}))[0].text


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
