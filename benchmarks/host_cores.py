"""An upper bound on the speedup of one simulated run from a second host core, for each program.

    python benchmarks/host_cores.py [--machine ksr1] [--processors 64] [--program NAME ...]

The memory system's transactions and the choice of the next processor happen in one order, which decides every later
cycle: they are serial. Between two transactions a simulated processor executes its program and accesses its private
caches; only this work could move to other cores. perf samples the share of each kind, which gives two numbers:

- the bound on two cores, 1 / (serial + private / 2), as if handing work over cost nothing;
- the private time between two transactions. Compare it with the time to hand work to another core and get the answer
  back, which this program also measures: two threads set an atomic variable in turn.

Needs perf (Debian: linux-perf). Other work on the host affects the times but not the shares.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from speed_and_size import PROGRAMS
from transactions import by_line, choose_compiler, parts_of, script

from scalegraph import control
from scalegraph import machine as machines
from scalegraph.base.resources import resource_dir
from scalegraph.base.run import RunPoint
from scalegraph.link import Job, Limits, Simulated

SAMPLES_A_SECOND = 2_000
SERIAL = ("protocol", "network", "accounts", "switches")
HANDS_OVER = r"""
#include <pthread.h>
#include <stdio.h>
#include <time.h>
enum { ROUNDS = 2000, SERIES = 200 };
static volatile int turn __attribute__((aligned(128)));
static void *other(void *unused)
{
    for (int round = 0; round < ROUNDS * SERIES; round++) {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == 0)
            ;
        __atomic_store_n(&turn, 0, __ATOMIC_RELEASE);
    }
    return unused;
}
int main(void)
{
    pthread_t thread;
    double least = 1e9;
    pthread_create(&thread, NULL, other, NULL);
    for (int series = 0; series < SERIES; series++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int round = 0; round < ROUNDS; round++) {
            __atomic_store_n(&turn, 1, __ATOMIC_RELEASE);
            while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 0)
                ;
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        double took = ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / ROUNDS;
        least = took < least ? took : least;
    }
    pthread_join(thread, NULL);
    printf("%.0f\n", least);
    return 0;
}
"""


def hand_over_ns(place: Path) -> float:
    """Return the time of a hand-over to another core and back in ns: the smallest mean among 200 series."""
    (place / "hands_over.c").write_text(HANDS_OVER, encoding="utf-8")
    subprocess.run(["gcc", "-O2", "-pthread", "hands_over.c", "-o", "hands_over"], cwd=place, check=True)
    return float(subprocess.run([place / "hands_over"], check=True, capture_output=True, text=True).stdout)


def sampled(name: str, machine: str, processors: int, place: Path) -> tuple[dict[str, int], int]:
    """Run the program *name*; return the samples in each part of the simulator, and the number of transactions."""
    source, *arguments = PROGRAMS[name]
    built = control.build([resource_dir("programs") / source], ldflags=("-lm",))
    data = place / f"{name}.data"
    tool = f"perf record -q -e cpu-clock -F {SAMPLES_A_SECOND} -o {data}"
    starter = script(place / "start", f'shift\nprogram=$1\nshift 2\nSCALEGRAPH_EXEC=1 exec {tool} "$program" "$@"')
    point, limits = RunPoint(processors=processors), Limits(time_s=1800)
    job = Job(replace(built, launcher=starter), machines.load(machine), point, tuple(arguments), limits=limits)
    record = Simulated().run(job)
    if not record.ok:
        raise SystemExit(f"{name}: {record.message}")
    command = ["perf", "script", "-i", str(data), "-F", "ip"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    counts = Counter(int(word, 16) for word in done.stdout.split())
    return parts_of(by_line(counts, built.executable)), record.misses or 0


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", default="ksr1")
    parser.add_argument("--processors", type=int, default=64)
    parser.add_argument("--program", action="append", choices=list(PROGRAMS), dest="programs")
    options = parser.parse_args()
    if shutil.which("perf") is None:
        raise SystemExit("perf is not installed. On Debian: apt-get install linux-perf")
    if (os.cpu_count() or 1) < 2:
        raise SystemExit("This benchmark needs two processors; this computer has one.")
    choose_compiler()
    bounds = []
    with tempfile.TemporaryDirectory() as scratch:
        print(f"{options.processors} processors of {options.machine}; a hand-over and back: ", end="", flush=True)
        print(f"{hand_over_ns(Path(scratch)):.0f} ns")
        print(f"{'program':<10} {'transactions':>12} {'serial':>7} {'private':>8} {'between, ns':>12} {'bound':>6}")
        for name in options.programs or PROGRAMS:
            parts, transactions = sampled(name, options.machine, options.processors, Path(scratch))
            samples = sum(parts.values())
            serial = sum(parts[part] for part in SERIAL) / samples
            between_ns = (1 - serial) * samples / SAMPLES_A_SECOND * 1e9 / max(transactions, 1)
            bounds.append(1 / (serial + (1 - serial) / 2))
            figures = f"{serial:>7.2f} {1 - serial:>8.2f} {between_ns:>12.0f} {bounds[-1]:>6.2f}"
            print(f"{name:<10} {transactions:>12} {figures}", flush=True)
    print(f"{'geometric mean':<53} {statistics.geometric_mean(bounds):>6.2f}")


if __name__ == "__main__":
    main()
