"""The call tree of a study: a run's regions below what calls or contains them, or a measurement set's call paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from scalegraph.analyze import calltree
from scalegraph.analyze.calltree import CallTree
from scalegraph.analyze.profile import region_tree
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.run import Region, RegionCost, RunRecord
from scalegraph.base.units import assigned, plain, thousands
from scalegraph.figures.figure import PROCESSOR_TIME, Axis, Key
from scalegraph.figures.way import Need, Way
from scalegraph.measurements.model import MeasurementSet, Metric
from scalegraph.runtime.format import CATEGORY_GROUPS, COUNTERS, GROUPS
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways
from scalegraph.views.flames import single_callers
from scalegraph.views.flames.building import Grown

METRIC: Final = Option(
    "metric",
    "Frame value",
    "text",
    follows=True,
    description="time, busy, stall, waiting, primitives, or a metric of the set by name; otherwise the time",
)
COLOUR: Final = Option(
    "colour",
    "Colour",
    "choice",
    "group",
    ("group", "region"),
    description="for runs with cycle accounting: by the main part of a frame's own time, or one colour per region",
)
NEED: Final = Need(
    "A flame graph needs costs by region or by call path.",
    ways.COLLECT_REGIONS,
    "Collect regions.",
    "Import measurements with call paths.",
)
TRACED: Final = ways.traced("regions")
_ALIASES: Final = {
    "stall": "memory_stall",
    "stalls": "memory_stall",
    "waiting": "idle",
    "wait": "idle",
    "primitives": "primitive",
    "processor time": "time",
}
MESSAGES: Final = (
    "prim_send",
    "prim_receive",
    "prim_pack",
    "prim_message",
    "prim_collective",
    "prim_start",
    "idle_message",
    "idle_late_sender",
    "idle_late_receiver",
    "idle_transfer",
    "idle_network",
    "idle_collective",
)
"""Categories of time spent in MPI calls."""
_COUNTS: Final = dict(COUNTERS)
_RATIO: Final = 3  # rank of a metric that does not add up
_SEVERAL: Final = ("busy_max", "useful_max")


def grown(
    data: StudyData,
    metric: object = None,
    processors: object = None,
    size: object = None,
    colour: object = "group",
) -> Grown | None:
    """Return the call tree of a study and the meaning of its values, None without costs by region or call path.

    Functions of simulated runs are placed below their caller if the source shows only one, and the cost of messages
    gets frames of its own.

    Raises:
        InputError: no such metric, no such run, or a metric that does not add up.

    """
    if data.imported is not None and len(data.imported[0].call_paths) > 1:
        return _of_set(data, metric, processors, size)
    run = common.chosen_run(data, size, processors)
    if run is None or not run.regions:
        return None
    metric = _ALIASES.get(str(metric or "time"), str(metric or "time"))
    texts = {source.file: source.text for source in data.sources}
    regions, called, apart = single_callers.placed(data.regions, texts)
    made = _of_run(run, metric, str(colour), regions, (_calls_note(apart),))
    made = replace(made, called=frozenset(map(str, called)))
    return _with_messages(made, run) if metric == "time" else made


def _calls_note(apart: Sequence[str]) -> str:
    """Return a note on which functions are placed below their callers; *apart* are those that are not."""
    if not apart:
        return "Every function is shown below its caller: the source has exactly one for each."
    listed = f"{', '.join(apart[:3])}{' and others' if len(apart) > 3 else ''}"
    return (
        f"Functions are shown below their caller if the source has only one. {listed}: called from several"
        " places, or indirectly, so shown at the top level. A trace with regions records"
        " all calls."
    )


def _with_messages(made: Grown, run: RunRecord) -> Grown:
    """Return *made* with a frame below each region for each kind of time spent on messages."""
    tree, scale = made.tree, 1 / (run.clock_hz or 1.0)
    place = {key: index for index, key in enumerate(tree.keys)}
    own, nodes, above, costs, roles = tree.own.copy(), list(tree.names), list(tree.parents), [], list(made.node_roles)
    for region in run.regions:
        for category in MESSAGES:
            cost, index = region.categories.get(category, 0) * scale, place.get(str(region.region))
            if index is None or cost <= 0:
                continue
            own[index] = max(0.0, own[index] - cost)
            nodes.append(f"MPI: {common.CATEGORY_WORDS[category]}")
            above.append(index)
            costs.append(cost)
            roles.append(CATEGORY_GROUPS[category])
    if not costs:
        return made
    more = len(costs)
    visits = np.concatenate([tree.visits, np.full(more, np.nan)])
    keys, places = (*tree.keys, *[""] * more), (*tree.places, *[""] * more)
    grown = CallTree(tuple(nodes), tuple(above), np.concatenate([own, costs]), visits, keys, places)
    coloured = dict(zip(zip(grown.names, grown.keys, strict=True), roles, strict=True)) if made.node_roles else {}
    grown = calltree.merged(grown)
    order = tuple(coloured[name, key] for name, key in zip(grown.names, grown.keys, strict=True)) if coloured else ()
    return replace(made, tree=grown, node_roles=order)


def _of_run(run: RunRecord, metric: str, colour: str, regions: Sequence[Region], notes: tuple[str, ...]) -> Grown:
    known = region_tree(regions, run)
    place = {region.id: index for index, (region, _) in enumerate(known)}
    own, groups = np.zeros(len(known)), np.zeros((len(known), len(GROUPS)))
    visits = np.full(len(known), np.nan)
    scale = 1 / (run.clock_hz or 1.0)
    unit, words = _meaning(run, metric)
    for cost in run.regions:
        index = place[cost.region]
        own[index] += _value(cost, metric) * (scale if unit == "s" else 1.0)
        visits[index] = np.nansum([visits[index], cost.counters["visits"]]) if "visits" in cost.counters else np.nan
        for category, cycles in cost.categories.items():
            groups[index, GROUPS.index(CATEGORY_GROUPS[category])] += cycles * scale
    own = np.maximum(own, 0.0)
    parents = tuple(-1 if region.id == 0 else place.get(region.parent or 0, 0) for region, _ in known)
    rows = [{"name": region.name, "kind": region.kind, "line": region.line} for region, _ in known]
    names = tuple(common.region_name(row) for row in rows)
    tree = CallTree(
        names,
        parents,
        own,
        visits,
        tuple(str(region.id) for region, _ in known),
        tuple(f"{region.file}:{region.line}" if region.file else "" for region, _ in known),
    )
    by_group = colour == "group" and metric == "time"
    at = {key: index for index, key in enumerate(tree.keys)}
    tree = calltree.merged(tree)
    roles = tuple(_group(groups, at[key]) for key in tree.keys) if by_group else ()
    return Grown(
        tree,
        Axis(words, unit),
        tree.whole,
        f"the {words} of the run",
        run.point.label(),
        lexical=True,
        notes=notes,
        node_roles=roles,
        legend=_legend(groups) if by_group else (),
        percent=PROCESSOR_TIME if metric == "time" else f"% of {words}",
    )


def to_trace(data: StudyData, made: Grown) -> tuple[Way, ...]:
    """Return the button that plans traces, which have calls, if *made* has none and the program can be run."""
    return (TRACED,) if made.lexical and ways.can_run(data) else ()


def _group(groups: calltree.Floats, index: int) -> str:
    """Return the group with most of a region's exclusive time, muted if it has none."""
    return GROUPS[int(groups[index].argmax())] if groups[index].any() else "muted"


