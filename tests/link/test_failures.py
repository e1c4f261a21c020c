"""Failing runs: the outcome is data, described in words with its location."""

import signal
import threading
from collections.abc import Callable

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.run import RunRecord
from scalegraph.link.process import Outcome
from scalegraph.link.words import failure_message

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
Run = Callable[..., RunRecord]


def test_crash_names_signal_and_place_and_keeps_the_output(run: Run) -> None:
    record = run("crash")
    assert (record.status, record.signal, record.exit_code) == ("crashed", signal.SIGSEGV, None)
    assert "SIGSEGV" in record.message
    assert "crash.c:11" in record.message
    assert record.stdout == "before\n"
    assert not record.ok


def test_an_address_that_the_processor_does_not_tell_is_not_made_up(run: Run) -> None:
    assert "address 0x" in run("crash").message
    record = run("nowhere")
    assert "nowhere.c:8" in record.message
    assert "address 0x0" not in record.message


def test_abort_names_its_place(run: Run) -> None:
    record = run("aborts")
    assert (record.status, record.signal) == ("crashed", signal.SIGABRT)
    assert "aborts.c:5" in record.message


def test_failed_assertion_keeps_its_text(run: Run) -> None:
    record = run("asserts")
    assert record.status == "crashed"
    assert "asserts.c:6: main: Assertion `argc == 7' failed." in record.stderr


def test_deadlock_says_who_waits_for_whom_and_where(run: Run) -> None:
    record = run("deadlock")
    assert record.status == "deadlock"
    assert "thread 0 waits for the lock" in record.message
    assert "held by thread 1 at deadlock.c:17" in record.message
    assert {(wait.processor, wait.holder, wait.place) for wait in record.waits} == {
        (0, 1, "deadlock.c:17"),
        (1, 0, "deadlock.c:17"),
    }
    assert record.stdout == "going\n"


def test_fork_is_refused_with_its_place(run: Run) -> None:
    record = run("forks", 1)
    assert record.status == "unsupported"
    assert "fork at forks.c:6" in record.message
    assert record.stdout == ""


def test_endless_loop_ends_at_its_time_limit(run: Run) -> None:
    record = run("loops", 1, limits={"time_s": 0.3})
    assert record.status == "timeout"
    assert record.message.startswith("stopped at its time limit of 0.300 s")
    assert "loops.c:" in record.message
    assert record.stdout == "started\n"


def test_memory_limit_is_said(run: Run) -> None:
    record = run("hoards", 1, limits={"memory_bytes": 1 << 28})
    assert record.status == "out_of_memory"
    assert str(1 << 28) in record.message


def test_exit_code_other_than_zero_is_a_failure_with_its_numbers_kept(run: Run) -> None:
    record = run("code3", 1)
    assert (record.status, record.exit_code) == ("failed", 3)
    assert record.message == "the program ended with exit code 3"
    assert record.time_cycles is not None
    assert not record.ok


@pytest.mark.parametrize(
    ("stdout", "stderr", "said"),
    [
        ("usage: p N\n", "", ": usage: p N"),
        ("sum 7 (wrong)\n=======\n\n", " \n", ": sum 7 (wrong)"),
        ("usage: p N\n", "p: no file x.dat\n", ": p: no file x.dat"),
        ("-----\n", "", ""),
    ],
)
def test_the_last_words_of_a_program_go_with_its_exit_code(stdout: str, stderr: str, said: str) -> None:
    ended = Outcome(2, None, timed_out=False, cancelled=False, stdout=stdout, stderr=stderr, truncated=(), host_s=0.1)
    assert failure_message("failed", "", ended, (), 1.0) == f"the program ended with exit code 2{said}"


def test_cancelled_run_says_so(run: Run) -> None:
    token = CancelToken()
    timer = threading.Timer(0.2, token.cancel)
    timer.start()
    record = run("loops", 1, cancel=token)
    timer.join()
    assert (record.status, record.message) == ("cancelled", "stopped by the user")


def test_stack_overflow_is_explained(run: Run) -> None:
    record = run("recurses", 2)
    assert record.status == "stack_overflow"
    assert "recurses.c:" in record.message
    assert "OMP_STACKSIZE" in record.message


def test_stack_can_be_made_larger(run: Run) -> None:
    assert run("recurses", 2, "1000").status == "stack_overflow"
    assert run("recurses", 2, "1000", env={"OMP_STACKSIZE": "64M"}).ok
