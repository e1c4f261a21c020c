"""Isospeed-efficiency for heterogeneous processors: marked speeds, and psi between configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from scalegraph.analyze.stations import marked_speed
from scalegraph.analyze.stations.workstations import SPEEDS
from scalegraph.base.errors import Fault, InputError
from scalegraph.request.results.quantity import Quantity
from scalegraph.subjects.machines import machine_of, speeds_of

if TYPE_CHECKING:
    from scalegraph.subjects.study import StudyData


def _speeds(data: StudyData) -> pd.DataFrame:
    """Return the scaling table, with the speeds of simulated nodes added if the runs have no such parameter."""
    scaling = data.scaling
    if SPEEDS in scaling.columns or scaling.empty:
        return scaling
    known = pd.Series([_nodes(data, str(keys)) for keys in scaling["keys"]], index=scaling.index, dtype=object)
    return scaling if known.isna().all() else scaling.assign(**{SPEEDS: known})


def _nodes(data: StudyData, keys: str) -> str | None:
    """Return the speeds of a simulated run's nodes as text; None if all are equal."""
    run = data.by_key.get(keys.split(",")[0])
    machine = None if run is None else machine_of(data, run)
    if run is None or machine is None or len(set(machine.nodes.speeds)) < 2:
        return None
    return " ".join(map(str, speeds_of(machine, run.point.processors)))


def _table(data: StudyData) -> pd.DataFrame:
    try:
        return marked_speed.table(_speeds(data))
    except ValueError as error:
        raise InputError(Fault(str(error), key="speeds")) from None


def _marked(data: StudyData, processors: int | None) -> pd.DataFrame:
    table = _table(data).drop(columns=["keys"], errors="ignore")
    return table if processors is None or table.empty else table[table["processors"] == processors]


def _matrix(data: StudyData, _processors: int | None) -> pd.DataFrame:
    made = marked_speed.scalability(_table(data))
    if made is None:
        return pd.DataFrame()
    matrix, names = made
    frame = matrix.frame().set_axis(list(names), axis=1)
    frame.insert(0, "from", list(names))
    frame.insert(0, "speed_efficiency_held", matrix.target)
    return frame.reset_index(drop=True)


QUANTITIES = (
    Quantity(
        "marked-speed",
        "marked speed of each configuration of processors, and speed-efficiency W/(T C) of every run",
        _marked,
        view="isospeed-speed",
    ),
    Quantity(
        "isospeed-efficiency-matrix",
        "scalability between configurations of unlike processors, with the speed-efficiency held",
        _matrix,
        view="isospeed-speed",
    ),
)
