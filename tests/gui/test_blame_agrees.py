"""Headline, verdicts, navigator, profile, source and command line name the same culprit with the same share.

One program per cause of loss; the cause of waiting is not where the waiting happens.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from scalegraph import api
from scalegraph.analyze import loss, verdicts
from scalegraph.analyze.profile import region_losses
from scalegraph.analyze.series import main_series
from scalegraph.cli.main import main
from scalegraph.figures.figure import Source, Table
from scalegraph.gui.state.loss import region_losses as navigator
from scalegraph.gui.study.studies import _sentence as headline
from scalegraph.request.results.data import study_data
from scalegraph.store import Study
from scalegraph.subjects import judgement
from scalegraph.subjects.study import StudyData
from scalegraph.views import get

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

SERIAL = """
static volatile int data[20000];
static volatile int sum[64 * 32];
int main(void)
{
    for (int i = 0; i < 20000; i++)
        data[i] = 3 * i + data[i];
#pragma omp parallel
    {
        for (int part = 0; part < 4; part++) {
#pragma omp for
            for (int i = 0; i < 2000; i++)
                sum[64 * (i / 63)] += data[i];
        }
    }
    return 0;
}
"""
FORK = """
static volatile int data[64 * 64];
int main(void)
{
    for (int step = 0; step < 30; step++) {
#pragma omp parallel
        {
#pragma omp for nowait
            for (int i = 0; i < 64; i++)
                data[64 * i] += i;
        }
    }
    return 0;
}
"""
SINGLE = """
static volatile int data[64 * 64];
int main(void)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 64; i++)
            data[64 * i] += i;
#pragma omp single
        {
            for (int i = 0; i < 20000; i++)
                data[0] += i;
        }
    }
    return 0;
}
"""
UNEVEN = """
static volatile int data[64 * 64];
int main(void)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 16; i++)
            for (int k = 0; k < 6000 * (i % 2 + 1); k++)
                data[64 * i] += k;
    }
    return 0;
}
"""
LOCK = """
static volatile int data[64];
int main(void)
{
#pragma omp parallel
    {
        for (int part = 0; part < 20; part++) {
#pragma omp critical
            {
                data[0] += 1;
                data[1] += 1;
            }
        }
    }
    return 0;
}
"""


@dataclass(frozen=True)
class Case:
    """A program and its main loss: the cause, the region's line, the most expensive lines."""

    name: str
    text: str
    processors: int
    cause: str
    line: int
    lines: tuple[int, int]


CASES = (
    Case("serial", SERIAL, 16, "serial_wait_s", 5, (5, 6)),
    Case("fork", FORK, 64, "fork_join_s", 5, (5, 5)),
    Case("single", SINGLE, 16, "barrier_wait_s", 9, (11, 12)),
    Case("uneven", UNEVEN, 16, "barrier_wait_s", 6, (6, 9)),
    Case("lock", LOCK, 16, "lock_s", 7, (7, 7)),
)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def studied(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, Path]:
    case: Case = request.param
    place = tmp_path_factory.mktemp(case.name)
    (place / f"{case.name}.c").write_text(case.text.lstrip("\n"), encoding="utf-8")
    path = place / f"{case.name}.sgstudy"
    created = {"synchronisation.create_cycles": "0"}  # otherwise thread creation dominates so short a program
    processors = (1, case.processors)
    api.simulate(place / f"{case.name}.c", processors=processors, machine="ksr1", overrides=created, study=path)
    return case, path


@pytest.fixture(scope="module")
def data(studied: tuple[Case, Path]) -> StudyData:
    with Study.open(studied[1]) as study:
        return study_data(study)


def test_every_surface_names_the_same_culprit(studied: tuple[Case, Path], data: StudyData) -> None:
    case = studied[0]
    series = main_series(data.scaling)
    assert series is not None
    parts = judgement.parts(data, series)
    assert parts is not None
    worst = parts.iloc[0]
    assert (worst["cause"], worst["line"]) == (case.cause, case.line), parts.head(4)
    first = verdicts.lost(parts, case.processors)[0]
    assert f"{case.name}.c:{case.line}" in first.text
    assert first.value == worst["share"]
    assert headline(data).endswith(first.text)
    assert first.text in [item.text for item in judgement.said(data)]
    assert first.text in get("verdicts").make(data).sentence


