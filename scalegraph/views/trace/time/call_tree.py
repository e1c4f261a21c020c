"""Time of an interval by call path."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scalegraph.analyze.trace import profile
from scalegraph.base.measures import percent
from scalegraph.base.units import thousands
from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums, trace_choices
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.traces.kinds import Array
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import lasting as trace_lasting
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.trace.time.profile import COLUMNS, tip, values
from scalegraph.views.view import View

_TITLE = "Call tree of the interval"
_MOST = 2000  # rows


def _make(data: TraceData, least: float = 0.0, duration: object = None, **options: object) -> Figure | Need:
    if none := trace_lasting.nothing(data, duration, "calls"):
        return none
    data, said = trace_choices.lasting(data, duration), trace_lasting.told(data, duration)
    chosen = trace_window.window(data, **options)
    sums = interval_sums.call_sums(chosen)
    whole = profile.tree(data.trace, sums)
    table = _related(chosen, sums, whole)
    table = table[table["share_incl"].fillna(0) >= least / 100]
    if table.empty:
        return trace_sums.NOT_ENTERED.of(words=chosen.words)
    shown = table.nlargest(_MOST, "inclusive_s").sort_index() if len(table) > _MOST else table
    rows = shown.to_dict("records")
    return Figure(
        trace_common.title(data, _TITLE),
        _sentence(whole),
        (
            Table(
                (Column("call path"), *COLUMNS),
                tuple(
                    Row((str(row["name"]), *values(row)), int(row["depth"]), str(row["region"]), tip(data, row))
                    for row in rows
                ),
            ),
        ),
        notes=trace_sums.notes(
            chosen,
            *said,
            "Of a call cut by the interval, the part inside counts; a visit counts where it begins.",
            f"{thousands(len(table) - len(shown))} further call paths with less time are left out."
            if len(table) > _MOST
            else "",
            *trace_sums.call_notes(data),
        ),
    )


def _related(chosen: Window, sums: profile.CallSums, table: pd.DataFrame) -> pd.DataFrame:
    """Return the call paths that contain a chosen region, and their ancestors."""
    if chosen.regions is None:
        return table
    paths = sums.paths
    on: Array = np.isin(paths.region, list(chosen.regions))
    above = paths.parent.copy()
    below = on.copy()
    leads = on.copy()
    while (up := np.flatnonzero(above >= 0)).size:
        below[up] |= on[above[up]]
        leads[above[up][on[up]]] = True
        above[up] = paths.parent[above[up]]
    keep = (below | leads)[table["path"].to_numpy(np.int64)]
    return table[pd.Series(keep, index=table.index)]


def _sentence(table: pd.DataFrame) -> str:
    most = table.sort_values("exclusive_s", ascending=False, kind="stable").iloc[0]
    by_path = {row["path"]: row for row in table[["path", "parent", "name"]].to_dict("records")}
    names, at = [], most["path"]
    while at in by_path:
        names.append(str(by_path[at]["name"]))
        at = by_path[at]["parent"]
    path = " → ".join(reversed(names[:4]))
    more = "… → " if len(names) > 4 else ""
    return f"Most time is spent in {more}{path}: {percent(float(most['share']))} of all locations' time."


VIEW = View(
    "trace-call-tree",
    _TITLE,
    "Time and visits by call path in the chosen interval, callers above callees.",
    _make,
    (
        *trace_window.COMMON,
        trace_choices.DURATION,
        Option(
            "least",
            "At least",
            "float",
            0.0,
            unit="%",
            minimum=0.0,
            maximum=100.0,
            description="leave out call paths with a smaller inclusive share of the time",
        ),
    ),
    needs=(trace_sums.NO_CALLS, trace_lasting.TOO_SHORT, trace_sums.NOT_ENTERED),
    subject="trace",
)
