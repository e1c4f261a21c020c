"""Burg and SLALOM on the nCUBE 2 with constant average unit speed (isospeed paper, IV.B and IV.C)."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from papers_tables.studies import Studies, between, markdown, number, sizes
from scalegraph.analyze.matrix import Matrix
from scalegraph.base import expression
from scalegraph.base.resources import resource_dir
from scalegraph.base.run import RunRecord
from scalegraph.measurements.table.guess import TableChoices
from scalegraph.request.imports import sets as imports
from scalegraph.request.model import programs

TABLE_3: Final = {
    (1, 2): 0.441,
    (2, 4): 0.670,
    (4, 8): 0.728,
    (8, 16): 0.827,
    (16, 32): 0.837,
    (32, 64): 0.865,
    (64, 128): 0.887,
}
TABLE_2: Final = {1: 4.029, 2: 9.13, 4: 13.62, 8: 17.74, 16: 21.44, 32: 25.61, 64: 29.6, 128: 33.38}  # ms
TABLE_6: Final = {(1, 4): 0.65, (4, 16): 0.83, (16, 64): 0.71}
BURG_PAIRS: Final = tuple(pairwise((2, 4, 8, 16, 32, 64, 128)))
SLALOM_PAIRS: Final = tuple(TABLE_6)
ALPHA, BETA = 130e-6, 0.5e-6  # s, and s per byte: measured in the paper, and used by ncube2
# Messages of `burg`: in each of 10 lags, an exchange of 8 bytes with the neighbour. In log2 N steps each: 10 sums of
# two numbers, the energy (one number), the faults (an int), and two barriers (MPI_Init, MPI_Finalize).
BURG_MESSAGES: Final = "min(N - 1, 1) * (10 * (alpha + 8 * beta) + log2(N) * (14 * alpha + 172 * beta))"
PAPERS_SIZES: Final = {4: 276, 16: 490}  # patches of Figs. 9 and 10
# Sizes around those at which each N has the speed of 276 patches on 4 nodes.
AROUND: Final = {1: (160, 190, 220), 4: (240, 276, 310), 16: (440, 490, 540), 64: (750, 850, 950)}
PARTS: Final = {
    "own work": ("busy_", "stall_"),
    "sending, receiving, packing": ("prim_",),
    "messages in transit": ("idle_transfer", "idle_network"),
    "waiting for others": ("idle_late", "idle_collective"),
    "finished before others": ("idle_finished", "idle_not_started"),
}


def held(studies: Studies, path: Path, way: str = "runs", **options: Any) -> Matrix:
    """Return the psi matrix of a study, computed in the *way* of `scalegraph matrix --metric isospeed`."""
    made = studies.session.matrix(path, metric="isospeed", bound="speed", way=way, **options)
    if made is None:
        raise ValueError(f"{path}: no run has the required speed")
    return made


def chain(made: Matrix, pairs: tuple[tuple[int, int], ...]) -> list[str]:
    """Return psi of successive processor counts, as in the paper's Table III."""
    values = (made.value(*pair) for pair in pairs)
    return ["–" if value is None else f"{value:.3f}" for value in values]


def burg_table(studies: Studies, pairs: tuple[tuple[int, int], ...] = BURG_PAIRS) -> list[str]:
    """Return psi of Burg by the three approaches beside Table III."""
    path = studies.shipped("burg")
    formula = {"overhead": BURG_MESSAGES, "alpha": ALPHA, "beta": BETA}
    ways: dict[str, dict[str, Any]] = {
        "approach 1: measured by search": {},
        "approach 2: computed from curves of the speed": {"way": "computed"},
        "approach 3: eq. 5, T_o of the accounts": {"way": "theorem1"},
        "approach 3: eq. 5, T_o of α and β": {"way": "theorem1", **formula},
    }
    rows = [["paper, Table III (approach 2)", *(f"{TABLE_3[pair]:.3f}" for pair in pairs)]]
    rows += [[name, *chain(held(studies, path, **options), pairs)] for name, options in ways.items()]
    return markdown(["ψ(N, N')", *(f"({n}, {more})" for n, more in pairs)], rows)


def found_runs(studies: Studies, path: Path) -> dict[int, RunRecord]:
    """Return the run of each N that is closest to the required speed."""
    runs = {run.point.key: run for run in studies.runs(path)}
    made = held(studies, path)
    return {n: runs[anchor.keys[-1]] for n, anchor in made.anchors.items() if anchor.known and anchor.keys}


def burg_times(studies: Studies) -> list[str]:
    """Return the points found by the search, their times beside Table II, and the shares of time."""
    path = studies.shipped("burg")
    made = held(studies, path)
    runs = found_runs(studies, path)
    known = {run.point.key: float(run.point.parameters["points"]) for run in studies.runs(path)}
    points = sizes(made, known)
    counts = [n for n in made.processors if n > 1 and n in runs]
    rows = [["points", *(between(points.get(n)) for n in counts)]]
    rows.append(["time, paper, ms (Table II)", *(f"{TABLE_2[n]:.2f}" for n in counts)])
    rows.append(["time here, ms", *(f"{1e3 * (made.anchors[n].time_s or 0):.2f}" for n in counts)])
    rows += shares([runs[n] for n in counts])
    return markdown(["N", *map(str, counts)], rows)


