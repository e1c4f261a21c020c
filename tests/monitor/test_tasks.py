"""Tasks of measured runs: traces show who waited for whom, and tasks get the data that the program gave them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from scalegraph.control import build
from scalegraph.traces.checking import check
from scalegraph.traces.kinds import TaskStep, Wait
from tests.monitor.test_traces import opened, rows, traced

pytestmark = pytest.mark.slow

# each thread runs one task: the first ends when both have begun, the second continues
PAIR = r"""
#include <time.h>
static void rest(long ms) { struct timespec wanted = {0, ms * 1000000}; nanosleep(&wanted, NULL); }
static volatile int begun;
static void work(int i)
{
    __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
    while (begun < 2)
        rest(1);
    if (i == 1)
        rest(40);
}
int main(void)
{
    #pragma omp parallel num_threads(2)
    #pragma omp single
    {
        for (int i = 0; i < 2; i++) {
            #pragma omp task firstprivate(i)
            work(i);
        }
        #pragma omp taskwait
    }
    return 0;
}
"""

LOOP = r"""
static double sums[64];
int main(void)
{
    #pragma omp parallel num_threads(2)
    #pragma omp single
    {
        #pragma omp taskloop grainsize(4)
        for (int i = 0; i < 64; i++)
            for (int k = 0; k < 1000; k++)
                sums[i] += k;
        #pragma omp taskgroup
        {
            #pragma omp task
            {
                #pragma omp task if(0)
                sums[0] += 1;
            }
        }
    }
    return 0;
}
"""

DATA = r"""
#include <cstdio>
#include <omp.h>
struct Counted {
    static int copies;
    int value;
    explicit Counted(int v) : value(v) {}
    Counted(const Counted &other) : value(other.value) { __atomic_add_fetch(&copies, 1, __ATOMIC_SEQ_CST); }
    ~Counted() {}
};
int Counted::copies;
struct Large { double values[2000]; };
struct alignas(128) Wide { int value; };

int main()
{
    long found = 0, sum = 0, parts = 0, order = 0, early = 0, aligned = 1;
    Counted one(7);
    Large large;
    Wide wide = {5};
    for (int i = 0; i < 2000; i++)
        large.values[i] = i;
    #pragma omp parallel
    #pragma omp single
    {
        #pragma omp task firstprivate(one) shared(found)
        {
            #pragma omp atomic
            found += one.value;
        }
        #pragma omp task firstprivate(large) shared(found)
        {
            #pragma omp atomic
            found += (long)large.values[1999];
        }
        #pragma omp task firstprivate(wide) shared(found, aligned)
        {
            aligned = aligned && (unsigned long)&wide % 128 == 0;
            #pragma omp atomic
            found += wide.value;
        }
        #pragma omp task if (0) firstprivate(large) shared(early)
        early = (long)large.values[3];
        #pragma omp taskwait
        #pragma omp taskloop reduction(+ : sum) num_tasks(7)
        for (long i = 0; i < 1000; i++)
            sum += i;
        #pragma omp taskloop grainsize(1) shared(parts) firstprivate(one)
        for (unsigned long long i = 10; i < 50; i++) {
            #pragma omp atomic
            parts += one.value * (long)i;
        }
        #pragma omp taskloop grainsize(1) shared(parts)
        for (long i = 100000; i > 0; i -= 1) {
            #pragma omp atomic
            parts += 1;
        }
        #pragma omp task shared(order) depend(out : order)
        order = 1;
        #pragma omp task shared(order) depend(inout : order)
        order = 10 * order + 2;
        #pragma omp task shared(order) depend(in : order)
        order = 10 * order + 3;
        omp_event_handle_t event;
        #pragma omp task detach(event)
        omp_fulfill_event(event);
        #pragma omp taskwait
    }
    std::printf("%ld %ld %ld %ld %ld %ld %d\n", found, sum, parts, order, early, aligned, Counted::copies > 0);
    return 0;
}
"""


def test_a_wait_for_tasks_names_the_thread_that_ran_them(tmp_path: Path) -> None:
    with opened(traced(tmp_path, PAIR, 2)) as trace:
        assert check(trace).violations == []
        tasks = rows(trace, "tasks", "time", "location", "task", "what")
        for step in (TaskStep.CREATED, TaskStep.ENDED):
            assert sorted(tasks["task"][tasks["what"] == step].tolist()) == [1, 2]
        ends = tasks["what"] == TaskStep.ENDED
        runner = int(tasks["location"][ends][np.argmax(tasks["time"][ends])])
        assert set(tasks["location"][ends].tolist()) == {0, 1}
        waits = rows(trace, "waits", "begin", "end", "location", "holder", "why")
        long = waits["end"] - waits["begin"] > 0.03 * trace.meta.ticks_per_second
        long &= waits["why"] != Wait.CONDITION  # the task itself sleeps
        assert long.any()
        assert set(waits["holder"][long].tolist()) == {runner}
        assert set(waits["location"][long].tolist()) == {1 - runner}
        assert set(waits["why"][long].tolist()) <= {Wait.TASK, Wait.BARRIER}


@pytest.mark.parametrize("processors", [1, 2])
def test_parts_of_task_loops_are_tasks_of_their_own(tmp_path: Path, processors: int) -> None:
    with opened(traced(tmp_path, LOOP.replace("num_threads(2)", ""), processors)) as trace:
        assert check(trace).violations == []
        tasks = rows(trace, "tasks", "task", "what", "location")
        for step in (TaskStep.CREATED, TaskStep.ENDED):
            assert sorted(tasks["task"][tasks["what"] == step].tolist()) == list(range(1, 19))
        waits = rows(trace, "waits", "holder", "why")
        assert (waits["holder"][waits["why"] == Wait.TASK] >= 0).all()


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_tasks_get_the_data_that_their_program_gives(tmp_path: Path, threads: int) -> None:
    (tmp_path / "p.cpp").write_text(DATA, encoding="utf-8")
    built = build(["p.cpp"], cwd=tmp_path, builds="host")
    environment = {"OMP_NUM_THREADS": str(threads), "PATH": "/usr/bin:/bin"}
    result = subprocess.run([built.executable], env=environment, capture_output=True, text=True, check=True)
    parts = 7 * sum(range(10, 50)) + 100000
    assert result.stdout.split() == ["2011", "499500", str(parts), "123", "3", "1", "1"]
