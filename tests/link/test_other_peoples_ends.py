"""Endings of other people's programs: exceptions, longjmp, signals to others, memory at fixed addresses."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import build
from scalegraph.link import Job, Limits, Simulated

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
Program = Callable[..., RunRecord]


@pytest.fixture
def program(module_path: Path, ksr1: machines.Machine) -> Program:
    """Return a function that builds the given source and runs it on two processors; a source is built once."""

    def run(text: str, *args: str, suffix: str = ".c", openmp: bool = True) -> RunRecord:
        if suffix == ".cpp" and shutil.which("g++") is None:
            pytest.skip("needs g++: apt-get install g++")
        (module_path / f"a{suffix}").write_text(text)
        made = build([f"a{suffix}"], cflags="" if openmp else "-fno-openmp", cwd=module_path)
        return Simulated().run(Job(made, ksr1, RunPoint(processors=2), args, limits=Limits(time_s=60.0)))

    return run


THROWS = """\
#include <cstdio>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
struct Mine {
    int code;
};
static void fail(int i)
{
    if (i == 77)
        throw std::runtime_error("value " + std::to_string(i) + " is bad");
}
static void end()
{
    std::abort();
}
int main(int argc, char **argv)
{
    std::string what = argv[1];
    std::puts("before");
    std::fflush(stdout);
    try {
        throw 1;
    } catch (int) {
    }
    if (what == "region") {
#pragma omp parallel for
        for (int i = 0; i < 100; i++)
            fail(i);
    } else if (what == "main") {
        throw Mine{3};
    } else if (what == "future") {
        auto result = std::async(std::launch::async, fail, 77);
        try {
            throw 2;
        } catch (int) {
        }
        result.get();
    } else if (what == "library") {
        return (int)what.at(100);
    } else if (what == "handler") {
        std::set_terminate(end);
        fail(77);
    }
}
"""


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        (
            "region",
            "thrown at a.cpp:12 in fail, was not caught in the parallel region at a.cpp:28 in main, which no exception",
        ),
        ("main", "an exception of type Mine, thrown at a.cpp:32 in main, was not caught (SIGABRT on processor 0)"),
        ("future", 'an exception of type std::runtime_error ("value 77 is bad"), thrown at a.cpp:12 in fail, was not'),
        ("library", 'this->size() (which is 7)"), thrown at a.cpp:41 in main, was not caught (SIGABRT on processor 0)'),
        (
            "handler",
            "a.cpp:16 in end while it handled an exception of type std::runtime_error, thrown at a.cpp:12 in fail",
        ),
    ],
)
def test_an_exception_that_nobody_catches_is_named_with_its_words_and_place(
    program: Program, what: str, sentence: str
) -> None:
    record = program(THROWS, what, suffix=".cpp")
    assert (record.status, record.signal, record.stdout) == ("crashed", signal.SIGABRT, "before\n")
    assert sentence in record.message


STALE = """\
#include <stdint.h>
#include <stdio.h>
static volatile uintptr_t kept;
/* Leaves addresses of the program's code, to which nothing returns, where the next function has its frame. */
__attribute__((noinline)) void leave(void)
{
    volatile uintptr_t places[512];
    for (int i = 0; i < 512; i++)
        places[i] = (uintptr_t)leave;
    kept = places[7];
}
int main(void)
{
    leave();
    printf("%s\\n", (const char *)(kept % 1 + 8));
    return 0;
}
"""


def test_a_fault_in_a_library_is_named_by_the_call_that_led_there_not_by_what_is_left_on_the_stack(
    program: Program,
) -> None:
    record = program(STALE)
    assert (record.status, record.signal) == ("crashed", signal.SIGSEGV)
    assert "at a.c:15 in main" in record.message


JUMPS = """\
#include <omp.h>
#include <setjmp.h>
#include <stdio.h>
static jmp_buf out;
int main(int argc, char **argv)
{
    int thrower = argv[1][0] - '0', jumps = 0;
    if (setjmp(out) == 0) {
#pragma omp parallel reduction(+ : jumps)
        {
            jmp_buf in;
            if (setjmp(in) == 0)
                longjmp(in, 1);
            jumps++;
            if (omp_get_thread_num() == thrower)
                longjmp(out, 1);
        }
        if (setjmp(out) == 0)
            longjmp(out, 1);
    }
    printf("%d jumps\\n", jumps);
    return 0;
}
"""


@pytest.mark.parametrize(("thrower", "where"), [("0", "out of its region"), ("1", "to the stack of another thread")])
def test_longjmp_out_of_a_region_is_refused_with_its_place(program: Program, thrower: str, where: str) -> None:
    record = program(JUMPS, thrower)
    assert record.status == "unsupported"
    assert record.message == (
        f"the longjmp at a.c:16 in main goes {where}, in the parallel region at a.c:9 in main: OpenMP does not define "
        "what happens then"
    )


def test_longjmp_within_a_region_and_outside_works(program: Program) -> None:
    record = program(JUMPS, "9")
    assert (record.status, record.stdout) == ("ok", "2 jumps\n")


SIGNALS = """\
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static void handle(int number)
{
    printf("signal %d\\n", number);
}
int main(int argc, char **argv)
{
    if (strcmp(argv[1], "others") == 0) {
        int parent = getppid(), failed = kill(parent, SIGTERM);
        failed += kill(-1, SIGUSR1);
        failed += (int)syscall(SYS_kill, parent, SIGUSR2);
        printf("failed %d, asked %d\\n", failed, kill(parent, 0));
    } else if (strcmp(argv[1], "handled") == 0) {
        signal(SIGTERM, handle);
        kill(getpid(), SIGTERM);
        raise(SIGTERM);
    } else {
        kill(argv[1][0] == 'g' ? 0 : getpid(), SIGTERM);
    }
    return 0;
}
"""


def test_a_signal_to_the_parent_is_not_sent_and_said(program: Program) -> None:
    record = program(SIGNALS, "others")
    assert (record.status, record.stdout) == ("ok", "failed 0, asked 0\n")
    said = [text for text in record.warnings if "sends signal" in text]
    assert said == [
        f"the program sends signal {number} ({words}) to {whom} at a.c:{line} in main: it was not sent, "
        "a simulated program is one process"
        for number, words, whom, line in (
            (15, "Terminated", "its parent process", 15),
            (10, "User defined signal 1", "other processes", 16),
            (12, "User defined signal 2", "its parent process", 17),
        )
    ]
    assert os.getpid() > 0  # this process is still alive


@pytest.mark.parametrize("whom", ["itself", "group"])
def test_a_signal_to_the_program_itself_ends_it_under_its_name(program: Program, whom: str) -> None:
    record = program(SIGNALS, whom)
    assert (record.status, record.signal) == ("crashed", signal.SIGTERM)
    assert record.message == "the program ended with SIGTERM (terminated) on processor 0 at a.c:24 in main"


def test_a_signal_that_the_program_handles_is_its_own_affair(program: Program) -> None:
    record = program(SIGNALS, "handled")
    assert (record.status, record.stdout) == ("ok", "signal 15\nsignal 15\n")


MAPS = """\
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
    unsigned long address = strtoul(argv[1], NULL, 0);
    int how = argv[2][0] == 'f' ? MAP_FIXED : argv[2][0] == 'n' ? MAP_FIXED_NOREPLACE : 0;
    int *memory = mmap((void *)address, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | how, -1, 0);
    if (memory == MAP_FAILED) {
        puts(strerror(errno));
        return 0;
    }
