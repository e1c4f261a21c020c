"""Topologies and collective operations of neighbours give what MPICH gives, on 2, 4 and 6 ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph import control, machine
from scalegraph.base.run import RunPoint
from scalegraph.link import Job, Simulated
from tests.mpi.native import MISSING, find

SOURCE = Path(__file__).parent / "neighbours.c"


@pytest.mark.parametrize("ranks", [2, 4, 6])
def test_results_are_those_of_mpich(ranks: int, tmp_path: Path) -> None:
    native = find()
    if native is None:
        pytest.skip(MISSING)
    binary = native.compiled(SOURCE, tmp_path / "neighbours", "-O1")
    expected = native.run(binary, ranks).stdout
    assert expected.count("\n") == 5 * ranks
    record = Simulated().run(Job(control.build([SOURCE]), machine.load("cluster-hdr"), RunPoint(processors=ranks)))
    assert (record.status, record.stdout) == ("ok", expected), record.message
