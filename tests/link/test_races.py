"""The hint at data races: lines where threads change the same word unsynchronised, and no others."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.link import Job, Limits, Simulated

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

FRAME = """\
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 600 };
static double shared[32], sum;
static int total, own[64];
static char flags[64];
static volatile int turn;
static omp_lock_t lock;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int counter, relaxed;
static void *count(void *unused)
{
    for (int i = 0; i < N; i++) {
        @THREAD@
    }
    return unused;
}
int main(void)
{
    pthread_t thread[3];
    omp_init_lock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, count, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    @OPENMP@
    printf("%d %d\\n", total > 0, sum >= 0);
    return 0;
}
"""
FOR = "#pragma omp parallel for\nfor (int i = 0; i < N; i++)\n"
RACES = {
    "elements": (FOR + "shared[i % 32] += i; /* here */", "total = 1;"),
    "scalar": (FOR + "total++; /* here */", "own[0] = 1;"),
    "dynamic chunks": (
        FOR.replace("for\n", "for schedule(dynamic)\n", 1).replace("< N", "< 40 * N")
        + "shared[i % 4] += i; /* here */",
        "",
    ),
    "other locks": (
        FOR
        + "{ if (omp_get_thread_num() % 2) {\n#pragma omp critical(one)\nown[1]++; }\nshared[i % 2] += i; /* here */ }",
        "total = 1;",
    ),
    "threads": ("", "for (int k = 0; k < 20; k++) shared[(i + k) % 4] += i; /* here */"),
}
SOUND = {
    "atomic": FOR + "{\n#pragma omp atomic\ntotal++;\n#pragma omp atomic\nshared[i % 8] += i; }",
    "critical": FOR + "{\n#pragma omp critical\n{ total++; shared[i % 8] += i; } }",
    "lock": FOR + "{ omp_set_lock(&lock); total++; shared[i % 8] += i; omp_unset_lock(&lock); }",
    "reduction": FOR.replace("for\n", "for reduction(+ : sum, total)\n", 1) + "{ sum += i; total++; }",
    "arrays of one's own": FOR + "{ own[omp_get_thread_num()]++; flags[omp_get_thread_num()]++; }",
    "ordered": FOR.replace("for\n", "for ordered schedule(static, 1)\n", 1) + "{\n#pragma omp ordered\ntotal++; }",
    "single and barriers": (
        "#pragma omp parallel\nfor (int i = 0; i < 50; i++) {\n#pragma omp single\ntotal++;\n#pragma omp barrier\n"
        "if (omp_get_thread_num() == i % omp_get_num_threads())\ntotal++;\n#pragma omp barrier\n}"
    ),
    "regions in turn": (
        "for (int k = 0; k < 50; k++) {\n#pragma omp parallel\nif (omp_get_thread_num() == k % omp_get_num_threads())\n"
        "total++;\n}"
    ),
    "tasks with depend": (
        "#pragma omp parallel\n#pragma omp single\nfor (int i = 0; i < 100; i++) {\n"
        "#pragma omp task depend(inout : total)\ntotal++;\n}"
    ),
    "tasks and taskwait": (
        "#pragma omp parallel\n#pragma omp single\nfor (int i = 0; i < 50; i++) {\n#pragma omp task\ntotal++;\n"
        "#pragma omp taskwait\n}"
    ),
    "loads and stores that are atomic": (
        FOR + "{ atomic_store_explicit(&relaxed, atomic_load_explicit(&relaxed, memory_order_relaxed) + 1, "
        "memory_order_relaxed); }"
    ),
    "a spin lock of atomics": (
        FOR + "{ while (atomic_exchange(&counter, 1))\n;\ntotal++; atomic_store(&counter, 0); }"
    ),
    "a flag that is polled": (
        "#pragma omp parallel\nfor (int i = 0; i < 40; i++) {\n"
        "while (turn % omp_get_num_threads() != omp_get_thread_num())\n;\ntotal++;\nturn = turn + 1; }"
    ),
    "a turn of two": (
        "for (int k = 0; k < 5; k++) {\n#pragma omp parallel num_threads(2)\nfor (int i = 0; i < 21; i++) {\n"
        "while (turn != omp_get_thread_num())\n;\ntotal++;\nturn = 1 - turn; }\nturn = 0; }"
    ),
    "a turn of two with a line for each": (
        "#pragma omp parallel num_threads(2)\nif (omp_get_thread_num())\nfor (int i = 0; i < 40; i++) {\n"
        "while (turn == 0)\n;\ntotal += 2;\nturn = turn - 1; }\nelse\nfor (int i = 0; i < 40; i++) {\n"
        "while (turn == 1)\n;\ntotal++;\nturn = turn + 1; }"
    ),
    "blocks that are used again": (
        FOR + "{ int *block = malloc(64); block[3] = i; for (int k = 0; k < 9; k++) block[3] += k; "
        "if (block[3] < 0) total++; free(block); }"
    ),
}
SOUND_THREADS = {
    "mutex": "pthread_mutex_lock(&mutex); total++; shared[i % 8] += i; pthread_mutex_unlock(&mutex);",
    "atomic of C11": "counter++; atomic_fetch_add(&relaxed, 2);",
}


def remarks(place: Path, on: str, processors: int, openmp: str, thread: str) -> tuple[str, list[str]]:
    """Return the program that was run, and its remarks about races."""
    text = FRAME.replace("@OPENMP@", openmp).replace("@THREAD@", thread)
    (place / "a.c").write_text(text)
    made = build(["a.c"], cwd=place)
    record = Simulated().run(Job(made, machines.load(on), RunPoint(processors=processors), limits=Limits(time_s=60.0)))
    assert record.status == "ok", record.message
    return text, [remark for remark in record.warnings if "race" in remark]


@pytest.mark.parametrize("on", ["ksr1", "server-2x32-inorder"])
@pytest.mark.parametrize("what", RACES)
def test_a_word_that_threads_change_without_synchronisation_is_remarked_on_with_its_line(
    what: str, on: str, module_path: Path
) -> None:
    text, said = remarks(module_path, on, 4, *RACES[what])
    line = next(at for at, row in enumerate(text.splitlines(), 1) if "/* here */" in row)
    place = f"a.c:{line} in {'count' if what == 'threads' else 'main'}"
    assert said == [
        f"a possible data race at {place}: threads read and write the same memory there without synchronisation"
    ]


@pytest.mark.parametrize("what", SOUND)
def test_synchronised_changes_are_not_remarked_on(what: str, tmp_path: Path) -> None:
    for on, processors in itertools.product(("ksr1", "server-2x32-inorder"), (2, 3, 4, 5, 8)):  # built once
        assert remarks(tmp_path, on, processors, SOUND[what], "")[1] == [], (on, processors)


@pytest.mark.parametrize("what", SOUND_THREADS)
def test_threads_that_synchronise_are_not_remarked_on(what: str, tmp_path: Path) -> None:
    assert remarks(tmp_path, "ksr1", 4, "", SOUND_THREADS[what])[1] == []


def test_one_processor_has_no_remark(tmp_path: Path) -> None:
    assert remarks(tmp_path, "ksr1", 1, *RACES["elements"])[1] == []
