"""Figure 10 of the semi-empirical paper: samples from other numbers of processors bound a prediction."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from scalegraph.figures.figure import Axis, Figure, Line, Plot
from scalegraph.predict.predicting import Predicted, Predictor
from scalegraph.request import Request, Session
from scalegraph.request.run.predicting import Point, Wanted, predict_program

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
SAMPLE = {"i": 5, "j": 5, "m": 20, "n": 20}
TARGET = {"i": 10, "j": 10, "m": 40, "n": 40}
COUNTS = (4, 8)


@pytest.fixture(scope="module")
def figures() -> Iterator[ModuleType]:
    """The module that makes the pictures, which is not installed."""
    sys.path.insert(0, str(DOCS))
    yield importlib.import_module("papers_tables.prediction_figures")
    sys.path.remove(str(DOCS))


@pytest.mark.compiler
def test_samples_of_fewer_processors_bound_the_time_from_below_and_of_more_from_above(figures: ModuleType) -> None:
    request = Request.model_validate({"program": {"name": "em-shared"}, "machine": {"name": "ksr1"}})
    wanted = Wanted((SAMPLE,), (TARGET,), COUNTS, COUNTS, verify=True, reference=False)
    found = predict_program(Session(workers=1), request, wanted)
    assert isinstance(found.predictor, Predictor)
    actual = {point.processors: point.actual_s for point in found.points}
    on_four, on_eight = (figures.borrowed(found.predictor, n, TARGET, COUNTS) for n in COUNTS)
    assert on_four[1] < actual[8]
    assert on_eight[0] > actual[4]
    own_error = max(point.error for point in found.points if point.error is not None)
    assert own_error < 0.05 < min(1 - on_four[1] / actual[8], on_eight[0] / actual[4] - 1)


def test_pictures_have_what_was_simulated_and_what_was_predicted(figures: ModuleType) -> None:
    points = [Point(4, {"n": n}, Predicted(4, {"n": n}, 2.0 * n, n, 3.0 * n), actual_s=2.5 * n) for n in (20, 10)]
    simulated, predicted = figures.curves([*points, Point(4, {"n": 40}, refused="no")], "N = 4", 0)
    assert (simulated.x, simulated.y) == ((10.0, 20.0), (25.0, 50.0))
    assert (predicted.x, predicted.y, predicted.style) == ((10.0, 20.0), (20.0, 40.0), "dashed")
    assert (simulated.role, simulated.name, predicted.name) == (predicted.role, "N = 4", "")


def test_a_curve_without_a_name_has_no_label(tmp_path: Path) -> None:
    lines = tuple(Line(name, (1.0, 2.0), (1.0, height), "series:0") for name, height in (("N = 4", 2.0), ("", 2.01)))
    for shown, names in ((lines, 1), (lines[:1] * 2, 2)):
        picture = tmp_path / "p.svg"
        Session(workers=1).write(Figure("", "", (Plot(Axis("n"), Axis("time", "s"), shown),)), picture)
        assert picture.read_text(encoding="utf-8").count("N = 4") == names
