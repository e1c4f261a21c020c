"""A cluster for tests, and programs that wait until a test lets them continue."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.cancel import CancelToken
from scalegraph.cli import main as entry
from scalegraph.control import build
from scalegraph.link import Build

SUMS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 3, c;
    double *a = malloc(n * sizeof *a), sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[i] = i;
    printf("%g on %d\n", sum, omp_get_max_threads());
    while ((c = getchar()) != EOF)
        putchar(c);
    free(a);
    return 0;
}
"""
# A program that logs its beginning, waits for a byte from a pipe, and logs its end.
WAITS = r"""
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *log = fopen(argv[2], "a");
    fprintf(log, "begun\n");
    fclose(log);
    FILE *gate = fopen(argv[1], "r");
    int c = fgetc(gate);
    fclose(gate);
    log = fopen(argv[2], "a");
    fprintf(log, "ended\n");
    fclose(log);
    printf("%c\n", c);
    return 0;
}
"""


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """Address of a scheduler with two workers that give false results for some programs; see `site`."""
    command = [sys.executable, "-m", "tests.cluster.site"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent.parent
    )
    assert process.stdin is not None
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.stdin.close()
    assert process.wait(60) == 0
    process.stdout.close()


@pytest.fixture(scope="session")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Build:
    place = tmp_path_factory.mktemp("sums")
    (place / "sums.c").write_text(SUMS)
    return build(["sums.c"], cwd=place)


@pytest.fixture(scope="session")
def ksr1() -> machines.Machine:
    return machines.load("ksr1")


class Gate:
    """A pipe at which a program waits, and the program's log."""

    def __init__(self, place: Path) -> None:
        self.path, self.log = place / "gate", place / "log"
        os.mkfifo(self.path)
        self.request = place / "waits.toml"
        (place / "waits.c").write_text(WAITS)
        self.request.write_text(
            f'processors = [1]\nreference = false\n[program]\nsources = ["waits.c"]\n'
            f'args = ["{self.path}", "{self.log}"]\n[machine]\nname = "ksr1"\n'
        )

    def notes(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []

    def wait_for(self, count: int, word: str) -> None:
        """Return once the log of the program, or of several in turn, has *word* that many times."""
        pause = CancelToken()
        while self.notes().count(word) < count:
            pause.wait(0.02)

    def programs(self) -> list[tuple[int, int]]:
        """Return (process, its parent) of the programs that wait here."""
        found = []
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                words = (status.parent / "cmdline").read_bytes().split(b"\0")
                parent = next(line for line in status.read_text().splitlines() if line.startswith("PPid:"))
            except (OSError, StopIteration):
                continue
            if words[1:2] == [os.fsencode(self.path)]:
                found.append((int(status.parent.name), int(parent.split()[1])))
        return found

    def open(self) -> None:
        """Let the waiting program continue."""
        with self.path.open("w") as pipe:
            pipe.write("x")


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Return a function that waits until a condition holds, at most until the test's time limit."""

    def wait(condition: Callable[[], bool]) -> None:
        pause = CancelToken()
        while not condition():
            pause.wait(0.02)

    return wait


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs the command line here: (exit code, standard output, standard error)."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        code = entry.run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return run
