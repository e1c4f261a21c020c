"""Host instructions per transaction of the memory system for each kind of network, counted by callgrind.

    python benchmarks/transactions.py [--machine ksr1 ...] [--program sor.c --arguments 512 8 --less 512 4]

In transactions.c, cache lines bounce between pairs of processors that are half a machine apart. Each machine runs
twice, with few rounds and with many. The figures are the additional instructions of the second run divided by its
additional transactions, so they exclude the program's start and end. A transaction is a request that leaves the private
caches: a fetch or an upgrade. The columns are parts of the runtime, assigned by the source file of each instruction;
the last column has the program and the C library. --lines also prints the most expensive source lines.

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

COLUMNS = 3  # columns of a cost line in callgrind's output: address, line, instructions
ROUNDS = ("10", "30")
# One machine for each kind of network; on ksr1, pairs on one ring and pairs on two.
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
    """The transactions of a run, and its host instructions by source file and line."""

    transactions: int
    lines: Counter[tuple[str, int]]


def read_callgrind(path: Path) -> Counter[int]:
    """Return the instructions at each code address from callgrind's file; calls do not include their callees."""
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
    """Return the instructions of each source line of *executable*; callgrind cannot find the lines itself."""
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
    """Write *text* as an executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def choose_compiler() -> None:
    """Make builds of the runtime include line information, and place its heaps where callgrind leaves room.

    The compiler is a script with a fixed path, so that its builds are found in the cache later.
    """
    usual = os.environ.get("SCALEGRAPH_CC", "gcc")
    wrapped = script(cache_root() / "compiler-of-benchmarks", f'exec {usual} "$@" -g -DSG_BASE=0x10000000000ull')
    os.environ["SCALEGRAPH_CC"] = str(wrapped)


def count(built: Build, machine: str, processors: int, arguments: tuple[str, ...], place: Path) -> Counted:
    """Run *built* under callgrind in *place*."""
    out = place / "callgrind.out"
    tool = f"valgrind --tool=callgrind --callgrind-out-file={out} --dump-instr=yes"
    # The program normally re-executes itself, which would escape callgrind; SCALEGRAPH_EXEC says that it already has.
    starter = script(place / "start", f'shift\nprogram=$1\nshift 2\nSCALEGRAPH_EXEC=1 exec {tool} "$program" "$@"')
    point, limits = RunPoint(processors=processors), Limits(time_s=1800)
    loaded = machines.load(machine)
    record = Simulated().run(Job(replace(built, launcher=starter), loaded, point, arguments, limits=limits))
    if not record.ok:
        raise SystemExit(f"{machine}, {processors} processors: {record.message}")
    return Counted(record.misses or 0, by_line(read_callgrind(out), built.executable))


def parts_of(lines: Counter[tuple[str, int]]) -> dict[str, int]:
    """Return the instructions by part of the runtime, and the rest."""
    parts = dict.fromkeys([*PARTS, "rest"], 0)
    for (file, _), instructions in lines.items():
        parts[next((part for part, pattern in PARTS.items() if re.search(pattern, file)), "rest")] += instructions
    return parts


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", action="append", help="only the cases of this machine; repeatable")
    parser.add_argument("--program", help="a shipped program instead of transactions.c, such as sor.c")
    parser.add_argument("--arguments", nargs="*", default=[ROUNDS[1]])
    parser.add_argument("--less", nargs="*", default=[ROUNDS[0]], help="arguments of the shorter run")
    parser.add_argument("--lines", type=int, default=0, metavar="N", help="print the N most expensive lines")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is not installed. On Debian: apt-get install valgrind")
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