def _legend(groups: calltree.Floats) -> tuple[Key, ...]:
    sums = groups.sum(axis=0)
    costs = {group: float(sums[index]) for index, group in enumerate(GROUPS) if sums[index] > 0}
    there = [Key(common.GROUP_WORDS[group], group, seconds=value) for group, value in costs.items()]
    return (*sorted(there, key=lambda key: -key.seconds), Key("no time of its own", "muted"))


def _meaning(run: RunRecord, metric: str) -> tuple[str, str]:
    """Return unit and name of *metric* for a run with costs by region."""
    time = "s" if run.clock_hz else "cycles"
    if metric == "time":
        return time, "processor time"
    if metric in GROUPS:
        return time, f"{common.GROUP_WORDS[metric]} time"
    if metric in CATEGORY_GROUPS:
        return time, f"time of {common.CATEGORY_WORDS.get(metric, metric)}"
    if metric == "references":
        return "", "reads and writes"
    if metric in _COUNTS:
        return "", metric.replace("_", " ")
    if metric in _SEVERAL:
        raise InputError(Fault(f"'{metric}' is of a single processor per region, so it does not add up", key="metric"))
    choices = ["time", *GROUPS, *_ALIASES, *CATEGORY_GROUPS, *_COUNTS, "references"]
    raise InputError(
        Fault(
            f"no metric '{metric}'{near(metric, choices)}; there are time, {', '.join(GROUPS)}, their parts, and"
            " counters such as references",
            key="metric",
        )
    )


