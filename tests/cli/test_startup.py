"""A short run must not wait for heavy libraries that only other work uses, or for additional processes."""

import json
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

HEAVY = (
    *("pandas", "pyarrow", "scipy", "matplotlib", "numpy", "PySide6"),
    *("capstone", "elftools", "tree_sitter_c", "tree_sitter_cpp", "tomlkit", "rich", "filelock", "pickle"),
    *("scalegraph.instrument.image", "scalegraph.instrument.source", "scalegraph.toolchain.wrapper"),
    *("scalegraph.views", "scalegraph.figures", "scalegraph.traces.model", "scalegraph.measurements.model"),
)
SCRIPT = """
import json, sys
children = []
sys.addaudithook(lambda event, args: children.append(str(args[1][0])) if event == "subprocess.Popen" else
                 children.append(event) if event in ("os.fork", "os.system", "os.posix_spawn") else None)
from scalegraph.cli.main import run
from scalegraph.runtime import unchanged
from scalegraph.toolchain import preprocessing
unchanged._STEP_NS = preprocessing._TICK_NS = 0  # the source is as old as the test
code = run(["simulate", *sys.argv[1].split(), "-p", "2", "--no-reference", "--json"])
print(json.dumps([code, sorted(set(sys.modules) & set(sys.argv[2:])), children]), file=sys.stderr)
"""
SUM = """
#include <stdio.h>
static double table[100];
int main(void) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += table[i] = i;
    printf("%g\\n", sum);
    return 0;
}
"""


RING = """
#include <mpi.h>
int main(int argc, char **argv) {
    int rank, ranks, got;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


def outcomes(directory: Path, program: str) -> list[list[object]]:
    """Return exit code, heavy modules and child processes of two runs of *program*, the second with a cached build."""
    command = [sys.executable, "-c", SCRIPT, program, *HEAVY]
    runs = [subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True) for _ in range(2)]
    documents = [json.loads(run.stdout)["runs"][0] for run in runs]
    for document in documents:
        del document["host_s"]
    assert documents[0] == documents[1]
    return [json.loads(run.stderr.splitlines()[-1]) for run in runs]


def test_a_cached_run_without_reference_imports_no_heavy_library(tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(f"{SUM}/* {uuid4()} */\n")  # no earlier session has built it
    first, second = outcomes(tmp_path, "sum.c")
    assert "numpy" in first[1]  # type: ignore[operator]  # what builds does load them: the names are right
    assert second[:2] == [0, []]


def test_a_cached_run_of_an_mpi_program_imports_no_heavy_library(tmp_path: Path) -> None:
    (tmp_path / "ring.c").write_text(RING)
    assert outcomes(tmp_path, "ring.c")[1][:2] == [0, []]


def test_a_cached_run_starts_the_program_only(tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(SUM)
    children = outcomes(tmp_path, "sum.c")[1][2]
    assert isinstance(children, list)
    assert [Path(name).name for name in children] == ["sg-launch"]


def test_a_described_executable_is_run_without_reading_its_debug_information(tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(SUM)
    command = [sys.executable, "-m", "scalegraph.toolchain.wrapper", "c", "-g", "-O2", "-fopenmp", "sum.c", "-o", "sum"]
    subprocess.run(command, cwd=tmp_path, check=True)
    code, heavy, children = outcomes(tmp_path, "./sum -m ksr1")[1]  # an out-of-order core needs the plain build
    assert (code, heavy) == (0, [])
    assert isinstance(children, list)
    assert [Path(name).name for name in children] == ["sg-launch"]
