"""Rooflines: roofs of machines computed by hand, bytes and operations counted, and the sentences."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph import views
from scalegraph.analyze import roofline
from scalegraph.base.run import Region, RegionCost, RunPoint, RunRecord
from scalegraph.cli.main import run as scalegraph
from scalegraph.figures.figure import Plot, Table
from scalegraph.machine.roofs import roofs
from scalegraph.subjects.study import StudyData

LINE = 64


def test_the_roof_of_memory_follows_the_cores_then_the_channels() -> None:
    machine = machines.load("xeon-6148")
    network, memory = machine.network, machine.memory
    full = network.channels * network.channel_gb_s * network.channel_efficiency * 1e9
    latency_s = (network.memory_ns * 1e-9) + sum(level.hit_cycles for level in machine.cache) / machine.clock_hz
    one = min(machine.prefetch.under_way * LINE / latency_s, memory.core_read_gb_s * 1e9)
    assert roofs(machine, 1).memory_b_s == pytest.approx(one)
    assert roofs(machine, 20).memory_b_s == pytest.approx(full)
    assert roofs(machine, 40).memory_b_s == pytest.approx(2 * full)
    assert roofs(machine, 21).channels_b_s == pytest.approx(2 * full)  # the first core of the other socket
    half = machines.load("xeon-6148", {"network.memory_nodes": "2"})
    assert roofs(half, 10).channels_b_s == pytest.approx(full / 2)


def test_written_bytes_take_more_of_a_channel_and_nothing_of_what_cores_take_in() -> None:
    found = roofs(machines.load("xeon-6148"), 20)
    assert found.moved_b_s(2.0, 1.0) == pytest.approx(found.channels_b_s * 3 / (2 + found.written))
    alone = roofs(machines.load("xeon-6148"), 1)
    assert alone.moved_b_s(2.0, 1.0) == pytest.approx(alone.cores_b_s * 1.5)


def test_arithmetic_has_the_clock_of_so_many_cores() -> None:
    machine = machines.load("xeon-6148")
    one, all_ = roofs(machine, 1), roofs(machine, 20)
    assert one.plain_flops_s == pytest.approx(2 * machine.clock_hz)
    assert one.vector_flops_s == pytest.approx(4 * 2 * 2 * machine.clock_hz)
    assert all_.plain_flops_s == pytest.approx(20 * one.plain_flops_s * machine.processor.turbo_clock[-1])
    assert one.operations_s == pytest.approx(4 * machine.clock_hz)


@pytest.mark.few(8)
@pytest.mark.parametrize("name", [summary.name for summary in machines.available()])
def test_every_machine_has_roofs_or_says_that_it_has_none(name: str) -> None:
    machine = machines.load(name)
    found = roofs(machine, machine.max_processors)
    assert found.plain_flops_s > 0
    assert math.isnan(found.memory_b_s) or found.memory_b_s > 1e6


CYCLES = 1_000_000
MEMORY_BOUND = {"memory_lines": 50_000, "writebacks": 0, "flops": 10_000, "ops": 60_000}


def made(counters: dict[str, int], **cycles: int) -> RunRecord:
    """Return a run on one processor of xeon-6148 with these counters, in one loop."""
    categories = cycles or {"stall_local": CYCLES}
    cost = RegionCost(region=1, categories=categories, counters=counters)
    return RunRecord(
        source="simulated",
        program="p",
        machine="xeon-6148",
        point=RunPoint(processors=1),
        clock_hz=machines.load("xeon-6148").clock_hz,
        categories=categories,
        counters=counters,
        regions=(cost,),
    )


def rows(run: RunRecord) -> list[dict[str, object]]:
    loop = Region(id=1, kind="loop", name="loop main:12", file="main.c", line=12)
    return roofline.table(run, [loop], roofs(machines.load("xeon-6148"), 1)).to_dict("records")  # type: ignore[return-value]


def test_a_loop_near_the_roof_of_memory_is_bound_by_it() -> None:
    whole, loop = rows(made(MEMORY_BOUND))
    assert (whole["region"], loop["region"], loop["line"]) == (-1, 1, 12)
    assert loop["bytes"] == 50_000 * LINE
    assert loop["intensity"] == pytest.approx(10_000 / (50_000 * LINE))
    assert loop["seconds"] == pytest.approx(CYCLES / machines.load("xeon-6148").clock_hz)
    limit = roofs(machines.load("xeon-6148"), 1).memory_b_s
    assert loop["of_roof"] == pytest.approx(50_000 * LINE / float(str(loop["seconds"])) / limit)
    share = f"{100 * float(str(loop['of_roof'])):.0f}"
    assert loop["sentence"] == (
        "loop main.c:12 does 0.00313 floating-point operations per byte: bound by memory bandwidth,"
        f" at {share}\u00a0% of the roof"
    )
    assert str(whole["sentence"]).startswith("the run does 0.00313 ")


@pytest.mark.parametrize(
    ("counters", "cycles", "said"),
    [
        (MEMORY_BOUND | {"memory_lines": 1500}, {"stall_local": CYCLES}, "waiting for single lines is most"),
        (MEMORY_BOUND | {"memory_lines": 1500}, {"idle_barrier": CYCLES}, "idle processors are most"),
        ({"flops": 1_600_000, "ops": 2_000_000, "memory_lines": 10}, {"busy_fp": CYCLES}, "bound by arithmetic"),
        ({"flops": 1_600_000, "ops": 2_000_000}, {"busy_fp": CYCLES}, "operations on data in caches"),
        ({"ops": 2_000_000, "memory_lines": 100}, {"busy_int": CYCLES}, "312 operations per byte: bound by arithmetic"),
        ({"flops": 1, "ops": 9, "memory_lines": 0}, {"busy_fp": 1}, "operations on data in caches"),
    ],
)
def test_what_is_said(counters: dict[str, int], cycles: dict[str, int], said: str) -> None:
    _, loop = rows(made(counters, **cycles))
    assert said in str(loop["sentence"])


def test_a_region_without_operations_is_measured_by_its_bandwidth() -> None:
    run = made(MEMORY_BOUND)
    copies = run.regions[0].model_copy(update={"counters": MEMORY_BOUND | {"flops": 0}})
    _, loop = rows(run.model_copy(update={"regions": (copies,)}))
    assert "does no floating-point operations and moves" in str(loop["sentence"])
    assert "bound by memory bandwidth" in str(loop["sentence"])


def test_runs_of_older_versions_are_not_counted() -> None:
    assert roofline.is_counted(made(MEMORY_BOUND))
    assert not roofline.is_counted(made({"flops": 1}))


def test_a_run_without_memory_says_so() -> None:
    kept = made(MEMORY_BOUND | {"memory_lines": 0})
    data = StudyData.from_runs([kept.model_copy(update={"time_s": 1.0})], manifest={"machine": "xeon-6148"})
    assert "No line came from memory" in views.get("roofline").build(data).told
    older = StudyData.from_runs([made({"flops": 1}).model_copy(update={"time_s": 1.0})])
    assert "earlier ones did not count" in views.get("roofline").build(older).told


def test_the_picture_has_a_line_for_each_roof_and_a_point_for_each_place() -> None:
    run = made(MEMORY_BOUND).model_copy(update={"time_s": 1e-3})
    regions = [Region(id=1, kind="loop", name="loop main:12", file="main.c", line=12)]
    figure = views.get("roofline").build(StudyData.from_runs([run], regions=regions))
    plot, places = figure.panels[:2]
    assert isinstance(plot, Plot)
    assert [line.name for line in plot.lines] == [
        "plain",
        "vectors",
        "memory",
        "shared cache",
        "first cache",
        "the run",
        "loop main.c:12",
    ]
    memory = plot.lines[2]
    assert memory.y[0] / memory.x[0] == pytest.approx(roofs(machines.load("xeon-6148"), 1).memory_b_s)
    assert plot.lines[5].x == pytest.approx(plot.lines[6].x)
    assert isinstance(places, Table)
    assert [row.values[0] for row in places.rows] == ["the run", "loop main.c:12"]


TRIAD = """#include <stdlib.h>
#define N 400000
int main(void)
{
    double *a = malloc(N * 8), *b = malloc(N * 8), *c = malloc(N * 8);
    for (long i = 0; i < N; i++) { a[i] = 0; b[i] = i; c[i] = 2; }
#pragma omp parallel for
    for (long i = 0; i < N; i++)
        a[i] = b[i] + 3.0 * c[i];
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.compiler
def test_bytes_of_a_triad_are_those_of_its_arrays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three arrays are read and one is written; 1.2 MB of caches keep the rest."""
    source, study = tmp_path / "triad.c", tmp_path / "t.sgstudy"
    source.write_text(TRIAD, encoding="utf-8")
    small = ["--set=cache.l2.size_kib=256", "--set=cache.l3.size_kib=704", "-m", "xeon-6148"]
    assert scalegraph(["simulate", str(source), *small, "-p", "4", "--no-reference", "-o", str(study)]) == 0
    capsys.readouterr()
    assert scalegraph(["analyze", str(study), "--what", "roofline", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["rows"]
    loop = next(row for row in found if row["line"] == 7)
    assert loop["operations"] == 2 * 400_000
    assert loop["bytes"] - loop["written_bytes"] == pytest.approx(3 * 3_200_000, rel=0.1)
    assert loop["written_bytes"] == pytest.approx(3_200_000, rel=0.5)
    assert loop["sentence"].startswith("loop triad.c:7 does 0.06")
    assert scalegraph(["analyze", str(study), "--what", "roofline", "-o", str(tmp_path / "r.csv")]) == 0
    assert scalegraph(["export", str(study), "--view", "roofline", "-o", str(tmp_path / "r.json")]) == 0
    assert "Loop triad.c:7 does" in (tmp_path / "r.json").read_text(encoding="utf-8")
