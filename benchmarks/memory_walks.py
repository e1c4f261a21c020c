"""Compare walks through memory, or loops, on this host and simulated on the machine file calibrated from it.

    scalegraph machines calibrate -o host.toml && python benchmarks/memory_walks.py host.toml
    python benchmarks/memory_walks.py host.toml --source benchmarks/loops.c

Each walk (memory_walks.c) has one bottleneck: latency, the number of outstanding misses, the prefetcher, or arithmetic.
The calibration measures walks like the random ones, and none of the others. Prints the nanoseconds of a step (the
minimum over --repeat repetitions) and the ratio of simulated to native. Nothing is asserted. The loops of loops.c keep
their data in the first-level cache; they are limited by dependency chains, execution units, branches and the overlap of
successive iterations.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from scalegraph import control
from scalegraph import machine as machines
from scalegraph.base.run import RunPoint
from scalegraph.link import Job, Limits, Simulated

SOURCE = Path(__file__).with_suffix(".c")
SCALAR = ("-O2", "-fno-tree-vectorize", "-fno-tree-slp-vectorize")


def steps(text: str) -> dict[str, float]:
    """Return the nanoseconds of a step by walk, from the program's output."""
    return {name: float(ns) for name, ns in (line.split(";") for line in text.splitlines() if ";" in line)}


def native(source: Path, repeat: int) -> dict[str, float]:
    """Return the nanoseconds of a step by walk of *source* on this host."""
    with tempfile.TemporaryDirectory() as place:
        program = str(Path(place) / "walks")
        subprocess.run(["gcc", *SCALAR, str(source), "-o", program], check=True)
        return steps(subprocess.run([program, str(repeat)], check=True, capture_output=True, text=True).stdout)


def simulated(source: Path, machine: machines.Machine) -> dict[str, float]:
    """Return the same simulated on *machine*, by the simulated clock; the first repetition warms the caches."""
    program = control.build([source], cflags=SCALAR)
    record = Simulated().run(Job(program, machine, RunPoint(processors=1), ("3",), limits=Limits(time_s=600)))
    if record.status != "ok":
        raise SystemExit(f"{source.name}: {record.message}")
    return steps(record.stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("machine", help="machine file written by `scalegraph machines calibrate`")
    parser.add_argument("--source", type=Path, default=SOURCE, help="program with the walks or loops")
    parser.add_argument("--repeat", type=int, default=25, help="repetitions of each walk on this host")
    chosen = parser.parse_args()
    here, there = native(chosen.source, chosen.repeat), simulated(chosen.source, machines.load(chosen.machine))
    print("| walk or loop | here (ns per step) | simulated | ratio |\n| --- | --- | --- | --- |")
    for name, ns in here.items():
        print(f"| {name} | {ns:.2f} | {there[name]:.2f} | {there[name] / ns:.2f} |")


if __name__ == "__main__":
    main()
