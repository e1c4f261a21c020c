"""Costs of runs besides their time: energy, energy-delay product, core-hours, price."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from scalegraph.request.results.quantity import Quantity
from scalegraph.subjects import run_costs

if TYPE_CHECKING:
    from scalegraph.subjects.study import StudyData


def _lacks(what: str) -> Callable[[StudyData], str]:
    return lambda data: f"the study has no {what}: {why}" if (why := run_costs.why_none(data, what)) else ""


def _columns(what: str, *names: str) -> Callable[[StudyData, int | None], pd.DataFrame]:
    """Return a function for columns of the study's costs; its table is empty if no run has *what*."""

    def compute(data: StudyData, processors: int | None) -> pd.DataFrame:
        if what and run_costs.why_none(data, what):
            return pd.DataFrame()
        table = data.scaling
        made = table[["label", "processors", "time_s", *names]]
        if what == "energy":
            made = made.assign(power_w=table["energy_j"] / table["time_s"])
        if what == "price":
            made = made.assign(currency=run_costs.currency(data))
        return made if processors is None else made[made["processors"] == processors]

    return compute


QUANTITIES = (
    Quantity(
        "energy",
        "energy to solution in joules, by consumer, and the mean power",
        _columns("energy", "energy_j", *run_costs.ENERGY_PARTS),
        view="costs",
        compares=False,
        lacks=_lacks("energy"),
    ),
    Quantity(
        "energy-delay",
        "energy-delay product E T",
        _columns("energy", "energy_j", "energy_delay_js"),
        view="costs",
        compares=False,
        lacks=_lacks("energy"),
    ),
    Quantity(
        "core-hours",
        "N T in hours of cores, and the hours of whole nodes",
        _columns("", "core_hours", "node_hours"),
        view="costs",
        compares=False,
    ),
    Quantity(
        "price",
        "price of a run's nodes for its duration, in the machine's currency",
        _columns("price", "node_hours", "price"),
        view="costs",
        compares=False,
        lacks=_lacks("price"),
    ),
)
