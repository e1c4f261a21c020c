"""Search by name, compared with a linear scan of the events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.trace import found
from scalegraph.analyze.trace.calls import CallTable
from scalegraph.analyze.trace.find import LASTING, SORTS, Finder, Occurrence, Target, fits
from scalegraph.base.cancel import Cancelled, CancelToken
from scalegraph.base.errors import InputError
from scalegraph.request.results.trace_quantities import compute
from scalegraph.traces.kinds import NO_TIME, What
from scalegraph.traces.model import MemoryPart, Trace
from tests.traces.made import small, traces
from tests.views.traces import data


def in_parts(trace: Trace, size: int) -> Trace:
    """Return the same events in parts of *size* rows."""
    parts: dict[str, list[Any]] = {}
    for kind in trace.counts():
        columns = trace.columns(kind)
        rows = len(next(iter(columns.values())))
        parts[kind] = [
            MemoryPart(kind, {name: values[at : at + size] for name, values in columns.items()})
            for at in range(0, rows, size)
        ]
    return Trace(trace.definitions, trace.meta, parts)


def one_by_one(trace: Trace, target: Target) -> list[tuple[int, int, int]]:
    """Return every occurrence of *target* in order: begin, end, location."""
    sort, made = SORTS[target.sort], []
    columns = {name: values.tolist() for name, values in trace.columns(sort.kind).items()}
    for row in range(len(columns[sort.time])):
        time, location = columns[sort.time][row], columns[sort.location][row]
        if columns[sort.column][row] != target.number or time == NO_TIME:
            continue
        end = max(time, columns[sort.end][row]) if sort.end else time
        if sort.kind == "calls":
            if columns["what"][row] != What.ENTER:
                continue
            end, depth = trace.meta.end, 0
            for later in range(row, len(columns["time"])):
                if columns["location"][later] == location:
                    depth += 1 if columns["what"][later] == What.ENTER else -1
                    if not depth:
                        end = columns["time"][later]
                        break
        made.append((time, location, row, end))
    return [(time, end, location) for time, location, _row, end in sorted(made)]


def told(some: list[Occurrence]) -> list[tuple[int, int, int]]:
    return [(one.begin, one.end, one.location) for one in some]


@pytest.mark.slow
@given(traces(), st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_every_occurrence_is_met_once_forwards_and_backwards(trace: Trace, size: int) -> None:
    finder = Finder(in_parts(trace, size))
    for target in finder.targets(""):
        expected = one_by_one(trace, target)
        assert target.count == len(expected)
        met: list[Occurrence] = []
        step = finder.next(target, trace.meta.begin - 1)
        while step is not None:
            met.append(step)
            step = finder.next(target, step.key)
        assert told(met) == expected
        assert [one.which for one in met] == list(range(1, len(met) + 1))
        back = [] if not met else [met[-1]]
        while back and (step := finder.next(target, back[-1].key, forward=False)) is not None:
            back.append(step)
        assert told(back[::-1]) == expected
        if expected:
            at = expected[len(expected) // 2][0]
            here = finder.next(target, at)
            assert here is not None
            assert here.begin == at
            before = finder.next(target, at, forward=False)
            earlier = [one for one in expected if one[0] < at]
            assert (before is None) == (not earlier)
            assert before is None or before.begin == earlier[-1][0]


@pytest.mark.slow
@given(traces(), st.integers(1, 7), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_the_longest_are_the_longest(trace: Trace, size: int, most: int) -> None:
    cut = in_parts(trace, size)
    meta, everywhere = trace.meta, range(len(trace.definitions.locations))
    for target in Finder(cut).targets(""):
        expected = one_by_one(trace, target)
        table = found.longest(cut, CallTable(cut), [target], most, meta.begin, meta.end, everywhere)
        if target.sort not in LASTING:
            assert table.empty
            continue
        lengths = sorted((end - begin for begin, end, _ in expected if end <= meta.end), reverse=True)[:most]
        assert (table["end"] - table["begin"]).tolist() == lengths


def test_a_text_names_things_of_every_sort() -> None:
    finder = Finder(small())
    assert {target.sort for target in finder.targets("")} == set(SORTS)
    assert [(one.sort, one.name, one.count) for one in finder.targets("barrier")] == [
        ("mark", "barrier", 1),
        ("wait", "barrier", 1),
    ]  # a region that is never entered only names the marker
    assert [(one.sort, one.number) for one in finder.targets("tag 5")] == [("tag", 5)]
    assert [one.name for one in finder.targets("THREAD*")] == ["thread 0", "thread 1"]
    assert finder.targets("nothing of that name") == []
    assert fits("solve[1]", "ve[")


def test_a_search_can_be_stopped() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        Finder(small()).targets("main", token)


def test_find_as_a_table() -> None:
    trace = data(small())
    table = compute(trace, "find", {"text": "main"})
    assert table.to_dict("records") == [
        {"kind": "region", "number": 0, "name": "main", "count": 2, "first_s": 0.0, "first_on": "thread 0"}
    ]
    table = compute(trace, "find", {"text": "main", "begin": "3e-9"})
    assert table["count"].tolist() == [1]
    assert table["first_s"].tolist() == [5e-9]
    table = compute(trace, "find", {"text": "main", "longest": "1"})
    assert table["duration_s"].tolist() == [90e-9]
    assert table["location"].tolist() == ["thread 0"]


def test_without_a_text_everything_is_listed_and_a_wrong_one_is_refused() -> None:
    trace = data(small())
    assert set(compute(trace, "find")["kind"]) == set(SORTS)
    with pytest.raises(InputError, match="did you mean 'main'"):
        compute(trace, "find", {"text": "mainn"})
