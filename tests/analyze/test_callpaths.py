"""Costs by region become values by call path; sums over the tree equal those of the runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scalegraph.analyze.callpaths import measured_runs
from scalegraph.analyze.loss import point_of
from scalegraph.base.run import Region, RunPoint, RunRecord
from scalegraph.measurements.model import check
from scalegraph.store import Study

OLD = Path(__file__).parents[1] / "store" / "format2.sgstudy"


def test_regions_become_call_paths_with_processor_seconds() -> None:
    with Study.open(OLD) as study:
        made = measured_runs(study.runs(), study.manifest.regions)
    assert made is not None
    measured, mapping = made
    check(measured)
    assert measured.paths == ("program", "program->function main")
    assert measured.parameters == ("N", "n")
    assert measured.points["N"].tolist() == [1, 4]
    time = measured.grid(measured.metric(mapping.time))
    assert time[:, :, 0] == pytest.approx(np.array([[0.5, 0.5], [1.0, 1.0]]))
    inclusive = measured.with_inside(time)
    assert inclusive[0, :, 0] == pytest.approx([1.5, 1.5])
    assert measured.without_inside(inclusive) == pytest.approx(time)
    assert measured.grid(measured.metric("busy_max"))[1, :, 0] == pytest.approx([1.0, 0.25])
    assert (mapping.processors, mapping.unit, mapping.total, mapping.summed) == ("N", "s", "program", True)
    assert mapping.columns["references"] == "references"


def run(processors: int, time_s: float | None, repetition: int = 0, **more: object) -> RunRecord:
    point = RunPoint(processors=processors, parameters={"N": 3, "kind": "a"}, repetition=repetition)
    return RunRecord.model_validate(
        {"source": "measured", "program": "p", "machine": "m", "point": point, "time_s": time_s} | more
    )


def test_runs_without_regions_are_one_path_and_keep_their_repetitions() -> None:
    runs = [run(1, 2.0, busy_s=1.5), run(1, 2.2, 3), run(2, 1.1), run(4, None, status="failed")]
    made = measured_runs(runs, (Region(id=0, kind="program", name="program"),))
    assert made is not None
    measured, mapping = made
    check(measured)
    assert measured.paths == ("p",)
    assert measured.parameters == ("N", "param.N", "kind")
    time = measured.grid(measured.metric("time"))
    assert time[0] == pytest.approx(np.array([[2.0, 2.2], [2.2, np.nan]]), nan_ok=True)
    assert measured.grid(measured.metric("busy"))[0] == pytest.approx(np.array([[1.5], [np.nan]]), nan_ok=True)
    assert mapping.summed


def test_nothing_becomes_no_set() -> None:
    assert measured_runs([run(2, None, status="crashed")], ()) is None


def test_a_point_is_found_by_its_parameters_whatever_they_are() -> None:
    with Study.open(OLD) as study:
        made = measured_runs(study.runs(), study.manifest.regions)
    assert made is not None
    measured, mapping = made
    size = measured.points["n"].tolist()[0]
    assert point_of(measured, mapping, 4, {"n": size, "unknown": 1}) == 1
    # words and numbers that no column of words holds
    measured.points["kind"] = pd.Series(["a", "b"], dtype="str")
    assert point_of(measured, mapping, 4, {"kind": "b"}) == 1
    assert point_of(measured, mapping, 4, {"kind": 10**30}) is None
