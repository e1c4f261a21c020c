"""The compiler wrappers: a build that knows nothing of them produces a program that the simulator fully understands."""

from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.errors import InputError
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import adopt
from scalegraph.link import Build, Job, Simulated
from tests.toolchain.conftest import Run, need

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

HELLO = (
    '#include <stdio.h>\nint main(void)\n{\n    for (int i = 0; i < 3; i++)\n        puts("hello");\n    return 7;\n}\n'
)


def simulated(build: Build, processors: int, *args: str) -> RunRecord:
    record = Simulated().run(Job(build, machines.load("ksr1"), RunPoint(processors=processors), tuple(args)))
    assert record.status in ("ok", "failed"), record.message
    return record


def test_make_builds_a_project_of_several_directories_that_runs_alone_and_simulated(run: Run, project: Path) -> None:
    need("make", "g++")
    run("make", "-s")
    native = run("./prog", "x").stdout
    run("make", "-s", "-B", "CC=scalegraph-cc", "CXX=scalegraph-c++")
    assert run("./prog", "x").stdout == native
    assert "up to date" in run("make", "CC=scalegraph-cc", "CXX=scalegraph-c++").stdout
    assert (project / "lib/lib.d").read_text().split() == ["lib/lib.o:", "lib/lib.c", "lib/lib.h"]
    build = adopt("prog")
    assert [source.file for source in build.sources] == ["src/main.c", "lib/lib.c", "lib/part.cpp"]
    numbers = [region.id for region in build.regions]
    assert numbers == sorted(set(numbers))
    assert {region.file for region in build.regions if region.id} == {"src/main.c", "lib/lib.c", "lib/part.cpp"}
    named = {region.name: region for region in build.regions}
    assert named["parallel for work:5"].parent == named["function work"].id
    for processors in (1, 4):
        record = simulated(build, processors, "x")
        assert record.stdout == native
        assert {cost.region for cost in record.regions} <= set(numbers)
        assert {"src/main.c", "lib/lib.c", "lib/part.cpp"} <= {line.file for line in record.lines}


def test_the_compiler_of_cxx_takes_c_sources_for_cxx_as_its_own_does(run: Run, project: Path) -> None:
    need("g++")
    (project / "half.c").write_text("int half(int n) { return n / 2; }\n")
    (project / "whole.cpp").write_text("int half(int n);\nint main() { return half(14); }\n")
    for compiler in ("g++", "scalegraph-c++"):
        run(compiler, "-c", "half.c")
        run(compiler, "whole.cpp", "half.o", "-o", "whole")
    assert simulated(adopt("whole"), 1).exit_code == 7


def test_a_program_does_not_see_that_a_sanitizers_hooks_are_used(run: Run, project: Path) -> None:
    need("g++")
    text = "#ifdef __SANITIZE_THREAD__\n#error seen\n#endif\nint main(void) { return 7; }\n"
    for name, compiler in (("seen.c", "scalegraph-cc"), ("seen.cpp", "scalegraph-c++")):
        (project / name).write_text(text)
        run(compiler, name, "-o", "seen")
        assert simulated(adopt("seen"), 1).exit_code == 7


def test_a_source_that_fails_leaves_no_object_for_make(run: Run, project: Path) -> None:
    (project / "warned.c").write_text("int main(void) { int unused; for (;;) ; }\n")
    run("scalegraph-cc", "-Wall", "-Werror", "-c", "warned.c", "-o", "warned.o", code=1)
    assert not (project / "warned.o").exists()


@pytest.mark.parametrize("statement", ["s = s * 2 + 1", "(s) = s * 2 + 1", "s++", "*p += 1"])
@pytest.mark.parametrize("defined", [["-DBEGIN={", "-DEND=}"], []])
def test_macros_of_headers_that_hide_braces_change_no_result(
    run: Run, project: Path, statement: str, defined: list[str]
) -> None:
    (project / "begin.h").write_text("" if defined else "#define BEGIN {\n#define END }\n")
    (project / "hiding.c").write_text(
        '#include <stdio.h>\n#include "begin.h"\nint main(void)\n{\n    int s = 0, *p = &s;\n'
        f"    for (int i = 0; i < 5; i++) BEGIN {statement}; s += 2; END\n"
        '    printf("%d %d\\n", s, *p);\n    return 0;\n}\n'
    )
    run("gcc", *defined, "hiding.c", "-o", "native")
    for _ in range(2):  # by the wrapper in Python, and by the launcher, if it does it
        run("scalegraph-cc", *defined, "-c", "hiding.c", "-o", "hiding.o")
        run("scalegraph-cc", "hiding.o", "-o", "hiding")
        assert run("./hiding").stdout == run("./native").stdout


