"""Every kind of failure of a run is reported, with its place, and the output is kept."""

import signal
from collections.abc import Callable
from typing import Any

import pytest

from scalegraph.runtime.format import CATEGORY_NAMES
from scalegraph.runtime.results import read_result

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
Runner = Callable[..., Any]


def test_deadlock_says_who_waits_for_whom(run: Runner) -> None:
    outcome = run("deadlock", 3)
    assert outcome.status == "deadlock"
    assert outcome.returncode == 99
    assert outcome.stdout == "before\n"
    assert outcome.stderr.startswith("scalegraph: deadlock: all 2 working threads wait")
    waits = outcome.result.waits
    assert [CATEGORY_NAMES[int(category)] for category in waits["category"]] == [
        "idle_lock",
        "idle_lock",
        "idle_not_started",
    ]
    assert list(waits["holder"]) == [1, 0, -1]
    assert int(waits["object"][0]) != int(waits["object"][1])
    assert int(waits["address"][0]) != 0


@pytest.mark.parametrize("lock", ["test_and_set", "ticket", "queue"])
def test_every_kind_of_lock_reports_a_deadlock(run: Runner, lock: str) -> None:
    assert run("deadlock", 2, settings={"machine.lock": lock}).status == "deadlock"


def test_crash_names_signal_processor_and_place(run: Runner) -> None:
    outcome = run("crash", 4)
    assert outcome.status == "crashed"
    assert outcome.result.meta["signal"] == str(int(signal.SIGSEGV))
    assert outcome.returncode == -signal.SIGSEGV
    assert "SIGSEGV" in outcome.stderr
    assert "on processor 3" in outcome.stderr
    assert outcome.stdout == "output before the fault\n"


def test_stack_overflow_names_the_processor(run: Runner) -> None:
    outcome = run("overflow", 2)
    assert outcome.status == "stack_overflow"
    assert "ran over its stack of 262144 bytes" in outcome.stderr


def test_fork_is_refused_by_name(run: Runner) -> None:
    outcome = run("forks", 2)
    assert outcome.status == "unsupported"
    assert "the program called fork at 0x" in outcome.result.meta["message"]
    assert outcome.stdout == "before\n"


def test_memory_beyond_the_limit_is_explained(run: Runner) -> None:
    outcome = run("hungry", 1)
    assert (outcome.status, outcome.returncode) == ("out_of_memory", 3)
    assert "268435456 bytes of memory the run may use" in outcome.stderr


def test_terminated_run_says_where_every_processor_was(simulator: Any) -> None:
    process, target = simulator.start("forever", 4)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.terminate()
    _, stderr = process.communicate(timeout=30)
    result = read_result(target)
    assert result.meta["status"] == "timeout"
    assert process.returncode == 99
    assert "stopped at its time limit" in stderr
    assert len(result.waits) == 4


def test_exit_inside_a_parallel_region_ends_the_program(run: Runner) -> None:
    outcome = run("leaves", 4)
    assert (outcome.status, outcome.returncode, outcome.stdout) == ("ok", 7, "bye\n")


def test_program_started_by_itself_simply_runs(simulator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    monkeypatch.delenv("SCALEGRAPH_CONFIG", raising=False)
    done = subprocess.run([str(simulator.build("counts"))], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (5, "")
    assert done.stdout == ""


def test_block_table_of_another_program_is_refused(simulator: Any) -> None:
    simulator.build("counts")
    other = str(simulator.directory / "counts.blocks")
    process, _ = simulator.start("leaves", 2, settings={"run.blocks_path": other})
    _, stderr = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "was made for another executable" in stderr
