"""Programs with threads: pthreads, C11, C++; more threads than processors; waits that never end."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.format import CATEGORY_NAMES
from tests.runtime import run_random_programs
from tests.runtime.conftest import Simulator

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
Runner = Callable[..., Any]


@pytest.mark.parametrize("on", ["ksr1", "server-2x32-inorder"])
@pytest.mark.parametrize("processors", [1, 3, 16, 64])
@pytest.mark.parametrize("program", ["threads", "thread_ends", "cpp_threads"])
def test_threads_do_what_they_do_natively(run: Runner, simulator: Any, program: str, processors: int, on: str) -> None:
    outcome = run(program, processors, on=on)
    assert (outcome.status, outcome.result.meta["message"]) == ("ok", "")
    assert outcome.stdout == simulator.native(program, processors)
    assert outcome.total("prim_thread") > 0


@pytest.mark.parametrize("on", ["ksr1", "server-2x32-inorder"])
@pytest.mark.parametrize("processors", [1, 2, 5, 16])
@pytest.mark.parametrize("program", ["early_threads", "early_pool"])
def test_threads_created_before_main_run_like_others(
    run: Runner, simulator: Any, program: str, processors: int, on: str
) -> None:
    outcome = run(program, processors, on=on)
    assert (outcome.status, outcome.result.meta["message"]) == ("ok", "")
    assert outcome.stdout == simulator.native(program, processors)
    worked = {
        int(cost["processor"]) for cost in outcome.result.costs if cost["categories"][CATEGORY_NAMES.index("busy_int")]
    }
    assert len(worked) >= min(processors, 4)


@pytest.mark.parametrize("lock", ["test_and_set", "ticket", "queue"])
@pytest.mark.parametrize("barrier", ["central", "tree", "hardware"])
def test_threads_work_with_every_kind_of_lock_and_barrier(run: Runner, simulator: Any, lock: str, barrier: str) -> None:
    settings = {"machine.lock": lock, "machine.barrier": barrier, "machine.barrier_radix": "2"}
    outcome = run("threads", 3, settings=settings)
    assert (outcome.status, outcome.stdout) == ("ok", simulator.native("threads", 3))


@pytest.mark.parametrize("lock", ["test_and_set", "ticket", "queue"])
@pytest.mark.parametrize("slice_cycles", [100, 700, 1500, 4000])
def test_threads_lose_their_processor_on_the_way_to_a_wait(
    run: Runner, simulator: Any, lock: str, slice_cycles: int
) -> None:
    settings = {"machine.lock": lock, "machine.slice_cycles": str(slice_cycles)}
    for processors in (2, 3, 5):
        outcome = run("standing", processors, settings=settings)
        assert (outcome.status, outcome.stdout) == ("ok", simulator.native("standing", processors))


WAKES = {
    "condition": "200 cancelled",
    "semaphore": "200 cancelled",
    "posted": "all",  # the C library itself may forget the second thread
    "joined": "100 joined",
    "futex": "cancelled 1, faults 0",
    "writer": "both read, faults 0",
    "renewed": "20 serial",
    "kept": "told, faults 0, spin lock kept",
    "past": "timed out, time goes on",
}


@pytest.mark.parametrize("processors", [1, 2, 3])
@pytest.mark.parametrize("what", WAKES)
def test_threads_are_woken_once_and_not_forgotten(run: Runner, what: str, processors: int) -> None:
    outcome = run("wakes", processors, args=[what])
    assert (outcome.status, outcome.stdout) == ("ok", WAKES[what] + "\n")


@pytest.mark.parametrize("steps", [0, 40, 80, 120, 160, 200])
def test_the_last_two_threads_may_end_at_once(run: Runner, steps: int) -> None:
    outcome = run("wakes", 2, args=["last", str(steps)])
    assert (outcome.status, outcome.stdout, outcome.returncode) == ("ok", "main ends\n", 0)


@pytest.mark.parametrize("barrier", ["central", "tree", "hardware", "simple"])
@pytest.mark.parametrize("members", [2, 4, 6])
def test_more_threads_than_members_come_to_a_barrier(run: Runner, barrier: str, members: int) -> None:
    kind = {"machine.barrier": barrier, "machine.barrier_radix": "2"}
    for processors, quantum in ((3, "1000"), (3, "20000"), (12, "20000")):
        settings = {**kind, "run.quantum_cycles": quantum}
        outcome = run("wakes", processors, settings=settings, args=["crowd", str(members)])
        assert (outcome.status, outcome.stdout) == ("ok", f"{720 // members} of 720 serial, 0 too early\n")


PLUGIN = """
#include <semaphore.h>
#include <threads.h>
static sem_t semaphore;
static int wait_for_it(void *unused)
{
    sem_wait(&semaphore);
    return unused == 0 ? 7 : 0;
}
int serve(void)
{
    thrd_t thread;
    int result;
    sem_init(&semaphore, 0, 0);
    thrd_create(&thread, wait_for_it, 0);
    thrd_yield();
    sem_post(&semaphore);
    thrd_join(thread, &result);
    return result;
}
"""
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **argument)
{
    void *library = dlopen(argument[count - 1], RTLD_NOW);
    int (*serve)(void) = (int (*)(void))dlsym(library, "serve");
    printf("%d\\n", serve());
    return 0;
}
"""


