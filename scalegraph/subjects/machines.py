"""The machines that a study's runs ran on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from scalegraph import machine as machines
from scalegraph.base.errors import InputError
from scalegraph.base.run import SIMULATED
from scalegraph.machine.active import spread
from scalegraph.machine.model import Machine

if TYPE_CHECKING:
    from scalegraph.base.run import RunRecord
    from scalegraph.subjects.study import StudyData

_COSTS = ("power", "price")  # added when there were studies already


def machine_of(data: StudyData, run: RunRecord) -> Machine | None:
    """Return the machine that *run* was simulated on; None for runs elsewhere, and if the machine is unknown.

    If the study's request uses fewer ranks per node than fit, the machine's nodes have that many processors.
    """
    if run.source != SIMULATED:
        return None
    program = (data.manifest.get("request") or {}).get("program") or {}
    ranks = program.get("ranks_per_node") or 0
    threads = run.threads_per_process or 1
    key = f"machine {run.machine} {ranks} {threads}"
    return data.once(key, lambda: _spread(_machine(data, run.machine), ranks, threads))


def _spread(machine: Machine | None, ranks: object, threads: int) -> Machine | None:
    """Return *machine* as seen by a run with *ranks* ranks per node; unchanged if they do not fit."""
    if machine is None or not isinstance(ranks, int):
        return machine
    try:
        return spread(machine, ranks, threads)
    except InputError:
        return machine


def _machine(data: StudyData, name: str) -> Machine | None:
    """Return the machine *name*: the study's own, which has its values, or a shipped one."""
    try:
        if name == data.manifest.get("machine") and data.manifest.get("machine_values"):
            return _with_costs(Machine.model_validate(data.manifest["machine_values"]))
        return machines.load(name)
    except (ValidationError, InputError):
        return None


def _with_costs(machine: Machine) -> Machine:
    """Return *machine*, from a study older than watts and prices, with those of the shipped one.

    This applies only if all its other values equal those of the shipped machine of that name.
    """
    if machine.power is not None or machine.price is not None or machine.name not in machines.shipped_names():
        return machine
    shipped = machines.load(machine.name)
    left_out = {*_COSTS, "origin", "summary", "title"}
    same = machine.model_dump(exclude=left_out) == shipped.model_dump(exclude=left_out)
    return machine.model_copy(update={name: getattr(shipped, name) for name in _COSTS}) if same else machine


def speeds_of(machine: Machine, processors: int) -> tuple[float, ...]:
    """Return the relative speed of each of *processors* processors, which fill the nodes one by one."""
    speeds, each = machine.nodes.speeds or (1.0,), machine.node_processors
    return tuple(float(speeds[processor // each % len(speeds)]) for processor in range(processors))
