"""The source view steps through the most expensive lines."""

from typing import Any

import pytest

from scalegraph.figures.figure import PROCESSOR_TIME, Column, Source, SourceLine
from scalegraph.gui.figures.source.margin import Margin
from scalegraph.gui.figures.source.panel import SourcePanel


def panel(qtbot: Any) -> SourcePanel:
    costs = {2: 10.0, 4: 70.0, 5: 20.0, 6: 0.0}
    lines = tuple(SourceLine(n, f"line {n};", values=(costs[n],) if n in costs else ()) for n in range(1, 8))
    made = SourcePanel(Source("a.c", (Column("share", "%"),), lines))
    qtbot.addWidget(made)
    return made


def test_hot_lines_are_those_that_cost_anything_the_most_expensive_first(qtbot: Any) -> None:
    assert panel(qtbot).hot_lines() == [4, 5, 2]


def test_next_hot_line_goes_round_and_back(qtbot: Any) -> None:
    source = panel(qtbot)
    chosen: list[int] = []
    source.region_chosen.connect(lambda _, place: chosen.append(place[1]))
    for step in (1, 1, 1, 1, -1):
        source.go_hot(step)
    assert chosen == [4, 5, 2, 4, 2]


def test_hot_lines_are_tinted_in_their_order(qtbot: Any) -> None:
    source = panel(qtbot)
    tints = {
        mark.cursor.blockNumber() + 1: mark.format.background().color().alphaF() for mark in source._heat(source.editor)
    }
    assert sorted(tints, key=lambda line: -tints[line]) == [4, 5, 2]


def test_text_without_costs_has_no_way_to_hot_lines(qtbot: Any) -> None:
    made = SourcePanel(Source("a.c", (), (SourceLine(1, "int a;"),)))
    qtbot.addWidget(made)
    made.go_hot(1)
    assert made.hotter.isHidden()


def test_columns_are_measured_once_however_many_lines_are_coloured(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = panel(qtbot)
    made.show()
    measured: list[int] = []
    monkeypatch.setattr(Margin, "_measured", lambda *_: measured.append(1) or [40, 20])
    made.margin.show_source(made._source)
    for theme in ("dark", "light"):
        made.set_theme(theme)
    assert sum(made.margin.widths()) == made.margin.sizeHint().width()
    assert len(measured) == 1


def test_costs_leave_most_of_the_width_to_the_source(qtbot: Any) -> None:
    names = (("cost", PROCESSOR_TIME), ("busy", "s"), ("memory stall", "s"))
    lines = tuple(SourceLine(n, f"line {n};", values=(40.0, 2e-4, 5e-4)) for n in range(300, 310))
    made = SourcePanel(Source("a.c", tuple(Column(*name) for name in names), lines))
    qtbot.addWidget(made)
    made.resize(480, 300)
    made.show()
    assert made.margin.headings()[0].replace("\n", " ") == f"cost ({PROCESSOR_TIME})"
    assert made.margin.sizeHint().width() < 0.3 * made.width()
