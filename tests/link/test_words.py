"""Outcomes of runs in plain words."""

import pytest

from scalegraph.base.run import Wait
from scalegraph.link.process import Outcome
from scalegraph.link.words import failure_message, wait_in_words, waits_in_words
from scalegraph.runtime.format import CATEGORY_GROUPS


def outcome(**changes: object) -> Outcome:
    values: dict[str, object] = {
        "exit_code": 0,
        "signal": None,
        "timed_out": False,
        "cancelled": False,
        "stdout": "",
        "stderr": "",
        "truncated": (),
        "host_s": 1.0,
    }
    return Outcome(**{**values, **changes})  # type: ignore[arg-type]


def test_lock_is_named_by_its_address() -> None:
    assert wait_in_words("idle_lock", 0x40) == "waits for the lock 0x40"
    assert wait_in_words("idle_barrier", 0x40) == "waits at a barrier"


def test_processors_that_do_the_same_share_a_clause() -> None:
    waits = [Wait(processor=n, thread=n, doing="waits at a barrier", place="p.c:3") for n in range(6)]
    waits.append(Wait(processor=6, thread=6, doing="waits for the lock 0x40", place="p.c:9", holder=2))
    assert waits_in_words(waits) == (
        "threads 0 to 5 wait at a barrier at p.c:3; thread 6 waits for the lock 0x40 held by thread 2 at p.c:9"
    )


def test_long_lists_are_cut() -> None:
    waits = [Wait(processor=n, doing=f"waits for the lock {n}") for n in range(20)]
    assert waits_in_words(waits).endswith("; and 12 more")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"exit_code": None, "signal": 9, "host_bytes": 21 << 30},
            (
                "the program was ended by SIGKILL: most likely the host ran out of memory, of which the run had taken "
                "21.0 GiB; take fewer processors, or a smaller size"
            ),
        ),
        ({"exit_code": None, "signal": 11}, "the program was ended by SIGSEGV (segmentation fault)"),
        ({"exit_code": 99, "stderr": "why\n"}, "the simulator left no result (exit code 99): why"),
    ],
)
def test_end_without_a_result_is_described_by_what_is_known(changes: dict[str, object], expected: str) -> None:
    assert failure_message("internal", "", outcome(**changes), (), 1) == expected


def test_stack_overflow_says_what_to_set() -> None:
    told = "processor 0 ran over its stack: raise the stack size of the run, or ..."
    assert "OMP_STACKSIZE" in failure_message("stack_overflow", told, outcome(), (), 1)


def test_waiting_for_a_thread_and_sleeping_have_their_own_words() -> None:
    assert wait_in_words("idle_wait", 0xC0, 3) == "waits for the end of thread 3"
    assert wait_in_words("idle_wait", 0x80) == "waits for a signal at 0x80"
    assert wait_in_words("idle_wait", 0) == "sleeps"


def test_every_category_of_waiting_has_words_of_its_own() -> None:
    waiting = [name for name, group in CATEGORY_GROUPS.items() if group == "idle"]
    assert "computes" not in {wait_in_words(name, 0) for name in waiting}
    many = [Wait(processor=n, thread=n, doing=wait_in_words("idle_masked", 0), place="") for n in range(6)]
    assert waits_in_words(many) == "threads 0 to 5 are masked off"
