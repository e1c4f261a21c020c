"""The most expensive places of a program: lines, regions or call paths, whichever the study records."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import pandas as pd

from scalegraph.analyze import loss, wording
from scalegraph.analyze.profile import line_costs, region_costs
from scalegraph.base.measures import percent
from scalegraph.base.run import RunRecord
from scalegraph.base.units import seconds
from scalegraph.figures.columns import known
from scalegraph.figures.figure import PROCESSOR_TIME, Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.runtime.format import GROUPS
from scalegraph.subjects import judgement
from scalegraph.subjects import series as series_
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs, ways
from scalegraph.views.view import View

_TITLE = "Lines to look at"
_NEED = needs.simulated(
    "These runs have no times by line, region or call path: simulate the program, or import profiles, to see where its"
    " time goes."
)
_MOST = 3


def _make(data: StudyData, processors: object = None, size: object = None, most: int = _MOST) -> Figure | Need:
    run = common.chosen_run(data, size, processors)
    if run is not None and run.lines:
        return _figure(data, run, *_lines(data, run, most))
    if run is not None and run.regions:
        return _figure(data, run, *_regions(data, run, most))
    series = series_.chosen_series(data, size)
    lost = judgement.parts(data, series)
    if lost is None or lost.empty:
        return _NEED
    return _of_paths(data, lost, most)


def _figure(data: StudyData, run: RunRecord, rows: tuple[Row, ...], sentence: str, first: str) -> Figure:
    single = ways.of_one_size(data)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {run.point.processors}",
        sentence,
        (
            Table(
                (
                    Column(first),
                    Column("cost" if run.blame else "share", PROCESSOR_TIME, "mark"),
                    Column("mostly"),
                    Column("text"),
                ),
                rows,
            ),
        ),
        notes=(
            f"Run: {run.point.label()}. A click on a row opens its source.",
            *((common.COST_NOTE,) if run.blame else ()),
        ),
        ways=ways.to_sizes(data) if single else (),
    )


def _lines(data: StudyData, run: RunRecord, most: int) -> tuple[tuple[Row, ...], str, str]:
    costs = line_costs(run).head(most)
    text = {
        (source.file, number): line.strip()
        for source in data.sources
        for number, line in enumerate(source.text.splitlines(), start=1)
    }
    rows = []
    for row in costs.to_dict("records"):
        key = f"{row['file']}:{int(row['line'])}"
        place = f"{PurePath(str(row['file'])).name}:{int(row['line'])}"
        said = text.get((str(row["file"]), int(row["line"])), "")
        rows.append(Row((place, 100 * float(row["charged_share"]), _mostly(row), said), key=key, tip=f"{key}\n{said}"))
    return tuple(rows), _sentence(run, rows, "line"), "line"


def _regions(data: StudyData, run: RunRecord, most: int) -> tuple[tuple[Row, ...], str, str]:
    costs = region_costs(run, data.regions)
    inner = costs[(costs["region"] != 0) & (costs["charged_s"] > 0)]
    inner = inner.sort_values("charged_share", ascending=False).head(most)
    rows = []
    for row in inner.to_dict("records"):
        place = f"{PurePath(str(row['file'])).name}:{int(row['line'])}" if row["file"] else ""
        name = common.region_name(row)
        values = (place or name, 100 * float(row["charged_share"]), _mostly(row), name)
        rows.append(Row(values, key=str(row["region"]), tip=name))
    return tuple(rows), _sentence(run, rows, "region"), "region"


def _mostly(row: Mapping[Any, Any]) -> str:
    """Return the main cause of a row's cost as text."""
    spent = {common.GROUP_WORDS[group]: float(row[f"{group}_s"]) for group in GROUPS}
    spent[common.GROUP_WORDS["idle"]] -= float(row["waited_s"])
    spent["causes waiting"] = float(row["caused_s"])
    return max(spent, key=lambda words: spent[words])


def _sentence(run: RunRecord, rows: list[Row], what: str) -> str:
    if not rows:
        return f"No {what} of this run costs anything."
    many = "one" if len(rows) == 1 else f"{len(rows)}"
    together = percent(sum(float(row.values[1] or 0) for row in rows) / 100)
    return (
        f"On {wording.span((run.point.processors,))}, the {many} most expensive {what}{'' if len(rows) == 1 else 's'}"
        f" take{'s' if len(rows) == 1 else ''} {together} of processor time."
    )


def _of_paths(data: StudyData, lost: pd.DataFrame, most: int) -> Figure:
    """Return the call paths of measurements with the largest loss."""
    rows = tuple(
        Row(
            (loss.place_words(row), known(row["share"], 100), float(row["loss_s"]), str(row["words"])),
            key=str(int(row["place"])),
        )
        for _, row in lost.head(most).iterrows()
    )
    worst = lost.iloc[0]
    return Figure(
        f"Places to look at: {common.study_title(data)}",
        f"Most is lost in {loss.place_words(worst)}: {seconds(float(worst['loss_s']))} of processor time.",
        (
            Table(
                (Column("place"), Column("share", "% of the loss", "mark"), Column("loss", "s"), Column("cause")), rows
            ),
        ),
        notes=("Loss: processor time beyond that of one processor.",),
        ways=ways.to_measurements(data),
    )


VIEW = View(
    "hottest",
    _TITLE,
    "The few lines, regions or call paths that cost most: where to look first. A click opens the source.",
    _make,
    (
        common.PROCESSORS,
        common.SIZE,
        Option("most", "Lines", "int", _MOST, description="how many places", minimum=1),
    ),
    needs=(_NEED,),
)
