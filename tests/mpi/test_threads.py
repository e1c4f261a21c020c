"""Several threads of a rank wait in MPI at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = pytest.mark.compiler

PROGRAM = str(Path(__file__).with_name("threads.c"))
THREADS, TURNS = 4, 5


def expected(ranks: int) -> list[str]:
    """Return the lines of all threads, sorted: each does its work as a thread of POSIX and as one of OpenMP."""
    lines = []
    for rank in range(ranks):
        for thread in range(THREADS):
            got = [[100 * ((r - 1) % ranks) + 10 * thread + i for r in range(ranks)] for i in range(TURNS)]
            lines += [f"{rank}.{thread}: {sum(g[rank] + max(g) for g in got)} {sum(map(sum, got))}"] * 2
    return sorted(lines)


@pytest.mark.parametrize(("machine", "processors", "each"), [("server-2x32", 16, 4), ("cluster-hdr", 8, 2)])
def test_threads_wait_for_messages_and_collectives_at_once(
    capsys: pytest.CaptureFixture[str], machine: str, processors: int, each: int
) -> None:
    sizes = ["-p", str(processors), "--threads-per-process", str(each)]
    command = ["simulate", PROGRAM, *sizes, "--machine", machine, "--cflags=-fopenmp", "--no-reference", "--json"]
    assert scalegraph(command) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert sorted(row["stdout"].splitlines()) == expected(processors // each)
    assert row["warnings"] == []
