"""Speed and memory use of the simulator for five programs of different character, all in one run.

    python benchmarks/speed_and_size.py [--machine ksr1] [--repeat 3] [--program NAME ...] [--all]
        [--no-sweep] [--no-size]

Prints three results. It asserts nothing, because the figures depend on the host:

- for each program on 64 simulated processors: the times in seconds of the simulator, of the native program with one
  thread and of cachegrind on it, the ratios, and their geometric means;
- the peak resident memory of a run with 1,024 processors;
- the speedup of a sweep of independent runs with two workers over one.

The time of a program is the smallest user and system time among the repetitions, which other work on the host disturbs
less than wall-clock time. The sweep needs wall-clock time and an idle host.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPT = str(Path(__file__).resolve())
# All are the papers' programs. The five represent dense elimination, exhaustive search, dynamic programming, a triangle
# of sums, and a task queue with unpredictable branches. The others communicate so much on 64 processors that most of
# the time goes into the memory system.
FIVE = ("ge2-owner", "billiard", "apsp", "adjoint", "quicksort")
PROGRAMS = {
    "ge2-owner": ("ge-owner.c", "500"),
    "billiard": ("billiard.c", "20000", "1000"),
    "apsp": ("apsp.c", "256", "parallel"),
    "adjoint": ("adjoint.c", "110"),
    "quicksort": ("quicksort.c", "2000000", "5000"),
    "cholesky": ("cholesky.c", "191"),
    "closure": ("closure.c", "300", "random"),
    "jacobi": ("jacobi.c", "1024", "30"),
    "matmul": ("matmul.c", "256"),
    "rarefied": ("rarefied.c", "40000", "8"),
    "sor": ("sor.c", "1024", "30"),
    "water": ("water.c", "512", "2"),
}
LARGE = ("ge2-owner", 1024)


@dataclass(frozen=True)
class Used:
    """What a process used: processor time, wall-clock time, peak resident memory; and the references it simulated."""

    cpu_s: float
    wall_s: float
    peak_mib: float
    references: int = 0


def run(command: Sequence[str]) -> Used:
    """Run *command* with one OpenMP thread; return what it used."""
    start = time.perf_counter()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with status {child.returncode}")
    return Used(used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024)


def least(command: Sequence[str], repeat: int) -> float:
    """Return the minimum processor time of *repeat* runs of *command* in seconds."""
    return min(run(command).cpu_s for _ in range(repeat))


def simulate(source: str, machine: str, processors: int, arguments: Sequence[str]) -> Used:
    """Return what one simulated run used; it has its own process, so that the peak memory is only its own."""
    command = [sys.executable, SCRIPT, "--run", source, machine, str(processors), *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Used(**json.loads(done.stdout))


def one_run(source: str, machine_name: str, processors: str, *arguments: str) -> None:
    """Run one point and print what it used as JSON; the child process of `simulate` calls this."""
    from scalegraph import machine
    from scalegraph.base.run import RunPoint
    from scalegraph.control import build
    from scalegraph.link import Job, Limits, Simulated

    program = build([ROOT / "resources" / "programs" / source], ldflags="-lm")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    found = machine.load(machine_name)
    record = Simulated().run(
        Job(program, found, RunPoint(processors=int(processors)), arguments, limits=Limits(time_s=600))
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if record.status != "ok":
        raise SystemExit(f"{source}: {record.message}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    references = sum(record.counters[name] for name in ("reads", "writes"))
    print(json.dumps({"cpu_s": cpu, "wall_s": wall, "peak_mib": after.ru_maxrss / 1024, "references": references}))


def speeds(names: Sequence[str], machine: str, processors: int, repeat: int) -> None:
    """Print the table of ratios."""
    has_cachegrind = shutil.which("valgrind") is not None
    print(f"{processors} processors of {machine}; processor time in seconds, fastest of {repeat} runs")
    if not has_cachegrind:
        print("cachegrind is left out: valgrind is not installed (on Debian: apt-get install valgrind)")
    print("program      native  cachegrind  simulated  M refs/s  x native  x cachegrind")
    to_native, to_cachegrind = [], []
    for name in names:
        source, *arguments = PROGRAMS[name]
        with tempfile.TemporaryDirectory() as scratch:
            native = f"{scratch}/native"
            path = ROOT / "resources" / "programs" / source
            subprocess.run(["gcc", "-O2", "-g", "-fopenmp", str(path), "-o", native, "-lm"], check=True)
            native_s = least([native, *arguments], 2 * repeat)
            tool = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"]
            cachegrind_s = least([*tool, native, *arguments], 1) if has_cachegrind else float("nan")
        used = min((simulate(source, machine, processors, arguments) for _ in range(repeat)), key=lambda u: u.cpu_s)
        to_native.append(used.cpu_s / native_s)
        to_cachegrind.append(cachegrind_s / used.cpu_s)
        print(
            f"{name:<10} {native_s:>8.3f} {cachegrind_s:>11.2f} {used.cpu_s:>10.3f}"
            f" {used.references / used.cpu_s / 1e6:>9.0f} {to_native[-1]:>9.1f} {to_cachegrind[-1]:>13.2f}",
            flush=True,
        )
    means = statistics.geometric_mean(to_native), statistics.geometric_mean(to_cachegrind)
    print(f"{'geometric mean':<50} {means[0]:>9.1f} {means[1]:>13.2f}")


def size(machine: str) -> None:
    """Print the peak memory of a large run."""
    name, processors = LARGE
    source, *arguments = PROGRAMS[name]
    used = simulate(source, machine, processors, arguments)
    text = f"{used.peak_mib:.0f} MiB peak resident memory, {used.wall_s:.1f} s"
    print(f"{name} {' '.join(arguments)} on {processors} processors of {machine}: {text}")


def sweep(machine: str) -> None:
    """Print the speedup of two workers over one for independent runs."""
    from scalegraph.request import Session
    from scalegraph.request.model.parts import Collect
    from scalegraph.request.model.request import MachineChoice, ProgramChoice, Request

    source, *arguments = PROGRAMS["ge2-owner"]
    path = str(ROOT / "resources" / "programs" / source)
    program = ProgramChoice(sources=(path,), args=tuple(arguments), ldflags=("-lm",))
    request = Request(program=program, machine=MachineChoice(name=machine), processors=tuple(range(1, 17)))
    request = request.model_copy(update={"collect": Collect(sample="never")})
    with contextlib.closing(Session(workers=1)) as session:  # builds the program into the cache
        session.submit(request.model_copy(update={"processors": (1,)}), None)
    times = []
    for workers in (1, 2):
        session = Session(workers=workers)
        start = time.perf_counter()
        session.submit(request, None)
        times.append(time.perf_counter() - start)
        session.close()
    text = f"{times[0]:.1f} s with one worker, {times[1]:.1f} s with two: {times[0] / times[1]:.2f} times as fast"
    print(f"sweep of {len(request.processors)} runs: {text}")


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--run"]:
        one_run(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", default="ksr1")
    parser.add_argument("--processors", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--program", action="append", choices=list(PROGRAMS), dest="programs")
    parser.add_argument("--all", action="store_true", help="all programs, not only the five")
    parser.add_argument("--no-sweep", action="store_true")
    parser.add_argument("--no-size", action="store_true")
    options = parser.parse_args()
    speeds(
        list(PROGRAMS) if options.all else options.programs or FIVE, options.machine, options.processors, options.repeat
    )
    if not options.no_size:
        size(options.machine)
    if not options.no_sweep:
        sweep(options.machine)


if __name__ == "__main__":
    main()
