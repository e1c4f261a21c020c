"""Several studies in one plot: GE1 and GE2, two machines, before and after a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from scalegraph.analyze import causes, compare, reference
from scalegraph.analyze.generalized import sequential_speed
from scalegraph.analyze.metrics import speed_unit, work_unit
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import numbers
from scalegraph.base.units import significant
from scalegraph.figures.columns import known
from scalegraph.figures.figure import Axis, Column, Figure, Line, Mark, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import series as series_
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.memory import data_movement
from scalegraph.views.study.scalability.latency_sources import rows_held
from scalegraph.views.view import View

_LACKING = Need("{lacking} of the {studies} studies have no {words} {what} on two or more counts.")
_UNITS = Need("The studies count their work differently ({units}).")
_TITLE = "Studies side by side"
# what -> (column, name, unit, whether more is better)
QUANTITIES: dict[str, tuple[str, str, str, bool]] = {
    "speedup": ("speedup", "speedup", "", True),
    "efficiency": ("efficiency", "efficiency", "", True),
    "time": ("time_s", "elapsed time", "s", False),
    "latency": ("latency_s", "average latency", "s", False),
    "unit-speed": ("unit_speed", "average unit speed", "op/s", True),
    "generalized-speedup": ("generalized_speedup", "generalized speedup", "", True),
    "miss-latency": ("miss_latency", "miss latency", "cycles", False),
    "data-movement": ("data_movement", "data movement", data_movement.UNIT, False),
}


def names(studies: Sequence[StudyData]) -> list[str]:
    """Return a short name per study: its program, plus machine or file if needed to tell them apart."""
    for make in (_program, _program_and_machine, _with_file):
        found = [make(data) for data in studies]
        if len(set(found)) == len(found):
            return found
    seen: Counter[str] = Counter()
    numbered = []
    for name in found:
        seen[name] += 1
        numbered.append(f"{name} ({seen[name]})" if found.count(name) > 1 else name)
    return numbered


def _program(data: StudyData) -> str:
    return str(data.table["program"].iloc[0]) if not data.table.empty else data.name or "study"


def _program_and_machine(data: StudyData) -> str:
    return f"{_program(data)} on {data.machine_title}" if data.machine_title else _program(data)


def _with_file(data: StudyData) -> str:
    return f"{data.name}: {_program(data)}" if data.name else _program_and_machine(data)


def _make(data: StudyData, quantity: object = "speedup", held: object = "size", size: object = None) -> Figure | Need:
    column, words, unit, more_is_better = QUANTITIES[str(quantity)]
    studies = (data, *data.others)
    known = [
        (name, series)
        for name, study in zip(names(studies), studies, strict=True)
        if (series := _series(study, size if study is data else None, str(held), column)) is not None
        and np.isfinite(numbers(series.rows, column)).any()
    ]
    if len(known) < 2:
        lacking = len(studies) - len(known)
        what = "with one efficiency held" if held == "efficiency" else "of one problem"
        return _LACKING.of(lacking=lacking, studies=len(studies), words=words, what=what)
    if column == "unit_speed":
        units = {speed_unit(work_unit(series.rows)) for _, series in known}
        if len(units) > 1:
            return _UNITS.of(units=" and ".join(sorted(units)) or "time")
        unit = units.pop()
    table = compare.curves([series for _, series in known], column)
    reach = compare.reaches([series for _, series in known], column)
    titles = [name for name, _ in known]
    lines = tuple(
        replace(common.curve(series.rows, column, name, f"series:{position}", unit=unit), name=name)
        for position, (name, series) in enumerate(known)
    )
    return Figure(
        f"{words[0].upper()}{words[1:]}: {' beside '.join(titles)}",
        _sentence(table, reach, titles, words, more_is_better=more_is_better),
        (_plot(table, lines, words, unit, str(quantity)), _table(table, reach, titles, unit)),
        notes=(
            *(f"{name}: {series.label}, {common.origin(series.rows)}." for name, series in known if series.label),
            *(f"{name}: {text}" for name, series in known if (text := reference.sentence(series.rows))),
            *_works(dict(zip(names(studies), studies, strict=True)), titles, column),
        ),
    )


def _works(studies: dict[str, StudyData], shown: list[str], column: str) -> list[str]:
    """Return the definition of W in each study shown, if the quantity depends on W."""
    if column not in ("unit_speed", "generalized_speedup"):
        return []
    return [f"{name}: {studies[name].work_words}." for name in shown]


def _series(data: StudyData, size: object, held: str, column: str) -> Series | None:
    series = series_.chosen_series(data, size)
    if held == "efficiency":
        rows, words = rows_held(data, held, size)
        series = None if rows is None else Series(rows, words, "processors")
    if series is None or column not in ("miss_latency", "data_movement", "generalized_speedup"):
        return series
    rows = series.rows
    if column == "generalized_speedup":
        speed = sequential_speed(data.scaling) or np.nan  # of all sizes of the study
        with np.errstate(over="ignore"):
            total = numbers(rows, "processors") * numbers(rows, "unit_speed") / speed
        return replace(series, rows=rows.assign(generalized_speedup=total))
    if column == "data_movement":
        return replace(series, rows=rows.assign(data_movement=data_movement.movement(rows)))
    known = causes.miss_latency(rows)["program"] if causes.is_known(rows) else np.nan
    return replace(series, rows=rows.assign(miss_latency=known))


def _plot(table: pd.DataFrame, lines: tuple[Line, ...], words: str, unit: str, quantity: str) -> Plot:
    counts = tuple(int(n) for n in table.index)
    more: tuple[Line, ...] = ()
    axis = Axis(
        words,
        unit,
        scale="log10" if quantity in ("time", "latency", "unit-speed", "data-movement") else "linear",
    )
    if quantity in ("speedup", "generalized-speedup"):
        axis = Axis(words, scale="log2")
        ideal = tuple(float(n) for n in counts)
        more = (Line("ideal", ideal, ideal, "ideal", "computed", style="thin", markers=False),)
    elif quantity == "efficiency":
        axis = Axis(words, limits=(0.0, 1.04 * max(1.0, float(np.nanmax(table.to_numpy())))))
    marks = tuple(Mark(f"cross at N = {significant(at, 2)}", x=at) for at, _ in compare.crossings(table))
    return Plot(common.processors_axis(counts), axis, (*lines, *more), marks=marks)


def _table(table: pd.DataFrame, reach: pd.DataFrame, titles: Sequence[str], unit: str) -> Table:
    made = compare.beside(table)
    columns = [Column("N"), *(Column(title, unit) for title in titles)]
    estimated = bool((reach > 0).to_numpy().any())
    for title in titles[1:]:
        columns += [Column(f"{title} minus {titles[0]}", unit), Column("ratio")]
        columns += [Column("± of the difference (95 %)", unit)] if estimated else []
    rows = []
    for n, row in zip(made.index, made.to_dict("records"), strict=True):
        cells: list[float | int | str | None] = [int(n), *(known(row[position]) for position in table.columns)]
        half = reach.loc[n].to_numpy()
        widths = np.hypot(half, half[0])
        for position in table.columns[1:]:
            cells += [known(row[f"difference.{position}"]), known(row[f"ratio.{position}"])]
            cells += [known(widths[position])] if estimated else []
        rows.append(Row(tuple(cells)))
    return Table(tuple(columns), tuple(rows))


def _sentence(
    table: pd.DataFrame, reach: pd.DataFrame, titles: Sequence[str], words: str, *, more_is_better: bool
) -> str:
    both = table.dropna()
    if both.empty:
        return "They were run on no common processor count."
    last, row = int(both.index[-1]), both.iloc[-1]
    best = int(np.argmax(row) if more_is_better else np.argmin(row))
    values = ", ".join(f"{title} {significant(float(value))}" for title, value in zip(titles, row, strict=True))
    text = f"On {last} processors {titles[best]} has the better {words}: {values}"
    if len(set(row)) == 1:
        text = f"On {last} processors all have the same {words}: {values}"
    gaps, half = np.abs(row.to_numpy() - row.to_numpy()[best]), reach.loc[last].to_numpy()
    widths = np.hypot(half, half[best])
    if any(0 < width >= gap for at, (width, gap) in enumerate(zip(widths, gaps, strict=True)) if at != best):
        text += "; that is within the interval of these estimates"
    crossed = compare.crossings(table) if len(titles) == 2 else []
    if crossed:
        text += f"; they cross at N = {', '.join(significant(at, 2) for at, _ in crossed)}"
    return f"{text}."


VIEW = View(
    "compare",
    _TITLE,
    "Speedup, efficiency, time, latency or data movement of several open studies in one plot and one table.",
    _make,
    (
        Option("quantity", "Quantity", "choice", "speedup", tuple(QUANTITIES), description="what is compared"),
        Option(
            "held",
            "Held constant",
            "choice",
            "size",
            ("size", "efficiency"),
            description="what stays constant while N grows",
        ),
        common.SIZE,
    ),
    needs=(needs.OTHER_STUDY, _LACKING, _UNITS),
    several=True,
)
