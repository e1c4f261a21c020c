"""Rarefied flow on the Cerberus machine (latency-metric paper, 5.2: MP3D; Tables II to V, Figs. 7 to 10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pandas as pd

from papers_tables.studies import Studies, markdown, number
from scalegraph.analyze.causes import miss_latency
from scalegraph.base.run import RunRecord

COUNTS: Final = (8, 16, 32, 64)
TIMES: Final = ("1,007,628", "**653,326**", "904,748", "2,417,743")
REMOTE: Final = ("94,409", "107,584", "147,021", "286,602")
INVALIDATIONS: Final = ("48,858", "57,526", "76,824", "147,134")
BY_BARRIERS: Final = ("1,363 (2.8 %)", "4,961 (8.6 %)", "20,287 (26.4 %)", "84,750 (57.6 %)")
BY_LOCKS: Final = ("31,132 (62.7 %)", "35,603 (61.9 %)", "38,794 (50.5 %)", "43,241 (29.4 %)")
WIDTHS: Final = ("1.12", "2.05", "1.47", "1.72")
HITS: Final = ("84.1 %", "83.6 %", "85.2 %", "92.1 %")
PAPER_LATENCY: Final = {"computation": "25 to 124", "synchronisation": "56 at N = 8", "program": "42 at N = 16"}
Runs = dict[int, RunRecord]


def _runs(studies: Studies, name: str) -> Runs:
    return {run.point.processors: run for run in studies.runs(studies.shipped(name))}


def _cycles(run: RunRecord) -> int:
    if run.time_cycles is None:
        raise ValueError(f"{run.point.label()}: {run.message}")
    return run.time_cycles


def _times(runs: Runs) -> list[str]:
    """Return the cycles on `COUNTS` with the minimum in bold, and the N of the minimum, also among all counts."""
    least = min(COUNTS, key=lambda n: _cycles(runs[n]))
    of_all = min(runs, key=lambda n: _cycles(runs[n]))
    cells = [f"**{_cycles(runs[n]):,}**" if n == least else f"{_cycles(runs[n]):,}" for n in COUNTS]
    return [*cells, f"{least} ({of_all} of all counts tried: {_cycles(runs[of_all]):,})"]


def _caused(run: RunRecord, cause: str, counter: str) -> int:
    return int(run.causes.get(cause, {}).get(counter, 0))


def _invalidations(run: RunRecord, cause: str) -> str:
    count = _caused(run, cause, "invalidations")
    return f"{count:,} ({100 * count / (run.invalidations or 1):.1f} %)"


def _widths(run: RunRecord) -> tuple[float, float]:
    """Return the mean number of copies that a write invalidates, and the share of writes that invalidate just one."""
    counts: dict[int, int] = {}
    for widths in run.widths.values():
        for width, writes in widths.items():
            counts[int(width)] = counts.get(int(width), 0) + writes
    writes = sum(counts.values())
    return sum(width * n for width, n in counts.items()) / writes, counts.get(1, 0) / writes


def table(studies: Studies) -> list[str]:
    """Return times, remote accesses, invalidations and hit rates on 8 to 64 processors, beside the paper's."""
    simple, hardware = _runs(studies, "rarefied"), _runs(studies, "rarefied-hardware")
    rows: list[list[str]] = [
        ["cycles, simple barrier, paper", *TIMES, "16"],
        ["cycles, simple barrier, here", *_times(simple)],
        [
            "paper / here",
            *(
                f"{int(paper.strip('*').replace(',', '')) / _cycles(simple[n]):.2f}"
                for paper, n in zip(TIMES, COUNTS, strict=True)
            ),
            "",
        ],
        ["cycles, hardware barrier, here", *_times(hardware)],
    ]

    def add(title: str, value: Callable[[RunRecord], str], runs: Runs = simple) -> None:
        rows.append([title, *(value(runs[n]) for n in COUNTS), ""])

    rows.append(["remote accesses, paper", *REMOTE, ""])
    add("remote accesses, here", lambda run: number(run.misses or 0))
    for words, cause in (("of these by computation", "computation"), ("by barriers", "barrier"), ("by locks", "lock")):
        add(words, lambda run, cause=cause: number(_caused(run, cause, "misses")))  # type: ignore[misc]
    add("remote accesses, hardware barrier, here", lambda run: number(run.misses or 0), hardware)
    rows.append(["program invalidations, paper", *INVALIDATIONS, ""])
    add("program invalidations, here", lambda run: number(run.invalidations or 0))
    for words, cause, paper in (("barriers", "barrier", BY_BARRIERS), ("locks", "lock", BY_LOCKS)):
        rows.append([f"by {words}, paper", *paper, ""])
        add(f"by {words}, here", lambda run, cause=cause: _invalidations(run, cause))  # type: ignore[misc]
    rows.append(["mean invalidation width, paper", *WIDTHS, ""])
    add("mean invalidation width, here", lambda run: f"{_widths(run)[0]:.2f}")
    add("writes that invalidate one copy, here", lambda run: f"{_widths(run)[1]:.0%}".replace("%", " %"))
    rows.append(["hits of all accesses, paper", *HITS, ""])
    add("hits of all accesses, here", lambda run: f"{100 - 100 * (run.misses or 0) / (run.references or 1):.1f} %")
    return markdown(["N", *map(str, COUNTS), "least time at"], rows)


def _latency(studies: Studies, name: str, **values: object) -> tuple[pd.DataFrame, int]:
    """Return the mean miss latencies by N, and the N with the shortest time."""
    path = studies.shipped(name, **values)  # type: ignore[arg-type]
    data = studies.session.study_data(path)
    rows = data.scaling.sort_values("processors")
    made = miss_latency(rows).set_axis(rows["processors"].astype(int), axis="index")
    return made, int(rows["processors"].iloc[int(rows["time_s"].to_numpy().argmin())])


CIRCUIT: Final = {"network.switching": "circuit"}
WIDE: Final = {**CIRCUIT, "network.flit_bytes": "16"}


def latencies(studies: Studies) -> list[str]:
    """Return the mean miss latency (Fig. 10) with packet and circuit switching, and the conclusions as in Table V."""
    shipped, _ = _latency(studies, "rarefied")
    most = float(shipped["program"].loc[16])
    rows = []
    for column, words in (("computation", "computing"), ("synchronisation", "synchronisation"), ("program", "program")):
        values = shipped[column]
        reached = [str(n) for n in shipped.index if values.loc[n] >= most and n > 1]
        end = (
            f"L_max = {most:.0f} reached at N = {reached[0]}"
            if reached
            else f"L_max = {most:.0f} at no N to {shipped.index.max()}"
        )
        rows.append([f"{words}, here (paper: {PAPER_LATENCY[column]})", *(f"{values.loc[n]:.0f}" for n in COUNTS), end])
    for words, overrides in (("circuits", CIRCUIT), ("circuits of twice the width", WIDE)):
        machine = {"name": "cerberus", "overrides": overrides}
        made, fastest = _latency(studies, "rarefied", study=f"rarefied-{words.replace(' ', '-')}", machine=machine)
        cells = [f"{made['computation'].loc[n]:.0f}" for n in COUNTS]
        rows.append([f"computing, {words}", *cells, f"least time at N = {fastest}"])
    return markdown(["mean miss latency in cycles on N", *map(str, COUNTS), "L_max is the program's at N = 16"], rows)
