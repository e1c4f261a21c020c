"""The terminal names causes as the window does; files keep the names of the counters."""

from __future__ import annotations

import pandas as pd

from scalegraph.cli import analyze
from scalegraph.figures.figure import Table
from scalegraph.figures.render import numbers


def test_columns_of_counters_are_words_in_the_terminal_and_names_in_files() -> None:
    frame = pd.DataFrame(
        {"p_x": [8], "idle_lock": [1.0], "leaf.prim_fork_join": [2.0], "blame.serial.idle_serial": [3.0]}
    )
    figure = numbers.of_table("any", "Any", frame)
    table = analyze.in_words(figure).panels[0]
    assert isinstance(table, Table)
    assert [column.name for column in table.columns] == [
        "fastest N",
        "waiting for locks",
        "starting and ending parallel regions",
        "serial parts, by serial",
    ]
    assert "idle_lock" in numbers.csv(figure)
