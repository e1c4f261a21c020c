"""Compare small vectorised loops on this host and simulated on the machine file calibrated from it.

    scalegraph machines calibrate -o host.toml && python benchmarks/vector_loops.py host.toml

The loops (vector_loops.c) work on data in the first-level cache, so that only computation determines the time. Each set
of compiler flags is measured and simulated; *scalar* is without vectorisation. Prints the nanoseconds per element (the
minimum over --repeat repetitions), the ratio of simulated to native, and the mean error. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

from scalegraph import control
from scalegraph import machine as machines
from scalegraph.base.run import RunPoint
from scalegraph.link import Job, Limits, Simulated

SOURCE = Path(__file__).with_suffix(".c")
BUILDS = {
    "-O3 scalar": ("-O3", "-fno-tree-vectorize", "-fno-tree-slp-vectorize"),
    "-O3": ("-O3",),
    "-O3 -ffast-math": ("-O3", "-ffast-math"),
    "-O3 -march=native": ("-O3", "-march=native"),
    "-O3 -march=native -ffast-math": ("-O3", "-march=native", "-ffast-math"),
}


def elements(text: str) -> dict[str, float]:
    """Return the nanoseconds per element by loop, from the program's output."""
    return {name: float(ns) for name, ns in (line.split(";") for line in text.splitlines() if ";" in line)}


def native(flags: tuple[str, ...], repeat: int) -> dict[str, float]:
    """Return the nanoseconds per element by loop on this host."""
    with tempfile.TemporaryDirectory() as place:
        program = str(Path(place) / "loops")
        subprocess.run(["gcc", *flags, str(SOURCE), "-o", program], check=True)
        return elements(subprocess.run([program, str(repeat)], check=True, capture_output=True, text=True).stdout)


def simulated(flags: tuple[str, ...], machine: machines.Machine) -> dict[str, float]:
    """Return the same simulated on *machine*, by the simulated clock; the first repetition warms the caches."""
    program = control.build([SOURCE], cflags=flags)
    record = Simulated().run(Job(program, machine, RunPoint(processors=1), ("2",), limits=Limits(time_s=600)))
    if record.status != "ok":
        raise SystemExit(f"{SOURCE.name}: {record.message}")
    return elements(record.stdout)


def main() -> None:
    """Print one table for each set of flags."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("machine", help="machine file written by `scalegraph machines calibrate`")
    parser.add_argument("--repeat", type=int, default=200, help="repetitions of each loop on this host")
    chosen = parser.parse_args()
    machine = machines.load(chosen.machine)
    for name, flags in BUILDS.items():
        here, there = native(flags, chosen.repeat), simulated(flags, machine)
        print(f"\n| {name} | here (ns per element) | simulated | ratio |\n| --- | --- | --- | --- |")
        for loop, ns in here.items():
            print(f"| {loop} | {ns:.3f} | {there[loop]:.3f} | {there[loop] / ns:.2f} |")
        sizes = [max(there[loop] / ns, ns / there[loop]) for loop, ns in here.items()]
        print(f"\nMean error: a factor of {statistics.geometric_mean(sizes):.2f}.")


if __name__ == "__main__":
    main()
