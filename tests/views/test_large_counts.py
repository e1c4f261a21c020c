"""Processor counts and sizes of a million and more are written in full in sentences, notes, tooltips and tables."""

from __future__ import annotations

import re
from functools import cache

import pandas as pd
import pytest

from scalegraph import views
from scalegraph.figures.figure import Figure, Table
from scalegraph.subjects.study import StudyData
from tests.views import imported
from tests.views.test_ways import said

MILLION = 1 << 20
COUNTS = (1, 16, 1024, 32768, MILLION)
SIZES = (1_500_000, 3_000_001)


@cache
def measured() -> StudyData:
    """Return measurements on up to a million processors, with sizes of a million and more."""
    places = [(count, n) for n in SIZES for count in COUNTS]
    rows = [{"ranks": p, "n": n, "seconds": n * (1e-7 + 1e-4 / p + 1e-12 * p)} for p, n in places]
    return imported._study(pd.DataFrame(rows), {"ranks": "parameter", "n": "parameter", "seconds": "metric"})


def texts(figure: Figure) -> list[str]:
    columns = [column.name for panel in figure.panels if isinstance(panel, Table) for column in panel.columns]
    return [*said(figure), *columns]


@pytest.mark.parametrize("name", views.registry("study"))
def test_no_text_of_a_view_writes_a_count_with_an_exponent(name: str) -> None:
    figure = views.get(name).build(measured())
    for text in texts(figure):
        assert not re.search(r"\de\+\d", text), text


@pytest.mark.parametrize("name", ["serial-fraction", "fit", "laws"])
def test_the_largest_count_is_written_to_its_last_digit(name: str) -> None:
    figure = views.get(name).build(measured())
    assert figure.panels
    assert any(str(MILLION) in text or str(4 * MILLION) in text for text in texts(figure))
