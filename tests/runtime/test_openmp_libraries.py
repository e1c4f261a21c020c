"""Effects of the program's OpenMP library: barriers, locks, how teams start, where tasks wait (SCALEGRAPH_OPENMP)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.compiler, pytest.mark.slow]
Runner = Callable[..., Any]
PRESENT = "epyc-7h12"


def simulated(run: Runner, what: str, processors: int, library: str = "", **settings: str) -> Any:
    env = {"SCALEGRAPH_OPENMP": library} if library else {}
    outcome = run(
        "libraries",
        processors,
        on=PRESENT,
        args=[what],
        env=env,
        settings={f"machine.{k}": v for k, v in settings.items()},
    )
    assert outcome.status == "ok", outcome.stderr
    return outcome


def test_libgomp_is_what_programs_of_gcc_have(run: Runner) -> None:
    assert simulated(run, "barriers", 8).time == simulated(run, "barriers", 8, "libgomp").time


@pytest.mark.parametrize(("library", "kind"), [("libgomp", "central"), ("llvm", "tree")])
def test_the_library_chooses_the_kind_of_barrier(run: Runner, library: str, kind: str) -> None:
    ours = simulated(run, "barriers", 16, library, call_cycles="0").total("prim_barrier")
    assert ours == pytest.approx(simulated(run, "barriers", 16, barrier=kind).total("prim_barrier"), rel=0.03)


def test_the_last_one_at_libgomps_barrier_calls_the_system(run: Runner) -> None:
    free, dear = (simulated(run, "barriers", 4, call_cycles=n).total("prim_barrier") for n in ("0", "5000"))
    assert dear - free == pytest.approx(20 * 5000, rel=0.05)
    free, dear = (simulated(run, "barriers", 4, "llvm", call_cycles=n).total("prim_barrier") for n in ("0", "5000"))
    assert free == dear


def test_a_central_barrier_and_its_regions_grow_with_the_team_those_of_a_tree_hardly(run: Runner) -> None:
    def cost(what: str, processors: int, library: str) -> int:
        return int(simulated(run, what, processors, library).time - simulated(run, "one", processors, library).time)

    for what in ("barriers", "regions"):
        few, many, tree = cost(what, 8, "libgomp"), cost(what, 64, "libgomp"), cost(what, 64, "llvm")
        assert 5 < many / few < 14, "64 arrivals at one line, one after the other, are 8 times those of 8"
        assert tree < 0.5 * many


def test_libgomp_makes_the_threads_of_nested_teams_anew(run: Runner) -> None:
    def of_threads(library: str) -> int:
        free, dear = (
            simulated(run, "nested", 4, library, thread_cycles=n).total("prim_thread") for n in ("0", "30000")
        )
        return dear - free

    outermost, nested = 3, 3 * 4 * 2
    ends = nested * 30000
    makings = (outermost + nested) * 30000
    waits = of_threads("libgomp") - ends - makings  # two threads are not created at the same time
    assert 0 < waits < nested * 4 * 15000
    assert of_threads("llvm") == 0, "it keeps them, and making the first ones is in fork_per_processor_cycles"


def test_very_fine_tasks_of_libgomp_get_slower_with_more_threads(run: Runner) -> None:
    # Measured: a quicksort down to three elements takes 0.55, 0.25, 0.57 s with 2, 8, 64 threads on this processor.
    two, eight, many = (simulated(run, "tasks", n).time for n in (2, 8, 48))
    assert many > 1.2 * eight
    assert many > 0.5 * two
    stolen = simulated(run, "tasks", 48, "llvm")
    assert stolen.time < 0.5 * many
    assert stolen.total("steals") > 0


def test_a_library_that_is_not_known_is_named(run: Runner) -> None:
    outcome = run("libraries", 2, on=PRESENT, args=["regions"], env={"SCALEGRAPH_OPENMP": "intel"})
    assert "SCALEGRAPH_OPENMP=intel was not understood" in outcome.result.meta["warnings"]
