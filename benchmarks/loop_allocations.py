"""The cost of allocating one chunk of iterations on this host, with the schedules' library and with libgomp alone.

    python benchmarks/loop_allocations.py [--threads 1,2] [--repeat 9] [--schedules 'dynamic;guided;ML'] [--json FILE]

A program with empty loops allocates iterations one by one (``dynamic``) or in chunks that get smaller (``guided``),
with the same calls that gcc generates. It runs with libgomp alone, with the library loaded but no schedule set, and
under each schedule, in turn. For each, the table gives one thread's nanoseconds per allocation (the median of the runs)
and the ratio to libgomp's own time. Schedules that allocate single iterations are compared with libgomp's dynamic
schedule, and those whose chunks get smaller with its guided schedule, where the start of the loop and its barrier take
a large part of the time. Nothing is asserted: the figures depend on the host, the ratios less so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from scalegraph.control import native

SOURCE = r"""
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
bool GOMP_loop_dynamic_start(long, long, long, long, long *, long *);
bool GOMP_loop_dynamic_next(long *, long *);
bool GOMP_loop_guided_start(long, long, long, long, long *, long *);
bool GOMP_loop_guided_next(long *, long *);
void GOMP_loop_end(void);
int main(int argc, char **argv) {
  bool guided = argc > 1 && argv[1][0] == 'g';
  long iterations = guided ? 1000 : 100000, executions = guided ? 4000 : 8, taken = 0;
  int threads = 1;
  double start = omp_get_wtime();
#pragma omp parallel reduction(+ : taken)
  {
    long from, to;
    threads = omp_get_num_threads();
    for (long e = 0; e < executions; e++) {
      bool more = guided ? GOMP_loop_guided_start(0, iterations, 1, 1, &from, &to)
                         : GOMP_loop_dynamic_start(0, iterations, 1, 1, &from, &to);
      while (more) {
        taken++;
        more = guided ? GOMP_loop_guided_next(&from, &to) : GOMP_loop_dynamic_next(&from, &to);
      }
      GOMP_loop_end();
    }
  }
  printf("%g\n", 1e9 * (omp_get_wtime() - start) * threads / (double)taken);
}
"""
ONE_BY_ONE = frozenset(("dynamic", "EA", "LA", "CA", "GA", "AF", "steal", "static_steal"))
ALONE, IDLE = "libgomp alone", "library, no schedule"


def kind_of(schedule: str) -> str:
    """Return the libgomp schedule with which *schedule* is compared."""
    return "dynamic" if schedule.partition(",")[0] in ONE_BY_ONE else "guided"


def alone(program: Path, threads: int, kind: str) -> float:
    """Return the nanoseconds of an allocation by libgomp alone."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))}
    environment = {**kept, "OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}
    done = subprocess.run([program, kind], check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout)


def served(program: native.Native, schedule: str, threads: int, kind: str) -> float:
    """Return the nanoseconds of an allocation with the library under *schedule* (empty: libgomp serves the loop)."""
    done = native.run(program, schedule, threads, [kind])
    if done.exit_code != 0:
        raise SystemExit(f"{schedule}, {threads} threads: {done.stderr}")
    return float(done.stdout)


def measure(threads: list[int], schedules: list[str], repeat: int) -> dict[tuple[str, str, int], list[float]]:
    """Return the nanoseconds of each repetition, by (server, kind of loop, threads)."""
    found: dict[tuple[str, str, int], list[float]] = {}
    with tempfile.TemporaryDirectory() as place:
        source, plain = Path(place) / "allocations.c", Path(place) / "alone"
        source.write_text(SOURCE)
        subprocess.run(["gcc", "-O2", "-fopenmp", str(source), "-o", str(plain)], check=True)
        with native.built([source.name], cwd=Path(place)) as program:
            for _ in range(repeat):
                for count in threads:
                    for kind in ("dynamic", "guided"):
                        found.setdefault((ALONE, kind, count), []).append(alone(plain, count, kind))
                        found.setdefault((IDLE, kind, count), []).append(served(program, "", count, kind))
                    for name in schedules:
                        key = (name, kind_of(name), count)
                        found.setdefault(key, []).append(served(program, name, count, key[1]))
    return found


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--schedules", default="dynamic;guided;TSS;FAC2;ML;EA;steal")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    threads = [int(word) for word in options.threads.split(",")]
    found = measure(threads, options.schedules.split(";"), options.repeat)
    entries = []
    print(f"{'served by':24}{'loop':10}{'threads':>8}{'ns':>10}{'least':>10}{'most':>10}{'ratio':>8}")
    for (name, kind, count), times in found.items():
        ratio = median(times) / median(found[ALONE, kind, count])
        entries.append({"name": name, "loop": kind, "threads": count, "ns": times, "ratio": ratio})
        least, most = min(times), max(times)
        print(f"{name:24}{kind:10}{count:8}{median(times):10.1f}{least:10.1f}{most:10.1f}{ratio:8.2f}")
    if options.json:
        options.json.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
