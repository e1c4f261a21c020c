"""Static loops, which compilers expand in place, take a schedule in headers, in _Pragma and in both Fortran forms."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scalegraph import control, machine
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import native
from scalegraph.instrument.fortran_schedules import fixed_form
from scalegraph.link import Job, Simulated, loops

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

HEADER = """
namespace sizes { const int all[] = {100}; }
template <class T> void fill(T *a, int n) {
#pragma omp parallel for \\
    schedule(static, sizes::all[0])
  for (int i = 0; i < n; i++)
    a[i] = omp_get_thread_num();
}
"""

# R"(..)" has a line that looks like a directive; the program's own monotonic loop must stay as it is.
CPLUSPLUS = """
#include <cstdio>
#include <omp.h>
#include "fill.h"
#define LOOP(words) _Pragma(#words)
#define HOW schedule(static)
static int a[400], b[400], c[400], d[400];
static const char *text = R"(
#pragma omp for
)";
int main() {
  fill(a, 400);
  LOOP(omp parallel for schedule(static, 7))
  for (int i = 0; i < 400; i++) b[i] = omp_get_thread_num();
#pragma omp parallel for HOW
  for (int i = 0; i < 400; i++) c[i] = omp_get_thread_num();
#pragma omp parallel
  {
    _Pragma("omp for schedule(monotonic:dynamic, 400)")
    for (int i = 0; i < 400; i++) d[i] = omp_get_thread_num();
  }
  for (int i = 0; i < 400; i++) std::printf("%d %d %d %d\\n", a[i], b[i], c[i], d[i]);
  std::fprintf(stderr, "%s", text);
}
"""

# Directives as attributes, also inside strings; and a loop executed by two teams.
ATTRIBUTES = """
#include <cstdio>
#include <omp.h>
static int a[400], b[400], c[400], d[400];
int main() {
  [[omp::directive(parallel for, schedule(static, 7), shared(a, b))]]
  for (int i = 0; i < 400; i++) a[i] = omp_get_thread_num();
  [[omp::sequence(directive(parallel), omp::directive(for))]]
  for (int i = 0; i < 400; i++) b[i] = omp_get_thread_num();
  [[using omp : directive(parallel for)]]
  for (int i = 0; i < 400; i++) c[i] = omp_get_thread_num();
#pragma omp teams distribute parallel for num_teams(1) thread_limit(4)
  for (int i = 0; i < 400; i++) d[i] = omp_get_thread_num();
  for (int i = 0; i < 400; i++) std::printf("%d %d %d %d\\n", a[i], b[i], c[i], d[i]);
  std::fputs("[[omp::directive(parallel for)]]", stderr);
}
"""

FIXED = """\
      program who
      use omp_lib
      integer i, a(400), b(400), c(400), s
      s = 0
C$OMP PARALLEL DO                                                       12345678
      do i = 1, 400
        a(i) = omp_get_thread_num()
      end do
!$omp parallel do private(i), schedule(static, 7), shared(b),
*$OMP& reduction(+:s)
      do i = 1, 400
        b(i) = omp_get_thread_num()
        s = s + 1
      end do
!$omp parallel
!$omp do schedule(dynamic, 400)
      do i = 1, 400
        c(i) = omp_get_thread_num()
      end do
!$omp end parallel
      if (s .ne. 400) stop 3
      do i = 1, 400
        print '(i0, 1x, i0, 1x, i0)', a(i), b(i), c(i)
      end do
      end
