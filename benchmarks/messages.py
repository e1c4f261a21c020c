"""Processor time of simulating MPI programs, beside SimGrid's SMPI, which also executes the program's code.

    python benchmarks/messages.py [--ranks 64,256,1024] [--times 3] [--costs] [--program NAME=OURS:SMPI@RANKS ...]

The programs were chosen before anything was measured: 20 repetitions of a ring of 1 KiB messages and an 8-byte
allreduce, and a halo exchange in two dimensions with arithmetic between the exchanges. ScaleGraph simulates `ncube2`
(a hypercube, with contention on every link and an account of every cycle). SMPI runs twice: on a cluster of hosts
around one switch, its simplest network, and on a hypercube (a torus with two hosts in each dimension) with the same
bandwidth as ours, where it also models sharing of every link. The programs are built in advance. The two commands run
in turn; a figure is the processor time of the whole command in its fastest run, with the bytecode of ScaleGraph's
modules in place, as after an installation. A ratio is SMPI's time over ours. The number of ranks must be a power of
two. Needs smpicc and smpirun (Debian: libsimgrid-dev); without them only ScaleGraph is measured.

``--costs`` instead prints the time of one message, of exchanging static data when the simulator switches ranks, and the
processor time and memory of thousands of ranks. ``--program`` measures your own programs, such as the NAS Parallel
Benchmarks; compile them with scalegraph-mpicc or scalegraph-mpifort (OURS) and with smpicc or smpiff (SMPI).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

START = "from scalegraph.cli.main import main; main()"
BEGIN = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
"""
PROGRAMS = {
    "ring and allreduce": BEGIN
    + r"""
    double out[128], in[128];
    for (int i = 0; i < 128; i++)
        out[i] = rank;
    for (int turn = 0; turn < 20; turn++) {
        MPI_Sendrecv(out, 128, MPI_DOUBLE, (rank + 1) % ranks, 0, in, 128, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double sum;
        MPI_Allreduce(&in[0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        out[turn] = sum;
    }
    if (rank == 0)
        printf("%.17g\n", out[19]);
    MPI_Finalize();
    return 0;
}
""",
    "halo and arithmetic": BEGIN
    + r"""
    enum { SIDE = 64 };
    double *a = calloc((SIDE + 2) * SIDE, sizeof *a), *b = calloc((SIDE + 2) * SIDE, sizeof *b), sum = 0, all;
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < SIDE; i++)
        a[SIDE + i] = rank + i;
    for (int turn = 0; turn < 10; turn++) {
        MPI_Sendrecv(a + SIDE, SIDE, MPI_DOUBLE, up, 0, a + (SIDE + 1) * SIDE, SIDE, MPI_DOUBLE, down, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(a + SIDE * SIDE, SIDE, MPI_DOUBLE, down, 1, a, SIDE, MPI_DOUBLE, up, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 1; i <= SIDE; i++)
            for (int j = 1; j < SIDE - 1; j++)
                b[i * SIDE + j] = 0.25 * (a[(i - 1) * SIDE + j] + a[(i + 1) * SIDE + j] + a[i * SIDE + j - 1] +
                                          a[i * SIDE + j + 1]);
        double *other = a;
        a = b;
        b = other;
    }
    for (int i = SIDE; i < (SIDE + 1) * SIDE; i++)
        sum += a[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.17g\n", all);
    MPI_Finalize();
    return 0;
}
""",
}
RING = r"""
#include <mpi.h>
#include <stdlib.h>
static char data[BYTES];
int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof data; i += 4096)
        data[i] = 1;
    for (int turn = atoi(argv[1]); turn > 0; turn--)
        MPI_Sendrecv(data, 8, MPI_BYTE, (rank + 1) % ranks, 0, data + 8, 8, MPI_BYTE, (rank + ranks - 1) % ranks, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <cluster id="c" prefix="n-" suffix="" radical="0-{last}" speed="1Gf" {network}/>
  </zone>
</platform>
"""
NETWORKS = {
    "cluster": 'bw="125MBps" lat="50us"',
    "hypercube": 'topology="TORUS" topo_parameters="{dimensions}" bw="2MBps" lat="2us" loopback_bw="1GBps" '
    'loopback_lat="0us" sharing_policy="SPLITDUPLEX"',
}
TITLE = "        ours" + "".join(f"  SMPI, {network:9}  ratio" for network in NETWORKS)


