from __future__ import annotations

import math

import numpy as np
import pytest

from scalegraph.analyze import compare
from scalegraph.analyze.matrix import from_times
from scalegraph.analyze.series import main_series
from scalegraph.subjects.study import StudyData
from tests.analyze import synthetic


def _series(**more):
    return main_series(StudyData.from_runs(synthetic.fixed(**more)).scaling)


@pytest.mark.slow
def test_curves_stand_over_all_counts_of_either():
    table = compare.curves([_series(counts=(1, 2, 4)), _series(counts=(1, 4, 8))], "time_s")
    assert list(table.index) == [1, 2, 4, 8]
    assert math.isnan(table.loc[2, 1])
    assert math.isnan(table.loc[8, 0])
    assert table.loc[4, 0] == table.loc[4, 1]


@pytest.mark.slow
def test_differences_and_ratios_are_from_the_first():
    table = compare.beside(compare.curves([_series(), _series(barrier=600)], "time_s"))
    assert np.allclose(table["difference.1"], table[1] - table[0])
    assert np.allclose(table["ratio.1"], table[1] / table[0])


def test_curves_cross_between_two_counts():
    import pandas as pd

    table = pd.DataFrame({0: [1.0, 2.0, 4.0], 1: [2.0, 3.0, 2.0]}, index=pd.Index([1, 4, 16], name="processors"))
    ((at, above),) = compare.crossings(table)
    # the difference falls from 1 to -2 between 4 and 16: zero at a third of the way in log N
    assert at == pytest.approx(4 * 4 ** (1 / 3))
    assert above == 0


def test_one_matrix_minus_another():
    first = from_times((1, 2, 4), (1.0, 2.0, 4.0))
    second = from_times((1, 2, 8), (1.0, 1.25, 5.0))
    found = compare.difference(first, second, ("a", "b"))
    assert found.values[1, 2] == pytest.approx(1 / 1.25 - 0.5)
    assert found.values[1, 1] == 0
    assert found.reasons[1, 4] == "b: not run on these processors"
    assert found.reasons[4, 8] == "a: not run on these processors; b: not run on these processors"
    assert found.largest == pytest.approx(0.3)
