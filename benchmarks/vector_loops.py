"""Small loops as vector code on this host, and on the machine that a calibration has made of it, side by side.

    scalegraph machines calibrate -o host.toml && python benchmarks/vector_loops.py host.toml

The loops (vector_loops.c) work on data in the first cache, so that only what is computed decides. Each set of flags is
measured and predicted as it is; *scalar* is the first one without vectorisation. Printed are nanoseconds of an element,
the least of so many times (--repeat), the simulated time by the native one, and the mean size of the error. Nothing is
asserted.
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
    """Return nanoseconds by loop, from what the program has printed."""
    return {name: float(ns) for name, ns in (line.split(";") for line in text.splitlines() if ";" in line)}


def native(flags: tuple[str, ...], repeat: int) -> dict[str, float]:
    """Return what the loops take on this host."""
    with tempfile.TemporaryDirectory() as place:
        program = str(Path(place) / "loops")
        subprocess.run(["gcc", *flags, str(SOURCE), "-o", program], check=True)
        return elements(subprocess.run([program, str(repeat)], check=True, capture_output=True, text=True).stdout)


def simulated(flags: tuple[str, ...], machine: machines.Machine) -> dict[str, float]:
    """Return what they take on *machine*, by the simulated clock; the first time round brings the data in."""
    program = control.build([SOURCE], cflags=flags)
    record = Simulated().run(Job(program, machine, RunPoint(processors=1), ("2",), limits=Limits(time_s=600)))
    if record.status != "ok":
        raise SystemExit(f"{SOURCE.name}: {record.message}")
    return elements(record.stdout)


def main() -> None:
    """Print one table for each set of flags."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("machine", help="file that scalegraph machines calibrate has written")
    parser.add_argument("--repeat", type=int, default=200, help="times that each loop is measured on this host")
    chosen = parser.parse_args()
    machine = machines.load(chosen.machine)
    for name, flags in BUILDS.items():
        here, there = native(flags, chosen.repeat), simulated(flags, machine)
        print(f"\n| {name} | here (ns an element) | simulated | ratio |\n| --- | --- | --- | --- |")
        for loop, ns in here.items():
            print(f"| {loop} | {ns:.3f} | {there[loop]:.3f} | {there[loop] / ns:.2f} |")
        sizes = [max(there[loop] / ns, ns / there[loop]) for loop, ns in here.items()]
        print(f"\nMean size of the error: a factor of {statistics.geometric_mean(sizes):.2f}.")


if __name__ == "__main__":
    main()
