"""Views use words, so readers need not know the papers' symbols or the names of counters."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from scalegraph import views
from scalegraph.base.measures import needs_powers, tick_text
from scalegraph.figures.figure import Axis
from scalegraph.figures.render.plot import Scale as PrintedScale
from scalegraph.gui.figures.scales import Scale
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from tests.views import imported, studies, traces

SYMBOLS = re.compile(
    r"\bT_\w+|\bp_x\b|\bp\*|\bL_\w+|\b[Ee]qs?\. ?\(?\d|\bpsi\b|\bW_0\b|\bt_o\b"
    r"|\b(?:idle|prim|stall|busy)_[a-z]+|\bidle lock\b|\bprim fork"
)
UNSEEN = ("role", "view", "key", "ways", "meta")  # fields of figures that no reader sees
COEFFICIENTS = ("laws", "fit")  # name the numbers of a law, each with its meaning


def texts(thing: Any) -> Iterator[str]:
    """Yield all texts anywhere in *thing*."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, Mapping):
        for one in thing.values():
            yield from texts(one)
    elif isinstance(thing, tuple | list):
        for one in thing:
            yield from texts(one)
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            if field.name not in UNSEEN:
                yield from texts(getattr(thing, field.name))


@pytest.mark.slow
def test_no_view_has_a_symbol_without_words() -> None:
    subjects: dict[str, StudyData | TraceData] = {"full": studies.full(), "times": imported.times()}
    subjects |= {"halves": traces.halves(), "call paths": imported.call_paths()}
    bad: list[tuple[str, str]] = []
    for data in subjects.values():
        for view in views.registry("trace" if isinstance(data, TraceData) else "study").values():
            said = [*texts(view.build(data)), view.description]
            said += [option.description for option in view.options]
            bad += [(view.name, t) for t in said if SYMBOLS.search(t) and view.name not in COEFFICIENTS]
    assert not bad


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((0.0004, 0.3), ["0.0005", "0.001", "0.1", "0.2"]),
        ((1e-6, 0.01), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³"]),
        ((1e3, 1e6), ["1000", "10\u202f000", "100\u202f000", "1\u202f000\u202f000"]),
        ((1e5, 1e9), ["10⁵", "10⁶", "10⁷", "10⁸"]),
    ],
)
@pytest.mark.parametrize("unit", ["", "cycles"])
def test_the_ticks_of_an_axis_without_a_unit_of_its_own_have_one_form(
    values: tuple[float, float], ticks: list[str], unit: str
) -> None:
    scale = Scale(Axis("value", unit, scale="log10"), values)
    found = [tick.text for tick in scale.ticks(*scale.extent(), 12)]
    assert set(ticks) <= set(found)
    assert not [text for text in found if text[-1:].isalpha()]
    assert PrintedScale(Axis("value", unit, scale="log10"), values).title == scale.title


def test_one_form_holds_for_all_ticks_of_an_axis() -> None:
    assert not needs_powers((0.0005, 900.0))
    assert needs_powers((5e-5, 900.0))
    assert [tick_text(value, powers=True) for value in (5e-5, 1.0, 900.0)] == ["5·10⁻⁵", "10⁰", "9·10²"]
    assert [tick_text(value) for value in (0.0005, 1.0, 2500.0, 12500.0)] == ["0.0005", "1", "2500", "12\u202f500"]
