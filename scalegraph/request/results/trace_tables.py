"""Tables of a part of a trace: times, messages, speeds; with full precision, for files and programs."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pandas as pd

from scalegraph.analyze.trace import activity, durations, messages, phases, profile, speed, tasks
from scalegraph.analyze.trace.work import countable, counts
from scalegraph.subjects import interval_sums, phase_choice
from scalegraph.subjects.trace_choices import chosen_metric, of_regions
from scalegraph.subjects.window import Window
from scalegraph.traces.kinds import Array

Table: TypeAlias = pd.DataFrame


def utilisation(chosen: Window) -> Table:
    """Return mean count, share and time of each activity."""
    sums = interval_sums.activity_sums(chosen)
    return pd.DataFrame() if sums is None else activity.utilisation(sums, chosen.data.trace.meta.ticks_per_second)


def gantt(chosen: Window) -> Table:
    """Return the seconds of each activity at each location, and shares of busy, overhead and idle."""
    sums = interval_sums.activity_sums(chosen)
    return (
        pd.DataFrame()
        if sums is None
        else activity.by_location(sums, chosen.data.trace, interval_sums.location_names(chosen.data))
    )


def efficiencies(chosen: Window) -> Table:
    """Return the efficiencies in the Kiviat diagram."""
    sums = interval_sums.activity_sums(chosen)
    return pd.DataFrame() if sums is None else pd.DataFrame([vars(activity.efficiencies(sums))])


def flat(chosen: Window) -> Table:
    """Return the profile by region."""
    return of_regions(chosen, profile.flat(chosen.data.trace, interval_sums.call_sums(chosen)))


def tree(chosen: Window) -> Table:
    """Return the profile by call path."""
    return of_regions(chosen, profile.tree(chosen.data.trace, interval_sums.call_sums(chosen)))


def accounts(chosen: Window) -> Table:
    """Return the ticks of each state and region, if the trace records shares; ticks are those of its clock."""
    trace = chosen.data.trace
    if not trace.count("shares"):
        return pd.DataFrame()
    sums = interval_sums.states(chosen.data, "shares").by_region(chosen.begin, chosen.end, chosen.locations)
    state, region = np.nonzero(sums)
    regions = trace.definitions.regions
    table = pd.DataFrame(
        {
            "region": np.where(region < len(regions), region, -1),
            "name": [regions[n].name if n < len(regions) else "none" for n in region.tolist()],
            "state": [trace.definitions.states[n].key or trace.definitions.states[n].name for n in state.tolist()],
            "ticks": sums[state, region],
        }
    )
    table = table.sort_values(["region", "ticks"], ascending=[True, False], kind="stable", ignore_index=True)
    return of_regions(chosen, table)


def phase_times(chosen: Window, phases: object = "auto", depth: object = None) -> Table:
    """Return time and share of each phase, and of the rest."""
    return _phases(chosen, phases, depth)


def _phases(chosen: Window, by: object, depth: object) -> Table:
    found = phase_choice.found(chosen, by, depth)
    return phases.phase_times(found, chosen.data.trace, chosen.begin, chosen.end, len(chosen.locations))


def task_times(chosen: Window) -> Table:
    """Return number, time and spread of explicit tasks by the place that creates them."""
    return of_regions(chosen, tasks.task_times(chosen.data.trace, chosen.begin, chosen.end, chosen.locations))


def speeds(chosen: Window, phases: object = "auto", depth: object = None, metric: object = None) -> Table:
    """Return work, time and speed of each location in each phase, and a total row with the unit speed."""
    data = chosen.data
    name = chosen_metric(data, metric)
    if name is None:
        return pd.DataFrame()
    counted = interval_sums.counted(data, countable(data.trace)[name])
    found = phase_choice.found(chosen, phases, depth)
    made = speed.speeds(found, counted, data.trace, chosen.begin, chosen.end, chosen.locations)
    second = data.trace.meta.ticks_per_second
    table = pd.DataFrame(
        {
            "phase": [data.region_name(found.regions[n]) for n in found.phase.tolist()],
            "location": [data.location_name(n) for n in found.location.tolist()],
            "begin_s": data.seconds(found.begin),
            "time_s": (found.end - found.begin) / second,
            name: made.work,
            f"{name}_per_s": made.speed,
        }
    )
    last = {
        "phase": "all",
        "location": "average unit speed",
        "begin_s": chosen.begin_s,
        "time_s": made.seconds,
        name: made.total,
        f"{name}_per_s": made.unit_speed,
    }
    return pd.concat([table, pd.DataFrame([last])], ignore_index=True) if len(table) else pd.DataFrame([last])


def sent(chosen: Window, by: object = "pair") -> Table:
    """Return messages, bytes, latency and bandwidth."""
    trace = chosen.data.trace
    found = messages.sent_messages(trace, chosen.begin, chosen.end, chosen.locations)
    return messages.message_table(trace, found, str(by), interval_sums.location_names(chosen.data))


def handed(chosen: Window) -> Table:
    """Return waiter and holder, how often and how long."""
    trace = chosen.data.trace
    names, most = interval_sums.location_names(chosen.data), max(1, len(chosen.locations))
    made = messages.wait_matrix(trace, chosen.begin, chosen.end, chosen.locations, most=most, names=names)
    row, column = np.nonzero((made.count > 0) | (made.time > 0))
    order: Array = np.argsort(-made.time[row, column], kind="stable")
    row, column = row[order], column[order]
    return pd.DataFrame(
        {
            "location": [made.names[n] for n in row.tolist()],
            "holder": [made.names[n] for n in column.tolist()],
            "waits": made.count[row, column],
            "time_s": made.time[row, column] / trace.meta.ticks_per_second,
        }
    )


def reasons(chosen: Window) -> Table:
    """Return waits by reason."""
    return messages.waits_by_reason(chosen.data.trace, chosen.begin, chosen.end, chosen.locations)


def collectives(chosen: Window) -> Table:
    """Return collective operations by operation and communicator."""
    return messages.collectives(chosen.data.trace, chosen.begin, chosen.end, chosen.locations)


def counted(chosen: Window) -> Table:
    """Return the total of every counting metric at each location."""
    data = chosen.data
    rows = {}
    for number, metric in enumerate(data.trace.definitions.metrics):
        if counts(metric):
            rows[metric.name] = interval_sums.counted(data, number).totals(chosen.begin, chosen.end, chosen.locations)
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame(rows)
    table.insert(0, "name", [data.location_name(number) for number in chosen.locations])
    table.insert(0, "location", list(chosen.locations))
    return table


def call_durations(chosen: Window) -> Table:
    """Return a histogram of call durations in the chosen regions."""
    trace = chosen.data.trace
    found = durations.whole_calls(
        interval_sums.calls(chosen.data), trace, chosen.begin, chosen.end, chosen.regions, chosen.locations
    )
    return durations.histogram(found.ticks / trace.meta.ticks_per_second)
