"""Weak-scaling sets have efficiencies, scaled speedups and Gustafson's serial share in every view that needs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.analyze import weak
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.request.imports.sets import opened
from scalegraph.request.results import quantities
from scalegraph.request.results.data import study_data
from scalegraph.subjects import judgement, weak_runs
from scalegraph.subjects.study import StudyData
from scalegraph.views import registry

TIMES = {1: 10.0, 2: 10.5, 4: 11.0, 8: 12.0}


def data(tmp_path: Path, text: str, **said: str) -> StudyData:
    path = tmp_path / "w.csv"
    path.write_text(text)
    with opened([path], said=said) as study:
        return study_data(study)


def with_sizes(factor: int = 1000) -> str:
    return "ranks,cells,time [s]\n" + "".join(f"{n},{factor * n},{time}\n" for n, time in TIMES.items())


def without_sizes() -> str:
    return "ranks,time [s]\n" + "".join(f"{n},{time}\n" for n, time in TIMES.items())


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [True, False])
def test_what_is_computed(tmp_path: Path, sizes: bool) -> None:
    study = data(tmp_path, with_sizes() if sizes else without_sizes(), **({} if sizes else {"scaling": "weak"}))
    table = quantities.compute(study, "weak")
    assert list(table["weak_efficiency"]) == pytest.approx([1, 10 / 10.5, 10 / 11, 10 / 12])
    assert list(table["scaled_speedup"]) == pytest.approx([1, 20 / 10.5, 40 / 11, 80 / 12])
    assert list(table["serial_share"])[1:] == pytest.approx([(2 - 20 / 10.5) / 1, (4 - 40 / 11) / 3, (8 - 80 / 12) / 7])
    efficiency = quantities.compute(study, "efficiency")
    assert list(efficiency["weak_efficiency"]) == pytest.approx(list(table["weak_efficiency"]))
    assert "scaled_speedup" in quantities.compute(study, "speedup").columns
    assert any(verdict.kind == "weak" and "efficiency 0.83" in verdict.text for verdict in judgement.said(study))
    figure = registry()["weak-scaling"].build(study)
    assert "weak efficiency is 0.833, the scaled speedup 6.67" in figure.sentence
    assert "calls 19 % of the time serial" in figure.sentence


def test_gustafsons_law_gives_its_own_share_back() -> None:
    share, runs = 0.07, []
    for n in (1, 2, 4, 16):
        time = 5.0 * n / (n - share * (n - 1))
        point = RunPoint(processors=n, parameters={"problem": n})
        runs.append(RunRecord(source="imported", program="p", machine="unknown", point=point, time_s=time))
    found = weak.grown_series(StudyData.from_runs(runs).scaling)
    assert found is not None
    assert list(weak.efficiencies(found)["serial_share"])[1:] == pytest.approx([share] * 3)


@pytest.mark.slow
def test_without_one_processor_it_is_relative_to_the_fewest(tmp_path: Path) -> None:
    study = data(tmp_path, "ranks,cells,time [s]\n4,400,10\n8,800,11\n16,1600,12.5\n")
    table = quantities.compute(study, "weak")
    assert list(table["weak_efficiency"]) == pytest.approx([1, 10 / 11, 0.8])
    assert list(table["scaled_speedup"]) == pytest.approx([4, 80 / 11, 12.8])
    assert any("Relative to N = 4" in note for note in registry()["weak-scaling"].build(study).notes)


@pytest.mark.slow
def test_work_that_grows_a_little_more_than_n_leaves_the_efficiency_what_the_glossary_says(tmp_path: Path) -> None:
    study = data(tmp_path, "ranks,cells,time [s],flops\n1,100,10,1000\n2,200,10,2100\n4,400,10,4200\n")
    assert list(quantities.compute(study, "weak")["weak_efficiency"]) == pytest.approx([1, 1, 1])


@pytest.mark.slow
def test_strong_scaling_has_none(tmp_path: Path) -> None:
    study = data(tmp_path, "ranks,time [s]\n1,8\n2,4.2\n4,2.3\n")
    assert weak_runs.series(study) is None
    assert registry()["weak-scaling"].build(study).empty
    assert "weak_efficiency" not in quantities.compute(study, "efficiency").columns
    assert quantities.blank(quantities.compute(study, "weak"))


@pytest.mark.slow
def test_sizes_on_every_count_give_the_chain_of_even_work(tmp_path: Path) -> None:
    rows = "".join(f"{n},{size},{size / n}\n" for n in (1, 2, 4) for size in (100, 200, 400))
    study = data(tmp_path, f"ranks,cells,time [s]\n{rows}")
    assert list(quantities.compute(study, "weak")["weak_efficiency"]) == pytest.approx([1, 1, 1])
