"""Worlds of a random user, each run by test_random_input.py in a process of its own; the same seeds every time."""

from pathlib import Path
from typing import Any

import pytest

from tests.gui.monkey.world import WORLDS, play

SEEDS = (1, 2)
STEPS = 100
GRACE_S = 0.5  # as long as stalls are known: layout and paint of what they make come in a later turn, in other calls
KNOWN_STALLS = (  # calls in which the window's thread is held up as yet; to be empty
    "view_area.py _place",  # the views of an arrangement are made
    "view_area.py show_study",
    "view_area.py _remove",
    "view_area.py forget",
    "view_dock.py _built",  # the panels of a figure are made
    "eventFilter",  # asked while Qt styles and lays out what was made
)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("world", WORLDS)
def test_random_input_raises_nothing_and_never_holds_up_the_window(
    world: str, seed: int, session: Any, tmp_path: Path, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a study may get any name that is typed
    watch, monkey = play(tmp_path, session, world, seed, STEPS)
    last = "\n".join(monkey.done)
    assert not watch.faults, f"{world}, seed {seed}\n{watch.report()}\nlast steps:\n{last}"
    unknown = [stall for stall in watch.stalls if not any(call in stall.place for call in KNOWN_STALLS)]
    stalls = [stall for stall in unknown if stall.seconds > GRACE_S or not KNOWN_STALLS]
    assert not stalls, f"{world}, seed {seed}\n{watch.report()}\nlast steps:\n{last}"
