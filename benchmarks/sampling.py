"""Sampled runs of long programs beside full runs: the speedup, the error, and whether the intervals cover the truth.

    python benchmarks/sampling.py [--machine ksr1] [--processors 64] [--program NAME ...] [--schedule static]

Runs the twelve programs of `speed_and_size.py` with enough iterations (or a problem large enough) for a full run of
some seconds. Prints one row for each program and asserts nothing:

- the host's processor time (user and system) of one full and one sampled run, and the ratio;
- the share of phase visits that were skipped;
- the error of the simulated time in per cent, and half the width of its 95 % interval;
- the error of the misses in per cent, and half the width of their interval;
- how many of the categories with more than 1 % of the processors' time lie in their intervals.

Below the table, prints why programs were not sampled. *--schedule* is for loops with ``schedule(runtime)``.
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
_MATTERS = 0.01  # share of the processors' time from which a category counts


@dataclass(frozen=True)
class Compared:
    """A full run and a sampled run of the same program."""

    whole: RunRecord
    sampled: RunRecord

    @property
    def times_as_fast(self) -> float:
        """Host processor time of the full run over that of the sampled run."""
        return (self.whole.host_cpu_s or math.nan) / (self.sampled.host_cpu_s or math.nan)

    def error(self, name: str) -> tuple[float, float]:
        """Return the error of *name*'s estimate and half the interval's width, in per cent of the full run's value."""
        width = self.sampled.sampled.intervals.get(name, 0.0) if self.sampled.sampled else 0.0
        real, found = _value(self.whole, name), _value(self.sampled, name)
        return (100 * (found / real - 1), 100 * width / real) if real else (0.0, 0.0)

    def categories_inside(self) -> tuple[int, int]:
        """Return the number of counted categories that lie in their intervals, and the number of counted categories."""
        least = _MATTERS * self.whole.processor_cycles
        errors = [self.error(name) for name, cycles in self.whole.categories.items() if cycles >= least]
        return sum(abs(error) <= width for error, width in errors), len(errors)


def _value(record: RunRecord, name: str) -> float:
    if name == "time_cycles":
        return float(record.time_cycles or 0)
    return float(record.categories.get(name, record.counters.get(name, 0)))


def compared(program: Build, machine_name: str, processors: int, arguments: tuple[str, ...], schedule: str) -> Compared:
    """Run *program* in full and sampled."""
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
        print(f"{program.program}: the sampled run's output differs from the full run's", file=sys.stderr)
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
    print(f"{options.processors} processors of {options.machine}; host processor time in seconds, one run each")
    print("| program | full s | sampled s | x | skipped | time % | ± | misses % | ± | categories inside |")
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
        print(f"geometric mean of the {len(ratios)} sampled programs: {mean:.1f} times as fast")
    for name, pair in pairs.items():
        if pair.sampled.sampled and pair.sampled.sampled.why:
            print(f"{name}: {pair.sampled.sampled.why}")


if __name__ == "__main__":
    main()
