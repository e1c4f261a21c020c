"""The findings of a study as sentences, with the numbers and places behind them."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze import culprits, loss, reference, timed, verdicts
from scalegraph.analyze.loops import dealing
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import PARAMETER, parameter_columns
from scalegraph.analyze.verdicts import Verdict
from scalegraph.subjects import series as series_
from scalegraph.subjects.study import StudyData


def parts(data: StudyData, series: Series | None, processors: int | None = None) -> pd.DataFrame | None:
    """Return the loss of *series* on *processors* (default: the largest) by place and cause; ``None`` if unknown.

    The reference is one processor, or else the fewest there are. Without *series*, as with a single run, the loss is
    everything that the run on the most processors does besides computing. See `loss.by_region` and `loss.by_path`.
    """
    if series is None:
        return _alone(data, processors)
    least = float(min([*reference.others(series.rows), *series.rows["processors"]]))
    least = max(1.0, least)
    rows = series.rows[series.rows["processors"] > least]
    rows = rows if processors is None else rows[rows["processors"] == processors]
    alone = series.rows[series.rows["processors"] == least]
    if rows.empty or alone.empty:
        return None
    last, first = rows.iloc[-1], alone.iloc[0]
    run, one = (data.by_key.get(str(row["keys"]).split(",")[0]) for row in (last, first))
    if run is not None and one is not None and run.regions:
        return dealing.counted_by(loss.by_region(run, one, data.regions), run, data.variants)
    if data.measured is None or data.meaning is None:
        return None
    points = [
        loss.point_of(
            data.measured,
            data.meaning,
            int(row["processors"]),
            {name.removeprefix(PARAMETER): row[name] for name in parameter_columns(series.rows)},
        )
        for row in (last, first)
    ]
    if points[0] is None or points[1] is None:
        return None
    return loss.by_path(data.measured, data.meaning, points[0], points[1])


def _alone(data: StudyData, processors: int | None) -> pd.DataFrame | None:
    runs = [
        run
        for run in data.runs
        if run.ok and run.regions and run.point.processors > 1 and processors in (None, run.point.processors)
    ]
    if not runs or any(run.ok and run.point.processors == 1 for run in data.runs):
        return None
    run = max(runs, key=lambda run: run.point.processors)
    found = dealing.counted_by(loss.by_region(run, None, data.regions), run, data.variants)
    return found if len(found) else None


def lost_on(data: StudyData, series: Series | None) -> int:
    """Return the number of processors that `parts` uses by default."""
    if series is not None:
        return series.processors[-1]
    return max((run.point.processors for run in data.runs if run.ok and run.regions), default=1)


def gains(data: StudyData, series: Series | None) -> dict[str, float]:
    """Return the speedup of the run in `parts` if a place were free, by `culprits.target_of`."""
    count = lost_on(data, series)
    keys = set() if series is None else {key for keys in series.rows["keys"] for key in str(keys).split(",")}
    for run in data.runs:
        if run.ok and run.point.processors == count and (run.point.key in keys or series is None):
            return culprits.gains(run, data.variants)
    return {}


def said(data: StudyData, size: object = None) -> list[Verdict]:
    """Return every verdict on the study; *size* as in `common.chosen_series`.

    If runs are estimated, the last one says so.
    """
    series = series_.chosen_series(data, size)
    found = parts(data, series)
    grows = data.meaning is not None and data.meaning.scaling == "weak"
    gained = gains(data, series)
    reported = verdicts.all_of(data.one_program, series, found, grows=grows, gains=gained)
    if series is None and found is not None:
        reported += verdicts.lost(found, lost_on(data, series), gained)
    own = timed_part(data, series)
    reported += [Verdict("timed", own)] if own else []
    return [*reported, Verdict("estimated", estimated)] if reported and (estimated := data.estimated()) else reported


def timed_part(data: StudyData, series: Series | None) -> str:
    """Return the sentence about the part that the program of *series* times itself; empty if it says nothing new."""
    if series is None:
        return ""
    keys = (str(keys).split(",")[0] for keys in series.rows["keys"])
    runs = [run for key in keys if (run := data.by_key.get(key)) is not None]
    return timed.sentence(timed.clock_part(runs), runs)


def culprit(data: StudyData, series: Series | None) -> str:
    """Return the sentence about the largest part of the loss of *series*; empty if unknown."""
    found = parts(data, series)
    if found is None or not verdicts.worth_telling(found):
        return ""
    said = verdicts.lost(found, lost_on(data, series), gains(data, series))
    return next((item.text for item in said), "")
