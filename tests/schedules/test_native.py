"""Programs on this host whose loops use the simulator's schedules, through a library in front of libgomp."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.control import native
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.native.library import schedule_library
from tests.schedules.generated import check
from tests.schedules.test_simulated import OWN

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

Play = Callable[..., native.Measured]

# Prints which thread executes each iteration of a static loop, and of a loop with schedule dynamic,1.
WHO = """
#include <omp.h>
#include <stdio.h>
int main(void) {
  static int a[400], b[400];
#pragma omp parallel for
  for (int i = 0; i < 400; i++) a[i] = omp_get_thread_num();
#pragma omp parallel
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 400; i++) b[i] = omp_get_thread_num();
  for (int i = 0; i < 400; i++) printf("%d %d\\n", a[i], b[i]);
}
"""

# Prints the runtime's chunks, calling it as compiled code does; one thread begins once the others wait.
CHUNKS = """
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
bool GOMP_loop_dynamic_start(long, long, long, long, long *, long *);
bool GOMP_loop_dynamic_next(long *, long *);
void GOMP_loop_end(void);
int main(void) {
  long from, to;
#pragma omp parallel num_threads(4) private(from, to)
  {
    int more = 1;
    if (omp_get_thread_num() == 0) {
      more = GOMP_loop_dynamic_start(0, 1000, 1, 1, &from, &to);
      while (more) { printf("%ld\\n", to - from); more = GOMP_loop_dynamic_next(&from, &to); }
    }
#pragma omp barrier
    if (omp_get_thread_num() != 0) {
      more = GOMP_loop_dynamic_start(0, 1000, 1, 1, &from, &to);
      if (more) printf("more\\n");
    }
    GOMP_loop_end();
  }
}
"""


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Run the C source *text* on this host with *threads* threads under a schedule."""

    def made(text: str, threads: int, schedule: str, name: str = "loops.c") -> native.Measured:
        (tmp_path / name).write_text(text)
        with native.built([name], cwd=tmp_path) as program:
            return native.run(program, schedule, threads, cwd=tmp_path)

    return made


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(20))
def test_every_iteration_once(tmp_path: Path, seed: int) -> None:
    assert check(seed, tmp_path, native_too=True, simulate=False, runs=3) == []


def columns(run: native.Measured) -> tuple[list[int], list[int]]:
    assert run.exit_code == 0, run.stderr
    pairs = [line.split() for line in run.stdout.splitlines()]
    return [int(a) for a, _ in pairs], [int(b) for _, b in pairs]


def is_in_blocks(owners: list[int], size: int) -> bool:
    return all(len(set(owners[at : at + size])) == 1 for at in range(0, len(owners), size))


