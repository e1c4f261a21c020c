"""Programs with one planted cause of lost time: it is named first, and without it they are as fast as promised.

Each program on each of its three machines is a case. Some cases always run, all of them with ``--all-cases``;
``python -m benchmarks.planted`` prints a table.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.analyze import culprits
from tests.planted.run import planted_lines, programs, verified

pytestmark = pytest.mark.compiler
QUICK = ("critical.c",)
COUNT = 24  # number of cases that always run


def _cases() -> list[object]:
    """Return all cases, starting each program on a different machine, so that an even selection covers all machines."""
    return [
        pytest.param(
            one.name,
            one.text,
            one.machines[(number + turn) % len(one.machines)],
            marks=() if one.name in QUICK else (pytest.mark.slow,),
            id=f"{one.name}-{one.machines[(number + turn) % len(one.machines)]}",
        )
        for number, one in enumerate(programs())
        for turn in range(len(one.machines))
    ]


def test_there_are_forty() -> None:
    assert len({one.name for one in programs()}) >= 40
    assert all(len(set(one.machines)) == 3 for one in programs())


@pytest.mark.few(COUNT)
@pytest.mark.parametrize(("name", "text", "machine"), _cases())
def test_what_was_planted_is_named_first_and_gains_what_it_promises(
    name: str, text: str, machine: str, tmp_path: Path
) -> None:
    found: list[culprits.Culprit] = verified(name, text, machine, tmp_path)
    assert found, "nothing is named"
    first = found[0]
    assert first.line in planted_lines(text), [(one.line, one.target, one.share, one.gain) for one in found]
    assert first.gain - 1 >= (first.promise - 1) / 2
