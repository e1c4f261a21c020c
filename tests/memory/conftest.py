"""Drives the C memory system of the runtime alone, through a small program that reads commands."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.memory.driving import build_driver, config_text

Cost = dict[str, int]


class Memory:
    """The memory system of one machine; costs leave out what is zero."""

    def __init__(self, driver: Path, config: Path) -> None:
        self._process = subprocess.Popen(
            [str(driver), str(config)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.greeting = self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip("\n")

    def ask(self, command: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._line()

    def access(self, processor: int, kind: str, address: int, now: int) -> Cost:
        answer = self.ask(f"access {processor} {kind} {address} {now}")
        return {name: int(value) for name, value in (pair.split("=") for pair in answer.split())}

    def read(self, processor: int, address: int, now: int = 0) -> Cost:
        return self.access(processor, "r", address, now)

    def write(self, processor: int, address: int, now: int = 0) -> Cost:
        return self.access(processor, "w", address, now)

    def hits(self, processor: int, kind: str, address: int) -> bool:
        return self.ask(f"hit {processor} {kind} {address}") == "hit=1"

    def usage(self) -> dict[str, tuple[int, int, int]]:
        """Return transactions, busy cycles and cycles of waiting of every resource that was used, by name."""
        found = {}
        for item in self.ask("statistics").split(";")[:-1]:
            name, _, numbers = item.rpartition("=")
            _, transactions, busy, waiting = map(int, numbers.split("/"))
            found[name.rpartition(" ")[0]] = (transactions, busy, waiting)
        return found

    def check(self) -> str:
        return self.ask("check")

    def close(self) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        return self._process.wait(timeout=60)


@pytest.fixture(scope="session")
def driver() -> Path:
    # Undefined behaviour stops the driver.
    check = ["-O2", "-fsanitize=undefined", "-fno-sanitize-recover=undefined"]
    return build_driver(check)


MakeMemory = Callable[..., Memory]


@pytest.fixture
def memory(driver: Path, tmp_path: Path) -> Iterator[MakeMemory]:
    """Make the memory system of a shipped machine: ``memory("ksr1", 64, {"network.hop_cycles": "5"})``."""
    made: list[Memory] = []

    def make(name: str, processors: int, overrides: dict[str, str] | None = None) -> Memory:
        config = tmp_path / f"config{len(made)}"
        config.write_text(config_text(name, processors, overrides))
        made.append(Memory(driver, config))
        assert made[-1].greeting == "ready"
        return made[-1]

    yield make
    for item in made:
        assert item.close() == 0


@pytest.fixture
def refused(driver: Path, tmp_path: Path) -> Callable[[str], str]:
    """Return the reader's message about a configuration that it must refuse."""

    def ask(text: str) -> str:
        config = tmp_path / "run.cfg"
        config.write_text(text)
        item = Memory(driver, config)
        assert item.close() == 2
        return item.greeting.removeprefix(f"{tmp_path}/")

    return ask
