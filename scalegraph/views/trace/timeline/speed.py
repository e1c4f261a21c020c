"""Average speed of every processor in every phase over time (isospeed.txt Figs. 9, 10, 16, 17)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scalegraph.analyze.trace import speed
from scalegraph.analyze.trace.phases import Phases
from scalegraph.analyze.trace.work import countable
from scalegraph.base.units import si, significant
from scalegraph.figures.columns import known
from scalegraph.figures.figure import LOCATIONS_TIME, Axis, Column, Figure, Panel, Row, Table, Timeline
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums, phase_choice
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.trace_choices import METRIC, chosen_metric
from scalegraph.subjects.window import Window
from scalegraph.traces.kinds import Array
from scalegraph.views import needs, ways
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.trace import tracks as trace_tracks
from scalegraph.views.trace.timeline import phases as trace_phases
from scalegraph.views.view import View

_TITLE = "Average speed"
_NEED = Need(
    "This trace counts no operations, so no speed is known.",
    ways.traced("counters"),
    "Run the program with counters in its trace.",
    "Record a counter of floating-point operations or instructions.",
    met=needs.trace_with("counters"),
)
_SAME = 0.05  # relative difference of average unit speeds that counts as equal


@dataclass(frozen=True)
class _Chart:
    """The speeds of one trace."""

    chosen: Window
    phases: Phases
    made: speed.Speeds
    table: pd.DataFrame
    name: str

    @property
    def count(self) -> int:
        """Number of locations."""
        return len(self.chosen.locations)


def _make(
    data: TraceData, phases: object = "auto", depth: object = None, metric: object = None, **options: object
) -> Figure | Need:
    chosen = trace_window.window(data, **options)
    name = chosen_metric(data, metric)
    if name is None:
        return _NEED
    charts = [_chart(chosen, name, phases, depth)]
    for other in data.others:
        if name in countable(other.trace) and other.trace.count("calls"):
            window = trace_window.window(other, region=options.get("region"), width=options.get("width", 1000))
            charts.append(_chart(window, name, phases, depth))
    charts = [charts[0], *sorted(charts[1:], key=lambda chart: chart.count)]
    top = max(
        (float(np.nanmax(chart.made.speed)) for chart in charts if np.isfinite(chart.made.speed).any()), default=0
    )
    factor, unit = trace_sums.prefix(top, speed_unit(name))
    scale = Axis("average speed", unit, limits=(0.0, top / factor if top else 1.0))
    last = max(chart.chosen.end_s for chart in charts)
    panels: list[Panel] = [
        _panel(chart, scale, factor, last if len(charts) > 1 else chart.chosen.end_s, len(charts)) for chart in charts
    ]
    return Figure(
        trace_common.title(data, _TITLE),
        _sentence(charts, name),
        (*panels, *(_table(chart, factor, unit, name, len(charts)) for chart in charts)),
        notes=trace_sums.notes(
            chosen,
            f"Phases: {charts[0].phases.how}. Speed: {name} in a phase over the time in it; average unit speed: all"
            f" {name} over time and number of locations.",
            trace_common.of_others(chosen),
            *trace_sums.call_notes(data),
        ),
    )


def speed_unit(name: str) -> str:
    """Return the unit of a speed: ``flop/s``, ``op/s``, ``instructions/s``, or that of the metric."""
    known = {"flops": "flop/s", "ops": "op/s", "operations": "op/s"}.get(name.lower())
    if known is None and any(word in name.upper() for word in ("TOT_INS", "INSTRUCTIONS")):
        return "instructions/s"
    if known is None and any(word in name.upper() for word in ("FP_OPS", "DP_OPS", "SP_OPS")):
        return "flop/s"
    return known or f"{name}/s"


def _chart(chosen: Window, name: str, by: object, depth: object) -> _Chart:
    data = chosen.data
    counted = interval_sums.counted(data, countable(data.trace)[name])
    found = phase_choice.found(chosen, by, depth)
    made = speed.speeds(found, counted, data.trace, chosen.begin, chosen.end, chosen.locations)
    return _Chart(chosen, found, made, speed.by_phase(found, made, data.trace), data.name)


def _panel(chart: _Chart, scale: Axis, factor: float, end: float, several: int) -> Timeline:
    values: Array = chart.made.speed / factor
    title = f"{chart.name}, {trace_sums.located(chart.chosen.data.trace, chart.count)}" if several > 1 else ""
    track = trace_phases.bars(chart.chosen, chart.phases, values, scale, title)
    return Timeline(
        trace_tracks.TIME, chart.chosen.begin_s, end, (track,), limits=(0.0, max(end, chart.chosen.data.length))
    )


def _table(chart: _Chart, factor: float, unit: str, name: str, several: int) -> Table:
    available = chart.made.seconds * chart.count
    rows = [_row(row, factor, available) for row in chart.table.to_dict("records")]
    unit_speed = known(chart.made.unit_speed / factor)
    rows.append(
        Row(
            (
                "all, average unit speed",
                None,
                known(available),
                None,
                chart.made.seconds,
                chart.made.total,
                unit_speed,
                None,
                None,
            )
        )
    )
    head = f"phase of {chart.name}" if several > 1 else "phase"
    return Table(
        (
            Column(head),
            Column("visits"),
            Column("time", "s", "time"),
            Column("share", LOCATIONS_TIME),
            Column("clock", "s"),
            Column(name),
            Column("speed", unit),
            Column("slowest", unit),
            Column("fastest", unit),
        ),
        tuple(rows),
    )


def _row(row: dict[Any, Any], factor: float, available: float) -> Row:
    return Row(
        (
            str(row["name"]),
            int(row["visits"]),
            float(row["time_s"]),
            known(100 * float(row["time_s"]) / available) if available else None,
            float(row["span_s"]),
            float(row["work"]),
            *(known(float(row[column]) / factor) for column in ("speed", "slowest", "fastest")),
        ),
        key=str(row["region"]),
    )


def _sentence(charts: list[_Chart], name: str) -> str:
    first = charts[0]
    unit = speed_unit(name)
    reported = f"The clock reads {si(first.made.seconds, 's')}"
    reported += f" on {trace_sums.located(first.chosen.data.trace, first.count)}; the average unit speed is"
    reported += f" {si(first.made.unit_speed, unit)}"
    if len(first.table) > 1:
        by_time = first.table.sort_values("time_s", ascending=False, kind="stable")
        reported += f", in {by_time['name'].iloc[0]} {si(float(by_time['speed'].iloc[0]), unit)}"
    reported += "."
    for other in charts[1:] if first.chosen.whole_run else ():
        small, large = sorted((first, other), key=lambda chart: chart.count)
        reported += f" {_psi(small, large, unit)}"
    return reported


def _psi(small: _Chart, large: _Chart, unit: str) -> str:
    """Return the scalability from two clocks: psi(N, N') = T/T' if the average unit speeds are equal."""
    if small.count == large.count:
        ratio = large.made.seconds / small.made.seconds if small.made.seconds else float("nan")
        return f"{large.name} takes {significant(ratio)} times as long as {small.name} on as many locations."
    if not large.made.seconds:
        return ""
    n, n2 = small.count, large.count
    ratio = small.made.seconds / large.made.seconds
    times = f"T({n})/T({n2}) = {si(small.made.seconds, 's')} / {si(large.made.seconds, 's')} = {significant(ratio)}"
    if abs(small.made.unit_speed - large.made.unit_speed) <= _SAME * small.made.unit_speed:
        return f"Both run at the same average unit speed, so ψ({n}, {n2}) = {times}."
    speeds = f"{si(small.made.unit_speed, unit)} and {si(large.made.unit_speed, unit)}"
    return f"{times}; that is not ψ, as the average unit speeds differ: {speeds}."


VIEW = View(
    "speed",
    _TITLE,
    "The average speed of each processor in each phase along time, the clock, and the average unit speed; two traces at"
    " the same unit speed give the scalability ψ.",
    _make,
    (
        *trace_window.WINDOWED,
        phase_choice.PHASES,
        phase_choice.DEPTH,
        METRIC,
    ),
    group="Timeline",
    order=40,
    needs=(_NEED, trace_sums.NO_CALLS),
    several=True,
    subject="trace",
    window=True,
)
