"""Two traces by region or call path: time in each, difference and ratio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from scalegraph.analyze.trace import profile
from scalegraph.base.errors import InputError
from scalegraph.base.units import si, significant, thousands
from scalegraph.figures.figure import LOCATIONS_TIME, Axis, Bars, Column, Figure, Plot, Row, Table
from scalegraph.subjects import interval_sums
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.views import needs
from scalegraph.views.common import exact
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.view import View

_NAME, _TITLE = "trace-compare-profile", "Regions of two traces"
_BARS = 10
_BY = Option("by", "By", "choice", "region", ("region", "path"), description="whether a row is a region or a call path")
_TIME = Option("time", "Time", "choice", "exclusive", ("exclusive", "inclusive"), description="exclusive or inclusive")


@dataclass(frozen=True)
class Compared:
    """A region or call path in traces A and B; times are sums over all locations (s), shares 0 to 1."""

    name: str
    a: float
    b: float
    share_a: float
    share_b: float
    visits_a: int
    visits_b: int
    region_a: int  # region numbers, -1 if missing
    region_b: int

    @property
    def more(self) -> float:
        """Time of B minus time of A (s)."""
        return self.b - self.a


def compared(
    first: TraceData, second: TraceData, by: str = "region", time: str = "exclusive", region: object = None
) -> list[Compared]:
    """Return the regions or call paths of both traces, largest difference first.

    Raises `InputError` if neither has a region called *region*.
    """
    one, two = _sums(first, by, time), _sums(second, by, time)
    names = dict.fromkeys([*one, *two])
    if region is not None and str(region).strip():
        wanted = _wanted(first, second, region)
        names = dict.fromkeys(name for name in names if name.rpartition(" / ")[2] in wanted)
    none = (0.0, 0.0, 0, -1)
    made = []
    for name in names:
        a, share_a, visits_a, region_a = one.get(name, none)
        b, share_b, visits_b, region_b = two.get(name, none)
        made.append(Compared(name, a, b, share_a, share_b, visits_a, visits_b, region_a, region_b))
    return sorted(made, key=lambda row: (-abs(row.more), row.name))


def _wanted(first: TraceData, second: TraceData, region: object) -> set[str]:
    found: set[str] = set()
    refused: list[InputError] = []
    for data in (first, second):
        try:
            found |= {data.region_name(number) for number in trace_window.chosen_regions(data, region) or ()}
        except InputError as error:  # a region in only one of the traces is compared with zero
            refused.append(error)
    if len(refused) == 2:
        raise refused[0]
    return found


def _sums(data: TraceData, by: str, time: str) -> Mapping[str, tuple[float, float, int, int]]:
    """Return (seconds, share, visits, region number) by name; regions of the same name are merged."""
    chosen = trace_window.window(data)
    sums = interval_sums.call_sums(chosen)
    table = profile.flat(data.trace, sums) if by == "region" else _named(profile.tree(data.trace, sums))
    share = "share" if time == "exclusive" else "share_incl"
    made: dict[str, tuple[float, float, int, int]] = {}
    for row in table.to_dict("records"):
        seconds, part, visits, _ = made.get(str(row["name"]), (0.0, 0.0, 0, -1))
        made[str(row["name"])] = (
            seconds + float(row[f"{time}_s"]),
            part + float(row[share]),
            visits + int(row["visits"]),
            int(row["region"]),
        )
    return made


def _named(tree: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `profile.tree`, named by full paths."""
    names: dict[int, str] = {}
    for path, parent, name in zip(tree["path"], tree["parent"], tree["name"], strict=True):
        names[int(path)] = f"{names[int(parent)]} / {name}" if int(parent) in names else str(name)
    return tree.assign(name=[names[int(path)] for path in tree["path"]])


def _make(
    data: TraceData, by: object = "region", time: object = "exclusive", region: object = None, bars: int = _BARS
) -> Figure:
    other = data.others[0]
    first, second = sorted((data, other), key=trace_common.processors)  # so that growth with the processors is positive
    rows = compared(first, second, str(by), str(time), region)
    names = _names(first, second)
    notes = [
        f"Times are {time}, summed over all locations of the whole runs.",
        "Regions are matched by name; if only one trace has a region, the other's time is 0.",
    ]
    if len(data.others) > 1:
        notes.append(f"Compared with {other.name}; {len(data.others) - 1} more open traces are left out.")
    return Figure(
        f"{names[0]} and {names[1]}",
        _sentence(first, second, rows),
        (_table(rows, names, str(by), first=first is data), _plot(rows, names, bars)),
        notes=(*notes, *(f"{one.name}: {note}" for one in (data, other) for note in trace_common.usual_notes(one))),
    )


