"""The overhead of the monitor for real runs beside other tools, on one program in one run.

    python benchmarks/monitor_overhead.py [--calls 4000000] [--repeats 5] [--json FILE]

The program calls a small function many times. It is built plain, with the monitor (`scalegraph measure`), and with
``-pg`` for gprof and, if installed, for uftrace. The builds run in turn, and the smallest user and system time of each
counts. The cost of an event is the difference from the plain program divided by the number of events: one enter and one
leave for every call.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from scalegraph.control import build

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>

volatile double sink;

double step(double x)
{
    for (int i = 0; i < 3; i++)
        x = x * 0.999 + 1.0;
    return x;
}

int main(int count, char **words)
{
    long calls = count > 1 ? atol(words[1]) : 1000000;
    double x = 0;
    for (long i = 0; i < calls; i++)
        x = step(x);
    sink = x;
    printf("%.6f\n", x);
    return 0;
}
"""


FLAGS = ("-O2", "-g", "-fno-inline")


def cpu_time(command: Sequence[str], place: Path, env: Mapping[str, str] | None = None) -> float:
    """Return the user and system time of *command* and its children in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = {**os.environ, **(env or {})}
    subprocess.run(command, cwd=place, env=whole, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def commands(place: Path, calls: int) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Build the programs in *place*; return the command and its environment variables for each tool."""
    (place / "step.c").write_text(PROGRAM, encoding="utf-8")

    def compiled(name: str, *options: str) -> str:
        subprocess.run(["gcc", *FLAGS, *options, "step.c", "-o", name], cwd=place, check=True)
        return str(place / name)

    monitored = build(["step.c"], cwd=place, builds="host", detail="functions", cflags="-fno-inline").executable
    found = {
        "plain": ([compiled("plain"), str(calls)], {}),
        "monitor": ([str(monitored), str(calls)], {"SCALEGRAPH_MONITOR": str(place / "result")}),
        "gprof (-pg)": ([compiled("profiled", "-pg"), str(calls)], {}),
    }
    if uftrace := shutil.which("uftrace"):
        record = [uftrace, "record", "-d", str(place / "uftrace.data"), compiled("traced", "-pg"), str(calls)]
        found["uftrace record"] = (record, {})
        found["uftrace record --no-event -t 1ms"] = ([*record[:2], "--no-event", "-t", "1ms", *record[2:]], {})
    return found


def measured(calls: int, repeats: int) -> list[dict[str, object]]:
    """Return a row for each tool: the smallest time, and nanoseconds per event."""
    with tempfile.TemporaryDirectory(prefix="scalegraph-overhead-") as name:
        place = Path(name)
        every = commands(place, calls)
        least = dict.fromkeys(every, float("inf"))
        for _ in range(repeats):
            for tool, (command, env) in every.items():
                shutil.rmtree(place / "uftrace.data", ignore_errors=True)
                least[tool] = min(least[tool], cpu_time(command, place, env))
    return [
        {"tool": tool, "time_s": time, "event_ns": (time - least["plain"]) / (2 * calls) * 1e9}
        for tool, time in least.items()
    ]


def main() -> None:
    """Print the table, and write it as JSON if --json names a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=4_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = measured(given.calls, given.repeats)
    print(f"{'tool':34} {'time (s)':>9} {'event (ns)':>11}")
    for row in rows:
        print(f"{row['tool']:34} {row['time_s']:9.3f} {row['event_ns']:11.2f}")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
