"""Roofline: speed over operations per byte of the run, its regions and loops, below the machine's roofs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal

import pandas as pd

from scalegraph.analyze import roofline
from scalegraph.base.measures import percent
from scalegraph.base.run import RunRecord
from scalegraph.base.units import si
from scalegraph.figures.columns import known
from scalegraph.figures.figure import PROCESSOR_TIME, Axis, Column, Figure, Line, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.machine.roofs import LANES, Roofs
from scalegraph.subjects.machine_roofs import roofs_of
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_TITLE: Final = "Roofline"


def _is_counted(data: StudyData, size: object = None, processors: object = None, **_: object) -> bool:
    run = common.chosen_run(data, size, processors)
    return run is not None and roofline.is_counted(run)


_NEED: Final = needs.simulated(
    "A roofline needs a run simulated by this version: earlier ones did not count the lines from memory.",
    _is_counted,
)
_NOTHING: Final = Need("No line came from memory in this run: the machine has no caches, or no memory besides them.")
_NO_MACHINE: Final = Need("The roofs of this run's machine are not known here.")
_POINTS: Final = 6
_AUTO: Final = "as the run"


def _make(
    data: StudyData,
    size: object = None,
    processors: object = None,
    operations: object = _AUTO,
    points: int = _POINTS,
) -> Figure | Need:
    run = common.the_run(data, size, processors)
    if not run.counters[roofline.COUNTER]:
        return _NOTHING
    roofs = roofs_of(data, run)
    if roofs is None:
        return _NO_MACHINE
    rows = roofline.table(run, data.regions, roofs, "" if operations == _AUTO else str(operations))
    kind = str(rows["counted"].iloc[0])
    unit = "flop/s" if kind == roofline.FLOPS else "op/s"
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {run.point.processors}",
        _sentence(rows),
        (_plot(rows, roofs, run, kind, unit, points), _table(rows, unit)),
        notes=(
            f"Run: {run.point.label()}. Regions and loops: exclusive, with their time divided by N.",
            f"Roofs of {run.point.processors} processors, data near them: {_words(roofs, kind, unit)}.",
            *(("The machine's memory has no limit of its own bandwidth.",) * math.isnan(roofs.memory_b_s)),
        ),
        meta={"run": run.point.key},
    )


def _sentence(rows: pd.DataFrame) -> str:
    """Return a sentence on the run, and on the place that takes most of its time."""
    whole, *places = _records(rows)
    text = _capital(str(whole["sentence"]))
    named = [row for row in places if row["share"] >= roofline.SHARE and row["bytes"]]
    if not named:
        return f"{text}."
    top = max(named, key=lambda row: float(row["share"]))
    share = f"{percent(float(top['share']))} of processor time"
    if not math.isfinite(top["of_roof"]):
        return f"{text}. {roofline.name_of(top)} has {share}."
    return f"{text}. {roofline.name_of(top)}, {share}: at {percent(top['of_roof'])} of the roof of {top['bound']}."


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plot(rows: pd.DataFrame, roofs: Roofs, run: RunRecord, kind: str, unit: str, points: int) -> Plot:
    shown = [row for row in _records(rows) if row["bytes"] and row["operations"]]
    chosen = [row for row in shown if row["region"] == -1]
    rest = sorted((row for row in shown if row["region"] != -1), key=lambda row: -float(row["share"]))
    chosen += rest[:points]
    flat = _flat_roofs(roofs, kind)
    ridge = max(value for _, value in flat) / roofs.memory_b_s if math.isfinite(roofs.memory_b_s) else 1.0
    at = [float(row["intensity"]) for row in chosen]
    low, high = min([ridge, *at]) / 4, max([ridge, *at]) * 4
    origin = common.origin_of(run.source)
    lines = _roof_lines(roofs, flat, low, high)
    for number, row in enumerate(chosen):
        name = roofline.name_of(row)
        x, y = (float(row["intensity"]),), (float(row["rate"]),)
        role = "mark" if row["region"] == -1 else f"count:{number}/{len(chosen)}"
        lines.append(Line(name, x, y, role, origin, tips=(_tip(row, unit),)))
    return Plot(Axis("operations per byte", "", "log10"), Axis("speed", unit, "log10"), tuple(lines))


def _words(roofs: Roofs, kind: str, unit: str) -> str:
    sloped = [f"{name} {si(rate, 'B/s')}" for name, rate, _, _ in _sloped_roofs(roofs)]
    vectors = f" (of {LANES} doubles)" if kind == roofline.FLOPS else ""
    return ", ".join([*sloped, *(f"{name} {si(value, unit)}" for name, value in _flat_roofs(roofs, kind))]) + vectors


def _sloped_roofs(roofs: Roofs) -> list[tuple[str, float, str, Literal["solid", "dashed"]]]:
    """Return name, bytes per second, role and style of the sloped roofs."""
    made: tuple[tuple[str, float, str, Literal["solid", "dashed"]], ...] = (
        ("memory", roofs.memory_b_s, "memory_stall", "solid"),
        ("shared cache", roofs.shared_b_s, "memory_stall:2", "dashed"),
        ("first cache", roofs.first_b_s, "memory_stall:4", "dashed"),
    )
    return [roof for roof in made if math.isfinite(roof[1])]


def _flat_roofs(roofs: Roofs, kind: str) -> list[tuple[str, float]]:
    if kind == roofline.ALL:
        return [("all operations", roofs.operations_s)]
    return [("plain", roofs.plain_flops_s), ("vectors", roofs.vector_flops_s)]


def _roof_lines(roofs: Roofs, flat: list[tuple[str, float]], low: float, high: float) -> list[Line]:
    """Return the roofs as lines from *low* to *high*, the sloped ones up to the highest flat one."""
    top = max(value for _, value in flat)
    lines = [Line(name, (low, high), (value, value), "muted", "computed", markers=False) for name, value in flat]
    for name, rate, role, style in _sloped_roofs(roofs):
        end = min(top / rate, high)
        if end > low:
            ends = (low * rate, end * rate)
            lines.append(Line(name, (low, end), ends, role, "computed", style=style, markers=False))
    return lines


def _tip(row: Mapping[str, Any], unit: str) -> str:
    return (
        f"{row['sentence']}\n{si(float(row['rate']), unit)}, {si(float(row['bandwidth']), 'B/s')} from and to memory\n"
        f"{percent(float(row['share']), 1)} of processor time"
    )


def _table(rows: pd.DataFrame, unit: str) -> Table:
    columns = (
        Column("place"),
        Column("reached", "% of the roof", "busy"),
        Column("lower roof"),
        Column("operations per byte"),
        Column("speed", unit),
        Column("memory", "B/s"),
        Column("time", PROCESSOR_TIME, "muted"),
        Column("from and to memory", "B"),
        Column("past private caches", "B"),
        Column("past first level", "B"),
    )
    made = []
    for row in _records(rows):
        values = (
            roofline.name_of(row),
            known(100 * row["of_roof"]),
            row["bound"],
            known(row["intensity"]),
            known(row["rate"]),
            known(row["bandwidth"]),
            known(100 * row["share"]),
            int(row["bytes"]),
            int(row["cache_bytes"]),
            int(row["first_bytes"]),
        )
        made.append(Row(values, key=str(row["region"]), tip=_capital(str(row["sentence"])) + "."))
    return Table(columns, tuple(made))


VIEW = View(
    "roofline",
    _TITLE,
    "Operations per byte from memory of the run, its regions and loops, against the machine's roofs.",
    _make,
    (
        common.PROCESSORS,
        common.SIZE,
        Option(
            "operations",
            "Operations",
            "choice",
            _AUTO,
            (_AUTO, roofline.FLOPS, roofline.ALL),
            description="which count; as the run: floating-point operations, or all if hardly any are",
        ),
        Option("points", "Places", "int", _POINTS, description="how many regions and loops get a point", minimum=1),
    ),
    group="Cache and memory",
    order=133,
    needs=(_NEED, _NOTHING, _NO_MACHINE),
)
