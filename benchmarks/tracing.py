"""The cost of tracing a simulated run: host time, size of the trace, conversion time.

    python benchmarks/tracing.py [--machine ksr1] [--processors 64] [--repeat 3]
        [--program NAME ...] [--interval CYCLES]

Prints for each program the processor time (user and system) of the simulated run without and with a trace, and the
ratio; the number of events that the runtime wrote; the bytes per row of the finished trace; and the conversion time.
Runs with and without a trace alternate, and the smallest time of the repetitions counts. Asserts only that the
simulated time is the same, because the figures depend on the host.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scalegraph import machine
from scalegraph.base.cancel import CancelToken
from scalegraph.control import build
from scalegraph.link import process, tracing
from scalegraph.link.build import Build
from scalegraph.machine import Machine
from scalegraph.runtime.format import TRACE_HEADER, TRACE_RECORD
from scalegraph.runtime.results import read_result, write_config
from scalegraph.runtime.trace import write_trace

ROOT = Path(__file__).parent.parent
PROGRAMS = {
    "ge-owner": ("500",),
    "billiard": ("20000", "1000"),
    "quicksort": ("2000000", "5000"),
    "sor": ("512", "8"),
    "cholesky": ("191",),
    "water": ("512", "2"),
}


@dataclass(frozen=True)
class Cost:
    """A run's processor time and simulated cycles; for a traced run also its records and the finished trace."""

    cpu_s: float
    cycles: int
    records: int = 0
    rows: int = 0
    bytes: int = 0
    conversion_s: float = 0.0


def one(program: Build, on: Machine, processors: int, arguments: Sequence[str], interval: int | None) -> Cost:
    """Run once with a trace that sums shares over *interval* cycles, or without a trace if *interval* is None."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        raw, out = place / tracing.RAW, place / "trace.sgtrace"
        values = {
            **on.runtime_config(),
            "run.processors": str(processors),
            "run.arena_bytes": str(2**30),
            "run.stack_bytes": str(2**20),
            "run.quantum_cycles": "1000",
            "run.result_path": str(place / "result"),
            "run.blocks_path": str(program.blocks),
        }
        if interval is not None:
            values |= {"trace.file": str(raw), "trace.interval": str(interval)}
        write_config(place / "config", values)
        command = process.Command(
            launcher=program.launcher,
            executable=program.executable,
            arguments=[program.program, *arguments],
            env={**os.environ, "SCALEGRAPH_CONFIG": str(place / "config")},
        )
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process.run(command, time_s=600, output_bytes=2**20, cancel=CancelToken())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        result = read_result(place / "result")
        if result.meta["status"] != "ok":
            raise SystemExit(f"{program.program}: {result.meta['message']}")
        cycles = int(result.meta["time_cycles"])
        if interval is None:
            return Cost(cpu, cycles)
        start = time.perf_counter()
        written = write_trace(raw, out, regions=program.regions, result=result)
        seconds = time.perf_counter() - start
        records = (raw.stat().st_size - TRACE_HEADER.itemsize) // TRACE_RECORD.itemsize
        return Cost(cpu, cycles, records, sum(written.rows.values()), out.stat().st_size, seconds)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", default="ksr1")
    parser.add_argument("--processors", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--interval", type=int, default=0, help="cycles; 0: 1/2,000 of the simulated time")
    parser.add_argument("--program", action="append", choices=list(PROGRAMS), dest="programs")
    options = parser.parse_args()
    on = machine.load(options.machine)
    print(f"{options.processors} processors of {options.machine}; processor time, fastest of {options.repeat} runs")
    print("program     off s    on s  ratio    records       rows  bytes/row  conversion s")
    for name in options.programs or PROGRAMS:
        program = build([ROOT / "resources" / "programs" / f"{name}.c"], ldflags="-lm")
        off: list[Cost] = []
        traced: list[Cost] = []
        for _ in range(options.repeat):
            off.append(one(program, on, options.processors, PROGRAMS[name], None))
            interval = options.interval or max(1000, off[0].cycles // 2000)
            traced.append(one(program, on, options.processors, PROGRAMS[name], interval))
        if {cost.cycles for cost in (*off, *traced)} != {off[0].cycles}:
            raise SystemExit(f"{name}: the simulated time depends on the trace")
        least, most = min(cost.cpu_s for cost in off), min(cost.cpu_s for cost in traced)
        last = traced[-1]
        print(
            f"{name:<10} {least:>6.3f} {most:>7.3f} {most / least:>6.2f} {last.records:>10,} {last.rows:>10,}"
            f" {last.bytes / last.rows:>10.1f} {min(cost.conversion_s for cost in traced):>13.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