def test_a_source_is_not_overwritten_by_its_object(run: Run, project: Path) -> None:
    (project / "hello.c").write_text(HELLO)
    said = run("scalegraph-cc", "-c", "hello.c", "-o", "hello.c", code=1).stderr
    assert "input file 'hello.c' is the same as output file" in said
    assert (project / "hello.c").read_text() == HELLO


@pytest.mark.parametrize("name", ["base.c", "src/../base.c"])
def test_a_program_sees_its_source_under_the_name_that_was_given(run: Run, project: Path, name: str) -> None:
    (project / "base.c").write_text(
        "#include <stdio.h>\nint main(void)\n{\n    for (int i = 0; i < 1; i++)\n"
        '        puts(__FILE__ " " __BASE_FILE__);\n    return 0;\n}\n'
    )
    run("scalegraph-cc", "-c", name, "-o", "base.o")
    run("scalegraph-cc", "base.o", "-o", "base")
    assert run("./base").stdout == f"{name} {name}\n"


def test_cmake_knows_the_wrappers_as_gcc(run: Run, project: Path) -> None:
    need("cmake", "make", "g++")
    said = run(
        "cmake",
        "-B",
        "build",
        "-DCMAKE_C_COMPILER=scalegraph-cc",
        "-DCMAKE_CXX_COMPILER=scalegraph-c++",
        "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
    )
    assert "The C compiler identification is GNU" in said.stdout
    run("cmake", "--build", "build")
    build = adopt("build/prog")
    assert "lib/part.cpp" in {source.file for source in build.sources}
    assert simulated(build, 3).stdout == run("build/prog").stdout


def test_a_program_that_is_built_alone_keeps_its_exit_code(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(HELLO)
    run("scalegraph-cc", "-O2", "a.c", "-o", "a", "-Wl,--gc-sections", "-ffunction-sections")
    assert run("./a", code=7).stdout == "hello\n" * 3
    assert simulated(adopt("a"), 2).exit_code == 7
    assert [region.name for region in adopt("a").regions] == ["program", "function main", "loop main:4"]


def test_what_only_asks_or_preprocesses_is_answered_by_the_compiler(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int x = VALUE;\n")
    assert run("scalegraph-cc", "--version").stdout == run("gcc", "--version").stdout
    assert "int x = 3;" in run("scalegraph-cc", "-E", "-DVALUE=3", "a.c").stdout
    assert run("scalegraph-cc", "-MM", "-DVALUE=3", "a.c").stdout == "a.o: a.c\n"


def test_assembly_of_a_source_assembles_to_the_same_program(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(HELLO)
    run("scalegraph-cc", "-S", "-g", "a.c")
    run("scalegraph-cc", "-c", "a.s", "-o", "b.o")
    run("scalegraph-cc", "b.o", "-o", "b")
    assert len(adopt("b").regions) == 3


def test_response_files_and_a_forced_language_are_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(HELLO)
    (tmp_path / "args").write_text('-O1 "-DX=a b"\n-x c a.txt -o prog')
    run("scalegraph-cc", "@args")
    assert len(adopt("prog").regions) == 3


def test_errors_and_warnings_are_the_compilers_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main(void)\n{\n    int unused;\n    for (int i = 0; i < 2; i++) {}\n}\n")
    for options in (["-Wall"], ["-Wall", "-Werror"]):
        code = int("-Werror" in options)
        native = run("gcc", *options, "-O2", "-c", "a.c", code=code).stderr
        assert run("scalegraph-cc", *options, "-O2", "-c", "a.c", code=code).stderr == native


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["-static-pie", "a.c"],
            "-static-pie cannot be used: the simulated target needs the program at a fixed address",
        ),
        (["-shared", "a.c"], "-shared cannot be used: the simulated target runs programs, not libraries"),
        (["-fsanitize=address", "-c", "a.c"], "the simulated target uses the sanitizer's hooks itself"),
        (["-c", "-m32", "a.c"], "the simulated target runs 64-bit programs"),
        (["-c", "a.c", "b.c", "-o", "c.o"], "cannot write several sources to one file"),
    ],
)
def test_what_cannot_work_is_refused_in_a_sentence(run: Run, tmp_path: Path, words: list[str], sentence: str) -> None:
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text(HELLO)
    said = run("scalegraph-cc", *words, code=1).stderr
    assert said.startswith("scalegraph-cc: error: ")
    assert sentence in said


