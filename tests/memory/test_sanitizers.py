"""The memory system's own code under AddressSanitizer and under valgrind: no stray access, no leak."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.memory.driving import SMALL, build_driver, config_text

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.compiler

VARIANTS = {
    **{name: (name, {}) for name in SMALL},
    "moesi": ("cerberus", {"coherence.owned_state": "true"}),
    "limited": ("cerberus", {"coherence.kind": "limited_no_broadcast", "coherence.pointers": "2"}),
    "plru": ("bus-smp", {"cache.secondary.ways": "4", "cache.secondary.replacement": "tree_plru"}),
    "fifo": ("bus-smp", {"cache.secondary.ways": "4", "cache.secondary.replacement": "fifo"}),
    "prefetch": ("server-2x32-inorder", {"prefetch.kind": "stride", "prefetch.degree": "4"}),
    "block": ("server-8s", {"memory.placement": "block", "network.topology": "ring"}),
}
COMMANDS = "fuzz 7 {accesses} 90 64\nstatistics\ncheck\n"


@pytest.fixture(scope="module")
def sanitized() -> Path:
    flags = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    return build_driver(flags)


@pytest.fixture(scope="module")
def plain() -> Path:
    return build_driver(["-O1", "-g"])


def drive(command: list[str], config: Path, variant: str, accesses: int) -> None:
    name, changed = VARIANTS[variant]
    config.write_text(config_text(name, 6, SMALL[name] | changed))
    given = COMMANDS.format(accesses=accesses)
    done = subprocess.run([*command, str(config)], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert (lines[0], lines[1][:7], lines[-1]) == ("ready", "cycles=", "ok")


@pytest.mark.slow(4)
@pytest.mark.parametrize("variant", VARIANTS)
def test_no_stray_access_no_undefined_behaviour_no_leak(sanitized: Path, tmp_path: Path, variant: str) -> None:
    drive([str(sanitized)], tmp_path / "run.cfg", variant, 1000)


@pytest.mark.slow(4)
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed (apt-get install valgrind)")
@pytest.mark.parametrize("variant", ["server-8s", "convex-exemplar", "limited", "prefetch", "plru"])
def test_valgrind_finds_nothing(plain: Path, tmp_path: Path, variant: str) -> None:
    tool = ["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"]
    drive([*tool, str(plain)], tmp_path / "run.cfg", variant, 400)
