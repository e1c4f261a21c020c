"""Burg and SLALOM on the MasPar MP-1 with constant average unit speed (isospeed paper, IV.D)."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from papers_tables.isospeed import by_flops, flops
from papers_tables.studies import Studies, markdown, number
from scalegraph.base import expression
from scalegraph.base.resources import resource_dir
from scalegraph.base.run import RunRecord
from scalegraph.request.model import programs

TABLE_8: Final = {(1024, 2048): 0.93, (2048, 4096): 0.95, (4096, 8192): 0.94}
TABLE_9: Final = {1024: 13.5, 2048: 14.5, 4096: 15.2, 8192: 16.2}  # ms
BURG_SPEED: Final = 13.5e3  # op/s: half of the limit for one element, 27.1e3 at 100,000 points
POINTS: Final = (4, 12)  # points per element; the time of a run is linear in them
TABLE_10: Final = {(1024, 2048): 0.74, (2048, 4096): 1.02, (4096, 8192): 0.46}
TABLE_11: Final = {1024: 8.42, 2048: 11.37, 4096: 11.20, 8192: 24.60}  # s
SLALOM_SPEED: Final = 8.5e3  # flops/s, which runs of a few minutes reach; the paper uses 9e3
# Numbers of patches around those at which each N has that speed. No number occurs twice, because each is one study.
AROUND: Final = {256: (192, 240), 512: (320, 400), 1024: (448, 560), 2048: (640, 832)}
SHAPES: Final = {256: "16 x 16", 512: "16 x 32", 1024: "32 x 32", 2048: "32 x 64"}
PARTS: Final = {
    "own work": ("busy_", "stall_", "prim_"),
    "messages in transit": ("idle_transfer",),
    "waiting for wires": ("idle_network",),
    "masked off": ("idle_masked",),
}


def run_of(studies: Studies, name: str, n: int, *arguments: str) -> RunRecord:
    """Return the run of a program on *n* elements."""
    return studies.simulated(f"mpi/{name}", "maspar-mp1", (n,), arguments)[n]


def burg_at(studies: Studies, n: int) -> tuple[float, float, RunRecord]:
    """Return the points per element and the seconds at which *n* elements have `BURG_SPEED`, and a run near them."""
    described = programs.load(str(resource_dir("programs") / "mpi" / "burg.toml"))
    work = expression.parse(described.program.work, frozenset({"points", "lags"}))
    runs = {each: run_of(studies, "burg", n, str(n * each), "10", "scattered", "unchecked") for each in POINTS}
    (low, first), (high, last) = ((each, run.time_s or 0.0) for each, run in runs.items())
    slope = (last - first) / (high - low)
    flop = (work({"points": n * high, "lags": 10}) - work({"points": n * low, "lags": 10})) / (high - low) / n
    fixed = work({"points": n * low, "lags": 10}) / n - flop * low
    # (fixed + flop x) / (first + slope (x - low)) is the speed
    points = (BURG_SPEED * (first - slope * low) - fixed) / (flop - BURG_SPEED * slope)
    return points, first + slope * (points - low), runs[high]


def shares(runs: list[RunRecord]) -> list[list[str]]:
    """Return the shares of the elements' time, one row for each of `PARTS`."""
    rows = []
    for words, categories in PARTS.items():
        cells = []
        for run in runs:
            part = sum(spent for name, spent in run.categories.items() if name.startswith(categories))
            cells.append(f"{100 * part / sum(run.categories.values()):.0f} %")
        rows.append([words, *cells])
    return rows


def burg(studies: Studies) -> list[str]:
    """Return times and psi of Burg beside Tables VIII and IX."""
    found = {n: burg_at(studies, n) for n in TABLE_9}
    psi = {pair: found[pair[0]][1] / found[pair[1]][1] for pair in TABLE_8}
    rows = [
        ["time, ms: paper, Table IX", *(f"{TABLE_9[n]:.1f}" for n in found)],
        ["time, ms: here", *(f"{1000 * seconds:.1f}" for _, seconds, _ in found.values())],
        ["points per element, here", *(f"{points:.1f}" for points, _, _ in found.values())],
        ["ψ(N / 2, N): paper, Table VIII", "", *(f"{value:.2f}" for value in TABLE_8.values())],
        ["ψ(N / 2, N): here", "", *(f"{value:.2f}" for value in psi.values())],
        *shares([run for _, _, run in found.values()]),
    ]
    return markdown(["elements", *(number(n) for n in found)], rows)


def slalom(studies: Studies) -> list[str]:
    """Return times and psi of SLALOM on square and on oblong grids."""
    runs = {
        (n, size): run_of(studies, "slalom", n, str(size), "unchecked") for n, some in AROUND.items() for size in some
    }
    made = by_flops(studies, [(n, size, run.time_s or 0.0) for (n, size), run in runs.items()], SLALOM_SPEED)
    pairs = list(pairwise(AROUND))
    psi = [made.value(*pair) for pair in pairs]
    times = [made.anchors[n].time_s for n in AROUND]
    near = {n: max(some) for n, some in AROUND.items()}
    speeds = [flops(near[n]) / (n * (runs[n, near[n]].time_s or 1.0)) for n in AROUND]
    rows = [
        ["grid", *SHAPES.values()],
        ["time, s: paper, Table XI", *(f"{TABLE_11[n]:.2f}" if n in TABLE_11 else "–" for n in AROUND)],
        ["time, s: here", *("–" if x is None else f"{x:.2f}" for x in times)],
        ["ψ(N / 2, N): paper, Table X", "", *(f"{TABLE_10[pair]:.2f}" if pair in TABLE_10 else "–" for pair in pairs)],
        ["ψ(N / 2, N): here", "", *("–" if x is None else f"{x:.2f}" for x in psi)],
        ["patches of a run", *(str(near[n]) for n in AROUND)],
        ["its time, s", *(f"{runs[n, near[n]].time_s or 0.0:.2f}" for n in AROUND)],
        ["its KFLOPS per element", *(f"{speed / 1e3:.1f}" for speed in speeds)],
        *shares([runs[n, near[n]] for n in AROUND]),
    ]
    return markdown(["elements", *(number(n) for n in AROUND)], rows)
