"""Sizes are compared within one program: compilers and other texts of a table keep runs apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from scalegraph.analyze import metrics
from scalegraph.analyze.series import main_series, one_program
from scalegraph.request.imports.sets import study_of, understood
from scalegraph.request.results.data import study_data
from scalegraph.subjects import matrices
from scalegraph.subjects.study import StudyData

SLOW, QUICK = ("gcc", 1.0), ("icc", 0.6)


def _study(place: Path, programs: Sequence[tuple[str, float]]) -> StudyData:
    rows = ["compiler,n,threads,time_s"]
    for name, factor in programs:
        for n in (1000, 2000, 4000):
            times = {p: factor * (n / 1000) ** 2 * (1 / p + 50 * p / n) for p in (1, 2, 4, 8)}
            rows += [f"{name},{n},{p},{time:.6f}" for p, time in times.items()]
    path = place / "times.csv"
    path.write_text("\n".join(rows))
    guess = understood([path])
    return study_data(study_of(guess.measured, guess.mapping))


def test_a_matrix_takes_sizes_of_one_compiler(tmp_path: Path) -> None:
    (alone := tmp_path / "alone").mkdir()
    (both := tmp_path / "both").mkdir()
    one, two = _study(alone, [SLOW]), _study(both, [SLOW, QUICK])
    of_one, of_two = matrices.matrix(one, "time", target=2.0), matrices.matrix(two, "time", target=2.0)
    assert of_one is not None
    assert of_two is not None
    assert of_one.values
    assert of_two.values == of_one.values
    said = "Sizes are compared within one program, compiler = gcc; the study has icc as well."
    assert said in of_two.notes
    assert not one.other_programs
    assert len(one.one_program) == len(one.scaling)


def test_a_text_that_changes_with_the_processors_is_no_program() -> None:
    rows = {"processors": [1, 2, 4], "time_s": [4.0, 2.0, 1.0], "status": "ok", "param.grid": ["1x1", "1x2", "2x2"]}
    scaling = metrics.scaling(pd.DataFrame(rows))
    kept, said = one_program(scaling, main_series(scaling))
    assert (len(kept), said) == (3, "")
