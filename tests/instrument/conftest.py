"""Tools for tests that compile the preprocessor's output."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph.instrument import Detail, instrument_source

HERE = Path(__file__).parent
PROBE_HEADER = HERE.parents[1] / "scalegraph/runtime/csrc/core/sg_probe.h"
MESSAGE = re.compile(r"^([^:\n]+):(\d+):(?:\d+:)? (warning|error): (.*)$", re.MULTILINE)


class Compiler:
    """gcc in a directory of its own."""

    probe_header = PROBE_HEADER
    here = HERE

    def __init__(self, place: Path) -> None:
        self.place = place
        self.gcc = shutil.which("gcc") or pytest.skip("needs gcc")

    def __call__(self, *arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = [self.gcc, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.place, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, done.stderr
        return done

    def run(self, program: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.place / program],
            cwd=self.place,
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
            env={**os.environ, "OMP_NUM_THREADS": "2", **environment},
        )

    def messages(self, *arguments: str | Path) -> set[tuple[str, int, str, str]]:
        """Return the output of gcc -Wall: {(file, line, severity, text)}."""
        done = self("-Wall", "-fopenmp", "-O1", "-S", "-o", os.devnull, *arguments, check=False)
        return {(file, int(line), severity, text) for file, line, severity, text in MESSAGE.findall(done.stderr)}


@pytest.fixture
def gcc(tmp_path: Path) -> Compiler:
    return Compiler(tmp_path)


@pytest.fixture(scope="session")
def gcc_in() -> type[Compiler]:
    """Return a compiler for fixtures that compile once for many tests."""
    return Compiler


@pytest.fixture
def behaves_the_same(gcc: Compiler) -> Callable[..., int]:
    """Return a function that compiles a program with and without probes, compares both, and returns the visits."""

    def compare(text: str, *flags: str, detail: Detail = "outer") -> int:
        (gcc.place / "program.c").write_text(text)
        made = instrument_source(text, "program.c", detail=detail)
        assert not made.errors
        (gcc.place / "planted.c").write_text(made.text)
        probe = ("-include", PROBE_HEADER)
        assert gcc.messages(*flags, *probe, "planted.c") == gcc.messages(*flags, "program.c")
        gcc("-w", "-fopenmp", "-O1", *flags, "program.c", "-o", "plain", "-lm")
        gcc("-w", "-fopenmp", "-O1", *flags, *probe, "planted.c", HERE / "probes.c", "-o", "planted", "-lm")
        plain, planted = gcc.run("plain"), gcc.run("planted")
        assert (planted.returncode, planted.stdout) == (plain.returncode, plain.stdout), planted.stderr
        return int(planted.stderr.split()[-1])

    return compare
