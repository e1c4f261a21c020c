"""A quantity has the same value in every view, the navigator, the inspector, files, tables and documents."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalegraph import views
from scalegraph.base.measures import exact
from scalegraph.cli import run_table
from scalegraph.figures.figure import Figure, Plot, Source, Table
from scalegraph.figures.render import numbers
from scalegraph.gui.inspect.explain import explain
from scalegraph.gui.state.loss import region_losses
from scalegraph.gui.state.selection_state import Selection
from scalegraph.request.results import quantities
from scalegraph.subjects import judgement
from scalegraph.subjects import series as series_
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from tests.views import studies
from tests.views.imported import call_paths, times

pytestmark = pytest.mark.slow

PROGRAM = """\
#include <stdio.h>
#define N 3000
static double data[N];
static void fill(void) {
    for (int i = 0; i < N; i++)
        data[i] = i % 97;
}
static double change(double x) {
    for (int k = 0; k < 4; k++)
        x = x * 0.5 + k;
    return x;
}
int main(void) {
    double sum = 0;
    fill();
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++)
        sum += change(data[i]);
    printf("%f\\n", sum);
    return 0;
}
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> StudyData:
    """Return the study of a C program with a serial function and a parallel loop that calls a function."""
    from scalegraph.request import Request, Session

    place = tmp_path_factory.mktemp("own")
    (place / "own.c").write_text(PROGRAM, "utf-8")
    request = Request.model_validate({"processors": [1, 2, 8], "program": {"sources": [str(place / "own.c")]}})
    session = Session()
    with session.submit(request, None) as study:
        return session.study_data(study)


@pytest.fixture
def simulated(request: pytest.FixtureRequest) -> StudyData:
    return studies.full() if request.param == "synthetic" else request.getfixturevalue("own")


EACH = pytest.mark.parametrize(
    "simulated", ["synthetic", pytest.param("own", marks=pytest.mark.compiler)], indirect=True
)


def table_of(figure: Figure, kind: type[Any] = Table) -> Any:
    return next(panel for panel in figure.panels if isinstance(panel, kind))


def column(panel: Table, name: str) -> dict[str, float]:
    """Return a table's column by the keys of its rows."""
    place = next(i for i, one in enumerate(panel.columns) if one.name == name)
    return {row.key: float(row.values[place] or 0.0) for row in panel.rows}


