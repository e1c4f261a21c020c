"""Every shipped machine, and machines with randomly changed values, run a program and keep the identity."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from scalegraph import machine
from scalegraph.base.errors import InputError

pytestmark = pytest.mark.compiler
Runner = Callable[..., Any]
ALL = [item.name for item in machine.available()]
NAMES = [name for name in ALL if machine.load(name).interconnect is None]
NODES = [name for name in ALL if name not in NAMES and not machine.load(name).processor.lockstep]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_program_runs_on_every_machine(run: Runner, name: str) -> None:
    """The fixture checks that every cycle of every processor is in exactly one leaf."""
    alone, together = run("whatif", 1, on=name), run("whatif", min(9, machine.load(name).max_processors), on=name)
    assert (alone.status, together.status) == ("ok", "ok")
    assert together.total("misses") > alone.total("misses")
    assert together.total("invalidations") > 0


@pytest.mark.parametrize("name", NODES)
def test_a_program_runs_within_a_node(run: Runner, name: str) -> None:
    """The fixture checks its accounts."""
    most = machine.load(name).node_processors
    outcome = run("whatif", min(3, most), on=name)
    assert outcome.status == "ok"
    assert outcome.total("remote_reads") == 0


@pytest.mark.parametrize("seed", range(8))
def test_a_program_runs_on_machines_with_changed_values(run: Runner, seed: int) -> None:
    choose = random.Random(seed)
    name = NAMES[seed % len(NAMES)]
    known = machine.describe(machine.load(name))
    numbers = [row for row in known if isinstance(row.value, int) and not isinstance(row.value, bool)]
    made = None
    while made is None:  # most combinations are contradictory
        overrides = {
            row.key: str(row.value * choose.choice((1, 2, 3)) // choose.choice((1, 2, 4)))
            for row in choose.sample(numbers, 6)
        }
        try:
            made = machine.load(name, overrides)
        except InputError:
            continue
    outcome = run("whatif", min(7, made.max_processors), on=name, settings=made.runtime_config())
    assert outcome.status == "ok", overrides
