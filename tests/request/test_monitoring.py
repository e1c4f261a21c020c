"""Monitoring on the simulated machine: off, it costs nothing; on, every probe has exactly the machine's cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.analyze.monitoring import perturbation
from scalegraph.base.errors import InputError
from scalegraph.base.run import RunRecord
from scalegraph.request import Request, Session
from scalegraph.request.results.quantities import compute
from scalegraph.subjects.study import StudyData
from scalegraph.views import get

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

# serial: `twice` 6 times, with a loop each; `main`'s loop once; `main` itself once
SERIAL = """
#include <stdio.h>
static int twice(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i ^ n;
    return 2 * sum;
}
int main(void)
{
    int sum = 0;
    for (int k = 0; k < 6; k++)
        sum += twice(100 + k);
    printf("%d\\n", sum);
    return 0;
}
"""
PARALLEL = """
#include <stdio.h>
static double work(int n)
{
    double sum = 0.0;
    for (int i = 1; i <= n; i++)
        sum += 1.0 / i;
    return sum;
}
int main(void)
{
    double sum = 0.0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int k = 0; k < 64; k++)
        sum += work(100);
    printf("%.6f\\n", sum);
    return 0;
}
"""


def values(place: Path, text: str, **changes: object) -> dict[str, object]:
    source = place / "program.c"
    source.write_text(text)
    asked: dict[str, object] = {
        "program": {"sources": [str(source)]},
        "machine": {"name": "ksr1", "overrides": {"monitor.probe_cycles": "37", "monitor.counter_cycles": "3"}},
        "processors": [1, 4],
    }
    return asked | changes


def runs(asked: dict[str, object]) -> dict[int, RunRecord]:
    with Session(workers=1).submit(Request.model_validate(asked), None) as study:
        found = study.runs()
    assert all(run.ok for run in found), [run.message for run in found]
    return {run.point.processors: run for run in found}


def cycles(run: RunRecord) -> int:
    assert run.time_cycles is not None
    return run.time_cycles


@pytest.mark.parametrize(("kind", "cost"), [("software", 37), ("hardware", 3)])
def test_each_probe_costs_what_the_machine_says(tmp_path: Path, kind: str, cost: int) -> None:
    plain = runs(values(tmp_path, SERIAL, processors=[1]))[1]
    watched = runs(values(tmp_path, SERIAL, processors=[1], collect={"monitor": kind}))[1]
    visits = {region.region: n for region in watched.regions if (n := region.counters.get("visits", 0))}
    assert sorted(visits.values()) == [1, 1, 6, 6], visits  # main, its loop, twice, its loop
    probes = 2 * sum(visits.values())
    assert watched.categories["prim_monitor"] == probes * cost
    assert cycles(watched) - cycles(plain) == probes * cost
    assert plain.categories["prim_monitor"] == 0
    for region in watched.regions:
        assert region.categories.get("prim_monitor", 0) == 2 * visits.get(region.region, 0) * cost
    assert {category: n for category, n in watched.categories.items() if category != "prim_monitor"} == {
        category: n for category, n in plain.categories.items() if category != "prim_monitor"
    }


def test_compensated_time_is_that_without_monitoring_on_one_processor(tmp_path: Path) -> None:
    plain, watched = (runs(values(tmp_path, PARALLEL, collect={"monitor": kind})) for kind in ("none", "software"))
    for count in (1, 4):
        assert sum(watched[count].categories.values()) == count * cycles(watched[count])
        assert cycles(watched[count]) > cycles(plain[count])
        assert perturbation(plain[count]) is None
    found = perturbation(watched[1])
    assert found is not None
    assert plain[1].time_s is not None
    assert found.compensated_s == pytest.approx(plain[1].time_s, rel=1e-12)
    assert found.perturbation == pytest.approx(cycles(watched[1]) / cycles(plain[1]) - 1)
    many = perturbation(watched[4])
    assert many is not None
    assert plain[4].time_s is not None
    assert many.compensated_s == pytest.approx(plain[4].time_s, rel=0.02)


def test_a_what_if_run_without_the_monitor_is_the_run_without_it(tmp_path: Path) -> None:
    plain = runs(values(tmp_path, PARALLEL))
    asked = values(tmp_path, PARALLEL, collect={"monitor": "software"}, what_if=[{"machine": {"monitor.kind": "none"}}])
    with Session(workers=1).submit(Request.model_validate(asked), None) as study:
        others = {run.point.processors: run for run in study.variants()}
    assert {count: cycles(run) for count, run in others.items()} == {count: cycles(run) for count, run in plain.items()}


def test_monitoring_is_a_quantity_and_a_view(tmp_path: Path) -> None:
    watched = runs(values(tmp_path, PARALLEL, collect={"monitor": "software"}))
    data = StudyData.from_runs(list(watched.values()))
    table = compute(data, "monitoring").set_index("processors")
    assert list(table.index) == [1, 4]
    assert (table["perturbation"] > 0).all()
    figure = get("monitoring").build(data)
    (plot,) = figure.panels
    measured, compensated = plot.lines  # type: ignore[union-attr]
    assert [high > low for high, low in zip(measured.y, compensated.y, strict=True)] == [True, True]
    assert figure.sentence.startswith("Monitoring makes ")


def test_monitoring_without_regions_is_refused(tmp_path: Path) -> None:
    asked = values(tmp_path, SERIAL, collect={"monitor": "software", "regions": False})
    with pytest.raises(InputError, match="observes regions"):
        Session(workers=1).submit(Request.model_validate(asked), None)