#pragma omp parallel for
    for (int i = 0; i < 1000; i++)
        memory[i] = i;
    printf("%s, %d\\n", memory == (int *)address ? "there" : "elsewhere", memory[999]);
    return 0;
}
"""
OURS = {
    "0x400000": "the program's code",
    "0x1000000000": "the program's heap",
    "0x10c0000000": "the program's heap",
    "0x8000000000": "the stacks of the threads",
    "0xa000000000": "its own memory",
    "0xc000100000": "its own variables",
    "0xd000000000": "the arguments of main",
}


@pytest.mark.parametrize("address", OURS)
def test_memory_mapped_over_the_simulators_is_refused_in_a_sentence(program: Program, address: str) -> None:
    record = program(MAPS, address, "fixed")
    sentence = (
        f"the program maps 1048576 bytes at a.c:11 in main to the fixed address {address}, which the simulator "
        f"uses for {OURS[address]}: docs/SIMULATOR.md names the addresses that are free"
    )
    assert (record.status, record.message) == ("unsupported", sentence)
    assert program(MAPS, address, "noreplace").stdout == "File exists\n"
    assert program(MAPS, address, "wish").stdout == "elsewhere, 999\n"


@pytest.mark.parametrize("address", ["0x10000000", "0x7000000000", "0x20000000000", "0x600000000000"])
@pytest.mark.parametrize("how", ["fixed", "noreplace", "wish"])
def test_memory_mapped_elsewhere_lies_where_the_program_wants_it(program: Program, address: str, how: str) -> None:
    record = program(MAPS, address, how)
    assert (record.status, record.stdout) == ("ok", "there, 999\n")


MOVES = """\
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    void *place = (void *)strtoul(argv[1], NULL, 0), *found = MAP_FAILED;
    if (strcmp(argv[2], "mremap") == 0) {
        void *old = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        found = mremap(old, 1 << 20, 1 << 20, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    } else if (strcmp(argv[2], "grow") == 0) {
        void *old = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        found = place = mremap(old, 1 << 20, 1 << 22, MREMAP_MAYMOVE);
    } else {
        int segment = shmget(IPC_PRIVATE, 1 << 20, IPC_CREAT | 0600);
        int flags = strcmp(argv[2], "attach") == 0 ? 0 : SHM_REMAP;
        found = argv[2][0] == 's' ? (void *)syscall(SYS_shmat, segment, place, flags) : shmat(segment, place, flags);
        shmctl(segment, IPC_RMID, NULL);
    }
    if (found == MAP_FAILED) {
        puts(strerror(errno));
        return 0;
    }
    memset(found, 1, 1 << 20);
    puts(found == place ? "there" : "elsewhere");
    return 0;
}
"""
_MOVED_AT = {"mremap": 15, "remap": 22, "system call": 22}


@pytest.mark.parametrize("how", _MOVED_AT)
@pytest.mark.parametrize("address", OURS)
def test_memory_moved_over_the_simulators_is_refused_in_a_sentence(program: Program, address: str, how: str) -> None:
    record = program(MOVES, address, how)
    sentence = (
        f"the program maps 1048576 bytes at a.c:{_MOVED_AT[how]} in main to the fixed address {address}, which the "
        f"simulator uses for {OURS[address]}: docs/SIMULATOR.md names the addresses that are free"
    )
    assert (record.status, record.message) == ("unsupported", sentence)


@pytest.mark.parametrize("how", ["mremap", "attach", "remap", "system call", "grow"])
def test_memory_moved_elsewhere_lies_where_the_program_wants_it(program: Program, how: str) -> None:
    record = program(MOVES, "0x7000000000", how)
    assert (record.status, record.stdout) == ("ok", "there\n")


def test_memory_attached_where_the_simulation_lies_is_refused_as_the_kernel_does(program: Program) -> None:
    assert program(MOVES, "0xa000000000", "attach").stdout == "Invalid argument\n"
