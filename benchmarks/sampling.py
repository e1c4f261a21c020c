"""Sampled runs of long programs beside whole ones: how much faster, how far off, and whether the intervals hold.

    python benchmarks/sampling.py [--machine ksr1] [--processors 64] [--program NAME ...] [--schedule static]

The twelve programs of `speed_and_size.py`, with so many iterations, or so large a problem where these follow from the
size, that the whole run takes some seconds. Prints one row for each and asserts nothing:

- processor time of the host, whole and sampled (user and system, of one run each), and the ratio;
- part of the visits of phases that were skipped;
- the error of the simulated time in per cent, and half the width of its interval of 95 %;
- the error of the misses in per cent, and half the width of theirs;
- of the categories that take more than 1 % of the processors' time how many lie in their intervals.

Below the table: why programs were not sampled. *--schedule* is for loops with ``schedule(runtime)``.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

from scalegraph import machine
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.sampling import SAMPLES
from scalegraph.control import build
from scalegraph.link import Build, Job, Limits, Simulated

ROOT = Path(__file__).parent.parent
PROGRAMS = {
    "ge2-owner": ("ge-owner.c", "1000"),
    "billiard": ("billiard.c", "20000", "10000"),
    "apsp": ("apsp.c", "500", "parallel"),
    "adjoint": ("adjoint.c", "110"),
    "quicksort": ("quicksort.c", "2000000", "5000"),
    "cholesky": ("cholesky.c", "191"),
    "closure": ("closure.c", "600", "random"),
    "jacobi": ("jacobi.c", "1024", "300"),
    "matmul": ("matmul.c", "256"),
    "rarefied": ("rarefied.c", "40000", "80"),
    "sor": ("sor.c", "1024", "100"),
    "water": ("water.c", "512", "60"),
}
_MATTERS = 0.01  # of the processors' time


@dataclass(frozen=True)
class Compared:
    """A whole run and a sampled one of the same program."""

    whole: RunRecord
    sampled: RunRecord

    @property
    def times_as_fast(self) -> float:
        """Host's processor time of the whole run over that of the sampled one."""
        return (self.whole.host_cpu_s or math.nan) / (self.sampled.host_cpu_s or math.nan)

    def error(self, name: str) -> tuple[float, float]:
        """Return by how much the estimate of *name* differs, and half its interval, in per cent of the whole run's."""
        width = self.sampled.sampled.intervals.get(name, 0.0) if self.sampled.sampled else 0.0
        real, found = _value(self.whole, name), _value(self.sampled, name)
        return (100 * (found / real - 1), 100 * width / real) if real else (0.0, 0.0)

    def categories_inside(self) -> tuple[int, int]:
        """Return how many of the categories that matter lie in their intervals, and how many there are."""
        least = _MATTERS * self.whole.processor_cycles
        errors = [self.error(name) for name, cycles in self.whole.categories.items() if cycles >= least]
        return sum(abs(error) <= width for error, width in errors), len(errors)


def _value(record: RunRecord, name: str) -> float:
    if name == "time_cycles":
        return float(record.time_cycles or 0)
    return float(record.categories.get(name, record.counters.get(name, 0)))


def compared(program: Build, machine_name: str, processors: int, arguments: tuple[str, ...], schedule: str) -> Compared:
    """Run *program* as a whole and sampled."""
    found = []
    for collect in ((), (SAMPLES,)):
        job = Job(
            program,
            machine.load(machine_name),
            RunPoint(processors=processors),
            arguments,
            limits=Limits(time_s=1800),
            schedule=schedule,
            collect=collect,
        )
        record = Simulated().run(job)
        if not record.ok:
            raise SystemExit(f"{program.program}: {record.message}")
        found.append(record)
    if found[0].stdout != found[1].stdout:
        print(f"{program.program}: the sampled run printed something else", file=sys.stderr)
    return Compared(*found)


def _row(name: str, pair: Compared) -> str:
    sampled = pair.sampled.sampled
    assert sampled is not None
    cells = [name, f"{pair.whole.host_cpu_s:.2f}", f"{pair.sampled.host_cpu_s:.2f}"]
    if sampled.skipped:
        inside, all_of_them = pair.categories_inside()
        cells += [f"{pair.times_as_fast:.1f}", f"{100 * sampled.skipped / sampled.visits:.0f} %"]
        cells += [text for name in ("time_cycles", "misses") for text in _error(*pair.error(name))]
        cells += [f"{inside} of {all_of_them}"]
    else:
        same = pair.whole.time_cycles == pair.sampled.time_cycles
        cells += ["–", "0 %", "0" if same else "differs", "–", "0" if same else "differs", "–", "–"]
    return f"| {' | '.join(cells)} |"


def _error(error: float, width: float) -> tuple[str, str]:
    return f"{error:+.2f}", f"{width:.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", default="ksr1")
    parser.add_argument("--processors", type=int, default=64)
    parser.add_argument("--program", action="append", choices=list(PROGRAMS), dest="programs")
    parser.add_argument("--schedule", default="")
    options = parser.parse_args()
    print(f"{options.processors} processors of {options.machine}; host's seconds of processor time, one run each")
    print("| program | whole s | sampled s | x | skipped | time % | ± | misses % | ± | categories inside |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    pairs: dict[str, Compared] = {}
    for name in options.programs or PROGRAMS:
        source, *arguments = PROGRAMS[name]
        program = build([ROOT / "resources" / "programs" / source], ldflags="-lm")
        pairs[name] = compared(program, options.machine, options.processors, tuple(arguments), options.schedule)
        print(_row(" ".join((name, *arguments)), pairs[name]), flush=True)
    ratios = [pair.times_as_fast for pair in pairs.values() if pair.sampled.estimated]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean of the {len(ratios)} that were sampled: {mean:.1f} times as fast")
    for name, pair in pairs.items():
        if pair.sampled.sampled and pair.sampled.sampled.why:
            print(f"{name}: {pair.sampled.sampled.why}")


if __name__ == "__main__":
    main()
