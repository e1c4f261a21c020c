"""What the machine of a study's run can do at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from scalegraph import machine as machines
from scalegraph.base.errors import InputError
from scalegraph.base.run import SIMULATED
from scalegraph.machine.model import Machine
from scalegraph.machine.roofs import Roofs, roofs

if TYPE_CHECKING:
    from scalegraph.base.run import RunRecord
    from scalegraph.subjects.study import StudyData


def roofs_of(data: StudyData, run: RunRecord) -> Roofs | None:
    """Return the roofs of the machine that *run* ran on, at its N; None where the machine is not known."""
    if run.source != SIMULATED:
        return None
    key = f"roofs {run.machine}"
    if key not in data.memo:
        data.memo[key] = _machine(data, run.machine)
    machine: Machine | None = data.memo[key]
    return None if machine is None else roofs(machine, run.point.processors)


def _machine(data: StudyData, name: str) -> Machine | None:
    """Return the machine *name*: the study's own, as it has its values, or a shipped one."""
    try:
        if name == data.manifest.get("machine") and data.manifest.get("machine_values"):
            return Machine.model_validate(data.manifest["machine_values"])
        return machines.load(name)
    except (ValidationError, InputError):
        return None