"""


def written(place: Path) -> None:
    (place / "fill.h").write_text(HEADER)
    (place / "who.cpp").write_text(CPLUSPLUS)
    (place / "who.f").write_text(FIXED)


def simulated(place: Path, name: str, schedule: str) -> RunRecord:
    built = control.build([name], loops=loops.chosen(schedule), cwd=place)
    record = Simulated().run(Job(built, machine.load("ksr1"), RunPoint(processors=4), schedule=schedule))
    assert (record.status, record.exit_code) == ("ok", 0), record.message
    return record


def columns(text: str) -> list[list[int]]:
    rows = [[int(word) for word in line.split()] for line in text.splitlines()]
    return [list(column) for column in zip(*rows, strict=True)]


SHARES = [i // 100 for i in range(400)]
SEVENS = [i // 7 % 4 for i in range(400)]


@pytest.mark.parametrize("name", ["who.cpp", "who.f"])
def test_every_static_loop_takes_the_schedule_or_stays_as_written(tmp_path: Path, name: str) -> None:
    written(tmp_path)
    plain = columns(simulated(tmp_path, name, "").stdout)
    assert plain[:2] == [SHARES, SEVENS]
    for column in columns(simulated(tmp_path, name, "static,20").stdout):
        assert column == [i // 20 % 4 for i in range(400)]


@pytest.mark.parametrize("name", ["who.cpp", "who.f"])
def test_the_same_on_this_host(tmp_path: Path, name: str) -> None:
    written(tmp_path)
    with native.built([name], cwd=tmp_path) as program:
        done = native.run(program, "static,20", 4, cwd=tmp_path)
        as_written = native.run(program, "", 4, cwd=tmp_path)
    assert done.exit_code == 0, done.stderr
    assert all(column == [i // 20 % 4 for i in range(400)] for column in columns(done.stdout))
    assert columns(as_written.stdout)[:2] == [SHARES, SEVENS]
    if name == "who.cpp":
        assert done.stderr == as_written.stderr == "\n#pragma omp for\n"


@pytest.mark.parametrize(
    ("name", "line", "column"), [("who.cpp", "fill.h:4", 0), ("who.cpp", "who.cpp:13", 1), ("who.f", "who.f:9", 1)]
)
def test_such_a_loop_is_named_by_its_line(tmp_path: Path, name: str, line: str, column: int) -> None:
    written(tmp_path)
    found = columns(simulated(tmp_path, name, f"{line}=static,50").stdout)
    fifties = [i // 50 % 4 for i in range(400)]
    assert [owners == fifties for owners in found] == [at == column for at in range(len(found))]


def test_loops_of_attributes_and_of_teams_take_the_schedule(tmp_path: Path) -> None:
    (tmp_path / "who.cpp").write_text(ATTRIBUTES)
    assert columns(simulated(tmp_path, "who.cpp", "").stdout) == [SEVENS, SHARES, SHARES, SHARES]
    twenties = [[i // 20 % 4 for i in range(400)]] * 4
    assert columns(simulated(tmp_path, "who.cpp", "static,20").stdout) == twenties
    with native.built(["who.cpp"], cwd=tmp_path) as program:
        done = native.run(program, "static,20", 4, cwd=tmp_path)
    assert (done.exit_code, done.stderr) == (0, "[[omp::directive(parallel for)]]")
    assert columns(done.stdout) == twenties


def test_lines_of_fixed_form_keep_their_width_and_numbers() -> None:
    made = fixed_form(FIXED).split("\n")
    assert all(len(line) <= 72 for line in made if not line.endswith("12345678"))
    assert made[4:8] == [
        "C$OMP PARALLEL DO",
        "C$OMP& schedule(monotonic:runtime)",
        "# 6",
        "      do i = 1, 400",
    ]
    assert "!$omp& schedule(monotonic:dynamic, 7)" in made
    wide = "!$omp parallel do schedule(static) private(i)" + " " * 40 + "shared(a)"
    assert fixed_form(wide, 0).split("\n")[2].endswith("shared(a)")
    assert "shared" not in fixed_form(wide)
    ordered = "!$omp do ordered\n      do i = 1, 9\n"
    assert fixed_form(ordered) == ordered


@pytest.mark.parametrize("name", ["who.cpp", "who.f"])
def test_loops_without_probes_take_it_too(tmp_path: Path, name: str) -> None:
    written(tmp_path)
    built = control.build([name], loops=True, instrument=False, cwd=tmp_path)
    job = Job(built, machine.load("ksr1"), RunPoint(processors=4), schedule="static,20")
    for column in columns(Simulated().run(job).stdout):
        assert column == [i // 20 % 4 for i in range(400)]


def test_a_source_whose_copy_does_not_compile_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalegraph.instrument.schedules.STATIC", "schedule(what the compiler refuses)")
    text = (
        f"int main(void) {{\n#pragma omp parallel for\n  for (int i = 0; i < 9; i++) ;\n  return 0;\n}} // {tmp_path}\n"
    )
    (tmp_path / "own.c").write_text(text)
    said = "own.c: its copy for schedules does not compile: static loops stay as they are written"
    assert said in control.build(["own.c"], loops=True, cwd=tmp_path).remarks


def test_a_compiler_of_ours_writes_the_rule_for_make_of_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path)
    (tmp_path / "first.h").write_text("enum { N = 400 };\n")
    monkeypatch.setenv("SCALEGRAPH_LOOPS", "1")
    monkeypatch.chdir(tmp_path)
    words = ["-fopenmp", "-MMD", "-include", "first.h", "-c", "who.cpp", "-o", "out.o"]
    subprocess.run([Path(sys.executable).parent / "scalegraph-c++", *words], check=True)
    rule = (tmp_path / "out.d").read_text().replace("\\\n", " ").split()
    assert rule[0] == "out.o:"
    assert {"who.cpp", "fill.h", "first.h"} <= set(rule[1:])
    names = subprocess.run(["nm", "out.o"], check=True, capture_output=True, text=True).stdout
    assert "scalegraph_parallel_loop_static_chunk" in names
