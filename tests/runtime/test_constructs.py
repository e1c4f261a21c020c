"""The simulated program prints the same as the native one, on every machine and number of processors."""

from collections.abc import Callable
from platform import machine
from typing import Any

import pytest

pytestmark = pytest.mark.compiler
Runner = Callable[..., Any]

MACHINES = ("ksr1", "cerberus", "server-2x32-inorder")


@pytest.mark.slow
@pytest.mark.parametrize("on", MACHINES)
@pytest.mark.parametrize("processors", [1, 2, 7, 32])
@pytest.mark.parametrize("program", ["loops", "sharing", "tasks", "memory", "mathematics"])
def test_prints_what_the_native_program_prints(
    run: Runner, simulator: Any, program: str, processors: int, on: str
) -> None:
    outcome = run(program, processors, on=on)
    assert (outcome.status, outcome.result.meta["message"]) == ("ok", "")
    assert outcome.stdout == simulator.native(program, processors)
    assert outcome.returncode == 0


@pytest.mark.parametrize("lock", ["test_and_set", "ticket", "queue"])
@pytest.mark.parametrize("barrier", ["simple", "central", "tree", "hardware"])
def test_every_kind_of_lock_and_barrier_keeps_its_promise(run: Runner, simulator: Any, lock: str, barrier: str) -> None:
    settings = {"machine.lock": lock, "machine.barrier": barrier, "machine.barrier_radix": "3"}
    outcome = run("sharing", 11, settings=settings)
    assert outcome.status == "ok"
    assert outcome.stdout == simulator.native("sharing", 11)


@pytest.mark.slow
@pytest.mark.parametrize("lock", ["test_and_set", "ticket", "queue"])
@pytest.mark.parametrize("processors", [4, 16, 33])
def test_workers_that_poll_under_a_lock_let_the_one_with_work_in(run: Runner, processors: int, lock: str) -> None:
    outcome = run("poll", processors, on="server-2x32-inorder", settings={"machine.lock": lock})
    assert (outcome.status, outcome.stdout) == ("ok", "32\n")


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["static", "static,4", "dynamic", "guided,2", "auto"])
def test_schedule_of_the_run_serves_schedule_runtime(run: Runner, simulator: Any, schedule: str) -> None:
    outcome = run("loops", 5, settings={"run.schedule": schedule})
    assert outcome.stdout == simulator.native("loops", 5)


def test_unknown_schedule_is_refused_by_name(run: Runner) -> None:
    process_error = run_refused(run, {"run.schedule": "dynamic,x"})
    assert "run.schedule is `dynamic,x`" in process_error


def run_refused(run: Runner, settings: dict[str, str]) -> str:
    outcome = run("counts", 2, settings=settings)
    assert outcome.status == "internal"
    return str(outcome.result.meta["message"])


@pytest.mark.slow
def test_thousand_processors_have_stacks_and_thread_data_of_their_own(run: Runner) -> None:
    outcome = run("own_data", 1024)
    assert (outcome.status, outcome.stdout) == ("ok", "0\n")
    assert outcome.result.meta["team_max"] == "1024"


def test_spinning_processor_sees_the_flag_that_another_sets(run: Runner) -> None:
    assert run("spin", 2).stdout == "42\n"


@pytest.mark.slow
def test_program_sees_simulated_time_and_processors(run: Runner) -> None:
    outcome = run("clock", 12)
    assert outcome.stdout == "0.250 0.250 12 12 0\n"
    assert outcome.time == pytest.approx(0.25 * float(outcome.result.meta["clock_hz"]), rel=0.01)


@pytest.mark.slow
def test_the_date_is_a_fixed_one_and_the_processors_counter_counts_simulated_cycles(run: Runner) -> None:
    outcome = run("dates", 2)
    hertz = float(outcome.result.meta["clock_hz"])
    assert (outcome.status, outcome.result.meta["message"]) == ("ok", "")
    day, counter, *rest = outcome.stdout.splitlines()
    assert day == "2000-01-01 0 0 0"
    slept = 1e-3 * hertz
    if machine() == "x86_64":
        assert slept <= 1000 * float(counter) + 1000 <= slept * 1.01 + 2000
        assert rest.pop(0) == "1 0"
    assert rest == ["1 2"]  # two seconds of the date equal two of every other clock


@pytest.mark.slow
def test_larger_team_than_the_run_has_processors_shares_their_time(run: Runner) -> None:
    outcome = run("nested_team", 3)
    assert outcome.stdout == "64\n"
    assert outcome.result.meta["team_max"] == "64"
    assert outcome.total("prim_thread") > 0


@pytest.mark.slow
@pytest.mark.parametrize("processors", [2, 8, 20])
def test_watched_counter_of_a_simple_barrier_invalidates_as_many_copies_as_there_are_pairs(
    run: Runner, processors: int
) -> None:
    outcome = run("arrivals", processors, on="cerberus", settings={"machine.barrier": "simple"})
    # The lock's line comes from the processor that arrived before. The counter's line is in all caches when the first
    # one writes it, and later in those of all that have arrived.
    first, others = processors - 1, processors * (processors - 1) // 2
    assert outcome.of_region(1, "invalidations") == processors + first + others
    assert outcome.of_region(1, "barriers") == processors
