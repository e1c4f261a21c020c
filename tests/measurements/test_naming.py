"""Columns are named as they are printed: by title, by name, or by number; a first column may have no name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scalegraph.measurements.mapping import Unanswered
from scalegraph.measurements.table import TableChoices
from scalegraph.request.imports.sets import understood
from tests.measurements.test_outputs import times


@pytest.mark.parametrize(
    "said",
    [
        {"processors": "column 1", "time": "column 2"},
        {"processors": "Knoten (Stk.)", "time": "total run [ms]"},
        {"processors": "Knoten", "time": "total run"},
    ],
)
def test_a_column_is_named_by_title_name_or_number(tmp_path: Path, said: dict[str, Any]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Knoten (Stk.),total run [ms],other [ms]\n1,8000,1\n2,4100,1\n")
    assert times(understood([path], said=said)) == [(1, 8.0), (2, 4.1)]


@pytest.mark.parametrize("key", ["column 2", "2"])
def test_a_column_without_a_name_is_left_out_by_its_number(tmp_path: Path, key: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p,,time_s\n1,7,10\n2,9,5\n4,3,3\n")
    guess = understood([path], choices=TableChoices(columns={key: "skip"}))
    assert times(guess) == [(1, 10.0), (2, 5.0), (4, 3.0)]
    assert "'column 2': left out" in str(guess.measured.skipped[0])


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        (",run1,run2\n1,10.1,10.2\n2,5.2,5.1\n4,2.9,2.8\n", {"processors": "column 1", "unit": "s"}),
        (",time [s]\n1,10\n2,5.1\n3,3.6\n4,2.8\n", {"processors": "column 1"}),
        ("1 8\n2 4.5\n4 2.5\n", {"names": "processors,time", "unit": "s"}),
        ("cores,score\n1,10.5\n2,19.5\n", {"rate": "score"}),
        ("cores,score\n1,10.5\n2,5.5\n", {"time": "score", "unit": "s"}),
    ],
)
def test_what_has_no_name_is_offered_by_what_its_numbers_do(tmp_path: Path, text: str, guess: dict[str, str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(Unanswered) as error:
        understood([path])
    assert {one.key: one.guess for one in error.value.questions} == guess
    choices = TableChoices(names=tuple(guess.pop("names").split(","))) if "names" in guess else None
    assert len(times(understood([path], choices=choices, said=guess))) > 1


def test_numbers_of_rows_count_no_processors(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",cores,time [s]\n1,1,10\n2,2,5.1\n3,4,2.8\n")
    assert times(understood([path])) == [(1, 10.0), (2, 5.1), (4, 2.8)]
