"""Run random programs natively and simulated; the results must be the same and the identity must hold.

python -m tests.runtime.run_random_programs --count 1000              with OpenMP
python -m tests.runtime.run_random_programs --count 1000 --threads    with explicit threads
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.library import library
from scalegraph.runtime.trace import write_trace
from scalegraph.traces.checking import check
from scalegraph.traces.reading import read
from tests.runtime import openmp_programs, thread_programs
from tests.runtime.conftest import Outcome, Simulator
from tests.runtime.sanitizing import ENVIRONMENT, complaints, sanitized

UNIT = 20  # programs compiled together, at most
MACHINES = ("ksr1", "cerberus", "server-2x32-inorder")
PROCESSORS = (1, 1, 2, 3, 4, 5, 7, 8, 16, 31, 64)
THREADS = (1, 2, 3, 4, 5, 8, 13, 24)


@dataclass(frozen=True)
class Case:
    """One program and the machine it runs on."""

    source: Callable[[range], str]
    seed: int
    processors: int
    threads: int
    machine: str
    env: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    unit: int = UNIT

    def __str__(self) -> str:
        where = f"{self.threads} threads on {self.processors} of {self.machine}"
        return f"seed {self.seed}: {where} {self.env} {self.settings}"

    @property
    def limited(self) -> dict[str, str]:
        """Return settings with enough stack space for the sanitizers."""
        return {**self.settings, "run.stack_bytes": str(2**20)}


def case_with_openmp(seed: int) -> Case:
    """Return the run of the program with this seed."""
    draw = random.Random(seed * 7919 + 1)
    env = {"OMP_MAX_ACTIVE_LEVELS": str(draw.choice((1, 2, 3, 3))), "OMP_SCHEDULE": draw.choice(("static", "guided,2"))}
    if draw.randrange(4) == 0:
        env["OMP_PROC_BIND"] = draw.choice(("true", "close", "spread,close", "master"))
    if draw.randrange(4) == 0:
        env["SCALEGRAPH_TASK_QUEUE"] = "central"
    if draw.randrange(4) == 0:
        env["OMP_MAX_TASK_PRIORITY"] = "5"
    if draw.randrange(4) == 0:
        env["OMP_CANCELLATION"] = "true"
    settings = {
        "machine.lock": draw.choice(("test_and_set", "ticket", "queue")),
        "machine.barrier": draw.choice(("central", "tree", "hardware", "simple")),
        "machine.barrier_radix": draw.choice(("2", "4")),
        "machine.slice_cycles": draw.choice(("2000", "100000")),
        "run.schedule": env["OMP_SCHEDULE"],
    }
    processors, threads = draw.choice(PROCESSORS), draw.choice(THREADS)
    return Case(openmp_programs.source, seed, processors, threads, draw.choice(MACHINES), env, settings)


def case_with_threads(seed: int) -> Case:
    """Return the run of the program with this seed, mostly with more threads than processors and short time slices."""
    draw = random.Random(seed * 7919 + 2)
    settings = {
        "machine.lock": draw.choice(("test_and_set", "ticket", "queue")),
        "machine.barrier": draw.choice(("central", "tree", "hardware", "simple")),
        "machine.barrier_radix": draw.choice(("2", "4")),
        "machine.slice_cycles": str(draw.choice((100, 300, 700, 1500, 4000, 20000)) + draw.randrange(100)),
        "run.quantum_cycles": draw.choice(("10", "100", "1000", "10000")),
    }
    return Case(thread_programs.source, seed, draw.randint(1, 8), 0, draw.choice(MACHINES), {}, settings)


def unit_of(simulator: Simulator, this: Case) -> str:
    """Return the name of the source with the program of this case, writing it on first use."""
    first = this.seed - this.seed % this.unit
    path = simulator.directory / f"random{first}.c"
    if not path.exists():
        path.write_text(this.source(range(first, first + this.unit)), encoding="utf-8")
    return path.stem


def elsewhere(simulator: Simulator, name: str, letters: int) -> Simulator:
    """Return a simulator with a copy of the program in a directory with a name of that length."""
    place = simulator.directory / ("d" * letters)
    place.mkdir(exist_ok=True)
    program = simulator.build(name)
    for path in (program, program.with_suffix(".blocks")):
        if not (place / path.name).exists():
            shutil.copy(path, place)
    return Simulator(place, simulator.runtime)


def other_fault(simulator: Simulator, this: Case, before: Outcome) -> str:
    """Return how a run in another environment and directory differs from the previous one, or nothing."""
    name, letters = unit_of(simulator, this), 1 + this.seed % 50
    env = {**this.env, **ENVIRONMENT, "MORE": "x" * (this.seed * 37 % 999)}
    outcome = elsewhere(simulator, name, letters).run(
        name, this.processors, on=this.machine, settings=this.limited, args=[str(this.seed)], env=env
    )
    same = all(
        np.array_equal(getattr(before.result, part), getattr(outcome.result, part)) for part in ("costs", "sites")
    )
    return "" if same and before.time == outcome.time else f"{before.time} cycles here, {outcome.time} elsewhere"


def trace_fault(plain: Outcome, traced: Outcome, raw: Path) -> str:
    """Return what is wrong with the trace *raw* of a run that was first run without a trace, or nothing."""
    if not np.array_equal(plain.result.costs, traced.result.costs) or plain.stdout != traced.stdout:
        return "another run with a trace than without"
    out = raw.with_suffix(".sgtrace")
    written = write_trace(raw, out, regions=[], result=traced.result)
    with read(out) as trace:
        report = check(trace)
    return "; ".join([*(note.what for note in written.notes), *(wrong.sentence() for wrong in report.violations)])


def fault(simulator: Simulator, this: Case, traced: bool = False) -> str:
    """Return what is wrong with the simulated run, or nothing; *traced*: including its trace."""
    name, args = unit_of(simulator, this), [str(this.seed)]
    env = {**this.env, **ENVIRONMENT}
    if this.threads > 0:
        env["OMP_NUM_THREADS"] = str(this.threads)
    settings = this.limited
    try:
        expected = simulator.native(name, this.threads, args=args, env=env)
        outcome = simulator.run(name, this.processors, on=this.machine, settings=settings, args=args, env=env)
    except subprocess.TimeoutExpired:
        return f"{this}: no end"
    if outcome.status != "ok" or outcome.returncode != 0:
        return f"{this}: {outcome.status}, {outcome.result.meta['message']}, {outcome.stderr}"
    if said := complaints(outcome.stderr):
        return f"{this}: {said[0]}"
    if outcome.stdout != expected:
        return f"{this}: other results than the native program's"
    if outcome.processor_sums() != [outcome.time] * this.processors:
        return f"{this}: the leaves do not add up to the time"
    if wrong := outcome.blame_fault():
        return f"{this}: {wrong}"
    if "data race" in outcome.result.meta["warnings"]:
        return f"{this}: {outcome.result.meta['warnings']}"
    if this.threads == 0 and (other := other_fault(simulator, this, outcome)):
        return f"{this}: {other}"
    if traced:
        raw = simulator.directory / "trace.raw"
        settings |= {"trace.file": str(raw), "trace.interval": "5000"}
        again = simulator.run(name, this.processors, on=this.machine, settings=settings, args=args, env=env)
        if wrong := trace_fault(outcome, again, raw):
            return f"{this}: {wrong}"
    return ""


def main(arguments: Sequence[str]) -> int:
    """Run; return the exit code: 0 if there are no faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--threads", action="store_true", help="programs with explicit threads instead of OpenMP")
    parser.add_argument("--sanitize", action="store_true", help="build the runtime with gcc's sanitizers")
    parser.add_argument("--trace", action="store_true", help="repeat each run with a trace, and check the trace")
    options = parser.parse_args(arguments)
    case = case_with_threads if options.threads else case_with_openmp
    faults, died, unit = 0, 0, min(UNIT, options.count)
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as beside:
        runtime = sanitized(Path(beside)) if options.sanitize else library(find_compiler())
        if runtime is None:
            parser.error("the compiler has no sanitizers")
        simulator = Simulator(Path(directory), runtime)
        for seed in range(options.first, options.first + options.count):
            try:
                wrong = fault(simulator, replace(case(seed), unit=unit), options.trace)
            except subprocess.CalledProcessError as error:  # libgomp has bugs of its own: nothing to compare with
                died += 1
                print(f"{case(seed)}: the native program failed with exit code {error.returncode}", flush=True)
                continue
            if wrong:
                faults += 1
                print(wrong, flush=True)
            if seed % unit == unit - 1:
                shutil.rmtree(simulator.directory)
                simulator.directory.mkdir()
    print(f"{options.count} programs, {faults} with a fault" + (f", {died} died natively" if died else ""))
    return faults > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
