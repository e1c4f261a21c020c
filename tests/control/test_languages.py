"""Programs in several languages, from objects and archives, with other compilers."""

import shutil
import subprocess
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.errors import BuildError, InputError
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import build, run_build
from scalegraph.link import Build, Job, Simulated

pytestmark = pytest.mark.compiler

WAITING = """\
#include <thread>
#include <mutex>
#include <condition_variable>
#include <vector>
#include <cstdio>
int main() { std::mutex m; std::condition_variable cv; int ready = 0; std::vector<std::thread> ts;
    for (int t = 0; t < 4; t++) ts.emplace_back([&, t] { std::lock_guard<std::mutex> l(m); ready++; cv.notify_one(); });
    { std::unique_lock<std::mutex> l(m); cv.wait(l, [&] { return ready == 4; }); }
    for (auto &t : ts) t.join(); printf("%d\\n", ready); }
"""
FORTRAN = """\
subroutine total(n, s) bind(c)
  use iso_c_binding
  integer(c_int), value :: n
  real(c_double) :: s
  integer :: i
  s = 0
  do i = 1, n
    s = s + i
  end do
end subroutine
"""
CALLER = """\
#include <iostream>
extern "C" void total(int n, double *s);
extern "C" int twice(int n);
static struct Greeter { Greeter() { std::cout << "begin\\n"; } ~Greeter() { std::cout << "end\\n"; } } greeter;
int main()
{
    double s;
    total(twice(5), &s);
    try { throw s; } catch (double caught) { std::cout << caught << "\\n"; }
    return 0;
}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for variable in ("CC", "CXX", "FC", "SCALEGRAPH_CC"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def need(tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"needs {tool}: apt-get install {tool}")


def simulated(made: Build, processors: int) -> RunRecord:
    record = Simulated().run(Job(made, machines.load("ksr1"), RunPoint(processors=processors)))
    assert record.ok, record.message
    return record


@pytest.mark.slow(4)
def test_cplusplus_fortran_and_an_object_make_one_program(place: Path) -> None:
    need("g++")
    need("gfortran")
    (place / "main.cpp").write_text(CALLER)
    (place / "sum.f90").write_text(FORTRAN)
    (place / "twice.c").write_text("int twice(int n) { return 2 * n; }\n")
    subprocess.run(["gcc", "-c", "twice.c"], cwd=place, check=True)
    made = build(["main.cpp", "sum.f90", "twice.o"])
    (remark,) = made.remarks
    assert "not compiled with hooks: twice;" in remark
    assert [source.file for source in made.sources] == ["main.cpp", "sum.f90"]
    assert {"function main", "function total", "loop total:7"} <= {region.name for region in made.regions}
    assert simulated(made, 1).stdout == "begin\n55\nend\n"


@pytest.mark.slow(4)
def test_calls_of_the_cplusplus_library_reach_the_simulator(place: Path) -> None:
    need("g++")
    (place / "wait.cpp").write_text(WAITING)
    made = build(["wait.cpp"])
    assert simulated(made, 1).stdout == simulated(made, 4).stdout == "4\n"
    assert "lambda" not in {region.kind for region in made.regions}


@pytest.mark.slow(4)
def test_clock_of_fortran_is_simulated_time(place: Path) -> None:
    need("gfortran")
    (place / "clock.f90").write_text(
        "program c\n integer(8) :: a, b, r\n integer :: i\n real(8) :: x\n x = 0\n call system_clock(a, r)\n"
        " do i = 1, 200000\n  x = x + 1d0/i\n end do\n call system_clock(b)\n"
        " print '(f10.5,f10.5)', x, real(b - a, 8)/r\nend program\n"
    )
    record = simulated(build(["clock.f90"]), 1)
    assert record.time_s is not None
    assert float(record.stdout.split()[1]) == pytest.approx(record.time_s, rel=0.01)


@pytest.mark.slow(4)
def test_clang_builds_programs_without_openmp_and_says_what_it_leaves_out(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("clang")
    monkeypatch.setenv("CC", "clang")
    text = "#include <stdio.h>\nint main(void)\n{\n    int s = 0;\n#pragma omp parallel for reduction(+ : s)\n"
    text += '    for (int i = 0; i < 9; i++)\n        s += i;\n    printf("%d\\n", s);\n    return 0;\n}\n'
    (place / "a.c").write_text(text)
    made = build(["a.c"])
    assert made.remarks == ("a.c: compiled by clang, whose OpenMP is not supported: pragmas have no effect",)
    assert simulated(made, 2).stdout == "36\n"


def test_missing_fortran_compiler_is_one_sentence(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "a.f90").write_text("end\n")
    monkeypatch.setenv("FC", "no-such-fortran")
    with pytest.raises(Exception, match=r"'no-such-fortran' was not found; install one with: apt-get install gfortran"):
        build(["a.f90"])


def test_executable_named_like_assembler_is_no_source(place: Path) -> None:
    (place / "cg.S").write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(InputError, match=r"^cg\.S: is not text"):
        build(["cg.S"])


def test_failing_build_command_shows_the_end_of_its_output(place: Path) -> None:
    with pytest.raises(BuildError, match=r"^the build command ended with exit code 3: seq 100; exit 3$") as caught:
        run_build("seq 100; exit 3", place)
    assert caught.value.output.startswith("(40 lines before)\n41\n")
    run_build("for name in cc c++ fc; do command -v scalegraph-$name; done >found", place)
    assert len((place / "found").read_text().split()) == 3
