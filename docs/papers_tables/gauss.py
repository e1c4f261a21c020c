"""Gauss elimination with efficiency held at 0.25 (latency-metric paper, 6.4)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Final

from papers_tables.studies import Studies, between, markdown, number, ratio
from scalegraph.base.run import RunRecord

PUBLISHED: Final = {"ge2": {2: 55, 32: 1970}, "ge1": {2: 59, 32: 3800}}
COUNTS: Final = (2, 4, 8, 16, 32)
DOUBLE: Final = {"ge2": (1, 2, 4, 8, 16, 32), "ge1": (1, 2, 4, 8, 16)}  # larger N take hours


def double(studies: Studies, name: str) -> Path:
    """Return the path of the study of the shipped request with double-precision elements."""
    return studies.shipped(name, f"{name}-double", parameters={"bytes": 8}, processors=DOUBLE[name])


def owner(studies: Studies, name: str) -> Path:
    """Return the path of the study of the variant where the owner of a row normalises it, without pivoting."""
    return studies.shipped(f"{name}-owner")


def size_table(studies: Studies) -> list[str]:
    """Return the matrix orders at E = 0.25 of the papers' programs and their variants, with ratios."""
    rows = []
    for name in ("ge2", "ge1"):
        published = PUBLISHED[name]
        rows.append([f"{name.upper()}, paper", *(number(published[n]) if n in published else "" for n in COUNTS)])
        found = studies.held(studies.shipped(name), "n")
        rows.append([f"{name.upper()}, here", *(between(found.get(n)) for n in COUNTS)])
        rows.append(["paper / here", *(ratio(published[n], found.get(n)) if n in published else "" for n in COUNTS)])
        for title, made in (("in double precision", double), ("owner variant", owner)):
            other = studies.held(made(studies, name), "n")
            rows.append([f"{name.upper()}, {title}", *(between(other.get(n)) for n in COUNTS)])
    return markdown(["N", *map(str, COUNTS)], rows)


def matrix(studies: Studies) -> list[str]:
    """Return scale(0.25, (N, N')) of both programs for every pair, and the number of pairs where GE1 scales worse."""
    paths = [studies.shipped(name) for name in ("ge2", "ge1")]
    fixed, moving = map(studies.matrix, paths)
    pairs = list(combinations(COUNTS, 2))
    head = ["scale(0.25, (N, N'))", *(f"({first},{second})" for first, second in pairs)]

    def cells(name: str, value: Callable[[int, int], float | None]) -> list[str]:
        found = (value(*pair) for pair in pairs)
        return [name, *("–" if cell is None else f"{cell:.3g}" for cell in found)]

    compared = [(pair, fixed.value(*pair), moving.value(*pair)) for pair in pairs]
    known = [(pair, high, low) for pair, high, low in compared if high is not None and low is not None]
    turned = [f"({first},{second})" for (first, second), high, low in known if low >= high]
    orders = [studies.held(path, "n") for path in paths]
    larger = [n for n in COUNTS if n in orders[0] and n in orders[1] and orders[1][n][0] > orders[0][n][1]]
    rows = [cells("GE2", fixed.value), cells("GE1", moving.value)]
    others = {name: studies.matrix(large_subcache(studies, name)) for name in ("ge2", "ge1")}
    rows += [cells(f"{name.upper()}, subcache of 64 MiB", made.value) for name, made in others.items()]
    sentence = f"It is less scalable in {len(known) - len(turned)} of {len(known)} cells"
    sentence += f"; not in {', '.join(turned)}." if turned else "."
    below = [pair for pair in pairs if (others["ge1"].value(*pair) or 0.0) < (others["ge2"].value(*pair) or 0.0)]
    sentence += f" With a subcache that no matrix outgrows it is less scalable in {len(below)} of {len(pairs)} cells."
    return [
        *markdown(head, rows),
        "",
        f"GE1 needs the larger system on {' '.join(map(str, larger))} processors. {sentence}",
    ]


def large_subcache(studies: Studies, name: str) -> Path:
    """Return the path of a study on a ksr1 whose subcache holds every matrix; it shows the effect of outgrowing it."""
    machine = {"name": "ksr1", "overrides": {"cache.0.size_kib": "65536"}}
    return studies.shipped(name, f"{name}-subcache", machine=machine, processors=(1, *COUNTS))


PARTS: Final = {
    "own work": ("busy_",),
    "moving data": ("stall_remote_read", "stall_remote_write", "stall_upgrade", "stall_contention"),
    "waiting at barriers": ("idle_barrier",),
}


def accounts(studies: Studies) -> list[str]:
    """Return the shares of processor time at the size found for every N, and local misses on one processor."""
    rows = []
    for name in ("ge2", "ge1"):
        path = studies.shipped(name)
        runs = {run.point.key: run for run in studies.runs(path)}
        anchors = studies.matrix(path).anchors
        found = [runs[anchors[n].keys[-1]] for n in COUNTS]
        for words, categories in PARTS.items():
            rows.append([f"{name.upper()}, {words}", *(_share(run, categories) for run in found)])
        sizes = {run.point.parameters["n"]: run for run in runs.values() if run.point.processors == 1}
        alone = [sizes[run.point.parameters["n"]] for run in found]
        rows.append([f"{name.upper()}, one processor: local misses", *(_share(run, ("stall_local",)) for run in alone)])
    return markdown(["share of processor time on N", *map(str, COUNTS)], rows)


def _share(run: RunRecord, categories: tuple[str, ...]) -> str:
    spent = sum(cycles for category, cycles in run.categories.items() if category.startswith(categories))
    return f"{100 * spent / sum(run.categories.values()):.0f} %"
