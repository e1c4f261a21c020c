"""The time before a large executable starts to simulate, in its first and second run, beside objdump.

    python benchmarks/speed/large_executable.py [--files 6] [--functions 43] [--machine server-2x32]

The program is generated: a C++ template with a vector, a sort and a switch, instantiated once for each number. With 6
files of 43 instances, it has 258 instances and about 19 MB, of which a run would execute only a few. Compiling it takes
about three minutes. A run makes the block table and the line table (*describing*) and the block times for the machine
(*timing*); the second run finds both in the cache. On a machine with a pipeline, a run also makes a build without
hooks, which is not measured here. Figures are processor seconds, with wall-clock seconds in brackets. `objdump -d`
disassembles the same code.
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
import sys, time
from pathlib import Path
from scalegraph import machine
from scalegraph.control import adopt
from scalegraph.link.timing import timed_blocks
on = machine.load(sys.argv[2])
for step in ("describing", "timing"):
    began = time.process_time(), time.perf_counter()
    if step == "describing":
        build = adopt(sys.argv[1])
    else:
        timed_blocks(build, on, None)
    print(f"{step} {time.process_time() - began[0]:.1f} ({time.perf_counter() - began[1]:.1f})", end="  ")
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
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        where = Path(directory)
        write(asked.files, asked.functions, where)
        compiling = [sys.executable, "-c", START, "-O2", "-g"]
        sources = sorted(path.name for path in where.glob("*.cpp"))
        for source in sources:
            told([*compiling, "-c", source], where)
        told([*compiling, *(name.replace(".cpp", ".o") for name in sources), "-o", "program"], where)
        print(f"executable: {(where / 'program').stat().st_size / 1e6:.1f} MB, load {os.getloadavg()[0]:.1f}")
        for number in ("first", "second"):
            text, cpu, clock = told([sys.executable, "-c", RUN, "program", asked.machine], where)
            print(f"{number} run: {text} including start and imports {cpu:.1f} ({clock:.1f})")
        _, cpu, clock = told(["/bin/sh", "-c", "objdump -d program > /dev/null"], where)
        print(f"objdump -d: {cpu:.1f} ({clock:.1f})")


if __name__ == "__main__":
    main()
