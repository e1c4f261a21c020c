"""Unmodified programs under schedules in the simulator: each iteration once, static loops too, a schedule per loop."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph import control, machine
from scalegraph.base.errors import InputError
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.link import Job, Simulated, loops
from scalegraph.runtime import schedules
from tests.schedules.generated import a_program

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

Run = Callable[..., RunRecord]


@pytest.fixture(scope="module")
def run(module_path: Path) -> Run:
    """Run the C source *text* on *processors* processors under a schedule."""

    def made(text: str, processors: int, schedule: str, on: str = "ksr1") -> RunRecord:
        source = module_path / "loops.c"
        source.write_text(text)
        built = control.build([source], loops=loops.chosen(schedule), cwd=module_path)
        cancelling = {"OMP_CANCELLATION": "true"}
        job = Job(built, machine.load(on), RunPoint(processors=processors), schedule=schedule, env=cancelling)
        return Simulated().run(job)

    return made


@pytest.mark.parametrize("seed", range(6))
def test_every_iteration_once_under_every_schedule(run: Run, seed: int) -> None:
    choice = random.Random(seed)
    text = a_program(choice)
    for name in ("", *(one.name for one in schedules.shipped())):
        processors = choice.choice((1, 2, 3, 8, 64))
        record = run(text, processors, name)
        assert (record.status, record.stdout, record.exit_code) == ("ok", "0 wrong\n", 0), (
            name,
            processors,
            record.message,
        )


LOOPS = """
#include <stdio.h>
int main(void) {
  double a[400] = {0};
#pragma omp parallel for
  for (int i = 0; i < 400; i++) a[i] = i;
#pragma omp parallel for schedule(dynamic, 10)
  for (int i = 0; i < 400; i++) a[i] += i;
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < 400; i++) a[i] += i;
  printf("%g\\n", a[399]);
}
"""


def chunks(record: RunRecord) -> int:
    assert record.status == "ok", record.message
    return record.counters["chunks"]


def test_one_loop_all_loops_and_loops_of_the_runtime(run: Run) -> None:
    written = chunks(run(LOOPS, 4, ""))
    assert (
        written == 40 + 400
    )  # the static loop does not call the runtime; dynamic,1 is the default of schedule(runtime)
    assert chunks(run(LOOPS, 4, "dynamic,100")) == 3 * 4
    assert chunks(run(LOOPS, 4, "runtime=dynamic,100")) == 40 + 4
    assert (
        chunks(run(LOOPS, 4, "loops.c:7=dynamic,100")) == 4 + 4 + 400
    )  # the line of its directive; static requests one share
    assert chunks(run(LOOPS, 4, "loops.c:6=dynamic,200")) == 2 + 40 + 400  # the for of the static loop
    assert chunks(run(LOOPS, 4, "loops.c:6=dynamic,200;runtime=static")) == 2 + 40 + 4
    assert chunks(run(LOOPS, 4, "dynamic,100;loops.c:8=dynamic,20")) == 4 + 20 + 4


REPEATED = """
#include <stdio.h>
int main(void) {
  double a[400] = {0};
  for (int t = 0; t < 3; t++) {
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < 400; i++) a[i] += i;
  }
  printf("%g\\n", a[399]);
}
"""


@pytest.mark.parametrize("line", [6, 7])
def test_a_loop_is_known_by_its_line_where_compilers_give_its_call_another(run: Run, line: int) -> None:
    """The call that starts a parallel loop inside a serial loop gets the serial loop's line."""
    assert chunks(run(REPEATED, 4, f"loops.c:{line}=dynamic,100")) == 3 * 4


SHORT = """
#include <stdio.h>
static double a[64][64];
int main(void) {
  for (int t = 0; t < 5; t++) {
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < 64; i++)
      for (int k = 0; k < 64; k++) a[i][k] += 1;
  }
  printf("%g\\n", a[3][3]);
}
"""


