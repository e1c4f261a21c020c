"""Compilers for MPI programs: their answers, what they leave out, and how an MPI program is recognised."""

from pathlib import Path

import pytest

import scalegraph
from scalegraph.control import adopt
from scalegraph.toolchain import complaints, mpi
from scalegraph.toolchain.flags import is_dropped, read_flags
from tests.toolchain.conftest import Run, need

INCLUDE = f"-I{mpi.INCLUDE}"
ANSWERS = {
    "-show": f"scalegraph-cc {INCLUDE} -O2 a.c -lm",
    "-showme": f"scalegraph-cc {INCLUDE} -O2 a.c -lm",
    "--showme:compile": INCLUDE,
    "-showme:link": "-lm",
    "-showme:libs": "m",
    "-showme:incdirs": str(mpi.INCLUDE),
    "-showme:libdirs": "",
    "-showme:command": "scalegraph-cc",
    "-showme:version": f"scalegraph-mpicc: ScaleGraph {scalegraph.__version__}",
    "-compile_info": f"scalegraph-cc {INCLUDE} -c",
    "-compile-info": f"scalegraph-cc {INCLUDE} -c",
    "-link_info": "scalegraph-cc -lm",
    "-showme:weather": "scalegraph-mpicc: no answer to -showme:weather",
}


@pytest.mark.parametrize("option", ANSWERS)
def test_questions_of_builds_are_answered_as_mpich_and_open_mpi_do(option: str) -> None:
    assert mpi.answer("c", "scalegraph-cc", ["-O2", option, "a.c"]) == ANSWERS[option]


def test_a_command_line_that_compiles_is_no_question() -> None:
    assert mpi.answer("c", "scalegraph-cc", ["-O2", "-c", "show.c", "-o", "-showing"]) is None


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.parametrize(("name", "behind"), [("mpicc", "gcc"), ("mpicxx", "g++"), ("mpifort", "gfortran")])
def test_builds_recognise_gnu_compilers_behind_those_for_mpi(name: str, behind: str, run: Run) -> None:
    assert run(f"scalegraph-{name}", "-showme:command").stdout == f"scalegraph-{behind}\n"
    assert run(f"scalegraph-{name}", "-show").stdout.split()[0] == f"scalegraph-{behind}"


def test_libraries_of_the_host_do_not_take_the_place_of_ours() -> None:
    assert is_dropped("-lmpi", linking=True)
    assert not is_dropped("-lmpio", linking=True)
    assert read_flags("", "-lmpich -lm", ()).link == ("-lm",)


@pytest.mark.slow
@pytest.mark.compiler
def test_a_program_with_the_mark_of_our_header_is_an_mpi_program(run: Run, tmp_path: Path) -> None:
    text = "int main(void) { return 0; }\n"
    mark = f'__asm__(".pushsection {mpi.MARK},\\"\\"\\n.byte 1\\n.popsection");\n'
    for name, lines in (("plain", text), ("messages", mark + text)):
        (tmp_path / f"{name}.c").write_text(lines)
        run("scalegraph-cc", f"{name}.c", "-o", name)
        assert mpi.is_mpi(tmp_path / name) == (name == "messages")


def test_what_is_missing_is_said_as_it_is() -> None:
    header = complaints.with_mpi("a.c:1: no header", "a.c:1:10: fatal error: mpi.h: No such file or directory")
    assert header.startswith("a.c:1: no header: compile MPI programs with ScaleGraph's compilers scalegraph-mpicc,")
    call = complaints.of_linker("a.c:3: undefined reference to `MPI_Comm_spawn'")
    assert call.endswith("ScaleGraph's MPI, which is MPI 3.1, has no such function")
    assert "scalegraph-mpicc" in complaints.about_mpi("make: mpicc: No such file or directory")
    assert complaints.about_mpi("ld: cannot find -lm") == ""


CMAKE = """
cmake_minimum_required(VERSION 3.10)
project(ring C)
find_package(MPI REQUIRED COMPONENTS C)
add_executable(ring ring.c)
target_link_libraries(ring MPI::MPI_C)
"""
RING = """
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return MPI_Finalize();
}
"""


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.parametrize(
    "compilers",
    [
        ("-DCMAKE_C_COMPILER=scalegraph-cc", "-DMPI_C_COMPILER=scalegraph-mpicc"),
        ("-DCMAKE_C_COMPILER=scalegraph-mpicc",),
    ],
)
def test_cmake_finds_mpi_and_builds_an_mpi_program(compilers: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    need("cmake", "make")
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    (tmp_path / "ring.c").write_text(RING)
    assert "Found MPI: TRUE" in run("cmake", "-G", "Unix Makefiles", "-B", "build", *compilers).stdout
    run("cmake", "--build", "build")
    assert adopt(tmp_path / "build" / "ring").mpi


@pytest.mark.slow
@pytest.mark.compiler
def test_make_builds_an_mpi_program_with_the_compiler_that_it_is_given(run: Run, tmp_path: Path) -> None:
    need("make")
    (tmp_path / "Makefile").write_text("MPICC = mpicc\nring: ring.c\n\t$(MPICC) -O2 ring.c -o ring -lmpi\n")
    (tmp_path / "ring.c").write_text(RING)
    run("make", "-s", "MPICC=scalegraph-mpicc")
    assert adopt(tmp_path / "ring").mpi
