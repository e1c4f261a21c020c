"""A program places its own pages, with calls of libnuma and the system, on the nodes of the simulated machine."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.compiler
Runner = Callable[..., Any]


def said(run: Runner, on: str, processors: int) -> dict[str, list[list[int]]]:
    outcome = run("placement", processors, on=on)
    assert outcome.status == "ok"
    found: dict[str, list[list[int]]] = {}
    for line in outcome.stdout.splitlines():
        name, _, numbers = line.partition(":")
        found.setdefault(name, []).append([int(number) for number in numbers.split()])
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("on", "nodes"), [("server-4s", 4), ("server-8s", 8), ("convex-exemplar", 16), ("mesh-manycore", 8)]
)
def test_pages_live_where_the_program_wants_them(run: Runner, on: str, nodes: int) -> None:
    seen = said(run, on, 16)
    assert seen["nodes"] == [[0, nodes]]
    assert seen["on node"] == [[node, node] for node in range(4)]
    first, *rest = seen["interleaved"][0]
    assert rest == [(first + step) % nodes for step in (1, 2, 3)]
    assert seen["moved"][0] in ([1, 2, 1, 2], [2, 1, 2, 1])
    assert seen["bound"] == [[3, 3]]
    assert seen["by number"] == [[0]]
    assert seen["placed"] == [[1]]
    assert seen["refused"] == [[-1, -1, 1]]


def test_memory_that_was_touched_stays_unless_it_is_to_move(run: Runner) -> None:
    seen = said(run, "server-4s", 4)
    assert seen["touched before"] == [[0]]
    assert seen["not bound"] == [[0]]


@pytest.mark.slow
def test_a_thread_runs_on_the_node_that_it_asks_for(run: Runner) -> None:
    assert said(run, "server-4s", 128)["runs on"] == [[0, 0, 0], [0, 1, 1]]
    assert said(run, "convex-exemplar", 128)["runs on"] == [[0, 0, 0], [0, 1, 1]]


def test_a_machine_with_one_memory_has_one_node(run: Runner) -> None:
    seen = said(run, "bus-smp", 4)
    assert seen["nodes"] == [[0, 1]]
    assert seen["on node"] == [[0, 0]]