@pytest.mark.few(5)
@pytest.mark.parametrize("name", [one.name for one in schedules.shipped() if one.family == "central queue"])
def test_nobody_takes_iterations_before_the_queue_is_ready(run: Run, name: str) -> None:
    """Members arrive while the first one is still writing the numbers of the queue, one reference at a time."""
    for processors in (3, 4, 5, 8):
        record = run(SHORT, processors, name)
        assert (record.status, record.stdout) == ("ok", "5\n"), (name, processors, record.message)


CANCELLED = """
#include <stdio.h>
int main(void) {
  int seen = 0;
  for (int t = 0; t < 4; t++) {
    for (int k = 0; k < 2; k++) {
#pragma omp parallel
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 300; i++) {
#pragma omp cancel for if (k == 1 && i == 20)
    }
#pragma omp parallel for schedule(guided) reduction(+ : seen)
    for (int i = 0; i < 300; i++) seen++;
    }
  }
  printf("%d\\n", seen);
}
"""


@pytest.mark.parametrize("name", ["TSS", "FAC2"])
def test_what_is_forgotten_of_a_cancelled_loop_is_its_own(run: Run, name: str) -> None:
    record = run(CANCELLED, 256, name)
    assert (record.status, record.stdout) == ("ok", "2400\n"), record.message


def test_static_loops_of_a_copy_run_as_they_are_written(run: Run) -> None:
    plain, copy = run(LOOPS, 4, ""), run(LOOPS, 4, "loops.c:10=dynamic")
    assert plain.stdout == copy.stdout
    assert chunks(copy) == chunks(plain) + 4


def test_what_there_is_not_is_named(run: Run) -> None:
    for text, said in (
        ("gided", "there is no schedule 'gided'; did you mean 'guided'"),
        ("nothing", "there is no schedule 'nothing'; expected a schedule with its parameters"),
        ("EA,alpah=3", "schedule EA has no parameter 'alpah'; did you mean 'alpha'"),
        ("ML,alpha=3", "schedule ML has no parameter 'alpha'"),
        ("EA,alpha=N/Q", "expected a chunk size, or a parameter as in alpha=N/P^2"),
        ("other.c:7=EA", "no code comes from 'other.c'"),
        ("loops.c:77=EA", "no code comes from line 77"),
    ):
        with pytest.raises((InputError, ValueError), match=said.replace("^", r"\^")):
            run(LOOPS, 2, text)


OWN = """
#include "scalegraph_schedule.h"
static const schedule_parameter parameters[] = {
    {.name = "size", .value = "N/P", .least = 1, .most = 1e9, .help = "iterations of a chunk"}, {.name = NULL}};
static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    (void)member;
    return schedule_take(loop, loop->shared, (uint64_t)loop->parameter[0], chunk);
}
SCHEDULE(.name = "mine", .title = "my own", .parameters = parameters, .next = next);
"""


def test_a_schedule_of_ones_own(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "mine.c"
    source.write_text(OWN)
    assert chunks(run(LOOPS, 4, str(source))) == 3 * 4
    assert chunks(run(LOOPS, 4, f"{source},size=50")) == 3 * 8
    found = schedules.own(source)
    assert (found.name, found.title, [p.name for p in found.parameters]) == ("mine", "my own", ["size"])


def test_a_schedule_that_loses_iterations_is_caught(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "loses.c"
    source.write_text(
        OWN.replace("return schedule_take", "return loop->iterations > 0 && member->word[0]++ == 0 && schedule_take")
    )
    record = run(LOOPS, 2, f"{source},size=10")
    assert record.status == "unsupported"
    assert "the schedule mine gave 20 of the 400 iterations of a loop" in record.message


def test_a_schedule_that_repeats_iterations_is_caught(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "repeats.c"
    again = (
        "bool found = schedule_take(loop, loop->shared, 10, chunk);"
        "if (chunk->first > 20) chunk->first -= 10; return found;"
    )
    source.write_text(
        OWN.replace("return schedule_take(loop, loop->shared, (uint64_t)loop->parameter[0], chunk);", again)
    )
    record = run(LOOPS, 2, f"{source},size=10")
    assert record.status == "unsupported"
    assert "the schedule mine gave iteration 20 of a loop twice" in record.message