def test_threads_of_a_library_that_is_loaded_later_are_simulated(run: Runner, simulator: Simulator) -> None:
    plugin, library = simulator.directory / "plugin.c", simulator.directory / "plugin.so"
    plugin.write_text(PLUGIN)
    (simulator.directory / "loader.c").write_text(LOADER)
    find_compiler().run(["-shared", "-fPIC", str(plugin), "-o", str(library)])
    outcome = run("loader", 2, args=[str(library)])
    assert (outcome.status, outcome.stdout) == ("ok", "7\n")
    assert outcome.total("prim_thread") > 0


EARLY_PLUGIN = """
#include <stdio.h>
int serve(void);
static int served;
__attribute__((constructor)) static void begin(void)
{
    served = serve();
}
__attribute__((destructor)) static void end(void)
{
    printf("%d\\n", served);
}
"""


def test_threads_of_a_librarys_constructor_are_simulated(run: Runner, simulator: Simulator) -> None:
    plugin, library = simulator.directory / "early_plugin.c", simulator.directory / "early_plugin.so"
    plugin.write_text(PLUGIN + EARLY_PLUGIN)
    (simulator.directory / "empty.c").write_text(
        "int main(int count, char **argument)\n{\n    return argument[count] != 0;\n}\n"
    )
    find_compiler().run(["-shared", "-fPIC", str(plugin), "-o", str(library)])
    outcome = run("empty", 2, env={"LD_PRELOAD": str(library)}, args=["one", "two"])
    assert (outcome.status, outcome.returncode, outcome.stdout) == ("ok", 0, "7\n")
    assert outcome.total("prim_thread") > 0


