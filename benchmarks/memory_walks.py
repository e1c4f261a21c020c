"""Walks through memory, or loops, on this host, and on the machine that a calibration has made of it, side by side.

    scalegraph machines calibrate -o host.toml && python benchmarks/memory_walks.py host.toml
    python benchmarks/memory_walks.py host.toml --source benchmarks/loops.c

Each walk (memory_walks.c) is limited by one thing: latency, misses under way, the prefetcher, or what is computed.
The calibration measures walks like those at random, and none of the others. Printed are nanoseconds of a step, the
least of so many times (--repeat), and the simulated by the native one. Nothing is asserted. The loops of loops.c have
their data in the first cache: what limits them are chains, units, jumps and how far visits overlap.
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
    """Return nanoseconds by walk, from what the program has printed."""
    return {name: float(ns) for name, ns in (line.split(";") for line in text.splitlines() if ";" in line)}


def native(source: Path, repeat: int) -> dict[str, float]:
    """Return what the walks of *source* take on this host."""
    with tempfile.TemporaryDirectory() as place:
        program = str(Path(place) / "walks")
        subprocess.run(["gcc", *SCALAR, str(source), "-o", program], check=True)
        return steps(subprocess.run([program, str(repeat)], check=True, capture_output=True, text=True).stdout)


def simulated(source: Path, machine: machines.Machine) -> dict[str, float]:
    """Return what they take on *machine*, by the simulated clock; the first time round brings the data in."""
    program = control.build([source], cflags=SCALAR)
    record = Simulated().run(Job(program, machine, RunPoint(processors=1), ("3",), limits=Limits(time_s=600)))
    if record.status != "ok":
        raise SystemExit(f"{source.name}: {record.message}")
    return steps(record.stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("machine", help="file that scalegraph machines calibrate has written")
    parser.add_argument("--source", type=Path, default=SOURCE, help="program with the walks or loops")
    parser.add_argument("--repeat", type=int, default=25, help="times that each walk is measured on this host")
    chosen = parser.parse_args()
    here, there = native(chosen.source, chosen.repeat), simulated(chosen.source, machines.load(chosen.machine))
    print("| walk or loop | here (ns a step) | simulated | ratio |\n| --- | --- | --- | --- |")
    for name, ns in here.items():
        print(f"| {name} | {ns:.2f} | {there[name]:.2f} | {there[name] / ns:.2f} |")


if __name__ == "__main__":
    main()
