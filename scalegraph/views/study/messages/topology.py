"""The interconnect of a run: nodes and links coloured by load in a chosen time range."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt
import pandas as pd

from scalegraph.base.links import LinkLoads
from scalegraph.base.measures import exact, percent
from scalegraph.base.run import RunRecord
from scalegraph.base.units import counted, plain, si, significant
from scalegraph.figures.figure import ELAPSED_TIME, Axis, Column, Figure, Handle, Line, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.messages import layout
from scalegraph.views.view import View

_NEED = needs.simulated(
    "Loads of links need a simulated run of an MPI program on a machine of several nodes with an interconnect.",
    needs.run_with("links"),
)
_TITLE = "Interconnect"
_CELLS = 16  # along each axis: many positions are grouped into a grid
_MANY = 400  # positions from which they are grouped
_ROWS = 200
_CLASSES = ((0.0, 5.0), (5.0, 25.0), (25.0, 50.0), (50.0, 75.0), (75.0, 100.0))  # busy, in %
_TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)  # %: load classes of less busy links


def _make(
    data: StudyData, begin: object = 0.0, end: object = 100.0, processors: object = None, size: object = None
) -> Figure | Need:
    run = common.the_run(data, size, processors)
    loads = run.links
    if loads is None:
        return _NEED
    low, high = sorted((float(str(begin)), float(str(end))))
    high = high if high > low else min(low + 1.0, 100.0)
    table = _table(run, loads, low, high)
    drawn, grouped = _drawing(loads, table)
    words = (
        "the whole run" if (low, high) == (0.0, 100.0) else f"{significant(low)} to {significant(high)} % of the run"
    )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {run.point.processors}",
        _sentence(table, words),
        (drawn, _over_time(run, loads, low, high), _hot(table)),
        notes=(
            f"Run: {run.point.label()}. {counted(loads.nodes, 'node')}, {loads.kind.replace('_', ' ')}.",
            f"Load: share of {words} in which a link is busy; bytes and waiting are for the whole run.",
            *((f"Places are groups of nodes; a line has the load of its busiest link. {grouped}",) if grouped else ()),
            *common.run_notes(data),
        ),
        meta={"run": run.point.key},
    )


def _window(run: RunRecord, loads: LinkLoads, low: float, high: float) -> npt.NDArray[np.float64]:
    """Return the fraction of each span that lies in the window of *low* to *high* percent of the run."""
    whole = float(run.time_cycles or loads.width * 32)
    edges = np.arange(33, dtype=np.float64) * loads.width
    begin, end = whole * low / 100, whole * high / 100
    inside = np.minimum(edges[1:], end) - np.maximum(edges[:-1], begin)
    return np.clip(inside / loads.width, 0.0, 1.0)


def _table(run: RunRecord, loads: LinkLoads, low: float, high: float) -> pd.DataFrame:
    """Return the links with their ``load`` in the window (0 to 1), busiest first."""
    whole = float(run.time_cycles or 1)
    spans = np.asarray(loads.spans, dtype=np.float64).reshape(len(loads.name), -1)
    weight = _window(run, loads, low, high)
    busy = spans @ weight[: spans.shape[1]]
    table = pd.DataFrame(
        {
            "name": list(loads.name),
            "load": np.minimum(busy / max(whole * (high - low) / 100, 1.0), 1.0),
            "share": np.minimum(np.asarray(loads.busy) / whole, 1.0),
            "bytes": list(loads.bytes),
            "messages": list(loads.transactions),
            "waiting_s": np.asarray(loads.waiting) / (run.clock_hz or 1.0),
        }
    )
    return table.sort_values(["load", "bytes"], ascending=False, kind="stable").reset_index(drop=True)


def _sentence(table: pd.DataFrame, words: str) -> str:
    first = table.iloc[0]
    mean = float(table["load"].mean())
    text = (
        f"In {words} the busiest link is {first['name']}, {percent(float(first['load']))} of the time; the mean of"
        f" {counted(len(table), 'link')} in use is {percent(mean)}."
    )
    waits = table.sort_values("waiting_s", ascending=False, kind="stable").iloc[0]
    if waits["waiting_s"] > 0:
        text += f" Messages wait longest for {waits['name']}: {si(float(waits['waiting_s']), 's')} together."
    return text


def _drawing(loads: LinkLoads, table: pd.DataFrame) -> tuple[Plot, str]:
    """Return the picture of nodes and links, and a note if positions are grouped."""
    places = layout.places(loads)
    place_of, remark = _grouped(places)
    busiest: dict[tuple[layout.Point, layout.Point], tuple[float, str]] = {}
    for name, load, carried in zip(table["name"], table["load"], table["bytes"], strict=True):
        one, other = layout.ends(loads, str(name))
        if one not in place_of or other not in place_of or place_of[one] == place_of[other]:
            continue
        pair = tuple(sorted((place_of[one], place_of[other])))
        words = f"{name}: busy {exact(100 * float(load), '%')}, {si(int(carried), 'B')}"
        key = (pair[0], pair[1])
        before = busiest.get(key)
        if before is None or load > before[0]:
            busiest[key] = (float(load), words)
    classes = _classes(max((load for load, _words in busiest.values()), default=0.0))
    lines = [_class_line(k, classes, busiest) for k in range(len(classes))]
    nodes = _nodes(place_of)
    shown = tuple(line for line in (*lines, nodes) if line is not None)
    axes = [Axis("network", bare=True, limits=_limits([place[i] for place in place_of.values()])) for i in (0, 1)]
    return Plot(axes[0], axes[1], shown), remark


def _limits(values: list[float]) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = max(0.05 * (high - low), 0.5)
    return low - room, high + room


def _grouped(places: dict[str, layout.Point]) -> tuple[dict[str, layout.Point], str]:
    """Return all positions by name; if there are many, the centre of the grid cell."""
    if len(places) <= _MANY:
        return places, ""
    xs = np.array([x for x, _ in places.values()])
    ys = np.array([y for _, y in places.values()])
    made = {}
    columns = np.floor((xs - xs.min()) / max(float(np.ptp(xs)), 1e-9) * (_CELLS - 1e-6))
    rows = np.floor((ys - ys.min()) / max(float(np.ptp(ys)), 1e-9) * (_CELLS - 1e-6))
    for name, column, row in zip(places, columns, rows, strict=True):
        made[name] = (float(column), float(row))
    groups = len(set(made.values()))
    return made, f"{counted(len(places), 'place')} in {counted(groups, 'group')}."


def _classes(most: float) -> tuple[tuple[float, float], ...]:
    """Return load classes in % that tell the links apart; the busiest has the load *most* (0 to 1)."""
    top = next((top for top in _TOPS if 100 * most <= top), None)
    if top is None:
        return _CLASSES
    count = len(_CLASSES)
    return tuple((k * top / count, (k + 1) * top / count) for k in range(count))


def _class_line(
    number: int,
    classes: tuple[tuple[float, float], ...],
    busiest: dict[tuple[layout.Point, layout.Point], tuple[float, str]],
) -> Line | None:
    """Return all links of one load class as a curve with gaps."""
    low, high = classes[number]
    x: list[float] = []
    y: list[float] = []
    tips: list[str] = []
    for (one, other), (load, words) in busiest.items():
        if not (low <= 100 * load < high or (number == len(classes) - 1 and 100 * load >= high)):
            continue
        x += [one[0], other[0], float("nan")]
        y += [one[1], other[1], float("nan")]
        tips += [words, words, ""]
    if not x:
        return None
    role = f"count:{number}/{len(classes)}"
    name = f"busy {plain(low)} to {plain(high)} %"
    return Line(name, tuple(x), tuple(y), role, markers=False, tips=tuple(tips))


def _nodes(place_of: dict[str, layout.Point]) -> Line:
    """Return nodes and switches as dots."""
    at: dict[layout.Point, list[str]] = defaultdict(list)
    for name, place in place_of.items():
        at[place].append(name)
    tips = tuple(names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}: {len(names)}" for names in at.values())
    x: list[float] = []
    y: list[float] = []
    spread: list[str] = []
    for (left, up), tip in zip(at, tips, strict=True):
        x += [left, float("nan")]
        y += [up, float("nan")]
        spread += [tip, ""]
    return Line("nodes and switches", tuple(x), tuple(y), "ink", tips=tuple(spread))


def _over_time(run: RunRecord, loads: LinkLoads, low: float, high: float) -> Plot:
    """Return the load of the busiest link and the mean over the run, with the window's ends as handles."""
    spans = np.asarray(loads.spans, dtype=np.float64).reshape(len(loads.name), -1) / loads.width
    whole = float(run.time_cycles or loads.width * spans.shape[1])
    count = min(spans.shape[1], max(1, int(np.ceil(whole / loads.width))))
    x = tuple(float(value) for value in (np.arange(count) + 0.5) * loads.width / whole * 100)
    most, mean = 100 * spans.max(axis=0)[:count], 100 * spans.mean(axis=0)[:count]
    lines = (
        Line("busiest link", x, tuple(float(v) for v in most), "mark", tips=tuple(exact(float(v), "%") for v in most)),
        Line(
            "mean of links in use",
            x,
            tuple(float(v) for v in mean),
            "memory_stall",
            tips=tuple(exact(float(v), "%") for v in mean),
        ),
    )
    handles = (
        Handle("begin", "x", low, "from", (0.0, 100.0), "ink"),
        Handle("end", "x", high, "to", (0.0, 100.0), "ink"),
    )
    return Plot(
        Axis("time", ELAPSED_TIME, limits=(0.0, 100.0)),
        Axis("busy", "%", limits=(0.0, 105.0)),
        lines,
        handles=handles,
    )


def _hot(table: pd.DataFrame) -> Table:
    columns = (
        Column("link"),
        Column("busy", "%", "memory_stall"),
        Column("whole run", ELAPSED_TIME, "muted"),
        Column("bytes", "B", "muted"),
        Column("messages", "", "muted"),
        Column("waiting", "s", "idle"),
    )
    rows = tuple(
        Row(
            (
                str(r["name"]),
                100 * float(r["load"]),
                100 * float(r["share"]),
                int(r["bytes"]),
                int(r["messages"]),
                float(r["waiting_s"]),
            )
        )
        for r in table.head(_ROWS).to_dict("records")
    )
    return Table(columns, rows)


VIEW = View(
    "topology",
    _TITLE,
    "Nodes and links of the interconnect, coloured by load in a chosen time range; hot links with their bytes.",
    _make,
    (
        Option("begin", "From", "float", 0.0, unit="%", description="of the time of the run", minimum=0, maximum=100),
        Option("end", "To", "float", 100.0, unit="%", description="of the time of the run", minimum=0, maximum=100),
        common.PROCESSORS,
        common.SIZE,
    ),
    group="Lost time",
    order=76,
    needs=(_NEED,),
)
