"""A number has the same text in the window, tooltips, pictures, reports, Markdown, LaTeX and the terminal."""

from __future__ import annotations

import dataclasses
import html
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
import pytest
from PySide6.QtCore import Qt

from scalegraph import views
from scalegraph.base.measures import SI_UNITS, exact
from scalegraph.cli import analyze
from scalegraph.figures.figure import Axis, Column, Figure, Row, Table
from scalegraph.figures.render import numbers
from scalegraph.figures.render import table as printed
from scalegraph.figures.render.plot import Scale as PrintedScale
from scalegraph.gui.figures.scales import Scale
from scalegraph.gui.figures.table.model import TableModel
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from tests.views import imported, studies, traces

pytestmark = pytest.mark.slow

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
    """Return the text as in reports, Markdown and LaTeX, without tree indentation."""
    header, rows = numbers.readable(figure)
    more = len(header) - len(table.columns)
    return [
        (" ".join(name.split()), [row[place] for row in rows]) for place, name in enumerate(header) if place >= more
    ]


def built() -> Iterator[tuple[str, Figure]]:
    subjects: dict[str, StudyData | TraceData] = {"full": studies.full(), **studies.few()}
    subjects |= {"times": imported.times(), "call paths": imported.call_paths(), "halves": traces.halves()}
    subjects |= {"counted": traces.counted(5.0, traces.SECOND, 2), "threads": traces.threads()}
    for name, data in subjects.items():
        for view in views.registry("trace" if isinstance(data, TraceData) else "study").values():
            yield f"{view.name} of {name}", view.build(data)


@pytest.fixture(scope="module")
def figures() -> list[tuple[str, Figure]]:
    return list(built())


def tables(figures: list[tuple[str, Figure]]) -> Iterator[tuple[str, Figure, Table]]:
    yield from ((name, figure, p) for name, figure in figures for p in figure.panels if isinstance(p, Table))


@pytest.mark.slow
def test_tables_of_every_view_have_the_same_text_on_every_surface(figures: list[tuple[str, Figure]]) -> None:
    seen = set()
    for name, figure, table in tables(figures):
        window = in_window(table)
        assert in_picture(table) == window, name
        if numbers.main_panel(figure) is table:
            assert in_text(figure, table) == window, name
        seen.add(name.partition(" of ")[0])
    assert len(seen) > 15, seen


@pytest.mark.slow
def test_tables_in_the_terminal_have_the_texts_of_markdown(
    figures: list[tuple[str, Figure]], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, figure, table in tables(figures):
        if numbers.main_panel(figure) is not table:
            continue
        analyze.show(figure)
        printed = capsys.readouterr().out.split("\n")
        _, rows = numbers.readable(figure)
        assert len(printed) == len(rows) + 2, name
        for line, row in zip(printed[1:], rows, strict=False):
            assert line.split() == [word for text in row for word in " ".join((text or "–").split("\n")).split()], name


def test_what_analyze_prints_is_what_it_writes_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.DataFrame({"name": ["a", "b"], "time_s": [0.001234, 12.5], "misses": [3, 2_000_000]})
    figure = numbers.of_table("any", "Any", frame)
    analyze.show(figure)
    rows = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    cells = [line.strip("|").split("|") for line in numbers.markdown(figure).splitlines() if line.startswith("|")]
    del cells[1]  # the rule
    assert [[c.strip() for c in row if c.strip()] for row in rows] == [[c.strip() for c in row] for row in cells]


@pytest.mark.slow
def test_tooltips_of_tables_have_each_number_as_one_points_at_it(figures: list[tuple[str, Figure]]) -> None:
    seen = 0
    for name, _, table in tables(figures):
        model = TableModel(table)
        for number in range(model.rowCount()):
            index = model.index(number, 0)
            row = table.rows[index.internalId() - 1]
            tip = html.unescape(re.sub("<[^>]*>", "\n", model.data(index, Qt.ItemDataRole.ToolTipRole)))
            for column, value in zip(table.columns, row.values, strict=False):
                if isinstance(value, int | float):
                    assert f"{column.name}: {exact(value, column.unit)}" in tip, name
                    seen += 1
    assert seen > 100


def texts(thing: Any) -> Iterator[str]:
    """Yield all tooltips in a panel."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, Sequence):
        for one in thing:
            yield from texts(one)
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            value = getattr(thing, field.name)
            if field.name in ("tip", "tips"):
                yield from texts(value)
            elif isinstance(value, tuple) or dataclasses.is_dataclass(value):
                yield from (
                    text
                    for one in (value if isinstance(value, tuple) else (value,))
                    if dataclasses.is_dataclass(one)
                    for text in texts(one)
                )


# What the formatter never writes: thousands commas, exponents of large numbers, shares without a space, small times and
# sizes without a prefix, eight decimals.
_OTHER_FORMS = re.compile(r"\d,\d{3}\b|\de\+0\d|\d%|\b0\.0\d* (?:s|B|op|flop)\b|\d\.\d{8}")


def test_tooltips_and_sentences_of_every_view_have_numbers_of_the_formatter_only(
    figures: list[tuple[str, Figure]],
) -> None:
    seen = 0
    for name, figure in figures:
        for text in (figure.sentence, *figure.notes, *(text for panel in figure.panels for text in texts(panel))):
            assert not _OTHER_FORMS.search(text), (name, text)
            seen += 1
    assert seen > 1000


@pytest.mark.parametrize("text", ["1,024 bytes", "1.05e+06", "12.5%", "0.0664000 s", "3.141592654"])
def test_the_rule_for_tooltips_finds_what_it_refuses(text: str) -> None:
    assert _OTHER_FORMS.search(text)


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
    figure = Figure("Any", panels=(table,), view="any")
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
