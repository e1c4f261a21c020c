"""Programs with one planted reason to lose time: it is named first, and without it they are as fast as promised."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.analyze import culprits
from tests.planted import messages, openmp, threads
from tests.planted.run import planted_lines, verified

pytestmark = pytest.mark.compiler
THREADED = {**openmp.texts(), **threads.texts()}
# on which machines each kind of program is checked, and those of them that are not
MACHINES = {"ksr1": tuple(openmp.texts()), "server-2x32": ("join_late.c", "creation.c")}
CLUSTERS = ("cluster-hdr", "cm5")
NOT_ON = {("hybrid_serial.c", "cm5")}  # its nodes have one processor
QUICK = {("one_chunk.c", "ksr1"), ("critical.c", "ksr1"), ("gather.c", "cluster-hdr")}


def _cases() -> list[object]:
    found = [(name, THREADED[name], machine) for machine, names in MACHINES.items() for name in names]
    found += [(name, text, machine) for name, text in messages.texts().items() for machine in CLUSTERS]
    return [
        pytest.param(*case, marks=() if (case[0], case[2]) in QUICK else (pytest.mark.slow,), id=f"{case[0]}-{case[2]}")
        for case in found
        if (case[0], case[2]) not in NOT_ON
    ]


@pytest.mark.parametrize(("name", "text", "machine"), _cases())
def test_what_was_planted_is_named_first_and_gains_what_it_promises(
    name: str, text: str, machine: str, tmp_path: Path
) -> None:
    found: list[culprits.Culprit] = verified(name, text, machine, tmp_path)
    assert found, "nothing is named"
    first = found[0]
    assert first.line in planted_lines(text), [(one.line, one.target, one.share, one.gain) for one in found]
    assert first.gain - 1 >= (first.promise - 1) / 2
