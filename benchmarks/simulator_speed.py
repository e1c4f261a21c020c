"""Speed of the simulator beside cachegrind and the native program, all in one run.

    python benchmarks/simulator_speed.py [--n 500] [--program ge-owner] [--machine server-2x32] [--repeat 3]

Prints for 1, 16, 64, 256 and 1,024 simulated processors: host seconds (the fastest repetition), memory references per
second, slowdown against the native run with one thread, speed relative to cachegrind on the same program, and cost
relative to one processor. Nothing is asserted: the figures depend on the host, so compare only within one run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent


def best(command: list[str], repeat: int, threads: int = 1) -> float:
    """Return the minimum wall-clock time of *repeat* runs of *command* in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        subprocess.run(command, check=True, capture_output=True, env=environment)
        times.append(time.perf_counter() - start)
    return min(times)


def simulate(source: Path, machine: str, processors: int, arguments: list[str]) -> dict[str, float]:
    """Return the JSON entry of one simulated run."""
    command = [sys.executable, "-m", "scalegraph.cli.main", "simulate", str(source), "--machine", machine]
    command += ["-p", str(processors), "--ldflags=-lm", "--json", "--exact", "--timeout", "600", "--", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    runs = json.loads(done.stdout)["runs"]
    return next(run for run in runs if run["processors"] == processors)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="ge-owner")
    parser.add_argument("--machine", default="ksr1")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--processors", default="1,16,64,256,1024")
    parser.add_argument("arguments", nargs="*", default=["500"])
    options = parser.parse_args()
    source = ROOT / "resources" / "programs" / f"{options.program}.c"
    with tempfile.TemporaryDirectory() as scratch:
        native = f"{scratch}/native"
        subprocess.run(["gcc", "-O2", "-g", "-fopenmp", str(source), "-o", native, "-lm"], check=True)
        native_s = best([native, *options.arguments], options.repeat)
        cachegrind_s = None
        if shutil.which("valgrind"):
            tool = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"]
            cachegrind_s = best([*tool, native, *options.arguments], 1)
    print(f"{options.program} {' '.join(options.arguments)} on {options.machine}; native, one thread: {native_s:.3f} s")
    if cachegrind_s is None:
        print("cachegrind is left out: valgrind is not installed (on Debian: apt-get install valgrind)")
    else:
        print(f"cachegrind: {cachegrind_s:.2f} s")
    print(f"{'N':>5} {'host s':>8} {'M refs/s':>9} {'x native':>9} {'x cachegrind':>13} {'x N = 1':>8}")
    one = None
    for processors in map(int, options.processors.split(",")):
        runs = [simulate(source, options.machine, processors, options.arguments) for _ in range(options.repeat)]
        run = min(runs, key=lambda entry: entry["host_s"])
        host = run["host_s"]
        one = one or host
        faster = f"{cachegrind_s / host:.2f}" if cachegrind_s else "-"
        rate = run["references"] / host / 1e6
        print(f"{processors:>5} {host:>8.3f} {rate:>9.0f} {host / native_s:>9.1f} {faster:>13} {host / one:>8.2f}")


if __name__ == "__main__":
    main()
