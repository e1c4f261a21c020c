"""The complete runtime under AddressSanitizer and UndefinedBehaviorSanitizer, running complete programs."""

from __future__ import annotations

import pytest

from tests.runtime.conftest import Simulator
from tests.runtime.sanitizing import ENVIRONMENT, complaints, sanitized

pytestmark = [pytest.mark.slow(4), pytest.mark.compiler]

RUNS: dict[str, tuple[str, int, str, dict[str, str], dict[str, str]]] = {
    # program, processors, machine, settings, environment
    "loops": ("loops", 4, "ksr1", {}, {}),
    "nested": ("nested", 3, "server-2x32-inorder", {}, {"OMP_MAX_ACTIVE_LEVELS": "3", "OMP_NUM_THREADS": "10"}),
    "cancel": ("cancel", 4, "bus-smp", {}, {"OMP_CANCELLATION": "true"}),
    "doacross": ("doacross", 5, "mesh-manycore", {"machine.barrier": "tree"}, {}),
    "task_tree": ("task_tree", 7, "server-8s", {}, {"SCALEGRAPH_TASK_QUEUE": "central"}),
    "task_depend": ("task_depend", 3, "ksr1", {}, {"OMP_NUM_THREADS": "10"}),
    "task_kinds": ("task_kinds", 4, "convex-exemplar", {}, {"OMP_MAX_TASK_PRIORITY": "5"}),
    "task_loop": ("task_loop", 4, "cerberus", {}, {}),
    "host_target": ("host_target", 4, "server-2x32-inorder", {}, {}),
    "places": ("places", 8, "server-2x32-inorder", {}, {"OMP_PLACES": "cores", "OMP_PROC_BIND": "spread"}),
    "threads": ("threads", 3, "ksr1", {"machine.slice_cycles": "2000", "machine.lock": "ticket"}, {}),
    "thread_ends": ("thread_ends", 3, "server-2x32-inorder", {}, {}),
    "cpp_threads": ("cpp_threads", 3, "server-2x32-inorder", {}, {}),
    "classes": ("shares", 4, "ksr1", {"run.collect": "classes"}, {}),
    "ideals": ("tasks", 4, "ksr1", {"run.ideal": "network,cache,sync"}, {}),
    "traced": ("task_depend", 3, "server-2x32-inorder", {"trace.file": "/dev/null"}, {"OMP_NUM_THREADS": "10"}),
    "traced_region": (
        "arrivals",
        4,
        "ksr1",
        {"trace.file": "/dev/null", "trace.region": "1", "trace.interval": "100"},
        {},
    ),
    "texts": ("texts", 2, "cerberus", {}, {}),
}
WRITES_BEHIND = """
#include <stdlib.h>
#include <string.h>
int main(int count, char **argument)
{
    char *memory = malloc(10);
    memset(memory, count, 10 + (size_t)atoi(argument[1]));
    return memory[9] - count;
}
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    directory = tmp_path_factory.mktemp("sanitized")
    found = sanitized(directory)
    if found is None:
        pytest.skip("the compiler has no sanitizers (apt-get install libgcc-12-dev)")
    return Simulator(directory, found)


@pytest.mark.few(9)
@pytest.mark.parametrize("run", RUNS)
def test_no_stray_access_and_no_undefined_behaviour(checked: Simulator, run: str) -> None:
    name, processors, on, settings, env = RUNS[run]
    outcome = checked.run(name, processors, on=on, settings=settings, env=env | ENVIRONMENT)
    assert complaints(outcome.stderr) == []
    assert (outcome.status, outcome.processor_sums()) == ("ok", [outcome.time] * processors)


@pytest.mark.parametrize(("name", "status"), [("deadlock", "deadlock"), ("hungry", "out_of_memory")])
def test_nothing_either_where_a_run_ends_badly(checked: Simulator, name: str, status: str) -> None:
    outcome = checked.run(name, 3, env=ENVIRONMENT)
    assert (complaints(outcome.stderr), outcome.status) == ([], status)


def test_the_sanitizer_sees_the_ends_of_the_blocks_of_our_heap(checked: Simulator) -> None:
    (checked.directory / "behind.c").write_text(WRITES_BEHIND)
    assert checked.run("behind", 1, args=["0"], env=ENVIRONMENT).status == "ok"
    process, _ = checked.start("behind", 1, args=["1"], env=ENVIRONMENT)
    assert "AddressSanitizer" in complaints(process.communicate(timeout=60)[1])[0]
