"""``simulate --timed``: time and speedup of a part, equal to what the program itself measures."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from scalegraph.store import Study

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

KERNEL = """
#include <stdio.h>
#include <stdlib.h>
READ_CLOCK
static double a[20000];
int main(int argc, char **argv)
{
    for (int i = 0; i < 20000; i++)
        a[i] = (i * 7919) % 1000;
    double begin = now();
    for (int k = 0; k < 3; k++) {
#pragma omp parallel for
        for (int i = 0; i < 20000; i++)
            a[i] = a[i] * 0.5 + k;
    }
    double end = now();
    double sum = 0;
    for (int i = 0; i < 20000; i++)
        sum += a[i];
    printf("%.9f %g\\n", end - begin, sum);
    return 0;
}
"""
CLOCKS = {
    "wtime": "#include <omp.h>\n#define now omp_get_wtime",
    "wrapped": (
        "#include <sys/time.h>\nstatic double now(void)\n{\n    struct timeval t;\n    gettimeofday(&t, 0);\n"
        "    return t.tv_sec + 1e-6 * t.tv_usec;\n}"
    ),
    "monotonic": (
        "#include <time.h>\nstatic __attribute__((noinline)) double now(void)\n{\n    struct timespec t;\n"
        "    clock_gettime(CLOCK_MONOTONIC, &t);\n    return t.tv_sec + 1e-9 * t.tv_nsec;\n}"
    ),
}
CHRONO = (
    "#include <chrono>\nstatic double now()\n{\n    using namespace std::chrono;\n"
    "    return duration<double>(steady_clock::now().time_since_epoch()).count();\n}"
)
FORTRAN = """
program kernel
  implicit none
  integer(8) :: begin, end, rate
  integer :: i, k
  real(8) :: a(20000)
  do i = 1, 20000
    a(i) = mod(i * 7919, 1000)
  end do
  call system_clock(begin, rate)
  do k = 1, 5
!$omp parallel do
    do i = 1, 20000
      a(i) = a(i) * 0.5d0 + k
    end do
  end do
  call system_clock(end)
  print '(F12.9, 1X, F12.1)', dble(end - begin) / dble(rate), sum(a)
end program
"""


def document(call: Any, *arguments: str) -> Any:
    code, out, err = call("simulate", *arguments, "-m", "server-2x32-inorder", "-p", "1,8", "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize("clock", [*CLOCKS, "chrono", "system_clock"])
def test_the_part_that_a_program_times_is_found_and_is_what_it_measures(
    clock: str, call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, text, tool = f"{clock}.c", KERNEL.replace("READ_CLOCK", CLOCKS.get(clock, CHRONO)), "gcc"
    if clock == "chrono":
        name, tool = "chrono.cpp", "g++"
    if clock == "system_clock":
        name, text, tool = "clock.f90", FORTRAN, "gfortran"
    if shutil.which(tool) is None:
        pytest.skip(f"needs {tool}: apt-get install {tool}")
    Path(name).write_text(text)
    made = document(call, name)
    lines = [at for at, line in enumerate(text.splitlines(), 1) if "= now()" in line or "call system_clock" in line]
    assert made["timed"] == {"what": "clock", "label": f"{name}:{lines[0]} to {lines[1]}"}
    one, eight = made["runs"]
    for run in (one, eight):
        assert run["timed_s"] == pytest.approx(float(run["stdout"].split()[0]), abs=2e-6)
        assert 0 < run["timed_s"] < run["time_s"]
    assert eight["timed_speedup"] == pytest.approx(one["timed_s"] / eight["timed_s"])
    assert eight["timed_efficiency"] == pytest.approx(eight["timed_speedup"] / 8)
    assert eight["timed_speedup"] > 1.1 * eight["speedup"]


def test_a_region_is_a_part_and_its_columns_stand_beside_those_of_the_run(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = KERNEL.replace("READ_CLOCK", CLOCKS["wtime"])
    Path("a.c").write_text(text)
    loop = next(at for at, line in enumerate(text.splitlines(), 1) if "int k = 0" in line)
    made = document(call, "a.c", "--timed", f"loop main:{loop}")
    assert made["timed"] == {"what": f"loop main:{loop}", "label": f"loop main:{loop}"}
    for run in made["runs"]:
        assert run["timed_s"] == pytest.approx(float(run["stdout"].split()[0]), rel=1e-3)
    code, out, _ = call("simulate", "a.c", "--timed", f"a.c:{loop}", "-m", "server-2x32-inorder", "-p", "1,8")
    assert code == 0
    assert f"part: loop main:{loop}" in out
    assert re.search(r"speedup +E +part time \(\w+\) +part speedup +part E +L\(W,N\)", out)
    assert "The program times a.c:" in out
    code, _, err = call("simulate", "a.c", "--timed", "loop main:999", "-m", "server-2x32-inorder", "-p", "1,8")
    assert code == 2
    assert "--timed: no region 'loop main:999'" in err
    assert "[1/" not in err  # known from the build: nothing was run


def test_a_program_that_reads_no_clock_has_no_timed_part(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(KERNEL.replace("READ_CLOCK", "#define now() 1.0"))
    assert "timed" not in document(call, "a.c")
    code, _, err = call("simulate", "a.c", "--timed", "clock", "-m", "server-2x32-inorder", "-p", "1,8")
    assert code == 2
    assert "does not read a clock before and after parallel work; name a region" in err


def test_a_program_that_times_nothing_is_refused_after_one_run(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(KERNEL.replace("READ_CLOCK", "#define now() 1.0"))
    options = ("--timed", "clock", "-m", "server-2x32-inorder", "-p", "1,2,4,8", "-o", "a.sgstudy")
    code, _, err = call("simulate", "a.c", *options)
    assert code == 2
    assert "--timed: the main thread does not read a clock" in err
    with Study.open(tmp_path / "a.sgstudy") as study:
        assert [run.point.processors for run in study.runs()] == [1]


def test_a_request_names_a_timed_part(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = KERNEL.replace("READ_CLOCK", CLOCKS["wtime"])
    Path("a.c").write_text(text)
    loop = next(at for at, line in enumerate(text.splitlines(), 1) if "int k = 0" in line)
    request = f"""
processors = [1, 8]
timed = "a.c:{loop}"
[program]
sources = ["a.c"]
[machine]
name = "server-2x32-inorder"
"""
    Path("a.toml").write_text(request)
    code, out, err = call("run", "a.toml", "--json")
    assert code == 0, err
    made = json.loads(out)
    assert made["timed"] == {"what": f"a.c:{loop}", "label": f"loop main:{loop}"}
    assert made["runs"][1]["timed_speedup"] == pytest.approx(made["runs"][0]["timed_s"] / made["runs"][1]["timed_s"])
    code, out, _ = call("run", "a.toml")
    assert f"part: loop main:{loop}" in out
    Path("a.toml").write_text(request.replace(f"a.c:{loop}", "nowhere"))
    code, _, err = call("run", "a.toml", "-o", "b.sgstudy")
    assert code == 2
    assert "timed: no region 'nowhere'" in err
    assert not Path("b.sgstudy").exists()