def test_a_static_link_is_made_a_shared_one_with_a_warning(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(HELLO)
    assert run("scalegraph-cc", "-static", "-c", "a.c").stderr == ""
    said = run("scalegraph-cc", "-static", "-static-libgcc", "a.o", "-o", "a", "-static").stderr
    assert said == (
        "scalegraph-cc: warning: -static is left out: the simulated target needs the shared C library; "
        "linked without it\n"
    )
    assert simulated(adopt("a"), 2).stdout.startswith("hello\n")


def test_programs_that_were_not_wrapped_are_refused_with_the_way_to_build_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(HELLO)
    run("gcc", "a.c", "-o", "a")
    with pytest.raises(InputError, match=r"^a: was not built for the simulator; build it with .*CC=scalegraph-cc"):
        adopt("a")
    with pytest.raises(InputError, match=r"^a\.c: is not an executable"):
        adopt("a.c")
    run("scalegraph-cc", "a.c", "-o", "a", "-s")
    with pytest.raises(InputError, match="was stripped"):
        adopt("a")


def test_a_program_of_another_version_is_refused(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from scalegraph.control import adopt as function  # it hides the module of the same name

    (tmp_path / "a.c").write_text(HELLO)
    run("scalegraph-cc", "a.c", "-o", "a")
    monkeypatch.setitem(function.__globals__, "sources_digest", lambda: "another")
    with pytest.raises(InputError, match="another version of ScaleGraph; build it again"):
        adopt("a")


def test_fortran_that_is_to_be_preprocessed_whatever_its_name_is(run: Run, tmp_path: Path) -> None:
    need("gfortran")
    lines = [
        "      program p",
        "#ifdef LACKS",
        "      call lacking()",
        "#endif",
        "#ifdef HAS",
        "      print *, 42",
        "#endif",
        "      end",
        "",
    ]
    (tmp_path / "p.f").write_text("\n".join(lines))
    run("scalegraph-fc", "-c", "-DHAS", "-x", "f77-cpp-input", "p.f", "-o", "p.o")
    run("scalegraph-fc", "p.o", "-o", "p")
    assert run("./p").stdout.split() == ["42"]
    (tmp_path / "free.txt").write_text("\n".join(line.strip() for line in lines))
    run("scalegraph-fc", "-DHAS", "-x", "f95-cpp-input", "free.txt", "-x", "none", "-o", "free")
    assert run("./free").stdout.split() == ["42"]


def test_makefile_with_fortran(run: Run, tmp_path: Path) -> None:
    need("make", "gfortran")
    (tmp_path / "heat.f90").write_text(
        "program heat\n  use grid\n  implicit none\n  real(8) :: s\n  integer :: i\n  s = 0\n"
        "!$omp parallel do reduction(+:s)\n  do i = 1, 500\n     s = s + cell(i)\n  end do\n"
        "  print '(f10.1)', s\nend program\n"
    )
    (tmp_path / "grid.f90").write_text(
        "module grid\ncontains\n  real(8) function cell(i)\n    integer, intent(in) :: i\n    cell = i * 0.5d0\n"
        "  end function\nend module\n"
    )
    (tmp_path / "Makefile").write_text(
        "FC = gfortran\nFFLAGS = -O2 -fopenmp\nprog: grid.o heat.o\n\t$(FC) $(FFLAGS) -o $@ $^\n"
        "heat.o: grid.o\n%.o: %.f90\n\t$(FC) $(FFLAGS) -c $<\n"
    )
    run("make", "-s")
    native = run("./prog").stdout
    run("make", "-s", "-B", "FC=scalegraph-fc")
    build = adopt("prog")
    assert [source.file for source in build.sources] == ["grid.f90", "heat.f90"]
    record = simulated(build, 4)
    assert record.stdout == native == run("./prog").stdout
    assert {"grid.f90", "heat.f90"} <= {line.file for line in record.lines}
    assert build.remarks == ()
    numbers = {region.name: region.id for region in build.regions}
    assert list(numbers) == ["program", "function cell", "function heat", "parallel do heat:7"]
    assert {cost.region for cost in record.regions} == set(numbers.values())


def test_a_wrapper_behind_itself_is_told_not_called_for_ever(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "cc"
    other.write_text('#!/bin/sh\nexec scalegraph-cc "$@"\n')
    other.chmod(0o755)
    monkeypatch.setenv("CC", str(other))  # as `make CC=./cc` does for everything that it starts
    said = run("scalegraph-cc", "--version", code=1).stderr
    assert said == (
        f"scalegraph-cc: error: '{other}', the compiler that CC names, is this wrapper again; "
        "name the compiler behind it in SCALEGRAPH_CC\n"
    )


def test_builds_that_look_for_gcc_in_the_compilers_name_find_it(run: Run, tmp_path: Path) -> None:
    need("make")
    (tmp_path / "Makefile").write_text(
        "FLAGS = $(if $(findstring gcc,$(CC)),-fopenmp,)\nprog: prog.c\n\t$(CC) $(FLAGS) prog.c -o prog\n"
    )
    (tmp_path / "prog.c").write_text(
        "#include <omp.h>\nint main(void)\n{\n    int n = 0;\n#pragma omp parallel reduction(+ : n)\n    n++;\n"
        "    return n;\n}\n"
    )
    run("make", "-s", "-C", str(tmp_path), "CC=scalegraph-gcc")
    assert simulated(adopt(tmp_path / "prog"), 4).exit_code == 4


def test_the_wrappers_name_those_for_mpi(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("#include <mpi.h>\nint main(void) { return 0; }\n")
    said = run("scalegraph-cc", "-c", "a.c", code=1).stderr
    assert "a.c:1:10: fatal error: mpi.h: No such file" in said
    assert "scalegraph-cc: compile MPI programs with ScaleGraph's compilers scalegraph-mpicc" in said
    run("scalegraph-mpicc", "-c", "a.c")


def test_what_the_linker_says_through_a_wrapper_names_no_temporary_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "int other(int);\nint main(void)\n{\n#pragma omp parallel\n    other(4);\n    return 0;\n}\n"
    )
    run("scalegraph-cc", "-fopenmp", "-c", "a.c", "-o", "a.o")
    for inputs in (["a.o"], ["a.c"]):
        said = run("scalegraph-cc", "-fopenmp", *inputs, "-o", "a", code=1).stderr
        assert "in function `main':\na.c:5: undefined reference to `other'" in said
        assert "/scalegraph-cc-" not in said


def test_a_program_without_main_is_named_as_such(run: Run, tmp_path: Path) -> None:
    (tmp_path / "part.c").write_text("int half(int n) { return n / 2; }\n")
    assert "undefined reference to `main'" in run("scalegraph-cc", "part.c", "-o", "part", code=1).stderr


def test_main_may_be_in_an_archive(run: Run, tmp_path: Path) -> None:
    need("ar")
    (tmp_path / "main.c").write_text("int half(int n);\nint main(void) { return half(14); }\n")
    (tmp_path / "half.c").write_text("int half(int n) { return n / 2; }\n")
    run("scalegraph-cc", "-c", "main.c", "half.c")
    run("ar", "rc", "libmain.a", "main.o")
    run("scalegraph-cc", "half.o", "-L.", "-lmain", "-o", "whole")
    assert simulated(adopt("whole"), 1).exit_code == 7
