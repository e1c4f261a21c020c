"""Other tools' profiles support the analyses that their per-process values allow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scalegraph.analyze import pop
from scalegraph.request.imports.sets import answered, read_set, study_of
from scalegraph.request.results.data import study_data
from scalegraph.subjects.pop_efficiencies import busiest_times, free_times, path_efficiencies
from scalegraph.subjects.study import StudyData
from tests.measurements.samples import cubex

# by process: main is in foo for 1 and 2 s, in the barrier for 3 and 2 s, and for 1 and 2 s in neither
TIMES = np.array([[5.0, 6.0], [1.0, 2.0], [3.0, 2.0]])


@pytest.fixture
def imported(tmp_path: Path) -> StudyData:
    for processes, times in ((1, TIMES[:, :1] + [[6.0], [3.0], [0.0]]), (2, TIMES)):
        for repetition, factor in ((1, 1.0), (2, 3.0), (3, 2.0)):
            run = tmp_path / "cubes" / f"app.p{processes}.n10.r{repetition}"
            run.mkdir(parents=True)
            (run / "profile.cubex").write_bytes(cubex((times * factor).tolist(), bar="MPI_Barrier"))
    measured = read_set([tmp_path / "cubes"])
    return study_data(study_of(measured, answered(measured).mapping))


@pytest.mark.slow
def test_runs_take_the_longest_time_of_a_process(imported: StudyData) -> None:
    assert list(imported.scaling["time_s"]) == [22, 12]
    assert list(imported.scaling["busy_s"]) == [16, 12]


@pytest.mark.slow
def test_efficiencies_follow_from_useful_times_by_process(imported: StudyData) -> None:
    found = pop.efficiencies(imported.scaling, imported.by_key, free_times(imported), busiest_times(imported)).iloc[-1]
    assert found["parallel"] == pytest.approx(6 / 12)
    assert found["load_balance"] == pytest.approx(3 / 4)
    assert found["communication"] == pytest.approx(4 / 6)
    assert found["computation"] == pytest.approx(16 / 12)
    assert np.isnan(found["serialisation"])


def test_efficiencies_of_call_paths_are_exclusive(imported: StudyData) -> None:
    run, reference = imported.runs[-1], imported.runs[0]
    assert (run.point.processors, reference.point.processors) == (2, 1)
    found = path_efficiencies(imported, run, reference).set_index("name")
    # foo: 2 and 4 s, after 8 s on one; median of repetitions
    foo = found.loc["main->foo"]
    assert foo["load_balance"] == pytest.approx(3 / 4)
    assert foo["parallel"] == pytest.approx(1.0)
    assert foo["computation"] == pytest.approx(8 / 6)
    assert found.loc["main->MPI_Barrier", "parallel"] == 0
    assert found.loc["main->MPI_Barrier", "lost"] == pytest.approx(10)
    assert found["share"].sum() == pytest.approx(1)
    assert found.loc["main->foo", "place"] == "foo.c:4"


@pytest.mark.slow
def test_single_profiles_put_together_are_as_good_as_their_directory(imported: StudyData, tmp_path: Path) -> None:
    files = sorted((tmp_path / "cubes").glob("*/*.cubex"))
    measured = read_set(files)
    together = study_data(study_of(measured, answered(measured).mapping))
    assert list(together.scaling["time_s"]) == list(imported.scaling["time_s"])
    assert busiest_times(together) == busiest_times(imported)
