"""Matrices at a journal's column width: no number extends into another cell, no label overlaps the next."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from scalegraph.figures.figure import Cell, Figure, Grid
from scalegraph.figures.render import picture


def matrix(count: int, values: int) -> Figure:
    names = tuple(str(2**at if count < 12 else 100 * at) for at in range(count))
    shown = tuple(0.123 + 0.07 * at for at in range(values))
    cells = tuple(
        tuple(Cell((1.0,) * values if r == c else shown) if c >= r else None for c in range(count))
        for r in range(count)
    )
    grid = Grid("N", "N'", names, names, cells, tuple(f"value {at}" for at in range(values)))
    return Figure("Title", "Sentence.", (grid,), view="t")


def overlapping(boxes: list[Any]) -> bool:
    return any(one.shrunk(0.98, 0.98).overlaps(two.shrunk(0.98, 0.98)) for one, two in itertools.combinations(boxes, 2))


@pytest.mark.slow
@pytest.mark.parametrize(("count", "values", "numbers"), [(3, 1, 6), (8, 3, 36), (14, 3, 105), (40, 3, 0)])
def test_numbers_stay_in_their_cells(count: int, values: int, numbers: int) -> None:
    with picture.composed(matrix(count, values), (8.0, 6.0), "print", 144) as sheet:
        sheet.draw_without_rendering()
        axes = sheet.axes[0]
        texts = [text for text in axes.texts if text.get_text()]
        assert len(texts) == numbers
        assert not overlapping([text.get_window_extent() for text in texts])
        assert all(text.get_fontsize() >= 4 for text in texts)
        for axis in (axes.xaxis, axes.yaxis):
            labels = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
            assert len(labels) > 2
            assert not overlapping(labels)
