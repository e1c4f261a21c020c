"""A value's origin is stated as recorded: a simulated value is never called measured or imported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from scalegraph import views
from scalegraph.figures.figure import Cell, Dot, Figure, Line
from scalegraph.subjects.study import StudyData
from tests.analyze import synthetic
from tests.views.every_figure import DATA, built, names

_DERIVED = {"computed", "predicted"}
_OF_MEASURED = {"simulated-measured", "model-misses", "noise"}  # show measured runs, which the full study also has


def drawn(thing: Any) -> Iterator[Line | Dot | Cell]:
    """Yield everything in a figure that has an origin."""
    if isinstance(thing, Line | Dot | Cell):
        yield thing
    elif isinstance(thing, tuple):
        for part in thing:
            yield from drawn(part)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for field in fields(thing):
            yield from drawn(getattr(thing, field.name))


def texts(figure: Figure) -> list[str]:
    """Return a figure's texts and table cells."""
    said = [figure.title, figure.sentence, *figure.notes]
    for panel in figure.panels:
        for row in getattr(panel, "rows", ()):
            said += [value for value in getattr(row, "values", ()) if isinstance(value, str)]
        said += [tip for thing in drawn(panel) for tip in (getattr(thing, "tip", ""), *getattr(thing, "tips", ()))]
        said += [line.name for line in getattr(panel, "lines", ()) if isinstance(line, Line)]
    return said


@pytest.mark.slow
@pytest.mark.parametrize("source", DATA["study"])
@pytest.mark.parametrize("name", names("study"))
def test_what_is_drawn_has_the_origin_of_its_records(name: str, source: str) -> None:
    for figure in built(name, source):
        strange = {(thing.origin, getattr(thing, "name", "")) for thing in drawn(figure)}
        assert {pair for pair in strange if pair[0] not in {source, *_DERIVED}} == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in names("study") if name not in _OF_MEASURED])
def test_no_word_about_a_simulated_study_calls_its_values_measured_or_imported(name: str) -> None:
    (figure,) = built(name, "simulated")
    found = [text for text in texts(figure) if "measured" in text.lower() or "imported" in text.lower()]
    assert found == []


@pytest.mark.parametrize("name", names("trace"))
def test_a_trace_that_was_measured_is_not_said_to_be_simulated(name: str) -> None:
    for source in DATA["trace"]:
        (figure,) = built(name, source)
        assert {thing.origin for thing in drawn(figure)} <= {source, *_DERIVED}


def test_runs_of_several_sources_have_the_weakest_of_their_origins() -> None:
    mixed = [synthetic.run(1), synthetic.run(2).model_copy(update={"source": "imported"})]
    data = StudyData.from_runs(mixed)
    assert views.common.origin(data.scaling) == "simulated"
