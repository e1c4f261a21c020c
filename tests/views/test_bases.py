"""Every share names its base: columns, axes, curves and grids of all views of studies and traces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from scalegraph.figures.figure import Axis, Column, Figure, Grid
from scalegraph.figures.render import numbers
from tests.views.every_figure import every_figure

pytestmark = pytest.mark.slow

_BASE = re.compile(r"\bof\b")
_SHARE = re.compile(r"\d\s?%")


def measured(thing: Any) -> Iterator[Column | Axis]:
    """Yield every column and axis in a figure."""
    if isinstance(thing, Column | Axis):
        yield thing
    elif isinstance(thing, tuple):
        for part in thing:
            yield from measured(part)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for field in fields(thing):
            yield from measured(getattr(thing, field.name))


def titles(figure: Figure) -> set[str]:
    """Return the headings of everything in percent."""
    found = {
        f"{one.name if isinstance(one, Column) else one.label} ({one.unit})"
        for one in measured(figure.panels)
        if one.unit.startswith("%")
    }
    names = [name for panel in figure.panels if isinstance(panel, Grid) for name in panel.value_names]
    return found | {name for name in names if "%" in name}


@pytest.fixture(scope="module")
def made() -> list[tuple[str, Figure]]:
    return list(every_figure())


def test_every_column_and_axis_of_shares_says_of_what(made: list[tuple[str, Figure]]) -> None:
    nameless = {(name, title) for name, figure in made for title in titles(figure) if not _BASE.search(title)}
    assert nameless == set()
    assert len({name for name, figure in made if titles(figure)}) > 20, "there are shares to look at"


def test_every_head_of_a_file_with_shares_says_of_what(made: list[tuple[str, Figure]]) -> None:
    for name, figure in made:
        for head in numbers.csv(figure).partition("\n")[0].split(","):
            assert "(%" not in head or _BASE.search(head), (name, head)


def test_sentences_with_shares_say_of_what(made: list[tuple[str, Figure]]) -> None:
    """A relative difference, or a probability, needs no other base."""
    other = re.compile(r"\bof\b|\bmore\b|\bless\b|95\s%|apart|differ|within|bound|significant at|as long as", re.I)
    texts = {(name, text) for name, figure in made for text in (figure.sentence, *figure.notes) if _SHARE.search(text)}
    assert {(name, text) for name, text in texts if not other.search(text)} == set()
