"""Colours of one picture differ, also for the colour-blind; a processor count has one colour in all views."""

import pytest

from scalegraph.runtime.format import LEAF_NAMES
from scalegraph.views import common, palette
from tests.views.colour_distance import ciede2000, lab, least

APART = 5.0  # in CIEDE2000; beside one another people see 2
THEMES: tuple[palette.Theme, ...] = ("light", "dark", "print")


def test_the_formula_is_that_of_the_published_pairs() -> None:
    one, other = (50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485)  # the first of Sharma's pairs
    assert ciede2000(one, other) == pytest.approx(2.0425, abs=1e-4)
    assert lab("#FFFFFF") == pytest.approx([100, 0, 0], abs=0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_categories_of_the_accounting_are_told_apart(theme: palette.Theme) -> None:
    colours = [palette.colour(role, theme) for role in sorted({common.leaf_role(leaf) for leaf in LEAF_NAMES})]
    assert len(set(colours)) == len(colours)
    assert least(colours)[0] >= APART, least(colours)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("counts", [2, 3, 7, 10, 12])
def test_processor_counts_are_told_apart_in_order(theme: palette.Theme, counts: int) -> None:
    colours = [palette.colour(f"count:{place}/{counts}", theme) for place in range(counts)]
    assert least(colours)[0] >= APART, least(colours)
    lights = [float(lab(colour)[0]) for colour in colours]
    assert lights == sorted(lights)


@pytest.mark.parametrize("theme", THEMES)
def test_series_of_equal_rank_are_told_apart(theme: palette.Theme) -> None:
    assert least([palette.colour(f"series:{place}", theme) for place in range(7)])[0] >= APART
    assert len({palette.colour(f"series:{place}", theme) for place in range(20)}) == 20
