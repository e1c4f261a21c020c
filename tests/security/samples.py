"""A small study with something of every kind in it."""

from __future__ import annotations

from pathlib import Path

from scalegraph import machine
from scalegraph.base.run import Region, RegionCost, RunPoint, RunRecord, Variant
from scalegraph.store import Manifest, SourceText, Study

CLOCK = 20e6


def full_study(path: Path) -> Path:
    """Write a study of simulated runs on 1 to 16 processors, one what-if run, sources and facts."""
    regions = (
        Region(id=0, kind="program", name="program"),
        Region(id=1, kind="function", name="main", file="a.c", line=1, end_line=9, parent=0),
        Region(id=2, kind="barrier", name="barrier", file="a.c", line=5, end_line=5, parent=1),
    )
    manifest = Manifest.new(
        title="Sample",
        request={"program": {"name": "ge1"}, "machine": {"name": "ksr1"}, "processors": [1, 2, 4]},
        program="ge1",
        machine="ksr1",
        machine_values=machine.load("ksr1").model_dump(mode="json"),
        sources=(SourceText.of("a.c", "int main(void)\n{\n  return 0;\n}\n", ""),),
        regions=regions,
    )
    with Study.create(path, manifest) as study:
        for n in (1, 2, 4, 8, 16):
            study.add_run(_record(RunPoint(processors=n, parameters={"n": 100})))
        study.add_run(_record(RunPoint(processors=4, parameters={"n": 100}, variant=Variant(ideal=("contention",)))))
        study.set_facts("searches", [{"why": "met", "processors": 4, "parameters": {"n": 100}, "sentence": "found"}])
    return path


def _record(point: RunPoint) -> RunRecord:
    n = point.processors
    work, barrier = 640_000, 0 if n == 1 else 4000 * n
    categories = {"busy_int": work, "idle_barrier": barrier * n, "prim_barrier": 400 * n if n > 1 else 0}
    cycles = (sum(categories.values()) + n - 1) // n
    categories["stall_local"] = cycles * n - sum(categories.values())
    return RunRecord(
        source="simulated",
        program="ge1",
        machine="ksr1",
        point=point,
        time_cycles=cycles,
        time_s=cycles / CLOCK,
        clock_hz=CLOCK,
        work_ops=work,
        busy_s=work / CLOCK,
        idle_s=barrier * n / CLOCK,
        memory_stall_s=categories["stall_local"] / CLOCK,
        primitive_s=categories["prim_barrier"] / CLOCK,
        references=1000 * n,
        misses=10 * n,
        categories=categories,
        processor_categories={name: [cycles // n] * n for name, cycles in categories.items()},
        regions=(RegionCost(region=1, categories=categories, busy_max=work // n),),
        stdout="done\n",
    )
