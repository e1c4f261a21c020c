"""Studies that the tests of views look at."""

from __future__ import annotations

from scalegraph.views import SourceText, StudyData
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


def full() -> StudyData:
    """A fixed size, searches over sizes, other steps and a failed run; memory of the runs is known."""
    runs = [
        *synthetic.grid(sizes=(32, 64, 128, 256, 512, 1024, 2048, 4096)),
        *synthetic.fixed((1, 2, 4, 8, 16, 24, 32, 48, 64), balls=1000),
        *(synthetic.run(1, 512, steps) for steps in (10, 20, 80)),
        synthetic.failed(128),
    ]
    unique = list({run.point.key: run for run in runs}.values())
    data = StudyData.from_runs(unique, manifest=MANIFEST, sources=(SOURCE,), regions=synthetic.REGIONS)
    table = data.table.assign(memory_bytes=56 * data.table["param.balls"])
    return StudyData(table, data.runs, data.manifest, data.sources, data.regions)


def few() -> dict[str, StudyData]:
    """Studies with little or nothing in them."""
    measured = synthetic.run(4).model_copy(
        update={
            "source": "measured",
            "leaves": {},
            "regions": (),
            "lines": (),
            "processor_leaves": {},
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
