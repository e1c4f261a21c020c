"""Programs of the user's own build, recompiled without the simulator's hooks."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError
from scalegraph.control import adopt
from scalegraph.instrument.places import load
from scalegraph.instrument.plain import Plain
from scalegraph.instrument.units import section
from scalegraph.runtime.compiler import Compiler
from tests.toolchain.conftest import Run, need

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

FORTRAN = {
    "values.f90": "module values\n  implicit none\n  integer, parameter :: n = 100\nend module values\n",
    "main.f90": """program main
  use values
  implicit none
  integer :: i
  real(8) :: x(n)
  do i = 1, n
    x(i) = i * 0.5d0
  end do
  print *, sum(x)
end program main
""",
}


def plain(program: str) -> Plain:
    build = adopt(program)
    assert build.plain is not None
    return build.plain(CancelToken())


def test_code_is_that_of_the_users_own_build_and_where_it_is_there(run: Run, project: Path) -> None:
    need("make", "g++")
    run("make", "-s")
    native = {name: section(project / "prog", name) for name in (".text", ".rodata")}
    rules = (project / "lib/lib.d").read_text()
    run("make", "-s", "-B", "CC=scalegraph-cc", "CXX=scalegraph-c++")
    before = (project / "lib/lib.d").stat().st_mtime_ns
    found = plain("prog")
    assert {name: section(found.executable, name) for name in native} == native
    assert (project / "lib/lib.d").stat().st_mtime_ns == before
    assert (project / "lib/lib.d").read_text() == rules
    assert plain("prog") == found


def test_one_command_that_compiles_and_links_leaves_the_same_program_twice(run: Run, tmp_path: Path) -> None:
    (tmp_path / "foreign.s").write_text(".globl foreign\nforeign:\n    mov $4, %eax\n    ret\n")
    (tmp_path / "main.c").write_text("int foreign(void);\nint main(void) { return foreign(); }\n")
    run("gcc", "-c", "foreign.s")
    words = ("-O2", "main.c", "foreign.o", "-o", "prog", "-lm")
    run("gcc", *words)
    native = section(tmp_path / "prog", ".text")
    digests = []
    for _ in range(2):
        run("scalegraph-cc", *words)
        digests.append(adopt("prog").digest)
        run("./prog", code=4)
    assert digests[0] == digests[1]
    assert section(plain("prog").executable, ".text") == native


@pytest.mark.parametrize("named", ["src/main.c", "{}/src/main.c"])
def test_files_have_the_names_that_they_have_in_the_users_build(run: Run, tmp_path: Path, named: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/main.c").write_text("int main(int n, char **a) { (void)a; return n > 9; }\n")
    run("scalegraph-cc", "-O2", "-g", named.format(tmp_path), "-o", "prog")
    assert "main.c" in adopt("prog").lines.names
    assert "main.c" in load(plain("prog").places).lines.names  # loops of both builds are matched by file and line


def test_only_what_changed_is_compiled_again(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "two.h").write_text("#define TWO 2\n")
    (tmp_path / "two.c").write_text('#include "two.h"\nint two(void) { return TWO; }\n')
    (tmp_path / "main.c").write_text("int two(void);\nint main(void) { return two(); }\n")
    words = ("-O2", "-g", "main.c", "two.c", "-o", "prog")
    made: list[str] = []
    compile_one = Compiler.run

    def counted(self: Compiler, arguments: Sequence[str], **more: Any) -> subprocess.CompletedProcess[str]:
        made.extend(str(one) for one in arguments if "-c" in arguments and str(one).endswith(".c"))
        return compile_one(self, arguments, **more)

    def made_for(*words: str) -> tuple[list[str], bytes]:
        run("scalegraph-cc", *words)
        made.clear()
        monkeypatch.setattr(Compiler, "run", counted)
        found = plain("prog").executable.read_bytes()
        monkeypatch.setattr(Compiler, "run", compile_one)
        return sorted(made), found

    whole, first = made_for(*words)
    assert whole == ["main.c", "two.c"]
    for name, text, expected in (
        ("two.h", "#define TWO 3\n", ["two.c"]),
        ("main.c", "int two(void);\nint main(void) { return   two(); }\n", ["main.c"]),  # other columns
        ("two.h", "#define TWO 2\n", []),  # as before
        ("main.c", "int two(void);\nint main(void) { return two(); }\n", []),
    ):
        (tmp_path / name).write_text(text)
        assert made_for(*words)[0] == expected
    assert plain("prog").executable.read_bytes() == first
    assert made_for("-O1", *words[1:])[0] == ["main.c", "two.c"]
    for kept in (tmp_path / "cache" / "plain-objects").glob("[0-9a-f]*/object.o"):
        kept.write_bytes(kept.read_bytes()[:100])  # damaged
    shutil.rmtree(tmp_path / "cache" / "plain")
    assert made_for(*words) == (["main.c", "two.c"], first)


def test_sources_that_changed_or_went_are_named(run: Run, project: Path) -> None:
    need("make", "g++")
    run("make", "-s", "CC=scalegraph-cc", "CXX=scalegraph-c++")
    build = adopt("prog")
    assert build.plain is not None
    (project / "lib/lib.c").write_text("\n" + (project / "lib/lib.c").read_text())
    with pytest.raises(BuildError, match=r"^lib/lib\.c: has changed since the program was built$"):
        build.plain(CancelToken())
    (project / "lib/lib.c").unlink()
    with pytest.raises(BuildError, match=r"^lib/lib\.c: no longer exists$"):
        build.plain(CancelToken())


def test_modules_of_fortran_are_left_as_they_are(run: Run, tmp_path: Path) -> None:
    need("gfortran")
    for name, text in FORTRAN.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "mods").mkdir()

    def build(compiler: str) -> None:
        for name in FORTRAN:
            run(compiler, "-O2", "-Jmods", "-c", name)
        run(compiler, "main.o", "values.o", "-o", "prog")

    build("gfortran")
    native = section(tmp_path / "prog", ".text")
    build("scalegraph-fc")
    before = (tmp_path / "mods/values.mod").stat().st_mtime_ns
    assert section(plain("prog").executable, ".text") == native
    assert (tmp_path / "mods/values.mod").stat().st_mtime_ns == before
    assert not list(tmp_path.glob("*.mod"))
