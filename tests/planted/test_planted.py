"""Programs with one planted reason to lose time: it is named first, and without it they are as fast as promised.

Each is checked on one of its machines here; ``python -m benchmarks.planted`` checks all on three.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.analyze import culprits
from tests.planted.run import planted_lines, programs, verified

pytestmark = pytest.mark.compiler
QUICK = ("critical.c",)


def _cases() -> list[object]:
    return [
        pytest.param(
            one.name,
            one.text,
            one.machines[number % len(one.machines)],
            marks=() if one.name in QUICK else (pytest.mark.slow,),
            id=one.name,
        )
        for number, one in enumerate(programs())
    ]


def test_there_are_forty() -> None:
    assert len({one.name for one in programs()}) >= 40
    assert all(len(set(one.machines)) == 3 for one in programs())


@pytest.mark.parametrize(("name", "text", "machine"), _cases())
def test_what_was_planted_is_named_first_and_gains_what_it_promises(
    name: str, text: str, machine: str, tmp_path: Path
) -> None:
    found: list[culprits.Culprit] = verified(name, text, machine, tmp_path)
    assert found, "nothing is named"
    first = found[0]
    assert first.line in planted_lines(text), [(one.line, one.target, one.share, one.gain) for one in found]
    assert first.gain - 1 >= (first.promise - 1) / 2
