"""Lines sorted by time, in memory and in files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalegraph.traces.sorted_lines import SortedLines

pytestmark = pytest.mark.slow

TIMES = st.lists(st.lists(st.integers(-5, 5), max_size=8), max_size=8)


@given(TIMES, st.integers(1, 6))
def test_lines_come_by_time_and_those_of_one_time_in_their_order(times: list[list[int]], run: int) -> None:
    given_lines = [
        [(time, f"{time} {block} é {place}") for place, time in enumerate(row)] for block, row in enumerate(times)
    ]
    with SortedLines(run) as lines:
        for block in given_lines:
            lines.add(block)
        whole = [line for block in given_lines for line in block]
        assert list(lines) == [text for _, text in sorted(whole, key=lambda line: line[0])]
        assert lines.count == len(whole)
        assert lines.last == max([0, *(time for time, _ in whole)])
