"""How often a prediction interval covers the published value: curves over N, fitted without the largest N.

    python benchmarks/published_curves.py [--powers] FILE ..

A FILE is one of

- a CSV table whose first columns name a curve, followed by N and a time, or by N and a rate named after a unit of work
  with the suffix ``_s`` (``gb_s``),
- a CSV table whose first column is the number of cores or nodes, with a rate in a column *Actual* or *Total ..*, as
  in github.com/lanl/benchmarks (``doc/sphinx``),
- a machine file (``.yml``) of github.com/RRZE-HPC/kerncraft (``examples/machine-files``): bandwidth by level and
  kernel, over cores with one thread each; L1 is left out, because its bandwidth always scales,
- a summary (``.agg``) of github.com/JimCownie/CpuFun (``scaling``): times of miniBUDE,
- a pair (``.toml``) with ``n`` and ``time_s`` in its table ``measured``.

Each curve with at least five N is fitted without its largest N, and the 95 % interval for one new measurement there is
compared with the published value. A curve that occurs in several files counts once. *--powers* uses only the powers of
2 and the largest N, as in most scaling tables. Prints the number of curves, the coverage, the median width of the
interval and the median error.
"""

from __future__ import annotations

import argparse
import csv
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml

from scalegraph.analyze.fits.averaging import averaged
from scalegraph.analyze.fits.noise import condense

LEAST = 5  # minimum number of different N in a curve
COUNTS = re.compile(r"(no\. )?(cores|nodes|nprocs)", re.IGNORECASE)


class Curve(NamedTuple):
    """Times over N; *group* is the table row in which the curve counts, *name* identifies it."""

    group: str
    name: str
    n: np.ndarray
    times: np.ndarray


def of_columns(file: Path) -> Iterator[Curve]:
    """Yield the curves of a table whose first columns name them."""
    table = pd.read_csv(file)
    *names, count, value = table.columns
    for key, rows in table.groupby(names):
        values = rows[value].to_numpy(dtype=float)
        times = 1 / values if value.endswith("_s") and value != "time_s" else values
        group = f"bandwidth, {key[1]}" if list(names) == ["machine", "level", "kernel"] else file.name
        yield Curve(group, " ".join(map(str, key)), rows[count].to_numpy(dtype=float), times)


def of_rates(file: Path) -> Iterator[Curve]:
    """Yield the curve of a table with a rate over cores or nodes."""
    with file.open(encoding="utf-8-sig") as lines:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines)]
    at = next((i for i, name in enumerate(rows[0]) if name.startswith(("Actual", "Total"))), None)
    if at is None or not COUNTS.fullmatch(rows[0][0]):
        return
    numbers = np.array([[float(row[0]), float(row[at])] for row in rows[1:] if len(row) > at])
    yield Curve("programs", str(file), numbers[:, 0], numbers[:, 0].max() / numbers[:, 1])


def of_machine(file: Path) -> Iterator[Curve]:
    """Yield the bandwidth curves of a machine file."""
    measured = yaml.safe_load(file.read_text(encoding="utf-8"))["benchmarks"]["measurements"]
    for level, by_threads in measured.items():
        one = by_threads.get(1) if level != "L1" else None
        for kernel, values in (one or {}).get("results", {}).items():
            rates = np.array([float(str(value).split()[0]) for value in values])
            yield Curve(
                f"bandwidth, {level}", f"{file.stem} {level} {kernel}", np.array(one["cores"], float), 1 / rates
            )


def of_summary(file: Path) -> Iterator[Curve]:
    """Yield the curve of the mean times in a summary."""
    rows = [line.split(",") for line in file.read_text(encoding="utf-8").splitlines() if line[:1].isdigit()]
    numbers = np.array([[float(row[0]), float(row[2].split()[0])] for row in rows if len(row) == LEAST])
    yield Curve("programs", file.name, numbers[:, 0], numbers[:, 1])


def of_pair(file: Path) -> Iterator[Curve]:
    """Yield the curve of a pair."""
    measured = tomllib.loads(file.read_text(encoding="utf-8"))["measured"]
    yield Curve("programs", file.name, np.array(measured["n"], float), np.array(measured["time_s"], float))


def of_file(file: Path) -> Iterator[Curve]:
    """Yield the curves of *file*."""
    if file.suffix == ".csv":
        named = file.read_text(encoding="utf-8-sig").split(",", 1)[0]
        return of_rates(file) if COUNTS.fullmatch(named.strip()) else of_columns(file)
    return {".yml": of_machine, ".agg": of_summary, ".toml": of_pair}[file.suffix](file)


def tested(n: np.ndarray, times: np.ndarray) -> tuple[bool, float, float]:
    """Return whether the interval covers the time at the largest N, its relative width, and its midpoint's error."""
    shown = n < n.max()
    together = averaged(n[shown], condense(times[None, shown, None]))
    assert together is not None
    low, high = (float(end[0]) for end in together.band(np.array([n.max()]), 0.95, 1.0))
    true = float(times[~shown].mean())
    return low <= true <= high, (high - low) / true, abs((low + high) / 2 / true - 1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--powers", action="store_true")
    given = parser.parse_args()
    found: dict[str, list[tuple[bool, float, float]]] = {}
    seen = set()
    for curve in (curve for file in given.files for curve in of_file(file)):
        kept = (np.log2(curve.n) % 1 == 0) | (curve.n == curve.n.max()) | (not given.powers)
        order = np.argsort(curve.n[kept], kind="stable")
        n, times = curve.n[kept][order], curve.times[kept][order]
        values = (tuple(n), tuple(times.round(12)))
        if len(np.unique(n)) >= LEAST and curve.name not in seen and values not in seen:
            seen |= {curve.name, values}
            found.setdefault(curve.group, []).append(tested(n, times))
    print("| curves | of | hold % | width, median | error, median |")
    print("| --- | --- | --- | --- | --- |")
    for name, rows in [*sorted(found.items()), ("all", [row for part in found.values() for row in part])]:
        held, width, error = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
        cells = (f"{100 * held.mean():.0f}", f"{np.median(width):.2f}", f"{np.median(error):.3f}")
        print(f"| {name} | {len(rows)} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
