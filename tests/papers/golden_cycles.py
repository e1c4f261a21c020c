"""Recorded cycles of every shipped program, so that no change of the simulator changes them unnoticed.

Check all (every program, machine and number of processors), or record them again after a change of the model that is
meant to change cycles::

    .venv/bin/python -m tests.papers.golden_cycles
    .venv/bin/python -m tests.papers.golden_cycles --write
    .venv/bin/python -m tests.papers.golden_cycles --write ksr1    # only this machine's
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from scalegraph import control
from scalegraph import machine as machines
from scalegraph.base.run import RunPoint
from scalegraph.link import Build, Job, Simulated
from scalegraph.machine import Machine
from scalegraph.runtime.compiler import find_compiler
from tests.papers.small_inputs import FLAGS, SMALL, source_of

KEPT = Path(__file__).with_suffix(".json")
COUNTS = (1, 4, 64, 256)
MAIN_MACHINE = "ksr1"  # has all of COUNTS

# program -> machine -> processors (as text, because JSON keys are text) -> cycles, references, misses
Golden = dict[str, dict[str, dict[str, list[int]]]]


def names() -> list[str]:
    """Return the names of the machines for which cycles are recorded.

    The programs need shared memory. Machines with a pipeline are left out, because their cycles also depend on how the
    compiler arranges code without hooks.
    """
    found = [machines.load(described.name) for described in machines.available()]
    return sorted(machine.name for machine in found if machine.interconnect is None and not machine.times_blocks)


def other_machine(program: str) -> str:
    """Return the second machine on which the test suite runs *program*; the programs rotate through all machines."""
    others = [name for name in names() if name != MAIN_MACHINE]
    return others[sorted(SMALL).index(program) % len(others)]


def counts(machine: Machine) -> list[int]:
    """Return the numbers of processors for which cycles are recorded, capped at the machine's maximum."""
    return sorted({min(count, machine.max_processors) for count in COUNTS})


def build(program: str) -> Build:
    """Return the built *program*."""
    return control.build([source_of(program)], cflags=FLAGS.get(program, ()), ldflags=("-lm",))


def measured(built: Build, program: str, machine: str) -> Iterator[tuple[str, list[int]]]:
    """Run *program* on *machine*; yield for each number of processors its cycles, references and misses."""
    loaded = machines.load(machine)
    for count in counts(loaded):
        record = Simulated().run(Job(built, loaded, RunPoint(processors=count), SMALL[program]))
        assert record.ok, (program, machine, count, record.message)
        yield str(count), [record.time_cycles or 0, record.references or 0, record.misses or 0]


def kept() -> tuple[str, Golden]:
    """Return the compiler with which the cycles were recorded, and the cycles."""
    read = json.loads(KEPT.read_text(encoding="utf-8"))
    return read["compiler"], read["golden"]


def all_of(programs: Iterable[str], on: Iterable[str]) -> Golden:
    """Return the cycles, references and misses of *programs* on the machines *on*."""
    golden: Golden = {}
    for program in programs:
        built = build(program)
        golden[program] = {machine: dict(measured(built, program, machine)) for machine in on}
        print(program, flush=True)
    return golden


def differences(before: Golden, now: Golden) -> list[str]:
    """Return a line for each run that differs."""
    lines = []
    for program, by_machine in now.items():
        for machine, by_count in by_machine.items():
            known = before.get(program, {}).get(machine, {})
            lines += [
                f"{program} on {machine}, {count} processors: {values} were {known.get(count)}"
                for count, values in by_count.items()
                if known.get(count) != values
            ]
    return lines


def written(golden: Golden) -> str:
    """Return the text of the file with *golden*: one line for each program and machine."""
    programs = []
    for program, by_machine in golden.items():
        rows = [f"   {json.dumps(machine)}: {json.dumps(by_count)}" for machine, by_count in by_machine.items()]
        programs.append(f"  {json.dumps(program)}: {{\n" + ",\n".join(rows) + "\n  }")
    head = f'{{\n "compiler": {json.dumps(find_compiler("c").identity)},\n "golden": {{\n'
    return head + ",\n".join(programs) + "\n }\n}\n"


def main(arguments: list[str]) -> int:
    """Compare or record cycles on the machines named in *arguments*, or on all; return the exit code."""
    compiler, before = kept()
    chosen = [argument for argument in arguments if argument != "--write"]
    now = all_of(sorted(SMALL), chosen or names())
    if "--write" in arguments:
        if chosen:  # the others stay
            now = {program: dict(sorted((before[program] | now[program]).items())) for program in now}
        KEPT.write_text(written(now), encoding="utf-8")
        return 0
    lines = differences(before, now)
    print("\n".join(lines) or f"{sum(len(c) for m in now.values() for c in m.values())} runs, no difference")
    if lines and compiler != find_compiler("c").identity:
        print(f"the recorded cycles belong to another compiler: {compiler}")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
