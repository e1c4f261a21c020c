"""Tasks, nested regions, cancellation, doacross, places: native results, known counts and orders, plausible times."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime import run_random_programs

pytestmark = pytest.mark.compiler
Runner = Callable[..., Any]

SIZES = (1, 3, 16, 64)
NESTED = {"OMP_MAX_ACTIVE_LEVELS": "3"}


def agrees(run: Runner, simulator: Any, name: str, processors: int, env: dict[str, str] | None = None) -> Any:
    threads = int((env or {}).get("OMP_NUM_THREADS", processors))
    outcome = run(name, processors, on="server-2x32-inorder", env=env)
    assert (outcome.status, outcome.result.meta["message"], outcome.stderr) == ("ok", "", "")
    assert outcome.stdout == simulator.native(name, threads, env=env)
    return outcome


@pytest.mark.slow
@pytest.mark.parametrize("processors", SIZES)
@pytest.mark.parametrize(
    "name", ["task_tree", "task_chain", "task_depend", "task_loop", "task_kinds", "doacross", "cancel"]
)
def test_constructs_give_the_native_result(run: Runner, simulator: Any, name: str, processors: int) -> None:
    agrees(run, simulator, name, processors)


@pytest.mark.slow
@pytest.mark.parametrize("processors", SIZES)
def test_targets_leagues_allocators_and_scans_run_on_the_host(run: Runner, simulator: Any, processors: int) -> None:
    outcome = run("host_target", processors, on="server-2x32-inorder")
    assert (outcome.status, outcome.stdout) == ("ok", simulator.native("host_target", 2))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["task_tree", "task_depend", "task_loop", "task_kinds", "doacross", "cancel"])
def test_teams_larger_than_the_machine_give_the_native_result(run: Runner, simulator: Any, name: str) -> None:
    agrees(run, simulator, name, 3, {"OMP_NUM_THREADS": "10"})


@pytest.mark.parametrize("queue", ["members", "central"])
def test_independent_tasks_and_recursion_speed_up_and_are_counted(run: Runner, queue: str) -> None:
    env = {"SCALEGRAPH_TASK_QUEUE": queue}
    alone, many = (run("task_tree", n, on="server-2x32-inorder", env=env) for n in (1, 16))
    # With one processor every task after the 65th waiting one runs at once.
    assert (alone.total("tasks"), alone.total("steals")) == (752 + 65, 0)
    assert many.total("tasks") == 752 + 256
    assert (many.total("steals") > 100) == (queue == "members")
    # One lock for all members: these tasks of 2 microseconds are hardly longer than their wait for it.
    assert alone.time / many.time > (9 if queue == "members" else 1.5)
    assert many.total("prim_task") > 0


@pytest.mark.slow
def test_a_chain_of_dependent_tasks_does_not_speed_up(run: Runner) -> None:
    alone, many = (run("task_chain", n, on="server-2x32-inorder") for n in (1, 16))
    assert many.stdout == alone.stdout
    assert many.total("tasks") == 64
    assert 0.9 < many.time / alone.time < 1.3


@pytest.mark.slow
def test_the_same_run_twice_is_the_same(run: Runner) -> None:
    first, second = (run("task_tree", 16, env={"OMP_NUM_THREADS": "20"}) for _ in range(2))
    assert (first.result.costs == second.result.costs).all()


@pytest.mark.slow
@pytest.mark.parametrize("processors", SIZES)
def test_nested_regions_have_teams_of_their_own(run: Runner, simulator: Any, processors: int) -> None:
    outcome = agrees(run, simulator, "nested", processors, NESTED)
    assert outcome.stdout.splitlines()[-1] == "0 1 3"
    assert outcome.stdout.splitlines()[1] == "11 1 601"


def test_nested_regions_are_serial_unless_asked_for(run: Runner, simulator: Any) -> None:
    outcome = agrees(run, simulator, "nested", 8)
    assert outcome.result.meta["team_max"] == "4"


def test_thread_limit_holds_for_all_teams_together(run: Runner, simulator: Any) -> None:
    outcome = run("nested", 8, env={**NESTED, "OMP_THREAD_LIMIT": "6"})
    assert outcome.status == "ok"
    assert outcome.result.meta["team_max"] == "4"


@pytest.mark.parametrize("processors", SIZES)
@pytest.mark.parametrize("barrier", ["central", "tree", "hardware", "simple"])
def test_cancellation_ends_what_it_names(run: Runner, processors: int, barrier: str) -> None:
    settings = {"machine.barrier": barrier, "machine.barrier_radix": "3"}
    outcome = run("cancel", processors, env={"OMP_CANCELLATION": "true"}, settings=settings)
    assert (outcome.status, outcome.stdout) == ("ok", "3 1 1 1\n0\n")


def test_priorities_order_the_tasks_that_wait(run: Runner) -> None:
    outcome = run("task_kinds", 4, env={"OMP_MAX_TASK_PRIORITY": "9"})
    assert outcome.stdout.splitlines()[0] == "4 3 2 1 0 "


def placed(run: Runner, **env: str) -> list[str]:
    outcome = run("places", 8, on="server-2x32-inorder", env={**env, **NESTED})
    assert outcome.status == "ok"
    lines = str(outcome.stdout).splitlines()
    return [lines[0], *sorted(lines[1:-1]), lines[-1].strip()]


@pytest.mark.slow
def test_threads_run_where_the_policy_says(run: Runner) -> None:
    free = "-1:0/0 -1:1/0 -1:2/0 -1:3/0"
    assert placed(run, OMP_NUM_THREADS="4") == ["0 0 8", "nested 0 -1", "nested 1 -1", free]
    spread = placed(run, OMP_NUM_THREADS="4", OMP_PROC_BIND="spread,close")
    assert spread == ["4 8 8", "nested 0 4", "nested 1 5", "0:0/2 2:2/2 4:4/2 6:6/2"]
    pairs = placed(run, OMP_NUM_THREADS="6", OMP_PROC_BIND="close", OMP_PLACES="{0,1}:4:2")
    assert pairs[-1] == "0:0/4 1:2/4 2:4/4 3:6/4 0:1/4 1:3/4"
    master = placed(run, OMP_NUM_THREADS="3", OMP_PROC_BIND="master", OMP_PLACES="{5}, {2}")
    assert master[-1] == "0:5/2 0:5/2 0:5/2"
    listed = placed(run, OMP_NUM_THREADS="3", GOMP_CPU_AFFINITY="6 1-3:2")
    assert listed[-1] == "0:6/3 1:1/3 2:3/3"


def test_a_variable_that_makes_no_sense_is_ignored_with_a_remark(run: Runner) -> None:
    outcome = run("places", 2, env={"OMP_PLACES": "{0", "OMP_NUM_THREADS": "few"})
    assert outcome.stdout.splitlines()[0].endswith(" 2")
    assert "OMP_PLACES={0 was not understood" in outcome.result.meta["warnings"]
    assert "OMP_NUM_THREADS=few was not understood" in outcome.result.meta["warnings"]


@pytest.mark.slow
def test_random_programs_give_the_native_result(capsys: pytest.CaptureFixture[str]) -> None:
    """The script itself is for thousands of them."""
    assert run_random_programs.main(["--count", "10"]) == 0
    assert capsys.readouterr().out == "10 programs, 0 with a fault\n"


@pytest.mark.slow
def test_members_say_where_they_are_when_the_size_of_the_team_changes(run: Runner) -> None:
    env = {"OMP_DISPLAY_AFFINITY": "true", "OMP_PROC_BIND": "true", "OMP_AFFINITY_FORMAT": "%n of %N: %A"}
    outcome = run("counts", 3, on="server-2x32-inorder", env=env)
    assert outcome.status == "ok"
    assert sorted(outcome.stderr.splitlines()) == ["0 of 3: 0", "1 of 3: 1", "2 of 3: 2"]


@pytest.mark.slow
@pytest.mark.parametrize("processors", SIZES)
def test_tasks_take_part_in_the_reductions_of_all_groups_around_them(
    run: Runner, simulator: Any, processors: int
) -> None:
    outcome = run("task_groups", processors, on="server-2x32-inorder")
    assert (outcome.status, outcome.result.meta["message"]) == ("ok", "")
    assert outcome.stdout == simulator.native("task_groups", 4)
    assert outcome.stderr == "\nlibgomp: error directive encountered: as expected\n"


@pytest.mark.slow
def test_a_fatal_error_directive_ends_the_program_with_code_1(run: Runner, simulator: Any) -> None:
    (simulator.directory / "error_directive.c").write_text(
        '#include <stdio.h>\nint main(void) {\n    puts("before");\n'
        '#pragma omp error at(execution) message("stop here")\n    puts("after");\n    return 0;\n}\n'
    )
    outcome = run("error_directive", 2, on="server-2x32-inorder")
    assert (outcome.status, outcome.returncode, outcome.stdout) == ("ok", 1, "before\n")
    assert outcome.stderr == "\nlibgomp: fatal error: error directive encountered: stop here\n"
