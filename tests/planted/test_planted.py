"""Programs with one planted reason to lose time: it is named first, and without it they are as fast as promised."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.analyze import culprits
from tests.planted import messages, openmp, threads
from tests.planted.run import planted_lines, verified

pytestmark = pytest.mark.compiler
THREADED = {**openmp.texts(), **threads.texts()}
MACHINES = ("ksr1", "server-2x32", "mesh-manycore")
CLUSTERS = ("cluster-hdr", "cm5", "ncube2")
QUICK = ("one_chunk.c", "critical.c", "barrier_late.c", "gather.c")


def _cases() -> list[object]:
    found: list[object] = []
    for texts, machines in ((THREADED, MACHINES), (messages.texts(), CLUSTERS)):
        for name, text in texts.items():
            for number, machine in enumerate(machines):
                marks = () if name in QUICK and number == 0 else (pytest.mark.slow,)
                found.append(pytest.param(name, text, machine, marks=marks, id=f"{name}-{machine}"))
    return found


@pytest.mark.parametrize(("name", "text", "machine"), _cases())
def test_what_was_planted_is_named_first_and_gains_what_it_promises(
    name: str, text: str, machine: str, tmp_path: Path
) -> None:
    found: list[culprits.Culprit] = verified(name, text, machine, tmp_path)
    assert found, "nothing is named"
    first = found[0]
    assert first.line in planted_lines(text), [(one.line, one.target, one.share, one.gain) for one in found]
    assert first.gain - 1 >= (first.promise - 1) / 2
