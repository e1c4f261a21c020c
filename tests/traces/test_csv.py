from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.traces import checking
from scalegraph.traces.reading import read

TEXT = """Timestamp (s), Event Type, Name, Process, flops
0, Enter, main(), 0, 1.5
0.1, Enter, foo(), 0,
0.25, Leave, foo(), 0,
0, Enter, main(), 1,
2, Instant, here, 1,
3, Leave, main(), 1,
100, Leave, main(), 0, 9
"""


def test_lines_become_events_in_order_of_time(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TEXT)
    trace = read(path)
    assert trace.counts() == {"calls": 6, "counters": 2, "marks": 1}
    assert sorted(trace.columns("calls")["time"].tolist()) == [0, 0, 10**8, 25 * 10**7, 3 * 10**9, 10**11]
    assert trace.columns("counters")["value"].tolist() == [1.5, 9.0]
    assert checking.check(trace).holds


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TEXT + "x, Enter, a, 0\n")
    with pytest.raises(InputError, match=r"a\.csv:9: 5 cells were expected"):
        read(path)
    assert read(path, partial=True).count("calls") == 6


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Timestamp (ns),Event Type,Process\n0,Enter,1\n")
    with pytest.raises(InputError, match="a column 'Name' was expected"):
        read(path)
