"""Compare measurements on real machines with simulation: bandwidth, latency, barriers, messages, programs.

    python benchmarks/reality.py                          # all tables of benchmarks/reality except programs
    python benchmarks/reality.py xeon-6148 --all-cores    # these tables, at every number of cores
    python benchmarks/reality.py --kind program --programs DIRECTORY  # all pairs: third-party programs, fetched by git
    python benchmarks/reality.py my-pair.toml --programs DIRECTORY    # a pair of your own
    python benchmarks/reality.py --keep FILE.json --pictures docs/images

A table (benchmarks/reality/*.toml; its keys are defined in `reality_tables.py`) names its source, its machine and its
doubts. Our kernels (benchmarks/reality/kernels), or the program of a pair, are simulated on that machine. The script
prints measured and simulated values side by side, with the error of each, the mean absolute error and the worst. Every
table is printed, including runs that fail and pairs that do not fit a small computer, with the reason. Nothing is
asserted, and no value of a machine is fitted to a program.

Without --all-cores, one core, half and all of them are simulated; of a pair, the N that it names. --keep FILE.json
saves the results; a later call with the same file continues from there, and --pictures draws all of them. --programs is
the directory with the sources of the pairs, each in a directory REPOSITORY-COMMIT (the commit's first twelve digits),
which is fetched if it is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import reality_runs as runs
import reality_tables as tables

from scalegraph.base.errors import ScaleGraphError

KINDS = tuple(get_args(kind.model_fields["kind"].annotation)[0] for kind in get_args(tables.AnyTable))


LEVELS = get_args(tables.Level)


class Kept:
    """Results by table, saved in a file if one is named; existing results are reused."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.found: dict[str, dict[str, Any]] = {}
        if path is not None and path.exists():
            self.found = json.loads(path.read_text(encoding="utf-8"))

    def put(self, name: str, result: dict[str, Any]) -> None:
        """Save the *result* of table *name*."""
        self.found[name] = result
        if self._path is not None:
            self._path.write_text(json.dumps(self.found, indent=1) + "\n", encoding="utf-8")


def computed(table: tables.AnyTable, chosen: argparse.Namespace) -> dict[str, Any]:
    """Simulate *table*; return its points and, if some are missing, the reason."""
    counts = (lambda numbers: numbers) if chosen.all_cores else runs.few
    points: list[runs.Point] = []
    failure, start = "", time.monotonic()
    try:
        for point in runs.compared(
            table, counts, lambda text: print(text, file=sys.stderr, flush=True), chosen.programs
        ):
            points.append(point)  # noqa: PERF402 - keeps the finished points after an error
    except ScaleGraphError as error:
        failure = str(error)
    about = {"kind": table.kind, "title": table.title, "machine": table.machine, "source": table.source}
    return about | {
        "doubts": table.doubts,
        "points": [asdict(point) for point in points],
        "failure": failure,
        "host_s": round(time.monotonic() - start, 1),
    }


def show(name: str, result: dict[str, Any]) -> list[runs.Point]:
    """Print a table with its errors; return its points."""
    points = [runs.Point(**point) for point in result["points"]]
    print(f"\n### {name}: {result['title']}\n\nMachine `{result['machine']}`. Measured: {result['source']}.")
    if result["doubts"]:
        print(f"Doubts: {result['doubts']}.")
    if points:
        print("\n| | at | measured | simulated | unit | error |\n| --- | ---: | ---: | ---: | --- | ---: |")
        for point in points:
            values = f"{point.measured:.4g} | {point.simulated:.4g} | {point.unit}"
            print(f"| {point.series} | {point.at} | {values} | {100 * point.error:+.0f} % |")
        print(f"\n{said(points)}; {result['host_s']:.0f} s here.")
    if result["failure"]:
        print(f"\n{'Not complete' if points else 'Not run'}: {result['failure']}.")
    return points


