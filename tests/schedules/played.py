"""Executes loops under schedules without a simulator, see harness.c."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from scalegraph.runtime.library import INCLUDE, SCHEDULES, SOURCES
from tests.kept import kept

HARNESS = Path(__file__).parent / "harness.c"
FLAGS = ("-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined")
KINDS = sorted(path.stem for path in SCHEDULES.glob("*.c"))


class Allocation(NamedTuple):
    """One allocation of iterations; *owner* is -1 if there is one queue for all."""

    execution: int
    member: int
    owner: int
    first: int
    count: int
    step: int
    control: int
    state: int

    @property
    def iterations(self) -> range:
        """The iterations that were taken."""
        return range(self.first, self.first + self.count * self.step, self.step)


Play = Callable[..., list[Allocation]]


def compiled(source: Path, item: Path) -> Path:
    """Return the object *item* of *source*."""
    if not item.exists():
        include = [f"-I{INCLUDE}", f"-I{SOURCES / 'schedules'}"]
        command = ["gcc", *FLAGS, *include, "-c", str(source), "-o"]
        kept(item, [source, *FLAGS], lambda target: subprocess.run([*command, str(target)], check=True))
    return item


@pytest.fixture(scope="session")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    """Execute a loop with these numbers of iterations and members under the schedule in kinds/NAME.c."""
    place = tmp_path_factory.mktemp("schedules")

    def run(
        kind: str,
        iterations: int,
        members: int,
        executions: int = 1,
        *,
        chunk: int = 0,
        cost: str = "equal",
        **values: float,
    ) -> list[Allocation]:
        binary = place / kind
        if not binary.exists():
            parts = [compiled(HARNESS, place / "harness.o"), compiled(SCHEDULES / f"{kind}.c", place / f"{kind}.o")]
            command = ["gcc", *FLAGS, *map(str, parts), "-lm", "-o"]
            kept(binary, [*parts, *FLAGS], lambda target: subprocess.run([*command, str(target)], check=True))
        words = [iterations, members, executions, chunk, cost, *(f"{name}={value}" for name, value in values.items())]
        done = subprocess.run([binary, *map(str, words)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [Allocation(*map(int, line.split())) for line in done.stdout.splitlines()]

    return run
