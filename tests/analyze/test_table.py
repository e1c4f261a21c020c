from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scalegraph.analyze import table
from scalegraph.base.errors import InputError


def _rows(*times: float) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "key": [f"k{i}" for i in range(len(times))],
            "processors": 4,
            "repetition": range(len(times)),
            "param.n": 10,
            "time_s": times,
            "busy_s": [4 * t for t in times],
            "status": "ok",
        }
    )


def test_odd_repetitions_give_the_median_run_whole() -> None:
    (row,) = table.problems(_rows(3.0, 1.0, 2.0)).to_dict("records")
    assert (row["time_s"], row["busy_s"]) == (2.0, 8.0)
    assert (row["time_min_s"], row["time_max_s"], row["repetitions"]) == (1.0, 3.0, 3)
    assert row["keys"] == "k1,k2,k0"


def test_even_repetitions_give_the_mean_of_the_middle_two_so_sums_still_add_up() -> None:
    (row,) = table.problems(_rows(1.0, 2.0, 4.0, 9.0)).to_dict("records")
    assert row["time_s"] == 3.0
    assert row["busy_s"] == 4 * row["time_s"]


def test_failed_and_timeless_runs_are_left_out() -> None:
    rows = _rows(1.0, 2.0, 3.0)
    rows["status"] = ["ok", "deadlock", "ok"]
    rows.loc[2, "time_s"] = np.nan
    assert list(table.usable(rows)["key"]) == ["k0"]


def test_a_table_without_time_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no column time_s"):
        table.usable(pd.DataFrame({"processors": [1]}))


def test_an_empty_table_has_no_problems() -> None:
    assert table.problems(pd.DataFrame()).empty


def test_problems_differ_by_parameters_program_machine_and_source() -> None:
    rows = pd.concat([_rows(1.0)] * 4, ignore_index=True)
    rows["param.n"] = [10, 10, 10, 20]
    rows["machine"] = ["a", "b", "a", "a"]
    rows["source"] = ["simulated", "simulated", "measured", "simulated"]
    assert table.problems(rows)["problem"].nunique() == 4


def test_missing_parameters_form_a_problem_of_their_own() -> None:
    rows = pd.concat([_rows(1.0), _rows(1.0)], ignore_index=True)
    rows["param.m"] = [None, 3]
    found = table.problems(rows)
    assert found["problem"].nunique() == 2
    assert set(found["label"]) == {"n = 10", "n = 10, m = 3"}


def test_a_leaf_not_named_is_zero_only_where_the_others_add_up() -> None:
    rows = pd.DataFrame(
        {
            "processors": [2, 2],
            "time_s": [1.0, 1.0],
            "clock_hz": [100.0, 100.0],
            "leaf.busy_int": [200.0, 150.0],
            "leaf.idle_lock": [np.nan, np.nan],
        }
    )
    assert table.category_cycles(rows, "idle_lock")[0] == 0.0
    assert np.isnan(table.category_cycles(rows, "idle_lock")[1])
    assert np.isnan(table.category_cycles(rows, "prim_task")[1])


def test_the_input_is_not_changed() -> None:
    rows = _rows(3.0, 1.0)
    before = rows.copy(deep=True)
    table.problems(rows)
    pd.testing.assert_frame_equal(rows, before)