def test_random_programs_give_the_native_result_wherever_they_lie(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_random_programs.main(["--threads", "--count", "12"]) == 0
    assert capsys.readouterr().out == "12 programs, 0 with a fault\n"


def test_main_is_given_arguments_and_environment_as_on_the_host(run: Runner, simulator: Any) -> None:
    words = ["first", "", "a longer one with blanks"]
    outcome = run("arguments", 2, args=words)
    assert (outcome.status, outcome.stdout) == ("ok", simulator.native("arguments", 2, args=words))


def test_where_a_program_lies_moves_none_of_its_data(simulator: Simulator, tmp_path: Path) -> None:
    program, places = simulator.build("cpp_threads"), [tmp_path / ("d" * length) for length in (1, 8, 24, 40, 72, 200)]
    times = set()
    for place in places:
        place.mkdir()
        shutil.copy(program, place)
        there = Simulator(place, simulator.runtime)
        shutil.copy(program.with_suffix(".blocks"), place)
        times.add(there.run("cpp_threads", 3).time)
    assert len(times) == 1


@pytest.mark.parametrize("processors", [1, 2, 5, 8])
def test_spinning_threads_make_progress_also_on_shared_processors(run: Runner, processors: int) -> None:
    outcome = run("spinning", processors, on="server-2x32-inorder", settings={"machine.slice_cycles": "20000"})
    assert (outcome.status, outcome.stdout) == ("ok", "100 100 1\n")


@pytest.mark.parametrize(("processors", "used"), [(1, 1), (3, 3), (13, 12)])
def test_threads_spread_over_the_processors_there_are(run: Runner, processors: int, used: int) -> None:
    outcome = run("thread_places", processors, on="server-2x32-inorder", settings={"machine.thread_cycles": "100"})
    assert outcome.stdout == f"{processors} {processors} {processors} 0\n{used} 12\n12\n"


def test_files_of_the_system_tell_the_processors_of_the_run(run: Runner) -> None:
    outcome = run("system_files", 35, on="server-2x32-inorder")
    cpu = "/sys/devices/system/cpu"
    assert (outcome.status, outcome.returncode) == ("ok", 0)
    assert outcome.stdout.splitlines() == [
        "35 36",
        "35 35",
        f"{cpu}/online: 0-34",
        "sys/devices/system/cpu/possible: 0-34",
        f"{cpu}/cpu1/topology/core_siblings: 00000000,ffffffff",
        f"{cpu}/cpu1/topology/thread_siblings_list: 1",
        f"{cpu}/cpu1/cache/index0/size: 48K",
        f"{cpu}/cpu1/cache/index2/shared_cpu_list: 0-31",
        "/sys/devices/system/node/node1/cpulist: 32-34",
        "0 -1 1",
    ]


def test_threads_on_one_processor_take_turns_and_pay_for_it(run: Runner) -> None:
    long, short = (run("threads", 2, settings={"machine.slice_cycles": cycles}) for cycles in ("1000000", "2000"))
    assert long.stdout == short.stdout
    assert short.total("prim_thread") > long.total("prim_thread")
    free = run("threads", 2, settings={"machine.slice_cycles": "2000", "machine.switch_cycles": "0"})
    assert free.stdout == short.stdout
    assert free.total("prim_thread") < short.total("prim_thread")


def test_threads_run_the_same_every_time(run: Runner) -> None:
    first, second = (run("threads", 5, on="server-2x32-inorder") for _ in range(2))
    for part in ("costs", "sites"):
        assert np.array_equal(getattr(first.result, part), getattr(second.result, part))


@pytest.mark.parametrize(
    ("what", "category", "sentence"),
    [
        ("mutex", "idle_lock", "2 for a lock; thread 0 waits for what thread 1 holds"),
        ("condition", "idle_wait", "2 for a signal"),
        ("semaphore", "idle_wait", "2 for a signal"),
        ("barrier", "idle_barrier", "1 at a barrier, 1 for a signal"),
    ],
)
def test_waiting_in_vain_is_a_deadlock_with_who_waits_for_what(
    run: Runner, what: str, category: str, sentence: str
) -> None:
    outcome = run("stuck", 3, args=[what])
    assert (outcome.status, outcome.stdout, outcome.returncode) == ("deadlock", "before\n", 99)
    assert f"deadlock: all 2 working threads wait for each other, {sentence}" in outcome.stderr
    waits = {int(wait["thread"]): wait for wait in outcome.result.waits}
    assert CATEGORY_NAMES[waits[1]["category"]] == category
    assert int(waits[1]["object"]) != 0
    if what != "mutex":
        assert int(waits[0]["holder"]) == 1  # main joins it


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("fork", "the program called fork at 0x"),
        ("alarm", "a timer of the host would disturb simulated time"),
        ("asynchronous", "asynchronous cancellation"),
    ],
)
def test_what_threads_cannot_do_is_named(run: Runner, what: str, sentence: str) -> None:
    outcome = run("stuck", 2, args=[what])
    assert outcome.status == "unsupported"
    assert sentence in outcome.result.meta["message"]


def test_a_signal_that_a_thread_sends_itself_ends_the_program_as_natively(run: Runner) -> None:
    outcome = run("stuck", 2, args=["kill"])
    assert (outcome.status, outcome.returncode) == ("crashed", -10)
    assert "the program ended with User defined signal 1 on processor 0 at 0x" in outcome.result.meta["message"]


def test_functions_that_move_and_search_memory_do_their_work_and_are_counted(run: Runner, simulator: Any) -> None:
    outcome = run("texts", 2)
    assert (outcome.status, outcome.stdout) == ("ok", simulator.native("texts", 2))
    assert outcome.total("reads") > 7 * 50  # reads of sorting alone: 100 numbers of 4 bytes, moved 7 times


@pytest.mark.parametrize("barrier", ["central", "tree", "hardware", "simple"])
@pytest.mark.parametrize("misses", ["0", "1"])
def test_barrier_that_one_thread_leaves_out_is_a_deadlock(run: Runner, misses: str, barrier: str) -> None:
    outcome = run("missed", 2, args=[misses], settings={"machine.barrier": barrier})
    assert (outcome.status, outcome.stdout) == ("deadlock", "")
    assert "all 2 working threads wait for each other, 2 at a barrier" in outcome.stderr