def _names(data: TraceData, other: TraceData) -> tuple[str, str]:
    """Return the traces' names for column headings: their processor counts if these differ."""
    one, two = trace_common.processors(data), trace_common.processors(other)
    if one != two:
        return f"N = {one}", f"N = {two}"
    if data.name == other.name:
        return f"{data.name} (A)", f"{other.name} (B)"
    return _without_common_end(data.name, other.name)


def _without_common_end(one: str, two: str) -> tuple[str, str]:
    """Return both names without the words they both end in, which would make headings of eight lines."""
    left, right = one.split(" "), two.split(" ")
    while len(left) > 1 and len(right) > 1 and left[-1] == right[-1]:
        left.pop()
        right.pop()
    return " ".join(left).rstrip(","), " ".join(right).rstrip(",")


def _table(rows: list[Compared], names: tuple[str, str], by: str, *, first: bool) -> Table:
    """Return the table; its rows select regions of the *first* trace, or else of the second."""
    one, two = names
    columns = (
        Column("call path" if by == "path" else "region"),
        Column(f"time, {one}", "s", "busy"),
        Column(f"time, {two}", "s", "busy"),
        Column("difference", "s"),
        Column("ratio"),
        Column(f"share, {one}", LOCATIONS_TIME),
        Column(f"share, {two}", LOCATIONS_TIME),
        Column("difference", LOCATIONS_TIME),
        Column(f"visits, {one}"),
        Column(f"visits, {two}"),
    )
    return Table(
        columns,
        tuple(
            Row(
                (
                    row.name,
                    row.a,
                    row.b,
                    row.more,
                    row.b / row.a if row.a else None,
                    100 * row.share_a,
                    100 * row.share_b,
                    100 * (row.share_b - row.share_a),
                    row.visits_a,
                    row.visits_b,
                ),
                key=_key(row.region_a if first else row.region_b),
                tip=_tip(row, names),
            )
            for row in rows
        ),
    )


def _key(region: int) -> str:
    return str(region) if region >= 0 else ""


def _tip(row: Compared, names: tuple[str, str]) -> str:
    return (
        f"{row.name}\n{names[0]}: {exact(row.a, 's')}, {thousands(row.visits_a)} visits\n"
        f"{names[1]}: {exact(row.b, 's')}, {thousands(row.visits_b)} visits"
    )


def _plot(rows: list[Compared], names: tuple[str, str], most: int) -> Plot:
    shown = [row for row in rows if row.more][:most][::-1]
    more = tuple(max(row.more, 0.0) for row in shown)
    less = tuple(max(-row.more, 0.0) for row in shown)
    tips = tuple(_tip(row, names) for row in shown)
    series = [(f"more with {names[1]}", "idle", more)] if any(more) else []
    series += [(f"less with {names[1]}", "busy", less)] if any(less) else []
    return Plot(
        Axis("difference of times", "s"),
        Axis("", scale="category", categories=tuple(row.name.rpartition(" / ")[2] for row in shown)),
        bars=Bars(
            tuple(float(at) for at in range(len(shown))), tuple(series), tuple(tips for _ in series), horizontal=True
        ),
    )


def _sentence(data: TraceData, other: TraceData, rows: list[Compared]) -> str:
    n, n2 = trace_common.processors(data), trace_common.processors(other)
    one, two = (f"{n} locations", f"{n2} locations") if n != n2 else (data.name, other.name)
    a, b = n * data.length, n2 * other.length
    ratio = b / a if a else float("nan")
    text = (
        f"From {one} to {two} the time of all locations goes from {si(a, 's')} to {si(b, 's')}, "
        f"{significant(ratio, 3)} times"
    )
    grown = [row for row in rows if (row.more > 0) == (b >= a) and row.more]
    if grown:
        first = grown[0]
        name, change = first.name.rpartition(" / ")[2], "more" if b >= a else "less"
        text += f"; {name} changes most: {si(abs(first.more), 's')} {change}"
    return text + "."


VIEW = View(
    _NAME,
    _TITLE,
    "The time of every region or call path in two traces, its difference and ratio; largest difference first.",
    _make,
    (
        _BY,
        _TIME,
        trace_window.REGION,
        Option(
            "bars",
            "Bars",
            "int",
            _BARS,
            description="how many of the largest differences get a bar",
            minimum=1,
            maximum=60,
        ),
    ),
    needs=(needs.SECOND_TRACE, trace_sums.CALLS_OF_BOTH),
    several=True,
    subject="trace",
)
