"""Time and memory of simulated MPI programs with thousands of ranks, beside SimGrid's SMPI.

    python benchmarks/speed/many_ranks.py [--ranks 1024,4096,16384] [--machine cluster-hdr] [--smpi 1024]

The programs are those of `messages.py` (20 repetitions of a ring of 1 KiB messages and an 8-byte allreduce; a halo
exchange with arithmetic in between), one that only calls MPI_Init and MPI_Finalize, and one whose ranks have four
threads each that share a loop. The machine models caches, so every memory reference of the halo's arithmetic is
simulated; SMPI executes it natively, on hosts around one switch. The figures are from one run: wall-clock time,
processor time, and the peak resident memory of a process in MiB. ``--smpi N`` is the largest number of ranks for SMPI,
which needs minutes for more. Needs smpicc and smpirun (Debian: libsimgrid-dev); without them, only ScaleGraph is
measured.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import messages

BEGIN_AND_END = messages.BEGIN + "MPI_Finalize(); return 0; }\n"
THREADS = (
    messages.BEGIN
    + r"""
    double sum = 0, all;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 64; i++)
        sum += (double)i * rank;
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""
)
EACH = 4


def run(command: list[str], where: Path) -> str:
    """Run *command*; return its times and memory as part of a table line."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(where / "bytecode")
    with (where / "said").open("w+b") as said:
        begin = time.monotonic()
        child = subprocess.Popen(command, cwd=where, stdout=subprocess.DEVNULL, stderr=said, env=environment)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        if child.returncode != 0:
            last = said.read().decode(errors="replace").strip().splitlines()[-1:]
            return f"  failed: {''.join(last)[:150]}"
    taken = usage.ru_utime + usage.ru_stime
    return f"{time.monotonic() - begin:10.1f} {taken:10.1f} {usage.ru_maxrss / 1024:10.0f}"


def ours(machine: str, processors: int, threads: int = 1) -> list[str]:
    """Return the command that simulates p.c."""
    return [
        sys.executable,
        "-c",
        messages.START,
        "simulate",
        "p.c",
        "--machine",
        machine,
        "-p",
        str(processors),
        "--threads-per-process",
        str(threads),
        "--json",
        "--no-reference",
    ]


def main() -> None:
    """Print a table for each program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", default="1024,4096,16384")
    parser.add_argument("--machine", default="cluster-hdr")
    parser.add_argument("--smpi", type=int, default=1024)
    options = parser.parse_args()
    counts = [int(text) for text in options.ranks.split(",")]
    peer = shutil.which("smpicc") is not None and shutil.which("smpirun") is not None
    if not peer:
        print("SMPI is not installed (Debian: libsimgrid-dev); only ScaleGraph is measured.")
    programs = {"begins and ends": BEGIN_AND_END, **messages.PROGRAMS}
    print(f"{'':18} {'ranks':>6} {'':8} {'s':>9} {'CPU s':>10} {'MiB':>10}")
    for name, text in (*programs.items(), ("four threads each", THREADS)):
        each = EACH if text == THREADS else 1
        with tempfile.TemporaryDirectory() as folder:
            where = Path(folder)
            (where / "p.c").write_text(text)
            run(ours(options.machine, 2 * each, each), where)  # fills the build cache
            if peer:
                subprocess.run(["smpicc", "-O2", "-fopenmp", "p.c", "-o", "p"], cwd=where, check=True)
            for ranks in counts:
                if ranks * each > max(counts):
                    continue
                print(
                    f"{name:18} {ranks:6} {'ours':8}{run(ours(options.machine, ranks * each, each), where)}", flush=True
                )
                if peer and each == 1 and ranks <= options.smpi:
                    command = messages.smpi("cluster", ranks, where)
                    print(f"{name:18} {ranks:6} {'SMPI':8}{run(command, where)}", flush=True)


if __name__ == "__main__":
    main()