def test_shares_of_regions_are_one_number_everywhere(studied: tuple[Case, Path], data: StudyData) -> None:
    case = studied[0]
    run = next(run for run in data.runs if run.point.processors == case.processors)
    one = next(run for run in data.runs if run.point.processors == 1)
    parts = loss.by_region(run, one, data.regions)
    losses = region_losses(run, one, data.regions).set_index("region")
    assert len(losses) > 1
    assert run.time_s is not None
    assert one.time_s is not None
    times = case.processors if loss.grows(run, one) else 1
    whole = case.processors * run.time_s - times * one.time_s
    assert parts["loss_s"].sum() == pytest.approx(whole) == pytest.approx(losses["loss_s"].sum())
    shown = {row.region: row.share for row in navigator(data, None)[1]}
    (table,) = (panel for panel in get("profile").make(data).panels if isinstance(panel, Table))
    column = [column.name for column in table.columns].index("loss")
    profile = {int(row.key): row.values[column] for row in table.rows}
    spent = parts.groupby("place")["loss_s"].sum().to_dict()
    for region, lost, share in zip(losses.index, losses["loss_s"], losses["loss_share_incl"], strict=True):
        assert lost == pytest.approx(spent.get(region, 0.0), abs=1e-12)
        assert shown[region] == (pytest.approx(share) if abs(share) >= 5e-4 else 0)
        assert profile.get(region, 100 * share) == pytest.approx(100 * share)


def test_the_line_that_costs_most_belongs_to_the_culprit(studied: tuple[Case, Path], data: StudyData) -> None:
    case = studied[0]
    first, last = case.lines
    (table,) = get("lines").make(data).panels
    assert isinstance(table, Table)
    name, number = str(table.rows[0].values[0]).split(":")
    assert name == f"{case.name}.c"
    assert first <= int(number) <= last
    (source,) = get("source").make(data).panels
    assert isinstance(source, Source)
    costs = {line.number: line.values[0] for line in source.lines if line.values}
    assert max(costs, key=lambda line: costs[line] or 0) == int(number)
    assert costs[int(number)] == pytest.approx(table.rows[0].values[1])
    (hottest,) = get("hottest").make(data).panels
    assert isinstance(hottest, Table)
    assert hottest.rows[0].values[:2] == table.rows[0].values[:2]


def test_what_lines_cause_is_what_regions_cause(data: StudyData) -> None:
    for run in data.runs:
        waited = sum(sum(part.values()) for region in run.regions for part in region.waited.values())
        whole = sum(sum(region.caused.values()) for region in run.regions)
        assert whole == waited == sum(delay.caused for delay in run.delays)
        assert sum(sum(part.values()) for part in run.blame.values()) <= whole
        lines = sum(sum(line.caused.values()) for line in run.lines)
        assert 0.97 * whole <= lines <= whole


def test_the_command_line_says_the_same(
    studied: tuple[Case, Path], data: StudyData, capsys: pytest.CaptureFixture[str]
) -> None:
    case, path = studied
    found = {}
    for what in ("loss", "verdicts", "lines"):
        with pytest.raises(SystemExit) as ended:
            main(["analyze", str(path), "--what", what, "--json"])
        assert ended.value.code in (0, None)
        found[what] = json.loads(capsys.readouterr().out)
    series = main_series(data.scaling)
    assert series is not None
    parts = judgement.parts(data, series)
    assert parts is not None
    assert found["loss"]["rows"][0]["share"] == pytest.approx(parts["share"].iloc[0])
    assert next(row["text"] for row in found["verdicts"]["rows"] if row["kind"] == "loss") in headline(data)
    assert case.lines[0] <= found["lines"]["rows"][0]["line"] <= case.lines[1]
