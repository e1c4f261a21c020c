"""Two traces by region, checked against known sums."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scalegraph import views
from scalegraph.base.errors import InputError
from scalegraph.figures.figure import Figure, Plot, Table
from scalegraph.subjects.trace import TraceData
from tests.views import traces


def pair() -> TraceData:
    """Return a 0.5 s trace of 2 processors beside a 0.25 s one of 4, with less work on each and a barrier."""
    one = traces.builder(2, ("main", "solve", "old"))
    for who in range(2):
        traces.calls(one, who, (0, 100_000, 2))
        one.rows("calls").add(100_000, who, 1, 0)
        traces.calls(one, who, (100_000, 400_000, 1))
        one.rows("calls").add(500_000, who, 2, 0)
    two = traces.builder(4, ("solve", "main", "barrier"))
    for who in range(4):
        two.rows("calls").add(0, who, 1, 1)
        traces.calls(two, who, (0, 150_000, 0), (150_000, 250_000, 2))
        two.rows("calls").add(250_000, who, 2, 1)
    first, second = traces.finish(one, 500_000, "two"), traces.finish(two, 250_000, "four")
    return replace(first, others=(second,))


def built(data: TraceData, **options: object) -> Figure:
    return views.get("trace-compare-profile").build(data, **options)  # type: ignore[arg-type]


def rows_of(figure: Figure) -> dict[str, tuple[object, ...]]:
    table = figure.panels[0]
    assert isinstance(table, Table)
    return {str(row.values[0]): row.values[1:] for row in table.rows}


def test_regions_of_one_name_are_compared_wherever_they_stand() -> None:
    figure = built(pair())
    rows = rows_of(figure)
    assert list(rows) == ["barrier", "main", "old", "solve"]
    assert rows["solve"] == pytest.approx((0.6, 0.6, 0.0, 1.0, 60, 60, 0, 2, 4))
    assert rows["barrier"] == (0.0, pytest.approx(0.4), pytest.approx(0.4), None, 0, 40, 40, 0, 4)
    assert rows["old"] == (pytest.approx(0.2), 0.0, pytest.approx(-0.2), 0.0, 20, 0, -20, 2, 0)
    assert figure.sentence == (
        "From 2 locations to 4 locations the time of all locations goes from 1.00 s to 1.00 s, 1.00 times;"
        " barrier changes most: 400 ms more."
    )
    plot = figure.panels[1]
    assert isinstance(plot, Plot)
    assert plot.bars is not None
    assert [sum(heights) for _, _, heights in plot.bars.series] == pytest.approx([0.4, 0.4])


def test_the_run_on_fewer_processors_comes_first_whichever_is_in_view() -> None:
    one = pair()
    other = replace(one.others[0], others=(replace(one, others=()),))
    table, turned = built(one).panels[0], built(other).panels[0]
    assert isinstance(table, Table)
    assert isinstance(turned, Table)
    assert [row.values for row in table.rows] == [row.values for row in turned.rows]
    assert [row.key for row in table.rows] == ["", "0", "2", "1"]
    assert [row.key for row in turned.rows] == ["2", "1", "", "0"]


@pytest.mark.slow
def test_inclusive_times_call_paths_and_some_regions() -> None:
    assert rows_of(built(pair(), time="inclusive"))["main"][:2] == pytest.approx((0.8, 1.0))
    paths = rows_of(built(pair(), by="path"))
    assert set(paths) == {"main", "main / solve", "main / barrier", "old"}
    assert set(rows_of(built(pair(), by="path", region="barrier"))) == {"main / barrier"}
    with pytest.raises(InputError, match="no region is called 'nix'"):
        built(pair(), region="nix")


def test_one_trace_alone_or_one_without_calls_says_what_is_missing() -> None:
    assert built(traces.halves()).empty.endswith("one is open.")
    mute = traces.builder(2)
    traces.wait(mute, 0, 10, 0)
    assert "no calls of regions" in built(replace(traces.halves(), others=(traces.finish(mute),))).empty
