"""Makes the samples in ``traces/`` from simulated runs; this needs gcc.

    python -m tests.traces.simulated_samples

Cycles depend on the code that the compiler makes, so another gcc makes other traces. The manifests are not read
from the traces: the accounts are those of the run's record, which comes from the simulator's result.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from scalegraph.base.run import RunRecord
from scalegraph.request import Request, Session
from scalegraph.traces.reading import read

# small enough for a repository; each program is known for something: locks, and barriers in a loop
RUNS: dict[str, dict[str, Any]] = {
    "billiard-4": {"program": {"name": "billiard"}, "parameters": {"num_balls": 40, "num_steps": 4}},
    "ge2-4": {"program": {"name": "ge2-owner"}, "parameters": {"n": 16}},
}
PROCESSORS = 4


def simulate(name: str, place: Path) -> tuple[RunRecord, Path]:
    """Run the program of sample *name* and return its record and trace."""
    values = {"processors": [PROCESSORS], "reference": False, "trace": {"interval": "2000 cycles"}} | RUNS[name]
    session = Session()
    with session.submit(Request.model_validate(values), None, traces=place) as study:
        ((_, _, path),) = session.traces(study)
        return study.runs()[0], path


def manifest(name: str, record: RunRecord, path: Path) -> dict[str, Any]:
    """Return the content of the sample; cycles by leaf and by region are those of the record."""
    with read(path) as trace:
        return {
            "file": f"{name}.sgtrace",
            "format": trace.meta.format,
            "ticks_per_second": round(record.clock_hz or 0),
            "run": [0, record.time_cycles],
            "locations": record.point.processors,
            "counts": trace.counts(),
            "bytes_sent": 0,
            "leaves": {category: cycles for category, cycles in record.categories.items() if cycles},
            "processor_leaves": record.processor_categories,
            "regions": {str(cost.region): cost.categories for cost in record.regions},
        }


def write(place: Path) -> None:
    """Write every sample and its manifest into *place*."""
    for name in RUNS:
        with tempfile.TemporaryDirectory() as work:
            record, path = simulate(name, Path(work))
            text = json.dumps(manifest(name, record, path)) + "\n"
            shutil.copy(path, place / f"{name}.sgtrace")
        (place / f"{name}.sgtrace.manifest.json").write_text(text)


if __name__ == "__main__":
    write(Path(__file__).parent.parent.parent / "traces")