def near(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


@EACH
def test_the_share_of_a_region(simulated: StudyData) -> None:
    run = common.chosen_run(simulated)
    assert run is not None
    costs = quantities.compute(simulated, "profile").set_index("region")
    profile = table_of(views.get("profile").build(simulated))
    inclusive, exclusive = column(profile, "inclusive"), column(profile, "exclusive")
    assert inclusive.keys() >= {"0"}
    tables = [panel for panel in views.get("pop").build(simulated).panels if isinstance(panel, Table)]
    by_pop = column(next(table for table in tables if table.columns[1].name == "lost"), "share")
    for key, share in inclusive.items():
        assert share == near(100 * costs.loc[int(key), "share_incl"])
        assert exclusive[key] == near(100 * costs.loc[int(key), "share"])
        assert by_pop.get(key, exclusive[key]) == near(exclusive[key])
        categories = explain(simulated, Selection(region=int(key), processors=run.point.processors))[-1].facts
        said = [re.search(r"(< )?([\d.]+)\u00a0% of processor time", fact.formula) for fact in categories]
        shares = [float(one[2]) for one in said if one is not None]
        less = sum(float(one[2]) for one in said if one is not None and one[1])  # each less than that many percent
        assert sum(shares) == pytest.approx(exclusive[key], abs=0.06 * max(1, len(shares)) + less)
    assert sum(exclusive.values()) == pytest.approx(100)


@EACH
def test_the_share_of_a_line_and_that_it_is_no_more_than_its_region(simulated: StudyData) -> None:
    run = common.chosen_run(simulated)
    assert run is not None
    lines = quantities.compute(simulated, "lines")
    panel, source = (
        table_of(views.get("lines").build(simulated)),
        table_of(views.get("source").build(simulated), Source),
    )
    fields = {"share": "share", "cost": "charged_share"}  # as spent, and as caused
    first = source.columns[0].name
    assert first == ("cost" if run.blame else "share")
    beside = {line.number: line.values[0] for line in source.lines if line.values}
    assert beside
    for row in lines.to_dict("records"):
        key = f"{row['file']}:{row['line']}"
        for name in (one.name for one in panel.columns if one.name in fields):
            assert column(panel, name).get(key, 100 * row[fields[name]]) == near(100 * row[fields[name]])
        if Path(row["file"]).name == Path(source.file).name:
            assert beside[row["line"]] == near(100 * row[fields[first]])
    costs = quantities.compute(simulated, "profile").set_index("region")
    for region in simulated.regions:
        if region.kind == "function" and region.line:
            inside = lines[(lines["line"] >= region.line) & (lines["line"] <= region.end_line)]["share"].sum()
            assert inside <= costs.loc[region.id, "share_incl"] + 1e-3, region.name


@EACH
def test_the_loss_of_a_region(simulated: StudyData) -> None:
    run = common.chosen_run(simulated)
    assert run is not None
    whole = quantities.compute(simulated, "scaling", run.point.processors)
    label = series_.chosen_series(simulated).rows["label"].iloc[0]  # type: ignore[union-attr]
    mine = whole[whole["label"] == label].iloc[0]
    total = mine["processors"] * mine["time_s"] - mine["t_seq_s"]
    lost = column(table_of(views.get("profile").build(simulated)), "loss")
    n, shown = region_losses(simulated, run.point.processors)
    assert n == run.point.processors
    for loss in shown:
        assert 100 * loss.share == pytest.approx(lost.get(str(loss.region), 0.0), abs=0.051)
    parts = quantities.compute(simulated, "loss")
    assert parts["loss_s"].sum() == pytest.approx(total)
    verdict = judgement.parts(simulated, series_.chosen_series(simulated))  # type: ignore[arg-type]
    assert verdict is not None
    by_region = parts.groupby("place")["loss_s"].sum()
    assert verdict.groupby("place")["share"].sum().to_dict() == pytest.approx((by_region / total).to_dict())
    root = table_of(views.get("profile").build(simulated)).rows[0]
    assert column(Table(table_of(views.get("profile").build(simulated)).columns, (root,)), "loss")["0"] == near(100)


@EACH
def test_time_speedup_efficiency_latency_and_miss_rate_of_a_simulated_study(simulated: StudyData) -> None:
    _runs(simulated)
    run = common.chosen_run(simulated)
    assert run is not None
    rates = quantities.compute(simulated, "rates", run.point.processors)
    facts = {
        fact.name: fact.value
        for part in explain(simulated, Selection(processors=run.point.processors))
        for fact in part.facts
    }
    assert f"{exact(100 * rates['miss_rate'].iloc[0], '%')} of references" == facts["miss rate"] or len(rates) > 1


@pytest.mark.parametrize("make", [times, call_paths])
def test_time_speedup_and_efficiency_of_measurements(make: Callable[[], StudyData]) -> None:
    _runs(make())


def _runs(data: StudyData) -> None:
    """Compare all texts and numbers about the runs of the main series."""
    series = series_.chosen_series(data)
    assert series is not None
    table = table_of(views.get("runs").build(data))
    scaling = {key: row for row in data.scaling.to_dict("records") for key in str(row["keys"]).split(",")}
    files = list(csv.DictReader(io.StringIO(numbers.csv(views.get("runs").build(data)))))
    documents = run_table.document("p", "m", data.runs, [run.point.key for run in data.runs])["runs"]
    told = {run.point.key: document for run, document in zip(data.runs, documents, strict=True)}
    for name, field in (("speedup", "speedup"), ("efficiency", "efficiency"), ("latency", "latency_s")):
        shown = column(table, name)
        head = f"{name} (s)" if name == "latency" else name
        for row, line in zip(table.rows, files, strict=True):
            if row.key in scaling and scaling[row.key][field] == scaling[row.key][field]:
                assert shown[row.key] == near(scaling[row.key][field])
                assert float(line[head]) == near(shown[row.key])
                assert told[row.key][field] == near(shown[row.key])
    curves = {
        line.name: line
        for panel in views.get("speedup").build(data).panels
        if isinstance(panel, Plot)
        for line in panel.lines
    }
    for name in ("speedup", "efficiency"):
        assert list(curves[name].y) == pytest.approx(list(series.rows[name]))
    last = series.rows.iloc[-1]
    facts = {
        fact.name: fact
        for part in explain(data, Selection(processors=int(last["processors"])))[:1]
        for fact in part.facts
    }
    assert float(facts["efficiency E"].value) == pytest.approx(last["efficiency"], rel=1e-3)
    assert float(facts["speedup"].value) == pytest.approx(last["speedup"], rel=1e-3)
    strong = next((item for item in judgement.said(data) if item.kind == "strong"), None)
    assert strong is not None
    assert strong.value == near(last["efficiency"])


@EACH
def test_the_navigator_and_the_inspector_speak_of_the_runs_that_views_show(simulated: StudyData) -> None:
    for count in series_.chosen_series(simulated).processors[1:]:  # type: ignore[union-attr]
        lost = column(table_of(views.get("profile").build(simulated, processors=count)), "loss")
        for loss in region_losses(simulated, count)[1]:
            assert 100 * loss.share == pytest.approx(lost.get(str(loss.region), 0.0), abs=0.051)
