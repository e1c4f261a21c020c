"""A random user causes no exception, not even one that would be swallowed; the seeds are fixed.

Each world runs in a process of its own (random_worlds.py), so that one that crashes is named, too. Stalls of the
window's thread are measured elsewhere: by `run_random_input.py` for random users, and in `benchmarks/stalls.py`.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.gui.monkey.world import WORLDS
from tests.gui.random_worlds import SEEDS

pytestmark = pytest.mark.slow

RUNS = Path(__file__).with_name("random_worlds.py")


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("world", WORLDS)
def test_a_random_user_is_served(world: str, seed: int, root: Path) -> None:
    name = f"{RUNS}::test_random_input_raises_nothing[{world}-{seed}]"
    command = [sys.executable, "-X", "faulthandler", "-m", "pytest", "-q", "-p", "no:cacheprovider", name]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
