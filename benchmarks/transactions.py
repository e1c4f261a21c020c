"""Instructions of the host for each transaction of the memory system, by kind of network: callgrind counts them.

    python benchmarks/transactions.py [--machine ksr1 ...] [--program sor.c --arguments 512 8 --less 512 4]

Lines go to and fro between pairs of processors (transactions.c), half of a machine apart. Every machine is run twice,
with few rounds and with many; what the second run executes more, divided by the transactions that it makes more, is
printed, so the start of a program and its end are not in it. A transaction is what leaves the private caches: a fetch
or an upgrade. The columns are parts of the runtime, by the source file of each instruction; the program and the C
library are in the last one. With --lines the most expensive source lines are printed, too.

The counts repeat exactly on the same compiler; nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from scalegraph import control
from scalegraph import machine as machines
from scalegraph.base.resources import resource_dir
from scalegraph.base.run import RunPoint
from scalegraph.link import Build, Job, Limits, Simulated
from scalegraph.runtime.cache import cache_root

COLUMNS = 3  # of a line of callgrind: address, line, instructions
ROUNDS = ("10", "30")
# One machine of each kind of network, and on ksr1 pairs on one ring and on two.
CASES = {
    "ring, one level": ("ksr1", 32),
    "ring, two levels": ("ksr1", 64),
    "bus": ("bus-smp", 36),
    "mesh": ("mesh-manycore", 64),
    "multistage": ("cerberus", 64),
    "numa": ("server-2x32-inorder", 64),
    "hypernode": ("convex-exemplar", 64),
}
PARTS = {
    "protocol": r"/memory/",
    "network": r"/network/|sg_calendar",
    "accounts": r"/observe/|sg_account|sg_cost|sg_observer",
    "hooks": r"sg_hooks|sg_reference",
    "switches": r"sg_sched|sg_run_queue|sg_expect|/arch/|sg_runtime",
}


@dataclass
class Counted:
    """Transactions of a run and the instructions of the host, by source file and line."""

    transactions: int
    lines: Counter[tuple[str, int]]


def read_callgrind(path: Path) -> Counter[int]:
    """Return the instructions executed at each code address by callgrind's file; a call counts only as itself."""
    counts: Counter[int] = Counter()
    address, is_call = 0, False
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        words = text.split()
        if text.startswith("calls="):
            is_call = True
        elif len(words) == COLUMNS and text[0] in "0+-*":
            if words[0] != "*":
                address = int(words[0], 16) if words[0].startswith("0x") else address + int(words[0], 0)
            if not is_call:
                counts[address] += int(words[2])
            is_call = False
    return counts


def by_line(counts: Counter[int], executable: Path) -> Counter[tuple[str, int]]:
    """Return the instructions of each source line of *executable*, of which callgrind finds no lines itself."""
    addresses = sorted(counts)
    text = "".join(f"{address:#x}\n" for address in addresses)
    command = ["addr2line", "-e", str(executable)]
    done = subprocess.run(command, input=text, check=True, capture_output=True, text=True)
    lines: Counter[tuple[str, int]] = Counter()
    for address, place in zip(addresses, done.stdout.splitlines(), strict=True):
        file, _, number = place.partition(" ")[0].rpartition(":")
        lines[file, int(number) if number.isdecimal() else 0] += counts[address]
    return lines


def script(path: Path, text: str) -> Path:
    """Write *text* as an executable script of the shell."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def choose_compiler() -> None:
    """Have the runtime built with its source lines, and its heaps where callgrind leaves room.

    The compiler is a script at one place, so that what it built is found in the cache again.
    """
    usual = os.environ.get("SCALEGRAPH_CC", "gcc")
    wrapped = script(cache_root() / "compiler-of-benchmarks", f'exec {usual} "$@" -g -DSG_BASE=0x10000000000ull')
    os.environ["SCALEGRAPH_CC"] = str(wrapped)


def count(built: Build, machine: str, processors: int, arguments: tuple[str, ...], place: Path) -> Counted:
    """Run *built* under callgrind in *place*."""
    out = place / "callgrind.out"
    tool = f"valgrind --tool=callgrind --callgrind-out-file={out} --dump-instr=yes"
    # A program that starts itself anew would leave callgrind: SCALEGRAPH_EXEC says that it has done so.
    starter = script(place / "start", f'shift\nprogram=$1\nshift 2\nSCALEGRAPH_EXEC=1 exec {tool} "$program" "$@"')
    point, limits = RunPoint(processors=processors), replace(Limits(), time_s=1800)
    loaded = machines.load(machine)
    record = Simulated().run(Job(replace(built, launcher=starter), loaded, point, arguments, limits=limits))
    if not record.ok:
        raise SystemExit(f"{machine}, {processors} processors: {record.message}")
    return Counted(record.misses or 0, by_line(read_callgrind(out), built.executable))


def parts_of(lines: Counter[tuple[str, int]]) -> dict[str, int]:
    """Return the instructions of each part of the runtime, and of the rest."""
    parts = dict.fromkeys([*PARTS, "rest"], 0)
    for (file, _), instructions in lines.items():
        parts[next((part for part, pattern in PARTS.items() if re.search(pattern, file)), "rest")] += instructions
    return parts


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", action="append", help="only the cases of this machine; repeatable")
    parser.add_argument("--program", help="a shipped program in place of the lines that go to and fro, as sor.c")
    parser.add_argument("--arguments", nargs="*", default=[ROUNDS[1]])
    parser.add_argument("--less", nargs="*", default=[ROUNDS[0]], help="arguments of the shorter run")
    parser.add_argument("--lines", type=int, default=0, metavar="N", help="print the N most expensive lines")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is not installed: apt-get install valgrind")
    source = resource_dir("programs") / options.program if options.program else Path(__file__).with_suffix(".c")
    choose_compiler()
    built = control.build([source], ldflags=("-lm",))
    print(f"{'network':<18} {'transactions':>12} {'all':>6} " + " ".join(f"{part:>9}" for part in [*PARTS, "rest"]))
    for case, (machine, processors) in CASES.items():
        if options.machine and machine not in options.machine:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            short = count(built, machine, processors, tuple(options.less), Path(scratch))
            long = count(built, machine, processors, tuple(options.arguments), Path(scratch))
        more = long.transactions - short.transactions
        long.lines.subtract(short.lines)
        parts = parts_of(long.lines)
        figures = " ".join(f"{round(parts[part] / more):>9}" for part in parts)
        print(f"{case:<18} {more:>12} {round(sum(parts.values()) / more):>6} {figures}", flush=True)
        for (file, line), instructions in long.lines.most_common(options.lines):
            print(f"    {instructions / more:8.1f} {Path(file).name}:{line}")


if __name__ == "__main__":
    main()
