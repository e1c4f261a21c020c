"""The time before a large executable starts to simulate, in its first and second run, beside objdump.

    python benchmarks/speed/large_executable.py [--files 6] [--functions 43] [--machine server-2x32] [--plain] [--whole]

The program is generated: C++ templates over a vector, a sort and a switch, instantiated once for each number. With 6
files of 43 it has 258 instances and about 19 MB, of which a run would execute a few. Compiling it takes some three
minutes. A run makes the block table and the line table (*describing*); with `--plain` it also compiles the program
without hooks (*plain*), as a run on a machine with a pipeline does, and times the blocks with the loops of that build.
Then it simulates the program, which takes next to no time itself, and waits for the times of the functions that it
executes (*running*). With `--whole`, the times of all functions are found before (*timing*), as for a run with a
virtual speedup. The second run finds all of it in the cache; the third one, after the cache has lost what is known of
the program's blocks, finds the times of its functions (*again*). Before the fourth, one of the sources gets one more
line, and the program is built again. Figures are processor seconds of all processes, and
seconds by the clock in brackets; `objdump -d` disassembles the same code. The cache is fresh, but for the simulator
itself.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.library import library

START = "from scalegraph.toolchain.wrapper import cxx; cxx()"
TEMPLATE = """
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>
template <int N> struct Item {
    double key;
    int value[1 + N % 7];
    bool operator<(const Item &other) const { return key < other.key; }
};
template <int N> double work(int n)
{
    std::vector<Item<N>> items;
    for (int i = 0; i < n; i++) {
        Item<N> one{};
        one.key = (i * (N % 13 + 3)) % 101;
        one.value[0] = i;
        items.push_back(one);
    }
    std::sort(items.begin(), items.end());
    double sum = 0;
    for (auto &one : items)
        sum += one.key > N % 50 ? one.key * (N % 5 + 1) : -one.value[0];
    std::vector<double> grid(n * (N % 3 + 1));
    for (size_t i = 1; i + 1 < grid.size(); i++)
        grid[i] = 0.5 * (grid[i - 1] + sum) - grid[i + 1] * N;
    switch (n % 5) {
    case 0: sum += grid[0]; break;
    case 1: sum *= 2; break;
    case 2: sum = std::sqrt(std::fabs(sum)); break;
    case 3: sum -= N; break;
    }
    return sum + std::accumulate(grid.begin(), grid.end(), 0.0);
}
"""
RUN = """
import resource, shutil, sys, time
from dataclasses import replace
from scalegraph import machine
from scalegraph.base.cancel import CancelToken
from scalegraph.base.run import RunPoint
from scalegraph.control import adopt
from scalegraph.link import Job, Simulated
from scalegraph.link.timing import timed_blocks
from scalegraph.runtime.cache import cache_root
on, plain, forms = machine.load(sys.argv[2]), None, sys.argv[3] == "plain"
def spent():
    of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in of), time.perf_counter()
for step in sys.argv[4:]:
    began = spent()
    if step == "describing":
        build = adopt(sys.argv[1])
        build = build if forms else replace(build, plain=None)
    elif step == "plain":
        plain = build.plain(CancelToken())
    elif step == "timing":
        timed_blocks(build, on, plain)
    else:
        if step == "again":
            shutil.rmtree(cache_root() / "known", ignore_errors=True)
            shutil.rmtree(cache_root() / "timing", ignore_errors=True)
        assert Simulated().run(Job(build, on, RunPoint(processors=1))).ok
    cpu, clock = (after - before for after, before in zip(spent(), began))
    print(f"{step} {cpu:.1f} ({clock:.1f})", end="  ")
"""


def write(files: int, functions: int, where: Path) -> None:
    """Write the program into *where*: *files* files with *functions* functions each, and a file with main."""
    for file in range(files):
        instances = ", ".join(f"work<{file * functions + k}>" for k in range(functions))
        (where / f"part{file}.cpp").write_text(f"{TEMPLATE}double (*table{file}[])(int) = {{{instances}}};\n")
    declared = "".join(f"extern double (*table{file}[])(int);\n" for file in range(files))
    calls = "".join(f"    sum += table{file}[n % 3](n);\n" for file in range(files))
    main = f"int main(int n, char **)\n{{\n    double sum = 0;\n{calls}    return sum == 0.5;\n}}\n"
    (where / "main.cpp").write_text(declared + main)


def told(command: Sequence[str], where: Path) -> tuple[str, float, float]:
    """Return the output of *command*, its processor seconds and its wall-clock seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    output = subprocess.run(command, cwd=where, check=True, stdout=subprocess.PIPE, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return output, after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime, time.perf_counter() - began


def main() -> None:
    """Build the program and print the time of each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=6)
    parser.add_argument("--functions", type=int, default=43)
    parser.add_argument("--machine", default="server-2x32")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--whole", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        where = Path(directory)
        write(asked.files, asked.functions, where)
        compiling = [sys.executable, "-c", START, "-O2", "-g"]
        sources = sorted(path.name for path in where.glob("*.cpp"))

        def build(changed: Sequence[str]) -> None:
            for source in changed:
                told([*compiling, "-c", source], where)
            told([*compiling, *(name.replace(".cpp", ".o") for name in sources), "-o", "program"], where)

        build(sources)
        print(f"executable: {(where / 'program').stat().st_size / 1e6:.1f} MB, load {os.getloadavg()[0]:.1f}")
        os.environ["SCALEGRAPH_CACHE"] = str(where / "cache")
        library(find_compiler())
        forms = "plain" if asked.plain else "hooks"
        steps = ["describing", *(["plain"] if asked.plain else []), *(["timing"] if asked.whole else []), "running"]
        for number, more in (("first", steps), ("second", steps), ("third", [*steps[:-1], "again"]), ("fourth", steps)):
            if number == "fourth":
                with (where / sources[-1]).open("a") as stream:
                    stream.write("int more() { return 1; }\n")
                build(sources[-1:])
            text, cpu, clock = told([sys.executable, "-c", RUN, "program", asked.machine, forms, *more], where)
            print(f"{number} run: {text} with start and imports {cpu:.1f} ({clock:.1f})")
        _, cpu, clock = told(["/bin/sh", "-c", "objdump -d program > /dev/null"], where)
        print(f"objdump -d: {cpu:.1f} ({clock:.1f})")


if __name__ == "__main__":
    main()