def test_all_loops(play: Play) -> None:
    shares = [i // 100 for i in range(400)]
    assert columns(play(WHO, 4, ""))[0] == shares
    assert columns(play(WHO, 4, "static")) == (shares, shares)
    assert columns(play(WHO, 4, "static,3")) == ([i // 3 % 4 for i in range(400)],) * 2
    assert all(is_in_blocks(owners, 80) for owners in columns(play(WHO, 4, "dynamic,80")))


# Equal loops, one directly after the other, as parallel loops and inside a parallel region.
LIKE = """
#include <omp.h>
#include <stdio.h>
static int a[400], b[400], c[400], d[400];
int main(void) {
  for (int turn = 0; turn < 2; turn++) {
#pragma omp parallel for
  for (int i = 0; i < 400; i++) a[i] = omp_get_thread_num();
#pragma omp parallel for
  for (int i = 0; i < 400; i++) b[i] = omp_get_thread_num();
#pragma omp parallel
  {
#pragma omp for \\
    nowait
  for (int i = 0; i < 400; i++) c[i] = omp_get_thread_num();
#pragma omp for schedule(dynamic, 400)
  for (int i = 0; i < 400; i++) d[i] = omp_get_thread_num();
  }
  }
  for (int i = 0; i < 400; i++) printf("%d %d %d %d\\n", a[i], b[i], c[i], d[i]);
}
"""


@pytest.mark.parametrize(
    ("line", "number"), [(7, 0), (8, 0), (9, 1), (10, 1), (13, 2), (14, 2), (15, 2), (16, 3), (17, 3)]
)
def test_a_single_loop(play: Play, line: int, number: int) -> None:
    run = play(LIKE, 4, f"loops.c:{line}=static,3")
    assert run.exit_code == 0, run.stderr
    owners = list(zip(*(map(int, text.split()) for text in run.stdout.splitlines()), strict=True))
    shares, dealt = tuple(i // 100 for i in range(400)), tuple(i // 3 % 4 for i in range(400))
    for loop, found in enumerate(owners):
        assert found == dealt if loop == number else found == shares or (loop == 3 and len(set(found)) == 1), loop


def test_a_line_without_a_loop_is_refused(play: Play) -> None:
    with pytest.raises(InputError, match="no code comes from line 3"):
        play(LIKE, 4, "loops.c:3=EA")


# An ordered loop prints who executes which iteration, in the order of the ordered regions. Every third has none.
ORDERED = """
#include <omp.h>
#include <stdio.h>
int main(void) {
#pragma omp parallel
#pragma omp for ordered schedule(dynamic)
  for (int i = 0; i < 60; i++) {
    if (i % 3 == 2) continue;
#pragma omp ordered
    printf("%d %d\\n", i, omp_get_thread_num());
  }
#pragma omp parallel for ordered schedule(static, 2)
  for (unsigned long long i = 9000000000; i < 9000000010; i++)
#pragma omp ordered
    printf("%llu %d\\n", i, omp_get_thread_num());
}
"""


@pytest.mark.parametrize("schedule", ["", "static,5", "guided", "TSS", "SE-wrapped", "RAND", "steal", "ML"])
def test_ordered_loops(play: Play, schedule: str) -> None:
    numbers, owners = columns(play(ORDERED, 4, schedule))
    assert numbers == [i for i in range(60) if i % 3 != 2] + [9_000_000_000 + i for i in range(10)]
    if schedule == "static,5":
        assert owners == [i // 5 % 4 for i in range(60) if i % 3 != 2] + [i // 5 for i in range(10)]


def test_sequences_of_chunks(play: Play) -> None:
    def sizes(schedule: str) -> list[int]:
        run = play(CHUNKS, 4, schedule)
        assert run.exit_code == 0, run.stderr
        return [int(line) for line in run.stdout.splitlines()]

    guided, left = [], 1000
    while left:
        guided.append(-(-left // 4))
        left -= guided[-1]
    assert sizes("guided") == guided
    assert sizes("dynamic,70") == [70] * 14 + [20]
    assert sizes("FAC2")[:9] == [125] * 4 + [63] * 4 + [31]
    assert {a - b for a, b in pairwise(sizes("TSS")[:-1])} <= {7, 8, 9}
    own, shares = [], 250
    while shares:
        own.append(-(-shares // 4))
        shares -= own[-1]
    found = sizes("ML")  # its own queue, then repeatedly a fourth of the fullest one
    assert found[: len(own)] == own
    assert found[len(own)] == 63
    assert sum(found) == 1000


def test_a_schedule_of_ones_own_and_one_that_loses(play: Play, tmp_path: Path) -> None:
    source = tmp_path / "mine.c"
    source.write_text(OWN)
    a, _ = columns(play(WHO, 4, f"{source},size=50"))
    assert is_in_blocks(a, 50)
    loses = "return loop->iterations > 0 && member->word[0]++ == 0 && schedule_take"
    source.write_text(OWN.replace("return schedule_take", loses))
    run = play(WHO, 2, f"{source},size=10")
    assert run.exit_code != 0
    assert re.fullmatch("scalegraph: the schedule mine gave [12]0 of the 400 iterations of a loop\n", run.stderr)


FORTRAN = """
program who
  implicit none
  integer :: i, a(100)
  integer(8) :: j, b
  b = 0
  !$omp parallel do
  do i = 1, 100
    a(i) = i
  end do
  !$omp parallel do schedule(guided) reduction(+:b)
  do j = 300, 1, -3
    b = b + j
  end do
  print *, sum(a), b
end program
"""
CPP = """
#include <cstdio>
#include <vector>
int main() {
  std::vector<int> a(1000);
  unsigned long long sum = 0;
#pragma omp parallel for
  for (auto at = a.begin(); at < a.end(); ++at) *at = 1;
#pragma omp parallel for reduction(+:sum)
  for (unsigned long long i = 0; i < 1000; i++) sum += i * a[i];
  std::printf("%llu\\n", sum);
}
"""


@pytest.mark.parametrize("schedule", ["", "EA", "SE-wrapped", "steal"])
def test_fortran_and_cpp(play: Play, schedule: str) -> None:
    assert play(FORTRAN, 3, schedule, "who.f90").stdout.split() == ["5050", "15150"]
    assert play(CPP, 3, schedule, "sum.cpp").stdout == "499500\n"


def test_a_program_of_the_users_own_build_is_served_by_preloading(tmp_path: Path) -> None:
    (tmp_path / "who.c").write_text(WHO)
    subprocess.run([*find_compiler().command, "-O2", "-fopenmp", "who.c", "-o", "who"], cwd=tmp_path, check=True)
    library = schedule_library(find_compiler())
    env = {"LD_PRELOAD": str(library), "SCALEGRAPH_SCHEDULE": "static,7", "OMP_NUM_THREADS": "3"}
    out = subprocess.run([tmp_path / "who"], env=env, capture_output=True, text=True, check=True).stdout
    assert [int(line.split()[1]) for line in out.splitlines()] == [i // 7 % 3 for i in range(400)]


def test_clang_is_refused(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    compiler = replace(find_compiler(), clang=True)
    monkeypatch.setattr(native, "find_compiler", lambda *_: compiler)
    with pytest.raises(InputError, match="schedules on this host need gcc"):
        play(WHO, 2, "EA")
