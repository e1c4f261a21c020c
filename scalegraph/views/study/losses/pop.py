"""The POP efficiency tree for a fixed size over N: which factor is lost, and where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from scalegraph.analyze import pop
from scalegraph.analyze.table import numbers
from scalegraph.base.measures import percent
from scalegraph.base.run import RunRecord
from scalegraph.figures.columns import known
from scalegraph.figures.figure import IDEAL, PROCESSOR_TIME, Axis, Column, Figure, Plot, Row, Table
from scalegraph.figures.way import Need, Way
from scalegraph.subjects import series as series_
from scalegraph.subjects.pop_efficiencies import efficiencies, path_efficiencies
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs, ways
from scalegraph.views.view import View

_NEED = needs.counts(
    "POP efficiencies need runs of one problem on two or more processor counts, with busy and waiting time."
)
_TITLE = "POP efficiencies"
_ROLES = {
    "global": "ink",
    "load_balance": "busy",
    "serialisation": "idle",
    "transfer": "primitive",
    "instructions": "busy:2",
    "ipc": "memory_stall",
}
_REGIONS = 40
_COLUMNS = {
    "global": "global",
    "parallel": "parallel",
    "load_balance": "balance",
    "computation": "computation",
    "instructions": "instructions",
    "ipc": "IPC",
}


def _paths(table: pd.DataFrame, run: RunRecord) -> Table:
    rows = []
    for row in table.head(_REGIONS).to_dict("records"):
        values = [known(row[column], 100) for column in ("share", *_COLUMNS)]
        name = str(row["name"])
        short = name.rpartition("->")[2]
        rows.append(Row((short, known(row["lost"]), *values), 0, str(row["region"]), f"{name} {row['place']}".rstrip()))
    first = (
        Column(f"call path, N = {run.point.processors}"),
        Column("lost", "s", "mark"),
        Column("share", PROCESSOR_TIME, "muted"),
    )
    return Table((*first, *(Column(name, IDEAL) for name in _COLUMNS.values())), tuple(rows))


def _make(data: StudyData, size: object = None, processors: object = None) -> Figure | Need:
    series = series_.chosen_series(data, size)
    rows = series.rows if series is not None else data.scaling.iloc[:0]
    found = efficiencies(data, rows)
    if series is None or not np.isfinite(numbers(found, "parallel")).any():
        return _NEED
    run = common.chosen_run(data, size, processors)
    panels: list[Plot | Table] = [_tree(found), _curves(series.processors, rows, found)]
    if run is not None and run.regions:
        panels.append(_regions(data, run, _reference(data, rows)))
    elif (
        run is not None
        and data.imported is not None
        and not (by_path := path_efficiencies(data, run, _reference(data, rows))).empty
    ):
        panels.append(_paths(by_path, run))
    measured = {str(way) for way in found["transfer_by"]} & {"what-if"}
    imported = data.imported is not None
    useful = "time outside of communication and synchronisation" if imported else "busy and memory stall"
    how = _how(measured=bool(measured), passes_messages=_passes_messages(data))
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(*_spoken_of(found, processors)),
        tuple(panels),
        notes=(
            f"Reference: N = {int(found['reference'].iloc[0])}. Useful: {useful}.",
            "A parent is the product of its children.",
            *(() if imported else (how,)),
            *common.run_notes(data),
        ),
        ways=_ways(data) if not measured and ways.can_run(data) else (),
    )


def _passes_messages(data: StudyData) -> bool:
    return any(run.processes for run in data.runs)


def _ways(data: StudyData) -> tuple[Way, ...]:
    """Return the ways to get the runs that `free_times` needs."""
    if not _passes_messages(data):
        return (ways.FREE_SYNC,)
    hybrid = any((run.threads_per_process or 1) > 1 for run in data.runs)
    return (ways.FREE_MESSAGES_AND_SYNC,) if hybrid else (ways.FREE_MESSAGES,)


def _how(*, measured: bool, passes_messages: bool) -> str:
    if measured and passes_messages:
        return "Transfer: the elapsed time of a run whose messages take no time, over that of the actual run."
    if measured:
        return "Transfer: the elapsed time of a run with free synchronisation, over that of the actual run."
    if passes_messages:
        return (
            "Transfer: estimated from the busiest processor, without primitives and messages on their way. Runs whose"
            " messages take no time would measure it."
        )
    return (
        "Transfer: estimated from the busiest processor, without primitives; runs with free synchronisation measure it."
    )


def _reference(data: StudyData, rows: pd.DataFrame) -> RunRecord | None:
    return data.by_key.get(str(rows["keys"].iloc[0]).split(",")[0])


def _spoken_of(found: pd.DataFrame, processors: object) -> tuple[pd.Series, int]:
    """Return the efficiencies on *processors*, by default on the most, and their N."""
    rows = found if processors is None else found[found["processors"] == int(str(processors))]
    return rows.iloc[-1], int(rows["processors"].iloc[-1])


def _sentence(last: pd.Series, processors: int) -> str:
    worst = pop.dominant({name: float(last[name]) for name in pop.NAMES})
    text = f"On {processors} processors the global efficiency is {percent(float(last['global']))}"
    if worst is None:
        return f"{text}: nothing is lost."
    return f"{text}; most is lost to {worst.title} ({percent(float(last[worst.name]))}): {worst.low}."


def _tree(found: pd.DataFrame) -> Table:
    counts = [int(n) for n in found["processors"]]
    rows = []
    for factor in pop.FACTORS:
        values = [float(value) for value in found[factor.name]]
        if not np.isfinite(values).any():
            continue
        cells = tuple(100 * value if np.isfinite(value) else None for value in values)
        rows.append(Row((factor.title, *cells), factor.depth, factor.name, f"{factor.title}\nlow: {factor.low}"))
    return Table((Column("efficiency"), *(Column(f"N = {n}", IDEAL) for n in counts)), tuple(rows))


def _curves(counts: tuple[int, ...], rows: pd.DataFrame, found: pd.DataFrame) -> Plot:
    joined = rows.assign(**{f"pop.{name}": found[name].to_numpy() for name in _ROLES})
    titles = {factor.name: factor.title for factor in pop.FACTORS}
    lines = tuple(
        common.curve(joined, f"pop.{name}", titles[name], role, unit=IDEAL, scale=100)
        for name, role in _ROLES.items()
        if np.isfinite(numbers(joined, f"pop.{name}")).any()
    )
    most = max((value for line in lines for value in line.y if np.isfinite(value)), default=100.0)
    return Plot(common.processors_axis(counts), Axis("factor", IDEAL, limits=(0.0, max(105.0, 1.05 * most))), lines)


def _regions(data: StudyData, run: RunRecord, reference: RunRecord | None) -> Table:
    table = pop.region_efficiencies(run, reference if reference is not run else None)
    places = {region.id: region for region in data.regions}
    rows = []
    for row in table.head(_REGIONS).to_dict("records"):
        region = places.get(int(row["region"]))
        name = common.region_name(_named(region, int(row["region"])))
        values = [known(row[column], 100) for column in ("share", *_COLUMNS)]
        place = f"{region.file}:{region.line}" if region is not None and region.file else ""
        tip = f"{name} {place}".rstrip()
        rows.append(Row((name, known(row["lost"]), *values), 0, str(int(row["region"])), tip))
    first = (
        Column(f"region, N = {run.point.processors}"),
        Column("lost", "s", "mark"),
        Column("share", PROCESSOR_TIME, "muted"),
    )
    return Table((*first, *(Column(name, IDEAL) for name in _COLUMNS.values())), tuple(rows))


def _named(region: Any, number: int) -> dict[str, Any]:
    if region is None:
        return {"name": "program" if number == 0 else f"region {number}", "kind": "region", "file": "", "line": 0}
    return {"name": region.name, "kind": region.kind, "file": region.file, "line": region.line}


VIEW = View(
    "pop",
    _TITLE,
    "Load balance, serialisation, transfer and computation scaling, over N and by region (POP metrics).",
    _make,
    (common.SIZE, common.PROCESSORS),
    group="Lost time",
    order=75,
    needs=(_NEED,),
)
