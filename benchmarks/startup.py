"""Processor time of a short run from the command line, beside that of other tools doing nothing.

    python benchmarks/startup.py [--times 10]

Times `scalegraph simulate sum.c -p 4 --json --no-reference` with a cached build: the whole process with its children
(preprocessor, simulated program). In turn with it, times a Python that imports numpy and, if installed, valgrind
running `true` without a tool. The fastest run counts, because other load only makes runs longer. ScaleGraph is timed
with bytecode, as after an installation, and without, as in a read-only checkout. Also counts the loaded modules.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
#include <stdio.h>
static double table[1000];
int main(void) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; i++)
        sum += table[i] = i;
    printf("%g\\n", sum);
    return 0;
}
"""
START = "from scalegraph.cli.main import main; main()"
COUNT = "import sys; from scalegraph.cli.main import run; run(); print(len(sys.modules), file=sys.stderr)"
ARGUMENTS = ["simulate", "sum.c", "-p", "4", "--json", "--no-reference"]


def seconds(command: list[str], where: str, bytecode: Path | None) -> float:
    """Return the processor time of *command* and its children in seconds; *bytecode* is Python's cache, or None."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"} if bytecode is None else {"PYTHONPYCACHEPREFIX": str(bytecode)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=where, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=10)
    times = parser.parse_args().times
    python = sys.executable
    run = [python, "-c", START, *ARGUMENTS]
    with tempfile.TemporaryDirectory() as where:
        (Path(where) / "sum.c").write_text(PROGRAM)
        made, none = Path(where) / "bytecode", Path(where) / "none"
        rows = {
            "scalegraph, with bytecode": (run, made),
            "scalegraph, no bytecode of its own": (run, None),
            "python -c 'import numpy'": ([python, "-c", "import numpy"], made),
            "python -c pass": ([python, "-c", "pass"], made),
        }
        if shutil.which("valgrind"):
            rows["valgrind --tool=none true"] = (["valgrind", "--tool=none", "true"], none)
        for command, bytecode in rows.values():
            seconds(command, where, bytecode)
        found: dict[str, list[float]] = {name: [] for name in rows}
        for _ in range(times):
            for name, (command, bytecode) in rows.items():
                found[name].append(seconds(command, where, bytecode))
        counted = subprocess.run(
            [python, "-c", COUNT, *ARGUMENTS], cwd=where, capture_output=True, text=True, check=True
        )
    peer = min(found["python -c 'import numpy'"])
    for name, values in found.items():
        middle = sorted(values)[times // 2]
        print(f"{name:36} {min(values):.3f} s, median {middle:.3f} s, {min(values) / peer:.1f} x numpy")
    print(f"modules loaded: {counted.stderr.splitlines()[-1]}")


if __name__ == "__main__":
    main()
