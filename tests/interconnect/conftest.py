"""Drives the C interconnects of the runtime alone, through a small program that reads commands."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from scalegraph import machine
from tests.memory.driving import build_driver, text_of


class Carried(NamedTuple):
    """When a message left and arrived, and how long it waited, in cycles."""

    free: int
    arrival: int
    contention: int


class Wire:
    """The interconnect of one machine."""

    def __init__(self, driver: Path, config: Path, values: dict[str, str]) -> None:
        self.values = values
        self._process = subprocess.Popen(
            [str(driver), str(config)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip("\n")

    def ask(self, command: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._line()

    def carry(self, source: int, target: int, size: int, now: int = 0) -> Carried:
        return Carried(*map(int, self.ask(f"carry {source} {target} {size} {now}").split()))

    def alone(self, source: int, target: int, size: int = 0) -> int:
        return int(self.ask(f"alone {source} {target} {size}"))

    def hops(self, source: int, target: int) -> int:
        return int(self.ask(f"hops {source} {target}"))

    def nodes(self) -> int:
        return int(self.ask("nodes"))

    def usage(self) -> dict[str, tuple[int, int, int]]:
        """Return transactions, busy cycles and cycles of waiting of every link that was used, by name."""
        found = {}
        for item in self.ask("statistics").split(";")[:-1]:
            name, _, numbers = item.rpartition("=")
            transactions, busy, waiting = map(int, numbers.split("/"))
            found[name] = (transactions, busy, waiting)
        return found

    def close(self) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        return self._process.wait(timeout=60)


MakeWire = Callable[..., Wire]


@pytest.fixture(scope="session")
def wire_driver() -> Path:
    check = ["-O2", "-fsanitize=undefined", "-fno-sanitize-recover=undefined"]
    source = Path(__file__).parent / "driver.c"
    return build_driver(check, source)


@pytest.fixture
def wire(wire_driver: Path, tmp_path: Path) -> Iterator[MakeWire]:
    """Make the interconnect of a machine with some values changed, or the one in *table* instead."""
    made: list[Wire] = []

    def make(name: str = "ncube2", overrides: dict[str, str] | None = None, table: str = "") -> Wire:
        found = machine.load(name, overrides)
        if table:  # another interconnect in place of the machine's
            text, _, rest = found.to_toml().partition("[interconnect]")
            text += f"[interconnect]\n{table}\n" + rest[rest.index("\n[") :]
            found = machine.read(text, "test.toml")
        values = found.runtime_config()
        config = tmp_path / f"config{len(made)}"
        config.write_text(text_of(values, 1))
        made.append(Wire(wire_driver, config, values))
        return made[-1]

    yield make
    for item in made:
        assert item.close() == 0
