"""Processor time of scalegraph-gcc beside gcc, for sources of three sizes.

    python benchmarks/speed/compiling.py [--times 5] [--options="-O2 -fopenmp"]

The sources are two shipped programs of 34 and 430 lines, and a generated one of 5,400 lines (300 functions with loops).
Each is compiled to an object. The compilers run in turn; a figure is the processor time of the fastest run, children
included, with the bytecode of ScaleGraph's modules in place, as after an installation. *hooks alone* is gcc with the
options that insert the hooks, and its own assembler: a lower bound for any wrapper.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from scalegraph.base.resources import resource_dir
from scalegraph.runtime.compiler import find_compiler

START = "from scalegraph.toolchain.start import cc; cc()"
FUNCTION = """
static double work_{k}(double *restrict a, const double *restrict b, int n)
{{
    double sum = 0;
    for (int i = 1; i < n - 1; i++) {{
        double v = a[i - 1] * {k}.5 + b[i + 1];
        if (v > {k})
            v = sqrt(v) - b[i] / (a[i] + {k} + 1);
        else if (i % ({k} % 7 + 2) == 0)
            v += fabs(b[i] - a[i]);
        a[i] = v;
        sum += v * v;
    }}
    for (int j = 0; j < {k} % 5 + 2; j++)
        sum += a[j % n] * j;
    return sum;
}}
"""
FUNCTIONS = 300


def large() -> str:
    """Return the text of the generated source."""
    functions = "".join(FUNCTION.format(k=k) for k in range(FUNCTIONS))
    calls = "".join(f"    s += work_{k}(a, b, 1000);\n" for k in range(FUNCTIONS))
    data = "    static double a[1000], b[1000];\n    double s = 0;\n"
    main = f'int main(void)\n{{\n{data}{calls}    printf("%g\\n", s);\n}}\n'
    return f"#include <math.h>\n#include <stdio.h>\n{functions}{main}"


def seconds(command: list[str], where: Path) -> float:
    """Return the processor time of *command*."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(where / "bytecode")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=where, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a line for each source."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--options", default="-O2 -fopenmp")
    options = parser.parse_args()
    words = options.options.split()
    programs, gcc = resource_dir("programs"), find_compiler("c")
    print("source          lines    gcc s  hooks alone s  scalegraph-gcc s  ratio")
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        (where / "large.c").write_text(large())
        for path in (programs / "ge1.c", programs / "cholesky.c", where / "large.c"):
            end = ["-c", str(path), "-o", str(where / "made.o")]
            ways = [
                [*gcc.command, *words, *end],
                [*gcc.command, "-g", *words, *gcc.hooks, *end],
                [sys.executable, "-c", START, *words, *end],
            ]
            seconds(ways[2], where)  # fills the caches of bytecode and of facts about the compiler
            rounds = [[seconds(way, where) for way in ways] for _ in range(options.times)]
            plain, hooks, ours = (min(times) for times in zip(*rounds, strict=True))
            count = len(path.read_text().splitlines())
            print(f"{path.name:14} {count:6} {plain:8.3f} {hooks:14.3f} {ours:17.3f} {ours / plain:6.2f}", flush=True)


if __name__ == "__main__":
    main()
