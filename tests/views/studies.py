"""Studies for the tests of views."""

from __future__ import annotations

from functools import cache

from scalegraph.base.run import RunRecord, Variant
from scalegraph.predict.kept import Kept, KeptPoint
from scalegraph.runtime.format import GROUPS
from scalegraph.subjects.study import SourceText, StudyData
from tests.analyze import synthetic

MANIFEST = {
    "machine_title": "KSR-1 (rings)",
    "request": {"bound": [{"kind": "efficiency", "value": 0.7, "tolerance": 0.03}]},
}
SOURCE = SourceText(
    "model.c",
    synthetic.SOURCE,
    '#line 1 "model.c"\n' + synthetic.SOURCE.replace("int line_10;", "{ SCALEGRAPH_SCOPE(2); int line_10;"),
)


NEEDS_MORE = {
    "physical-power",
    "message-costs",
    "topology",
    "schedule-loops",
    "schedule-parameters",
    "chunk-history",
    "loop-load",
    "iteration-times",
    "roofline",
}
"""Views that the full study lacks something for: stations of different speed (tests/cli/test_workstations.py), an MPI
program on a machine of nodes (tests/views/test_topology.py, tests/mpi/test_message_accounts.py), elapsed times of
loops, parameters of schedules (tests/views/test_schedule_views.py), chunks of loops (tests/schedules/test_views.py),
lines from memory (tests/analyze/test_roofline.py)."""


@cache  # safe, because views change nothing: tests/views/test_views.py
def full() -> StudyData:
    """A fixed size, monitored, searches over sizes, other steps, predictions and a failed run; memory is known."""
    runs = [
        *synthetic.grid(sizes=(32, 64, 128, 256, 512, 1024, 2048, 4096)),
        *map(monitored, synthetic.fixed((1, 2, 4, 8, 16, 24, 32, 48, 64), balls=1000)),
        *(synthetic.run(1, 512, steps) for steps in (10, 20, 80)),
        synthetic.failed(128),
    ]
    unique = list({run.point.key: run for run in runs}.values())
    data = StudyData.from_runs(unique, manifest=MANIFEST, sources=(SOURCE,), regions=synthetic.REGIONS)
    table = data.table.assign(memory_bytes=56 * data.table["param.balls"])
    other = StudyData.from_runs(synthetic.fixed(barrier=6, machine="cerberus") + synthetic.grid(machine="cerberus"))
    return StudyData(
        table,
        data.runs,
        data.manifest,
        data.sources,
        data.regions,
        variants(),
        name="full",
        others=(other,),
        predictions=Kept(points=predicted(4096, 8192)),
        elsewhere=tuple(measured(run, number) for run in unique for number in range(3) if run.ok and is_main(run)),
    )


def is_main(run: RunRecord) -> bool:
    """Return whether a run has the fixed size, which is measured, too."""
    return run.point.parameters.get("balls") == 1000 and run.point.processors <= 16


def measured(run: RunRecord, repetition: int) -> RunRecord:
    """Return *run* as if measured: computing is one category, and other programs take a share."""
    point = run.point.model_copy(update={"target": "host", "repetition": repetition})
    computing = {name for name in run.categories if name.startswith(("busy", "stall"))}

    def real(categories: dict[str, int]) -> dict[str, int]:
        whole = sum(cycles for name, cycles in categories.items() if name in computing)
        rest = {name: cycles for name, cycles in categories.items() if name not in computing}
        return rest | {"busy_compute": whole - whole // 20, "idle_preempted": whole // 20}

    return run.model_copy(
        update={
            "source": "measured",
            "point": point,
            "machine": "host",
            "time_s": (run.time_s or 0.0) * (1 + repetition / 10),
            "categories": real(run.categories),
            "processor_categories": {"idle_preempted": [1] * run.point.processors},
            "regions": tuple(cost.model_copy(update={"categories": real(cost.categories)}) for cost in run.regions),
        }
    )


def predicted(*sizes: int) -> tuple[KeptPoint, ...]:
    """Return predictions of *sizes* on 8 and 16 processors, 5 % too long; 8192 was not run."""
    times = {(n, size): synthetic.run(n, size).time_s or 0.0 for n in (8, 16) for size in sizes}
    return tuple(
        KeptPoint(
            processors=n,
            parameters=synthetic.run(n, size).point.parameters,
            time_s=1.05 * time_s,
            low_s=0.9 * time_s,
            high_s=1.2 * time_s,
            samples_s=time_s / 20,
            parts=(("sweep", time_s / 2),),
        )
        for (n, size), time_s in times.items()
    )


def monitored(run: RunRecord) -> RunRecord:
    """Return *run* with 200 cycles of each processor's work counted as the cost of monitoring."""
    n = run.point.processors
    work = [cycles - 200 for cycles in run.processor_categories["busy_int"]]
    assert run.busy_s is not None
    assert run.primitive_s is not None
    moved = 200 * n / synthetic.CLOCK
    return run.model_copy(
        update={
            "processor_categories": {**run.processor_categories, "busy_int": work, "prim_monitor": [200] * n},
            "categories": {**run.categories, "busy_int": sum(work), "prim_monitor": 200 * n},
            "busy_s": run.busy_s - moved,
            "primitive_s": run.primitive_s + moved,
        }
    )


def variants() -> tuple[RunRecord, ...]:
    """What-if runs of the fixed size on 8 and 64 processors: half of the changes help."""
    tried = (
        (Variant(ideal=("contention",)), 0.8),
        (Variant(ideal=("cache",)), 1.0),
        (Variant(ideal=("network", "cache", "sync", "balance")), 0.5),
        (Variant(speedup={"line:model.c:10": "2"}), 0.9),
        (Variant(speedup={"line:model.c:10": "inf"}), 0.75),
        (Variant(speedup={"held:m": "inf"}), 1.1),
        (Variant(machine={"processor.clock_mhz": "40"}), 0.6),
        (Variant(schedule="EA"), 1.05),
        (Variant(schedule="ML"), 1.08),
    )
    return tuple(what_if(synthetic.run(n, 1000), variant, share) for n in (8, 64) for variant, share in tried)


def what_if(run: RunRecord, variant: Variant, share: float) -> RunRecord:
    """Return *run* as it would be with *variant*, taking *share* of the time."""
    scaled = {f"{group}_s": getattr(run, f"{group}_s") * share for group in GROUPS}
    point = run.point.model_copy(update={"variant": variant})
    return run.model_copy(update={"point": point, "time_s": (run.time_s or 0) * share, **scaled})


def few() -> dict[str, StudyData]:
    """Studies with little or nothing in them."""
    measured = synthetic.run(4).model_copy(
        update={
            "source": "measured",
            "categories": {},
            "regions": (),
            "lines": (),
            "processor_categories": {},
            "busy_s": None,
            "memory_stall_s": None,
            "idle_s": None,
            "primitive_s": None,
            "work_ops": None,
            "references": None,
            "misses": None,
        }
    )
    return {
        "nothing": StudyData.from_runs([]),
        "one run": StudyData.from_runs([synthetic.run(4)]),
        "one processor": StudyData.from_runs([synthetic.run(1)]),
        "only failures": StudyData.from_runs([synthetic.failed(4), synthetic.failed(8)]),
        "no reference": StudyData.from_runs(synthetic.fixed((2, 4, 8))),
        "times only": StudyData.from_runs(
            [measured, measured.model_copy(update={"point": synthetic.run(1).point, "time_s": 1.0})]
        ),
    }
