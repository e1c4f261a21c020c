"""Our ``mpi.h`` has the values of the standard's ABI, compiles as every version of C and C++, and has PMPI names."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.library import INCLUDE, library

VALUES = Path(__file__).with_name("abi_values.txt")  # as in the header that the MPI Forum publishes for MPI 5.0
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{INCLUDE}")
YEARS = ("c89", "c99", "c11", "c17", "c++98", "c++11", "c++17", "c++20")


def compiled(source: Path, target: Path, *flags: str) -> None:
    """Compile *source* to *target*; a warning is a failure."""
    compiler = "g++" if source.suffix == ".cc" else "gcc"
    command = [compiler, *STRICT, *flags, source, "-o", target]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def functions() -> list[str]:
    """Return the functions that the header declares, without the prefix."""
    texts = [(INCLUDE / name).read_text("utf-8") for name in ("mpi_calls.h", "mpi_removed.h")]
    return re.findall(r"SCALEGRAPH_MPI\((\w+)\)\(", "\n".join(texts))


@pytest.mark.compiler
@pytest.mark.parametrize("year", YEARS)
def test_the_header_is_clean_in_every_language(year: str, tmp_path: Path) -> None:
    source = tmp_path / ("user.cc" if "++" in year else "user.c")
    source.write_text('#include "mpi.h"\nMPI_Comm first(void);\nMPI_Comm first(void) { return MPI_COMM_WORLD; }\n')
    compiled(source, tmp_path / "user.o", f"-std={year}", "-c")


@pytest.mark.slow
@pytest.mark.compiler
def test_handles_and_constants_have_the_values_of_the_standards_binary_interface(tmp_path: Path) -> None:
    lines = VALUES.read_text("utf-8").splitlines()
    assert len(lines) > 250
    names = [line.split()[0] for line in lines]
    prints = "\n".join(f'    printf("{name} %lld\\n", (long long)({name}));' for name in names)
    source = tmp_path / "values.c"
    source.write_text(f'#include "mpi.h"\n#include <stdio.h>\nint main(void)\n{{\n{prints}\n    return 0;\n}}\n')
    compiled(source, tmp_path / "values")
    printed = subprocess.run([tmp_path / "values"], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == lines


@pytest.mark.slow
@pytest.mark.compiler
def test_every_function_has_both_names_in_the_library() -> None:
    archive = library(find_compiler()).mpi()
    table = subprocess.run(["nm", "--defined-only", archive], capture_output=True, text=True, check=True).stdout
    kinds = {words[2]: words[1] for words in map(str.split, table.splitlines()) if len(words) == 3}
    assert len(functions()) > 400
    assert [name for name in functions() if kinds.get(f"PMPI_{name}") != "T"] == []
    assert [
        name for name in functions() if kinds.get(f"MPI_{name}") != "W"
    ] == []  # a tool's own function takes precedence
