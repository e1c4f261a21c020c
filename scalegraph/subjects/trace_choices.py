"""Options shared by traces: a duration, a metric of work, regions."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from scalegraph.analyze.trace import duration_filter as analysis
from scalegraph.analyze.trace import messages
from scalegraph.analyze.trace.work import countable, work_metric
from scalegraph.base.cancel import checkpoint, stage
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.subjects import interval_sums
from scalegraph.subjects.interval_sums import remembered
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import WORKING, Window, working

DURATION = Option(
    "duration",
    "At least",
    "float",
    unit="s",
    minimum=0.0,
    description="only visits, waits and messages that last that long; otherwise all",
)


def least(data: TraceData, duration: object) -> int:
    """Return the minimum duration in ticks; 0 if there is none."""
    return 0 if duration is None else round(float(str(duration)) * data.trace.meta.ticks_per_second)


def lasting(data: TraceData, duration: object) -> TraceData:
    """Return *data* reduced to what lasts *duration* (s) or more, computed once per duration; unchanged without one."""
    ticks = least(data, duration)
    if ticks <= 0:
        return data

    def make() -> TraceData:
        with stage(0.0, 0.2):
            trace = analysis.lasting(data.trace, ticks)
        with stage(0.2, 0.95):
            made = replace(data, trace=trace, timeline=data.timeline.lasting(trace, ticks, progress=checkpoint))
        vars(made)["active"] = data.active  # a location whose visits are all shorter stays
        working((data,))
        made.memo[WORKING] = data.memo[WORKING]  # regions keep their colours
        return made

    return remembered(data, f"interval of {ticks} ticks or more", make)


METRIC = Option("metric", "Work", "text", description="the counter that is work; otherwise flops, else operations")


def chosen_metric(data: TraceData, metric: object = None) -> str | None:
    """Return the metric used as work: *metric*, by default floating-point operations or operations; or None."""
    names = countable(data.trace)
    if metric is None:
        return interval_sums.remembered(data, "work metric", lambda: work_metric(data.trace))
    if str(metric) not in names:
        reported = ", ".join(names) or "none"
        raise InputError(
            Fault(f"no metric '{metric}' that counts{near(str(metric), names)}; there are: {reported}", key="metric")
        )
    return str(metric)


def of_regions(chosen: Window, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the chosen regions."""
    return table if chosen.regions is None else table[table["region"].isin(list(chosen.regions))].reset_index(drop=True)


BY = Option("by", "By", "choice", "pair", tuple(messages.BY), description="what a row of the table stands for")
