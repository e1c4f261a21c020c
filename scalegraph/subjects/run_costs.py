"""Costs of a study's runs: columns of energy, hours and price for its table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import pandas as pd

from scalegraph.analyze.costs import energy
from scalegraph.subjects.machines import machine_of

if TYPE_CHECKING:
    from scalegraph.base.run import RunRecord
    from scalegraph.machine.model import Machine
    from scalegraph.subjects.study import StudyData

ENERGY_PARTS: Final = ("energy_base_j", "energy_cores_j", "energy_waiting_j", "energy_memory_j")
COLUMNS: Final = ("energy_j", *ENERGY_PARTS, "energy_delay_js", "core_hours", "node_hours", "price")


def with_costs(data: StudyData) -> pd.DataFrame:
    """Return the run table of *data* with `COLUMNS`: NaN where a cost is unknown.

    The parts of the energy are those of `energy.Energy`. A study whose table is not of its runs stays as it is.
    """
    if len(data.runs) != len(data.table) or data.table.empty:
        return data.table
    costs = [_costs(run, machine_of(data, run)) if run.ok else {} for run in data.runs]
    table = pd.DataFrame(costs, index=data.table.index, columns=pd.Index(COLUMNS), dtype=float)
    return pd.concat([data.table.drop(columns=list(COLUMNS), errors="ignore"), table], axis=1)


def _costs(run: RunRecord, machine: Machine | None) -> dict[str, float]:
    found = {"core_hours": _or_nan(energy.core_hours(run, machine))}
    if machine is None:
        return found
    parts = energy.energy(run, machine)
    if parts is not None and run.time_s is not None:
        values = (parts.total_j, parts.base_j, parts.cores_j, parts.waiting_j, parts.memory_j)
        found |= dict(zip(("energy_j", *ENERGY_PARTS), values, strict=True))
        found["energy_delay_js"] = parts.total_j * run.time_s
    found["node_hours"] = _or_nan(energy.node_hours(run, machine))
    if machine.price is not None:
        found["price"] = found["node_hours"] * machine.price.node_hour
    return found


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def why_none(data: StudyData, what: str) -> str:
    """Return a sentence on why no run of *data* has *what*, ``energy`` or ``price``; empty if one has."""
    runs = [run for run in data.runs if run.ok]
    asked = energy.why_no_price if what == "price" else energy.why_no_energy
    reasons = [asked(run, machine_of(data, run)) for run in runs]
    if not runs:
        return "the study has no run that ended well"
    return "" if "" in reasons else reasons[0]


def covers(data: StudyData) -> str:
    """Return what the watts of *data*'s machines cover, for a note; empty if none states any."""
    stated = {machine.power.covers for run in data.runs if (machine := machine_of(data, run)) and machine.power}
    return f"Energy of {' or '.join(sorted(stated))}, without the interconnect." if stated else ""


def currency(data: StudyData) -> str:
    """Return the currency of the prices of *data*; empty if there is none, or several."""
    found = {machine.price.currency for run in data.runs if (machine := machine_of(data, run)) and machine.price}
    return found.pop() if len(found) == 1 else ""
