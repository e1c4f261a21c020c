"""Networks of workstations that grow in number or in speed: efficiency over both (scale-graph.txt section 7)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from scalegraph.analyze.metrics import work_unit
from scalegraph.analyze.stations import workstations
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import plain, si, significant
from scalegraph.figures.figure import Axis, Column, Dot, Field, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_TITLE = "Physical and power scaling"
_LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def _known(data: StudyData, **_: object) -> bool:
    return workstations.SPEEDS in data.scaling.columns


_NO_SPEEDS = needs.counts(
    "This needs runs on stations whose speeds are known: a parameter speeds, such as 4*1+2*2.5 or one number for all.",
    met=_known,
)
_NEED = needs.counts("This needs one problem on two or more configurations of stations, and on one station alone.")


def _make(data: StudyData, work: float | None = None, efficiency: float = 0.5) -> Figure | Need:
    try:
        found = workstations.table(data.scaling)
    except ValueError as error:
        raise InputError(Fault(str(error), key="speeds")) from None
    known = found[np.isfinite(found["efficiency"])] if len(found) else found
    if known.empty or len(set(known["configuration"])) < 2:
        return _NEED
    unit = work_unit(data.scaling)
    made = workstations.grid(known, work)
    chosen = made[0] if made else float(work or known["work"].mode().max())
    mine = known[np.abs(known["work"] / chosen - 1) < 1e-9]
    if mine.empty:
        return _NEED
    field = () if made is None else (_field(made[1], mine, efficiency, unit),)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(mine, efficiency, None if made is None else made[1]),
        (*field, _table(mine)),
        notes=(
            (
                f"Work: {si(chosen, unit)}. Efficiency: time on the fastest station over the time times the sum of"
                " the power weights, each the speed of a station over that of the fastest."
            ),
            "The power-equivalent N is the sum of the speeds over that of the slowest station.",
            *(() if made else ("A map needs equal stations of two speeds on two numbers of stations.",)),
            *common.run_notes(data),
        ),
    )


def _field(cells: pd.DataFrame, mine: pd.DataFrame, efficiency: float, unit: str) -> Field:
    counts, speeds = [int(n) for n in cells.columns], [float(speed) for speed in cells.index]
    equal = mine[mine["heterogeneity"] < 1e-12]
    dots = tuple(
        Dot(
            float(row["processors"]),
            float(row["speed"]),
            float(row["efficiency"]),
            f"{row['configuration']}: E = {significant(row['efficiency'], 4)}\n"
            f"time {si(row['time_s'], 's', 4)}, latency {si(row['latency_s'], 's', 4)},"
            f" work {si(row['work'], unit, 4)}",
            int(row["processors"]),
            "imported",
        )
        for row in equal.to_dict("records")
    )
    values = np.asarray(cells, dtype=np.float64)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    limits = (min(low, efficiency), max(high, efficiency))
    return Field(
        Axis("stations n (physical)", scale="log2", ticks=tuple(float(n) for n in counts)),
        Axis("speed of a station (power)", scale="log2", ticks=tuple(speeds)),
        Axis("efficiency", limits=(min(0.0, low), max(1.0, high))),
        tuple(float(n) for n in counts),
        tuple(speeds),
        tuple(tuple(float(cell) for cell in row) for row in values),
        tuple(level for level in _LEVELS if low < level < high),
        dots,
        (matrices.efficiency_handle(efficiency, "value"),) if limits == (low, high) else (),
    )


def _table(mine: pd.DataFrame) -> Table:
    names = ("efficiency", "latency_s", "time_s", "power_n", "heterogeneity", "speedup", "power")
    rows = tuple(
        Row((str(row["configuration"]), *(_number(row[name]) for name in names))) for row in mine.to_dict("records")
    )
    columns = (
        Column("stations"),
        Column("efficiency", bar_role="efficiency"),
        Column("latency L", "s"),
        Column("T", "s"),
        Column("power-equivalent N"),
        Column("heterogeneity H"),
        Column("speedup"),
        Column("bound sum W_i"),
    )
    return Table(columns, rows)


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _sentence(mine: pd.DataFrame, efficiency: float, cells: pd.DataFrame | None) -> str:
    able = mine[(mine["efficiency"] >= efficiency) & (mine["processors"] > 1)]
    fastest = "" if able.empty else str(able.sort_values("time_s")["configuration"].iloc[0])
    best = (
        f"The fastest at an efficiency of {plain(efficiency)} or more is {fastest}."
        if fastest
        else (f"No configuration keeps an efficiency of {plain(efficiency)}.")
    )
    if cells is None:
        return best
    first = cells.iloc[0].dropna()
    column = cells[max(cells.columns, key=lambda n: (cells[n].notna().sum(), n))].dropna()
    if len(first) < 2 or len(column) < 2:
        return best
    return (
        f"Physical scaling from {first.index[0]} to {first.index[-1]} stations takes the efficiency from"
        f" {significant(float(first.iloc[0]))} to {significant(float(first.iloc[-1]))}; power scaling of {column.name}"
        f" stations from {plain(float(column.index[0]))} to {plain(float(column.index[-1]))} from"
        f" {significant(float(column.iloc[0]))} to {significant(float(column.iloc[-1]))}. {best}"
    )


VIEW = View(
    "physical-power",
    _TITLE,
    "Efficiency of networks of workstations over the stations' number and speed; mixed networks are in the table.",
    _make,
    (
        Option("work", "Work", "float", description="W of the problem; otherwise the one run most often", minimum=1e-9),
        Option(
            "efficiency",
            "Efficiency",
            "float",
            0.5,
            description="E of the highlighted line",
            minimum=0.001,
            maximum=0.999,
        ),
    ),
    group="Scalability",
    order=60,
    needs=(_NO_SPEEDS, _NEED),
)
