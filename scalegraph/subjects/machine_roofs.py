"""Peak performance of the machine of a study's run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scalegraph.machine.roofs import Roofs, roofs
from scalegraph.subjects.machines import machine_of

if TYPE_CHECKING:
    from scalegraph.base.run import RunRecord
    from scalegraph.subjects.study import StudyData


def roofs_of(data: StudyData, run: RunRecord) -> Roofs | None:
    """Return the roofs of the machine that *run* ran on, at its N; None if the machine is unknown."""
    machine = machine_of(data, run)
    return None if machine is None else roofs(machine, run.point.processors)
