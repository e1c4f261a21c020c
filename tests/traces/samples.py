"""Makes the small traces in ``traces/`` at the top of the repository, each with a manifest of what it holds.

    python -m tests.traces.samples            writes them; a test fails if the files in traces/ differ

The trace is a pipeline: each of four ranks works, passes a message on, and waits at a barrier, three times.
"""

from __future__ import annotations

import json
from pathlib import Path

from scalegraph.traces.formats import Writing, writer_for
from scalegraph.traces.kinds import KINDS, Operation, Wait, What
from scalegraph.traces.model import Communicator, Definitions, Group, Location, Metric, Region, State, Trace
from scalegraph.traces.reading import read
from tests.traces.made import build

RANKS, STEPS, PERIOD = 4, 3, 1000
FILES = ("pipeline.sgtrace", "pipeline.json", "pipeline.prv")
OTF2 = "pipeline.otf2"  # an archive: with pipeline.def and the directory pipeline
PICL = "ring.trf"
CSV = "calls.csv"


def pipeline() -> Trace:
    """Return the trace; every rank works 100 ticks longer than the previous one, so the barrier waits for the last.

    All of its time is in shares; a quarter of the work is memory stalls.
    """
    rows: dict[str, list[tuple[int, ...]]] = {kind: [] for kind in KINDS}
    for rank in range(RANKS):
        rows["calls"].append((0, rank, What.ENTER, 0))
        for step in range(STEPS):
            start, work = step * PERIOD + 10, 200 + 100 * rank
            done, end = start + work, (step + 1) * PERIOD - 90
            rows["calls"] += [
                (start, rank, What.ENTER, 1),
                (done, rank, What.LEAVE, 1),
                (done + 60, rank, What.ENTER, 2),
                (end, rank, What.LEAVE, 2),
            ]
            shared = [
                (step * PERIOD, start, rank, 0, 0, 10),
                (start, done, rank, 0, 1, work - work // 4),
                (start, done, rank, 2, 1, work // 4),
                (done, done + 60, rank, 0, 0, 60),
                (done + 60, end, rank, 1, 2, end - done - 60),
                (end, end + 90, rank, 0, 0, 90),
            ]
            rows["shares"] += shared
            rows["states"] += [(start, done, rank, 0), (done + 60, end, rank, 1)]
            rows["counters"].append((done, rank, 0, float(work * 4), work * 4))
            if rank + 1 < RANKS:
                rows["messages"].append((done, done + 5, done + 8, done + 20, rank, rank + 1, 512 << step, step, 0))
                rows["waits"].append((done + 60, end, rank, RANKS - 1, Wait.BARRIER, step, 2, end - 5))
            rows["collectives"].append((done + 60, end, rank, Operation.BARRIER, 0, -1, 0, 0))
        rows["calls"].append((STEPS * PERIOD, rank, What.LEAVE, 0))
    return build(
        rows,
        Definitions(
            groups=[Group(f"rank {rank}") for rank in range(RANKS)],
            locations=[Location(f"rank {rank}", "process", rank, str(rank)) for rank in range(RANKS)],
            regions=[
                Region("main", "pipeline.c", 1),
                Region("work", "pipeline.c", 12),
                Region("barrier", "pipeline.c", 20, "barrier"),
            ],
            metrics=[Metric("operations", "1", "next", True)],
            states=[State("working", "#2a7f3e"), State("waiting", "#c0392b"), State("fetching")],
            communicators=[Communicator("world", tuple(range(RANKS)))],
        ),
        program="pipeline",
        ticks_per_second=1_000_000,
    )


def picl() -> str:
    """Return PICL's records of two nodes that pass a message round."""
    return """-3 -901 0.000000 0 0 0
-3 -901 0.000000 1 0 0
-3 -21 0.000100 0 0 4 2 1024 1 1 0
-4 -21 0.000150 0 0 0
-3 -52 0.000050 1 0 3 2 1 0 0
-4 -52 0.000300 1 0 4 2 1024 1 0 0
-3 -21 0.000400 1 0 4 2 2048 2 0 0
-4 -21 0.000450 1 0 0
-3 -52 0.000200 0 0 3 2 2 1 0
-4 -52 0.000600 0 0 4 2 2048 2 1 0
-4 -901 0.000700 0 0 0
-4 -901 0.000700 1 0 0
"""


def csv() -> str:
    """Return calls of two processes in Pipit's form."""
    return """Timestamp (ns),Event Type,Name,Process
0,Enter,main,0
10,Enter,solve,0
0,Enter,main,1
90,Leave,solve,0
100,Leave,main,0
100,Leave,main,1
"""


def write(place: Path) -> None:
    """Write every sample and its manifest into *place*."""
    place.mkdir(exist_ok=True)
    for name in (*FILES, OTF2):
        writer_for(place / name).write(Writing(pipeline(), place / name))
    (place / PICL).write_text(picl())
    (place / CSV).write_text(csv())
    for name in (*FILES, OTF2, PICL, CSV):
        with read(place / name) as trace:
            manifest = {
                "file": name,
                "format": trace.meta.format,
                "ticks_per_second": trace.meta.ticks_per_second,
                "run": [trace.meta.begin, trace.meta.end],
                "locations": len(trace.definitions.locations),
                "counts": trace.counts(),
                "bytes_sent": int(trace.columns("messages")["size"].sum()),
            }
        (place / f"{name}.manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    write(Path(__file__).parent.parent.parent / "traces")