def shares(runs: list[RunRecord]) -> list[list[str]]:
    """Return the shares of processor time in *runs*, one row for each of `PARTS`."""
    rows = []
    for words, categories in PARTS.items():
        parts = [sum(spent for name, spent in run.categories.items() if name.startswith(categories)) for run in runs]
        totals = [sum(run.categories.values()) for run in runs]
        rows.append([words, *(f"{100 * part / total:.0f} %" for part, total in zip(parts, totals, strict=True))])
    return rows


def flops(patches: float) -> float:
    """Return the flops of SLALOM's sequential algorithm by the formula in its program file."""
    described = programs.load(str(resource_dir("programs") / "mpi" / "slalom.toml"))
    return expression.parse(described.program.work, frozenset({"patches"}))({"patches": patches})


ROLES: Final = TableChoices(columns={"patches": "parameter"})
Sized = tuple[int, int, float]  # processors, patches, seconds


def by_flops(studies: Studies, runs: list[Sized], speed: float) -> Matrix:
    """Return psi of SLALOM from curves, with W as in the paper: flops of the sequential algorithm."""
    lines = [f"{n},{patches},{seconds!r},{flops(patches):.0f}" for n, patches, seconds in runs]
    with tempfile.TemporaryDirectory() as directory:
        table = Path(directory) / "slalom.csv"
        table.write_text("\n".join(["processors,patches,time_s,work_flops", *lines]) + "\n", encoding="utf-8")
        with imports.opened([table], choices=ROLES, said={"sizes": ("patches",)}) as study:
            made = studies.session.matrix(study, metric="isospeed", bound="speed", target=speed)
    if made is None:
        raise ValueError("no run has the required speed")
    return made


def at_size(studies: Studies, n: int, patches: int) -> RunRecord:
    """Return a run of SLALOM without a search."""
    return studies.simulated("mpi/slalom", "ncube2", (n,), (str(patches), "unchecked"))[n]


def slalom_table(studies: Studies) -> list[str]:
    """Return psi of SLALOM by the three approaches beside Table VI, and at the speed of the paper's size."""
    path = studies.shipped("slalom")
    rows = [["paper, Table VI (approach 2)", *(f"{TABLE_6[pair]:.2f}" for pair in SLALOM_PAIRS)]]
    ways = {
        "1: measured by search": "runs",
        "2: computed from curves of the speed": "computed",
        "3: eq. 9 (Theorem 2), T_o of the accounts": "theorem2",
    }
    rows += [[f"approach {name}", *chain(held(studies, path, way), SLALOM_PAIRS)] for name, way in ways.items()]
    near = [(n, size, at_size(studies, n, size).time_s or 0.0) for n, some in AROUND.items() for size in some]
    speed = next(flops(size) / (n * seconds) for n, size, seconds in near if (n, size) == (4, PAPERS_SIZES[4]))
    made = by_flops(studies, near, speed)
    rows.append([f"approach 2, {speed / 1e6:.2f} MFLOPS held", *chain(made, SLALOM_PAIRS)])
    return markdown(["ψ(N, N')", *(f"({n}, {more})" for n, more in SLALOM_PAIRS)], rows)


def slalom_runs(studies: Studies) -> list[str]:
    """Return sizes, times, speeds and accounts of SLALOM at the search's results and at the paper's sizes."""
    path = studies.shipped("slalom")
    found = found_runs(studies, path)
    runs = {f"{n}": found[n] for n in (4, 16, 64)}
    for n, patches in PAPERS_SIZES.items():
        runs[f"{n}, paper's size"] = at_size(studies, n, patches)
    patches_of = {n: run.point.parameters.get("patches") for n, run in runs.items()}
    rows = [["patches"], ["time, s"], ["MFLOPS per node"]]
    for name, run in runs.items():
        size = float(patches_of[name] or PAPERS_SIZES[run.point.processors])
        work = flops(size)
        seconds = run.time_s or 0.0
        cells = (number(size), f"{seconds:.3g}", f"{work / (seconds * run.point.processors * 1e6):.2f}")
        for row, cell in zip(rows, cells, strict=True):
            row.append(cell)
    times = [runs[f"{n}, paper's size"].time_s or 0.0 for n in PAPERS_SIZES]
    sentence = (
        f"At the paper's sizes T(4) / T(16) = {times[0] / times[1]:.3f}; by the clocks of Figs. 9 and 10 it is 0.862."
    )
    return [*markdown(["N", *runs], rows + shares(list(runs.values()))), "", sentence]