def said(points: Iterable[runs.Point]) -> str:
    """Summarise the errors in words; for programs, those of the speedups and of the time on one processor."""
    everything = list(points)
    speedups = [point for point in everything if point.series == "speedup"]
    if speedups:
        first = [point.error + 1 for point in everything if point.series == "time" and point.at == "1"]
        alone = f"; on one processor {min(first):.2g} to {max(first):.2g} of the measured time" if first else ""
        return f"Speedups: {_errors(speedups)}{alone}"
    return f"Errors: {_errors(everything)}"


def _errors(points: list[runs.Point]) -> str:
    found = runs.summary(points)
    within = ", ".join(f"{100 * share:.0f} % {name}" for name, share in found.items() if name.startswith("within"))
    return f"mean {100 * found['mean']:.0f} %, worst {100 * found['worst']:.0f} %; {within}"


def row(name: str, points: list[runs.Point]) -> str:
    """Return a pair's line in the table of all pairs: speedups by N, their errors, and the time on one processor."""
    curve = [point for point in points if point.series == "speedup"]
    alone = next((point.error + 1 for point in points if point.series == "time" and point.at == "1"), None)
    measured, simulated = (
        ", ".join(f"{point.at}: {getattr(point, which):.3g}" for point in curve) for which in ("measured", "simulated")
    )
    found = runs.summary(curve)
    cells = [f"`{name}`", measured, simulated, f"{100 * found['mean']:.0f} %", f"{100 * found['worst']:.0f} %"]
    return "| " + " | ".join([*cells, "-" if alone is None else f"{alone:.2f}"]) + " |"


def main() -> None:
    """Compute the missing results and print all chosen tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", nargs="*", help="names in benchmarks/reality, or files (default: all but programs)")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only tables of this kind; repeatable")
    parser.add_argument("--level", action="append", choices=LEVELS, help="only data in this memory level; repeatable")
    parser.add_argument("--all-cores", action="store_true", help="simulate every measured number of cores")
    parser.add_argument("--programs", type=Path, metavar="DIRECTORY", help="where third-party programs are, or go")
    parser.add_argument("--keep", type=Path, metavar="FILE.json", help="save results, and reuse those already saved")
    parser.add_argument("--pictures", type=Path, metavar="DIRECTORY", help="draw the curves of all saved results")
    parser.add_argument("--jobs", type=int, default=1, help="number of tables computed at a time")
    chosen = parser.parse_args()
    try:
        found = tables.chosen(chosen.tables, chosen.kind or (), chosen.level or ())
    except ScaleGraphError as error:
        raise SystemExit(str(error)) from error
    if "program" in (chosen.kind or ()) and chosen.programs is None:
        raise SystemExit(
            "--kind program needs --programs DIRECTORY: where the third-party programs are, or are fetched to"
        )
    if not chosen.tables and chosen.programs is None:
        found = {name: table for name, table in found.items() if table.kind != "program"}
    kept = Kept(chosen.keep)
    missing = [name for name in found if name not in kept.found]
    with ThreadPoolExecutor(max(chosen.jobs, 1)) as pool:
        results = pool.map(lambda name: computed(found[name], chosen), missing)
        for name, result in zip(missing, results, strict=True):
            kept.put(name, result)
    by_kind: dict[str, list[runs.Point]] = {}
    curves: list[str] = []
    for name in found:
        points = show(name, kept.found[name])
        by_kind.setdefault(found[name].kind, []).extend(points)
        curves += [row(name, points)] if any(point.series == "speedup" for point in points) else []
    print("\n### All tables\n")
    for kind, points in by_kind.items():
        print(f"- {kind}: {said(points)}" if points else f"- {kind}: no results")
    if curves:
        print("\n| pair | speedup measured | simulated | mean error | worst | time on one |")
        print("| --- | --- | --- | ---: | ---: | ---: |", *curves, sep="\n")
    if chosen.pictures is not None:
        import reality_pictures

        for path in reality_pictures.draw(kept.found, chosen.pictures):
            print(f"drawn: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
