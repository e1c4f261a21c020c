"""The simulator's cost of out-of-order cores: programs on the default machine and on an in-order one.

    python benchmarks/present_cores.py [--machine server-2x32] [--processors 64] [--repeat 3] [--program NAME ...]
        [--fetched DIRECTORY] [--only-first]

The programs are the twelve of the papers and, with ``--fetched``, the six large third-party ones of
``speed/fetched.toml``, which are fetched into DIRECTORY and built there with their own commands.

Prints for each program:

- the processor time in seconds of a run on `in-order-2x32.toml` (beside this file: the default machine before it had
  out-of-order cores) and of a run on the machine, in turn, the fastest of the repetitions; and the ratio of the two;
- for the run on the machine, nanoseconds per memory reference, and mispredicted branches per thousand operations.

Then prints the geometric mean of all ratios, and the wall-clock time of README's first command (`scalegraph simulate
prog.c`, 1 to 64 cores) on both machines. Timing tables are built in other processes, whose time does not count. Asserts
nothing: the figures depend on the host. The goal is a mean of at most 2, better 1.5, and 1.5 for the first command.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from speed.fetched_programs import fetched_programs
from speed_and_size import PROGRAMS

HERE = Path(__file__).parent
ROOT = HERE.parent
IN_ORDER = str(HERE / "in-order-2x32.toml")
# A newcomer's program, as in docs/TUTORIAL.md: a serial set-up, streaming loops, a reduction.
FIRST = """\
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **argument)
{
    int n = atoi(argument[1]);
    double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b), sum = 0;
    for (int i = 0; i < n * n; i++)
        a[i] = i % 97;
    for (int step = 0; step < 10; step++) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < n * n; i++)
            sum += b[i];
    }
    printf("%g\\n", sum);
    return 0;
}
"""


@dataclass(frozen=True)
class Cost:
    """The cost of a run: *cpu_s* is the host's processor time; the other values are from the run's record."""

    cpu_s: float
    references: int
    operations: int
    mispredictions: int


class Program:
    """A program; it is built on construction, a third-party one below *directory* to run on *processors*."""

    def __init__(self, name: str, directory: Path | None, processors: int) -> None:
        from scalegraph import control
        from scalegraph.link import RunOptions

        self.cwd, self.options = None, RunOptions()
        if name in PROGRAMS:
            source, *self.arguments = PROGRAMS[name]
            self.build = control.build([ROOT / "resources" / "programs" / source], ldflags="-lm")
            return
        (fetched,) = fetched_programs([name])
        assert directory is not None
        self.build, self.cwd = fetched.built(directory, processors)
        self.arguments, self.options = list(fetched.arguments(processors)), fetched.options()

    def run(self, machine_name: str, processors: int) -> Cost:
        """Run the program once; return the cost."""
        from scalegraph import machine
        from scalegraph.base.run import RunPoint
        from scalegraph.link import Job, Limits, Simulated

        job = Job(
            self.build,
            machine.load(machine_name),
            RunPoint(processors=processors),
            tuple(self.arguments),
            cwd=self.cwd,
            limits=Limits(time_s=3600),
            options=self.options,
        )
        record = Simulated().run(job)
        if record.status != "ok" or record.host_cpu_s is None:
            raise SystemExit(f"{record.program}: {record.message}")
        counters = record.counters
        references = counters["reads"] + counters["writes"]
        return Cost(record.host_cpu_s, references, counters["ops"], counters["mispredictions"])


def least(program: Program, machines: Sequence[str], processors: int, repeat: int) -> list[Cost]:
    """Return the cheapest of *repeat* runs on each of *machines*; the machines run in turn."""
    runs = [[program.run(name, processors) for name in machines] for _ in range(repeat)]
    return [min((turn[at] for turn in runs), key=lambda cost: cost.cpu_s) for at in range(len(machines))]


def ratios(names: Sequence[str], directory: Path | None, machine: str, processors: int, repeat: int) -> None:
    """Print the table of the programs."""
    print(f"{processors} processors; processor time in seconds, fastest of {repeat} runs")
    print(f"{'program':<12}{'in order':>9}{machine[-12:]:>13}{'ratio':>7}{'ns/reference':>16}{'wrong/1000 ops':>18}")
    found = []
    for name in names:
        before, now = least(Program(name, directory, processors), (IN_ORDER, machine), processors, repeat)
        found.append(now.cpu_s / before.cpu_s)
        reference_ns, wrong = 1e9 * now.cpu_s / now.references, 1000 * now.mispredictions / now.operations
        times = f"{before.cpu_s:>9.3f}{now.cpu_s:>13.3f}{found[-1]:>7.2f}"
        print(f"{name:<12}{times}{reference_ns:>16.1f}{wrong:>18.2f}", flush=True)
    print(f"{'geometric mean of the ratios':<34}{statistics.geometric_mean(found):>7.2f}")


def first_command(machine: str, repeat: int) -> None:
    """Print the wall-clock time of a newcomer's first command on both machines: program in the cache, results not."""
    times: dict[str, list[float]] = {IN_ORDER: [], machine: []}
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "prog.c").write_text(FIRST)
        for turn in range(repeat + 1):
            for name, taken in times.items():
                command = [
                    sys.executable,
                    "-m",
                    "scalegraph.cli.main",
                    "simulate",
                    "prog.c",
                    "--machine",
                    name,
                    "--",
                    "200",
                ]
                state = {"XDG_STATE_HOME": f"{scratch}/{turn}", "PYTHONPATH": str(ROOT)}
                start = time.perf_counter()
                subprocess.run(command, cwd=scratch, check=True, capture_output=True, env={**os.environ, **state})
                taken.append(time.perf_counter() - start)
    before, now = (min(taken[1:]) for taken in times.values())  # the first runs build the program
    print(f"scalegraph simulate prog.c: {before:.2f} s in order, {now:.2f} s on {machine}: {now / before:.2f} times")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", default="server-2x32")
    parser.add_argument("--processors", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=3)
    others = [program.name for program in fetched_programs()]
    parser.add_argument("--program", action="append", choices=[*PROGRAMS, *others], dest="programs")
    parser.add_argument("--fetched", type=Path, metavar="DIRECTORY", help="where the third-party programs are fetched")
    parser.add_argument("--only-first", action="store_true", help="only README's first command")
    options = parser.parse_args()
    directory = options.fetched.resolve() if options.fetched else None
    names = options.programs or [*PROGRAMS, *(others if directory else [])]
    if directory is None and not set(names) <= set(PROGRAMS):
        parser.error(f"{', '.join(others)} need --fetched DIRECTORY")
    if not options.only_first:
        ratios(names, directory, options.machine, options.processors, options.repeat)
    first_command(options.machine, options.repeat)


if __name__ == "__main__":
    main()
