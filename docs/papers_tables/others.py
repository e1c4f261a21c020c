"""Programs of the papers on the KSR-1 besides the six: flow, water, Cholesky, the loops, the billiard."""

from __future__ import annotations

from typing import Final

from papers_tables.studies import Studies, markdown
from scalegraph.base.run import RunRecord

FLOWS: Final = {"rarefied": ("20000", "5"), "water": ("343", "2"), "cholesky": ("63",)}
FLOW_COUNTS: Final = (2, 8, 16, 32, 48)
LOOPS: Final = (
    ("successive over-relaxation", "sor", ("256", "20")),
    ("Jacobi", "jacobi", ("256", "20")),
    ("transitive closure, random", "closure", ("200", "random")),
    ("transitive closure, clique", "closure", ("200", "clique")),
    ("matrix multiplication", "matmul", ("128",)),
    ("adjoint convolution", "adjoint", ("48",)),
)
BILLIARD_COUNTS: Final = (1, 24, 32, 48, 53, 56, 64)
BILLIARD_SIZES: Final = (
    ("billiard", ("5000", "1000")),
    ("billiard", ("14000", "2800")),
    ("billiard", ("20000", "4000")),
    ("billiard-linked", ("5000", "1000", "2")),
    ("billiard-linked", ("5000", "1000", "1")),
    ("billiard-linked", ("14000", "2800", "2")),
    ("billiard-linked", ("20000", "4000", "2")),
)
BILLIARD_PAPER: Final = {"time": 0.82, "efficiency": 0.54, "memory": 0.53}  # from 4 to 32, Fig. 14


def _seconds(run: RunRecord) -> float:
    if run.time_s is None:
        raise ValueError(f"{run.point.label()}: {run.message}")
    return run.time_s


def _flow(one: RunRecord, run: RunRecord) -> str:
    seconds = _seconds(run)
    cycles = sum(run.categories.values())
    stalled = sum(spent for category, spent in run.categories.items() if category.startswith("stall_")) / cycles
    return f"{_seconds(one) / seconds:.2f}; {stalled:.0%}; {run.misses / (seconds * 1e6):.2f}"


def flows(studies: Studies) -> list[str]:
    """Return speedup, share of stalls and packets per microsecond of the three programs of 5.1."""
    rows = []
    for name, arguments in FLOWS.items():
        runs = studies.simulated(name, "ksr1", (1, *FLOW_COUNTS), arguments)
        rows.append([name, *(_flow(runs[1], runs[n]) for n in FLOW_COUNTS)])
    return markdown(["speedup; stalled; packets/µs on", *map(str, FLOW_COUNTS)], rows)


def loops(studies: Studies) -> list[str]:
    """Return the speedup on 8 processors of the loops of the scheduling paper, by schedule, on two machines."""
    rows = []
    for title, name, arguments in LOOPS:
        cells = []
        for schedule in ("static", "dynamic,1", "guided"):
            pair = [
                studies.simulated(name, machine, (1, 8), arguments, schedule=schedule)
                for machine in ("ksr1", "convex-exemplar")
            ]
            cells.append(", ".join(f"{_seconds(runs[1]) / _seconds(runs[8]):.2f}" for runs in pair))
        rows.append([title, *cells])
    return markdown(["loop: speedup on ksr1, convex-exemplar", "static", "dynamic,1", "guided"], rows)


def billiard(studies: Studies) -> list[str]:
    """Return the demonstration's scalability under its three bounds, and the N at which a fixed size is fastest."""
    path = studies.shipped("demo", trace=None)
    made = {bound: studies.matrix(path, bound) for bound in BILLIARD_PAPER}
    rows = []
    for bound, paper in BILLIARD_PAPER.items():
        cells = (made[bound].value(first, 32) for first in (2, 4))
        rows.append([bound, *("–" if cell is None else f"{cell:.2f}" for cell in cells), f"{paper}"])
    base = [run for run in studies.runs(path) if run.point.parameters == {"num_balls": 5000, "num_steps": 1000}]
    fastest = min(base, key=_seconds)
    lines = markdown(["bound", "from 2 to 32, here", "from 4 to 32, here", "from 4 to 32, paper"], rows)
    sentence = (
        f"5,000 balls and 1,000 collisions are fastest on {fastest.point.processors} processors of the counts tried"
    )
    return [*lines, "", f"{sentence}: {_seconds(fastest) * 1e3:.0f} ms."]


def parallelism(studies: Studies) -> list[str]:
    """Return the percentage of parallel operations (Fig. 12) with 1,000 collisions, by balls and N."""
    counts = (1, 24, 32, 64)
    rows = []
    for balls in (1000, 2000, 4000, 8000, 16000):
        runs = studies.simulated("billiard", "ksr1", counts, (str(balls), "1000"))
        shares = (1 - runs[n].counters["serial_ops"] / runs[n].counters["ops"] for n in counts[1:])
        rows.append([f"{balls:,}", *(f"{100 * share:.1f} %" for share in shares)])
    return markdown(["balls; parallel operations on N", *map(str, counts[1:])], rows)


def billiard_sizes(studies: Studies) -> list[str]:
    """Return the times in ms of both billiards for three sizes, with the minimum of each row in bold."""
    rows = []
    for name, arguments in BILLIARD_SIZES:
        runs = studies.simulated(name, "ksr1", BILLIARD_COUNTS, arguments)
        times = {n: _seconds(runs[n]) for n in BILLIARD_COUNTS}
        least = min(times.values())
        cells = [f"**{time * 1e3:,.0f}**" if time == least else f"{time * 1e3:,.0f}" for time in times.values()]
        rows.append([" ".join((name, *arguments)), *cells])
    return markdown(["program, balls, collisions, meetings", *map(str, BILLIARD_COUNTS)], rows)