def measured(command: list[str], where: Path) -> tuple[float, str]:
    """Return the processor time of *command* and its children in seconds, and its output."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(where / "bytecode")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def ours(ranks: int, program: str = "p.c", *arguments: str) -> list[str]:
    """Return the command that simulates *program* on *ranks* processors."""
    return [
        sys.executable,
        "-c",
        START,
        "simulate",
        program,
        "--machine",
        "ncube2",
        "-p",
        str(ranks),
        "--json",
        "--no-reference",
        "--",
        *arguments,
    ]


def smpi(network: str, ranks: int, where: Path, program: str = "./p") -> list[str]:
    """Return SMPI's command for *program* on *ranks* hosts; write its platform and host files into *where*."""
    dimensions = ",".join("2" for _ in range(ranks.bit_length() - 1))
    described = NETWORKS[network].format(dimensions=dimensions)
    (where / f"{network}.xml").write_text(PLATFORM.format(last=ranks - 1, network=described))
    (where / "hosts").write_text("".join(f"n-{i}\n" for i in range(ranks)))
    return ["smpirun", "-np", str(ranks), "-platform", f"{network}.xml", "-hostfile", "hosts", program]


def beside(least: float, others: Iterable[float]) -> str:
    """Return our time, and SMPI's times with their ratios, as part of a table line."""
    return f"{least:10.2f} s" + "".join(f" {other:14.2f} s {other / least:6.1f}" for other in others)


def row(ranks: int, times: int, where: Path, networks: Iterable[str]) -> str:
    """Return a line of the table: the best times of ScaleGraph and SMPI, and their ratios."""
    least, answers = float("inf"), set()
    others = dict.fromkeys(networks, float("inf"))
    for _ in range(times):
        seconds, text = measured(ours(ranks), where)
        least = min(least, seconds)
        answers.add(float(json.loads(text)["runs"][0]["stdout"]))
        for network, before in others.items():
            seconds, text = measured(smpi(network, ranks, where), where)
            others[network] = min(before, seconds)
            answers.add(float(text.split()[-1]))
    if max(answers) - min(answers) > 1e-9 * abs(max(answers)):
        sys.exit(f"different results on {ranks} ranks: {sorted(answers)}")
    return f"{ranks:6}{beside(least, others.values())}"


def best(command: list[str], where: Path, times: int) -> float:
    """Return the minimum processor time of several runs in seconds."""
    return min(measured(command, where)[0] for _ in range(times))


def print_costs(times: int) -> None:
    """Print the time per message including the switch of ranks, and the processor time and memory of many ranks."""
    print("ring of 8 bytes       ns per message")
    for data, size in (("4 KiB", 4096), ("1 MiB", 1 << 20)):
        for ranks in (2, 64, 1024):
            with tempfile.TemporaryDirectory() as folder:
                where, turns = Path(folder), 100_000 // ranks
                (where / "p.c").write_text(RING.replace("BYTES", str(size)))
                measured(ours(2, "p.c", "1"), where)  # fills the build cache
                short = best(ours(ranks, "p.c", str(turns)), where, times)
                long = best(ours(ranks, "p.c", str(4 * turns)), where, times)
                each = (long - short) / (3 * turns * ranks)
                print(f"{ranks:6} ranks, {data} static {each * 1e9:9.0f}", flush=True)
    print("one turn of the ring    processor time (s), peak memory (MiB)")
    for ranks, data, size in ((1024, "1 MiB", 1 << 20), (4096, "4 KiB", 4096), (8192, "4 KiB", 4096)):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "p.c").write_text(RING.replace("BYTES", str(size)))
            seconds = best(ours(ranks, "p.c", "1"), Path(folder), times)
            most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # of all cases so far; it grows
            print(f"{ranks:6} ranks, {data} static {seconds:9.2f} {most:9.0f}", flush=True)


def print_program(given: str, times: int) -> None:
    """Print the times of the user's program, given as NAME=OURS:SMPI@RANKS."""
    name, _, rest = given.partition("=")
    paths, _, ranks = rest.rpartition("@")
    own, _, other = paths.partition(":")
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        measured(ours(int(ranks), str(Path(own).resolve())), where)  # fills the caches of block costs and bytecode
        simulated = best(ours(int(ranks), str(Path(own).resolve())), where, times)
        theirs = str(Path(other).resolve())
        peers = [best(smpi(network, int(ranks), where, theirs), where, times) for network in NETWORKS]
        print(f"{name:10} {ranks:>6}{beside(simulated, peers)}", flush=True)


def main() -> None:
    """Print a table for each program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", default="64,256,1024")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--costs", action="store_true")
    parser.add_argument("--program", action="append", default=[])
    options = parser.parse_args()
    if options.costs:
        print_costs(options.times)
        return
    if options.program:
        print(f"program     ranks{TITLE}")
        for given in options.program:
            print_program(given, options.times)
        return
    peer = shutil.which("smpicc") is not None and shutil.which("smpirun") is not None
    for name, text in PROGRAMS.items():
        print(f"{name}\n ranks{TITLE if peer else TITLE[:12]}")
        with tempfile.TemporaryDirectory() as folder:
            where = Path(folder)
            (where / "p.c").write_text(text)
            measured(ours(2), where)  # fills the build cache
            if peer:
                measured(["smpicc", "-O2", "p.c", "-o", "p"], where)
            for ranks in map(int, options.ranks.split(",")):
                print(row(ranks, options.times, where, NETWORKS if peer else ()), flush=True)


if __name__ == "__main__":
    main()
