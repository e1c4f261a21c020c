"""The six programs on the KSR-1 with efficiency held at 0.25 (latency-metric paper, 6.2 to 6.5)."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Final

from papers_tables.studies import Studies, between, markdown, number, ratio
from scalegraph.analyze.matrix import Matrix

COUNTS: Final = (2, 4, 8, 16, 24, 32, 48, 60)
PROGRAMS: Final = {
    "apsp1": ("APSP1 (set up in parallel)", "n", (1, *COUNTS)),
    "apsp2": ("APSP2 (set up by one)", "n", (1, *COUNTS)),
    "qs1": ("QS1 (tasks of 5,000)", "n", (1, 2, 4, 8, 16)),
    "qs2": ("QS2 (tasks of 2,500)", "n", (1, 2, 4, 8, 16)),
    "ge2": ("GE2 (fixed rows)", "n", (1, 2, 4, 8, 16, 32)),
    "ge1": ("GE1 (rows move)", "n", (1, 2, 4, 8, 16, 32)),
}
# from 6.3 to 6.5; QS1's sizes between its ends follow from Table XI, theorem 2 and W ~ n log n
PUBLISHED: Final = {
    "apsp1": {2: 12, 60: 229},
    "apsp2": {2: 10, 60: 259},
    "qs1": {2: 4866, 32: 9753184},
    "qs2": {2: 3483, 32: 53769503},
    "ge2": {2: 55, 32: 1970, 60: 3317},
    "ge1": {2: 59, 32: 3800},
}
TABLE_11: Final = {
    (2, 4): 0.9419,
    (2, 8): 0.6957,
    (2, 16): 0.2204,
    (2, 24): 0.0329,
    (2, 32): 0.0090,
    (8, 16): 0.3169,
    (8, 32): 0.0129,
    (16, 32): 0.0408,
}
CELLS: Final = ((2, 4), (2, 8), (2, 16), (2, 24), (2, 32), (2, 60), (8, 16), (8, 32), (16, 32))
PAPER_ORDER: Final = ("apsp1", "apsp2", "qs1", "qs2", "ge2", "ge1")


def _path(studies: Studies, name: str) -> Path:
    return studies.shipped(name, processors=PROGRAMS[name][2])


def size_table(studies: Studies) -> list[str]:
    """Return the size found for every program at every N, beside the paper's."""
    rows = []
    for name, (title, parameter, _) in PROGRAMS.items():
        found, published = studies.held(_path(studies, name), parameter), PUBLISHED[name]
        rows.append([f"{title}, here", *(between(found.get(n)) for n in COUNTS)])
        rows.append(["paper", *(number(published[n]) if n in published else "" for n in COUNTS)])
        rows.append(["paper / here", *(ratio(published[n], found.get(n)) if n in published else "" for n in COUNTS)])
    return markdown(["N", *map(str, COUNTS)], rows)


def _cells(values: dict[tuple[int, int], float | None]) -> list[str]:
    return ["–" if (value := values.get(pair)) is None else f"{value:.3f}" for pair in CELLS]


def matrix_table(studies: Studies) -> list[str]:
    """Return the matrices of all six programs, and how many pairs of programs are in the paper's order."""
    made: dict[str, Matrix] = {name: studies.matrix(_path(studies, name)) for name in PROGRAMS}
    rows = [[PROGRAMS[name][0], *_cells({pair: one.value(*pair) for pair in CELLS})] for name, one in made.items()]
    rows.append(["QS1, paper's Table XI", *_cells(dict(TABLE_11))])
    lines = markdown(["scale(0.25, (N, N'))", *(f"({first},{second})" for first, second in CELLS)], rows)
    known = {name: value for name, one in made.items() if (value := one.value(2, 16)) is not None}
    order = sorted(known, key=lambda name: -known[name])
    agree = [pair for pair in combinations(PAPER_ORDER, 2) if order.index(pair[0]) < order.index(pair[1])]
    titles = {name: PROGRAMS[name][0].split(" ")[0] for name in PROGRAMS}
    here, paper = (" > ".join(titles[name] for name in names) for names in (order, PAPER_ORDER))
    sentence = f"Order by scale(0.25, (2, 16)): {here}; in the paper {paper}."
    return [*lines, "", f"{sentence} {len(agree)} of 15 pairs agree."]