def _value(cost: RegionCost, metric: str) -> float:
    if metric == "time":
        return float(sum(cost.categories.values()))
    if metric in GROUPS:
        return float(sum(cycles for category, cycles in cost.categories.items() if CATEGORY_GROUPS[category] == metric))
    if metric in CATEGORY_GROUPS:
        return float(cost.categories.get(metric, 0))
    if metric == "references":
        return float(cost.counters.get("reads", 0) + cost.counters.get("writes", 0))
    return float(cost.counters.get(metric, 0))


def _of_set(data: StudyData, metric: object, processors: object, size: object) -> Grown | None:
    assert data.imported is not None
    measured, meaning = data.imported
    number = _metric(measured, meaning.time, str(metric or ""))
    if number is None:
        return None
    reported = measured.metrics[number]
    table = measured.values
    there = table[table["metric"].to_numpy() == number]["point"].to_numpy()
    if size:
        there = _of_size(measured, there, str(size))
    count = None if processors is None else int(str(processors))
    point = calltree.point_of(measured, there, count, meaning.processors)
    if point is None:
        return None
    tree, said = calltree.of_set(measured, number, point)
    row = measured.points.iloc[point]
    words = assigned((name, row[name]) for name in measured.parameters)
    unit = reported.unit or (meaning.unit if meaning.time == reported.name else "")
    notes = [said] if said else []
    if tree.clipped:
        notes.append(
            f"{thousands(tree.clipped)} call paths were measured to cost less than their callees; their own"
            " part counts as 0."
        )
    named = reported.description or reported.name
    return Grown(
        calltree.merged(tree),
        Axis(named, unit),
        tree.whole,
        f"all {reported.name}",
        words,
        notes=tuple(notes),
        percent=f"% of all {reported.name}",
    )


def _metric(measured: MeasurementSet, time: str, wanted: str) -> int | None:
    """Return the number of the metric *wanted*; by default the time, else any time, else the first that adds up."""
    used = [(n, m) for n, m in enumerate(measured.metrics) if (measured.values["metric"] == n).any()]
    if wanted:
        names = [metric.name for _, metric in used]
        if wanted in ("time", "processor time") and wanted not in names:
            wanted = time
        for number, metric in used:
            if metric.name == wanted:
                if metric.kind == "ratio":
                    raise InputError(
                        Fault(f"'{wanted}' is a ratio, so it does not add up along call paths", key="metric")
                    )
                return number
        raise InputError(
            Fault(f"no metric '{wanted}'{near(wanted, names)}; there are {', '.join(names)}", key="metric")
        )
    best = min(used, key=lambda one: _rank(one[1], time), default=None)
    return best[0] if best is not None and _rank(best[1], time) < _RATIO else None


def _rank(metric: Metric, time: str) -> int:
    if metric.kind == "ratio":
        return _RATIO
    return 0 if metric.name == time else 1 if metric.kind == "time" else 2


def _of_size(measured: MeasurementSet, there: np.ndarray, size: str) -> np.ndarray:
    """Return those of the points *there* whose parameters match *size* (``n=100``)."""
    wanted = dict(part.strip().partition("=")[::2] for part in size.split(",") if part.strip())
    lacking = [name for name in wanted if name not in measured.parameters]
    if lacking:
        names = ", ".join(measured.parameters)
        raise InputError(
            Fault(f"no parameter '{lacking[0]}'{near(lacking[0], measured.parameters)}; there are {names}", key="size")
        )
    fits = [
        all(plain(row[name]) == value.strip() for name, value in wanted.items())
        for row in measured.points.to_dict("records")
    ]
    kept = there[np.array(fits, bool)[there]] if len(there) else there
    if not len(kept):
        raise InputError(Fault(f"nothing was measured at {size}", key="size"))
    return kept
