"""Compilers for MPI programs: what they answer, what they leave out, and how a program is known as one."""

from pathlib import Path

import pytest

import scalegraph
from scalegraph.toolchain import complaints, mpi
from scalegraph.toolchain.flags import is_dropped, read_flags
from tests.toolchain.conftest import Run

INCLUDE = f"-I{mpi.INCLUDE}"
ANSWERS = {
    "-show": f"scalegraph-cc {INCLUDE} -O2 a.c",
    "-showme": f"scalegraph-cc {INCLUDE} -O2 a.c",
    "--showme:compile": INCLUDE,
    "-showme:link": "",
    "-showme:incdirs": str(mpi.INCLUDE),
    "-showme:libdirs": "",
    "-showme:command": "scalegraph-cc",
    "-showme:version": f"scalegraph-mpicc: ScaleGraph {scalegraph.__version__}",
    "-compile_info": f"scalegraph-cc {INCLUDE} -c",
    "-compile-info": f"scalegraph-cc {INCLUDE} -c",
    "-link_info": "scalegraph-cc",
    "-showme:weather": "scalegraph-mpicc: no answer to -showme:weather",
}


@pytest.mark.parametrize("option", ANSWERS)
def test_questions_of_builds_are_answered_as_mpich_and_open_mpi_do(option: str) -> None:
    assert mpi.answer("c", "scalegraph-cc", ["-O2", option, "a.c"]) == ANSWERS[option]


def test_a_command_line_that_compiles_is_no_question() -> None:
    assert mpi.answer("c", "scalegraph-cc", ["-O2", "-c", "show.c", "-o", "-showing"]) is None


@pytest.mark.compiler
@pytest.mark.parametrize(("name", "behind"), [("mpicc", "cc"), ("mpicxx", "c++"), ("mpifort", "fc")])
def test_the_compilers_are_in_the_path_of_builds(name: str, behind: str, run: Run) -> None:
    assert run(f"scalegraph-{name}", "-showme:command").stdout == f"scalegraph-{behind}\n"


def test_libraries_of_the_host_do_not_take_the_place_of_ours() -> None:
    assert is_dropped("-lmpi", linking=True)
    assert not is_dropped("-lmpio", linking=True)
    assert read_flags("", "-lmpich -lm", ()).link == ("-lm",)


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
