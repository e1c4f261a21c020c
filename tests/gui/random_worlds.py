"""A random user in several worlds; test_random_input.py runs each in a process of its own, with fixed seeds."""

from pathlib import Path
from typing import Any

import pytest

from tests.gui.monkey.world import WORLDS, play

SEEDS = (1, 2)
STEPS = 40  # run_random_input.py does many more


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("world", WORLDS)
def test_random_input_raises_nothing(
    world: str, seed: int, session: Any, tmp_path: Path, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a study may get any typed name as its path
    watch, monkey = play(tmp_path, session, world, seed, STEPS)
    last = "\n".join(monkey.done)
    assert not watch.faults, f"{world}, seed {seed}\n{watch.report()}\nlast steps:\n{last}"
