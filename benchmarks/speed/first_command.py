"""How long the first command after installing takes, with the objects that a wheel has and without.

    python benchmarks/speed/first_command.py

Builds the wheel with an empty cache, as pip does, and unpacks it with its bytecode. Then it runs `scalegraph simulate
sum.c -p 4` with an empty cache: with the simulator's objects in the wheel, without them, and a second time. Prints
seconds by the clock and of all processors, beside `gcc -O2 -c` of the same sources on all cores. Needs hatchling.
"""

from __future__ import annotations

import compileall
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scalegraph.runtime import library

ROOT = Path(__file__).parents[2]
PROGRAM = """
#include <stdio.h>
int main(void) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 10000; i++)
        sum += i * 0.5;
    printf("%g\\n", sum);
    return 0;
}
"""
START = [sys.executable, "-c", "from scalegraph.cli.main import main; main()"]


def timed(what: str, command: list[str], cwd: Path, cache: Path, package: Path) -> None:
    """Run *command* and print its times."""
    environment = os.environ | {"SCALEGRAPH_CACHE": str(cache), "PYTHONPATH": str(package)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=True)
    said(what, before, began)


def said(what: str, before: resource.struct_rusage, began: float) -> None:
    """Print the times of the children since *before* and *began*."""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{what:<58} {time.monotonic() - began:6.1f} s {used:6.1f} CPU-s", flush=True)


def peer(where: Path) -> None:
    """Time gcc on the simulator's own sources, without ScaleGraph."""
    sources = [path for path in sorted(library.SOURCES.rglob("*.c")) if "launch" not in path.parts]
    sources = [path for path in sources if not {"mpi", "fortran"} & set(path.parts)]
    (where / "sg_standalone.h").write_text("static const char standalone_config[] = {0};\n")
    (where / "sg_schedule_list.h").write_text(library.schedule_list())
    options = ["-std=gnu11", "-D_GNU_SOURCE", "-mpopcnt", "-w", "-include", "sg_names.h", '-DSG_RUNTIME_DIGEST="0"']
    options += [f"-I{where}", *library.include_flags()]

    def one(source: Path) -> None:
        target = where / f"{source.stem}.o"
        subprocess.run(["gcc", "-O2", *options, "-c", str(source), "-o", str(target)], check=True)

    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, sources))
    said(f"gcc -O2 -c of the same {len(sources)} sources", before, began)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        where = Path(name)
        (where / "sum.c").write_text(PROGRAM)
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(where / "dist")]
        timed("wheel, with the simulator compiled", build, ROOT, where / "cache0", ROOT)
        timed("wheel, the simulator compiled already", build, ROOT, where / "cache0", ROOT)
        (wheel,) = (where / "dist").glob("*.whl")
        package = where / "package"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(package)
        compileall.compile_dir(package, quiet=2)
        command = [*START, "simulate", "sum.c", "-p", "4"]
        timed("first command, with the wheel's objects", command, where, where / "cache1", package)
        timed("second command", command, where, where / "cache1", package)
        shutil.rmtree(package / "scalegraph" / "runtime" / "compiled")
        timed("first command, without", command, where, where / "cache2", package)
        peer(where)


if __name__ == "__main__":
    main()
