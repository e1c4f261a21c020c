"""A number is the same text in the table of the window, the picture, the report, Markdown and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt

from scalegraph import views
from scalegraph.base.measures import SI_UNITS
from scalegraph.figures.figure import Axis, Column, Figure, Row, Table
from scalegraph.figures.render import numbers
from scalegraph.figures.render import table as printed
from scalegraph.figures.render.plot import Scale as PrintedScale
from scalegraph.gui.figures.scales import Scale
from scalegraph.gui.figures.table.model import TableModel
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from tests.views import imported, studies, traces

Columns = list[tuple[str, list[str]]]


def in_window(table: Table) -> Columns:
    model = TableModel(table)
    return [
        (
            " ".join(str(model.headerData(i, Qt.Orientation.Horizontal)).split()),
            [text for text, _depth in model.texts(i)],
        )
        for i in range(len(table.columns))
    ]


def in_picture(table: Table) -> Columns:
    return [(" ".join(heading.split()), texts) for heading, texts, _, _ in printed._prepared(table)]


def in_text(figure: Figure, table: Table) -> Columns:
    """What reports, Markdown and LaTeX have, without the depth of a tree."""
    header, rows = numbers.readable(figure)
    more = len(header) - len(table.columns)
    return [
        (" ".join(name.split()), [row[place] for row in rows]) for place, name in enumerate(header) if place >= more
    ]


def figures() -> Iterator[tuple[str, Figure, Table]]:
    subjects: dict[str, StudyData | TraceData] = {"full": studies.full(), **studies.few()}
    subjects |= {"times": imported.times(), "call paths": imported.call_paths(), "halves": traces.halves()}
    subjects |= {"counted": traces.counted(5.0, traces.SECOND, 2), "threads": traces.threads()}
    for name, data in subjects.items():
        for view in views.registry("trace" if isinstance(data, TraceData) else "study").values():
            figure = view.build(data)
            yield from ((f"{view.name} of {name}", figure, p) for p in figure.panels if isinstance(p, Table))


def test_tables_of_every_view_have_the_same_text_on_every_surface() -> None:
    seen = set()
    for name, figure, table in figures():
        window = in_window(table)
        assert in_picture(table) == window, name
        if numbers._main(figure) is table:
            assert in_text(figure, table) == window, name
        seen.add(name.partition(" of ")[0])
    assert len(seen) > 15, seen


@pytest.mark.parametrize("unit", [*sorted(SI_UNITS), "%", "% of the loss", "cycles", ""])
@pytest.mark.parametrize(
    "values",
    [
        (2.5e15, 1e12),
        (0.01, 55.0, 0.0),
        (1e-9, None, 12.5),
        (3, 2_000_000, None),
        (math.nan, math.inf, 7.25),
        ("words", 1234.5, None),
        (None, None),
        ("words", None),
    ],
)
def test_every_unit_and_size_has_the_same_text_on_every_surface(
    values: tuple[float | str | None, ...], unit: str
) -> None:
    table = Table((Column("place"), Column("value", unit)), tuple(Row(("x", value)) for value in values))
    figure = Figure("any", "Any", panels=(table,))
    assert in_picture(table) == in_window(table) == in_text(figure, table)


@pytest.mark.parametrize("unit", [*sorted(SI_UNITS), "%", "cycles", ""])
@pytest.mark.parametrize("values", [(1e12, 2.5e15), (0.01, 0.05), (1e-9, 1e-8), (3.0, 2e6)])
def test_axes_have_the_same_titles_on_screen_and_in_files(values: tuple[float, float], unit: str) -> None:
    for scale in ("linear", "log2", "log10"):
        axis = Axis("value", unit, scale=scale)  # type: ignore[arg-type]
        assert Scale(axis, values).title == PrintedScale(axis, values).title


def test_a_petabyte_a_second_and_a_hundredth_of_a_percent_are_written_once_and_for_all() -> None:
    table = Table((Column("rate", "B/s"), Column("share", "%")), (Row((2.5e15, 0.01)), Row((1e15, 12.0))))
    assert in_window(table) == [("rate (PB/s)", ["2.500", "1.000"]), ("share (%)", ["< 0.1", "12.0"])]
    assert in_picture(table) == in_window(table)
