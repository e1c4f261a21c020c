"""Searches under a bound on a real target: repeated until the interval is narrow, and no size takes too long."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.run import RunRecord
from scalegraph.link import Job
from scalegraph.request import Session
from scalegraph.request.model.kept import searches_of
from scalegraph.request.model.request import Request
from scalegraph.store import Study

pytestmark = pytest.mark.slow


class Times:
    """A link whose times follow a formula: T(n, N) = n^3 / N + 1e6 (N - 1), in ns, with noise of the first runs."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        self.jobs.append(job)
        n, count = int(job.args[0]), job.point.processors
        noise = 1 + 0.2 * (job.point.repetition == 0)
        time = (n**3 / count + 1e6 * (count - 1)) * 1e-9 * noise
        return RunRecord(
            source="measured", program=job.name, machine="host", point=job.point, status="ok", time_s=time, host_s=time
        )


def searched(place: Path, **target: Any) -> tuple[Times, Study]:
    request = Request.model_validate(
        {
            "program": {"name": "ge1"},
            "processors": [1, 2],
            "parameters": {"n": 60},
            "scaling": {"method": "IV"},
            "target": {"name": "host", "until": 5, **target},
            "bound": [{"kind": "efficiency", "value": 0.8, "processors": [2]}],
        }
    )
    link = Times()
    return link, Session(link=link).submit(request, place / "s.sgstudy")


def test_a_search_uses_the_median_of_runs_that_were_repeated_until_it_is_known(tmp_path: Path) -> None:
    _link, study = searched(tmp_path)
    with study:
        (found,) = searches_of(study)
        assert found["met"], found
        n = found["parameters"]["n"]
        exact = n**3 / (n**3 + 2e6)  # the first run of each point is 20 % slower; the median is not
        assert found["got"] == pytest.approx(exact)
        runs = [run for run in study.runs(target="host") if run.point.parameters["n"] == n]
        assert {run.point.processors for run in runs} == {1, 2}
        assert len(runs) >= 12  # six of each: fewer never give 95 % confidence


def test_a_search_tries_no_size_that_is_expected_to_take_longer_than_wanted(tmp_path: Path) -> None:
    link, study = searched(tmp_path, longest=0.002)
    with study:
        (found,) = searches_of(study)
    assert not found["met"]
    assert "even the largest size that takes no longer than 0.002 s on one processor stays below" in found["sentence"]
    assert max(int(job.args[0]) for job in link.jobs) <= 133  # 126 cubed are 2 ms; the first run was 20 % too slow
