"""Rows of wide tables as dictionaries."""

import pandas as pd

from scalegraph.base.rows import records
from scalegraph.subjects.study import StudyData
from tests.analyze import synthetic


def test_rows_are_those_of_pandas() -> None:
    table = StudyData.from_runs(synthetic.fixed((1, 2, 4))).table
    assert [list(row) for row in records(table)] == [list(row) for row in table.to_dict("records")]
    for mine, theirs in zip(records(table), table.to_dict("records"), strict=True):
        for name, value in mine.items():
            assert type(value) is type(theirs[name]), name
            assert value == theirs[name] or (pd.isna(value) and pd.isna(theirs[name])), name
    assert records(table.iloc[:0]) == []
