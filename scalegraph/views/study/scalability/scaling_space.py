"""Scaling space: the sizes at which a quantity stays constant while N grows (scale-graph.txt Fig. 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from scalegraph.analyze.bounds import Anchor, Bound
from scalegraph.analyze.table import PARAMETER, numbers
from scalegraph.base.units import plain
from scalegraph.figures.figure import Axis, Figure, Line, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.sizes(
    "The scaling space needs runs in which a parameter grows with the processors, or with something held.", "efficiency"
)
_TITLE = "Scaling space"
_BOUNDS: Final[Mapping[Bound, str]] = {
    "efficiency": "efficiency held",
    "time": "time held",
    "memory": "memory held",
    "speed": "unit speed held",
}


@dataclass(frozen=True)
class _Way:
    """A way through the space: *sizes* (parameter -> value at each of *counts*), and what was held."""

    words: str
    role: str
    counts: tuple[int, ...]
    sizes: Mapping[str, tuple[float, ...]]


def _make(data: StudyData, x: object = None, y: object = None) -> Figure | Need:
    found = list(_ways(data))
    grown = _grown(found)
    if not grown:
        return _NEED
    wanted = [str(name) for name in (x, y) if name is not None and str(name) in grown]
    first, *rest = list(dict.fromkeys([*wanted, *grown]))
    panels = [_over_processors(found, first)]
    if rest:
        panels.insert(0, _plane(found, first, rest[0]))
    most = max(found, key=lambda way: way.sizes[first][-1] / way.sizes[first][0])
    sentence = (
        f"With the {most.words}, {first} grows most: from {plain(most.sizes[first][0])} on {most.counts[0]} processors"
        f" to {plain(most.sizes[first][-1])} on {most.counts[-1]}."
    )
    notes = ["Between a run that meets the bound and one that does not, the mean of their sizes is used."]
    if rest[1:]:
        notes.append(f"Not shown: {', '.join(rest[1:])}.")
    return Figure(f"{_TITLE}: {common.study_title(data)}", sentence, tuple(panels), notes=tuple(notes))


def _ways(data: StudyData) -> Iterator[_Way]:
    """Yield the fixed size and every bound met on two or more counts, with the parameters of their sizes."""
    if data.scaling.empty:
        return
    names = [str(name) for name in data.scaling.columns if str(name).startswith(PARAMETER)]
    rows = data.scaling.set_index("key")
    series = data.main_series
    if series is not None and len(series.rows) > 1:
        sizes = {name: tuple(map(float, numbers(series.rows, name))) for name in names}
        yield _Way("problem size fixed", "series:0", series.processors, _named(sizes))
    for place, (bound, words) in enumerate(_BOUNDS.items(), 1):
        made = matrices.matrix(data, bound)
        known = (
            []
            if made is None
            else [one for one in made.anchors.values() if one.known and set(one.keys) <= {*rows.index}]
        )
        if len(known) > 1:
            sizes = {name: tuple(_size(rows, one, name) for one in known) for name in names}
            yield _Way(words, f"series:{place}", tuple(one.processors for one in known), _named(sizes))


def _named(sizes: Mapping[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    return {name.removeprefix(PARAMETER): values for name, values in sizes.items() if np.isfinite(values).all()}


def _size(rows: pd.DataFrame, anchor: Anchor, name: str) -> float:
    """Return the mean of parameter *name* over the runs behind *anchor*."""
    return float(np.mean([numbers(rows.loc[[key]], name)[0] for key in anchor.keys])) if anchor.keys else float("nan")


def _grown(found: list[_Way]) -> list[str]:
    """Return the parameters that grow in some way and are known in all, fastest growing first."""
    growth: dict[str, float] = {}
    for name in found[0].sizes if found else ():
        values = [way.sizes.get(name, ()) for way in found]
        if all(values) and all(low > 0 for one in values for low in one):
            growth[name] = max(max(one) / min(one) for one in values)
    return sorted((name for name, factor in growth.items() if factor > 1), key=lambda name: -growth[name])


def _plane(found: list[_Way], first: str, second: str) -> Plot:
    lines = tuple(_line(way, way.sizes[first], way.sizes[second], first, second) for way in found)
    return Plot(_axis(first, lines), Axis(second, scale="log10"), lines)


def _over_processors(found: list[_Way], name: str) -> Plot:
    counts = tuple(sorted({n for way in found for n in way.counts}))
    lines = tuple(_line(way, tuple(map(float, way.counts)), way.sizes[name], "N", name) for way in found)
    return Plot(common.processors_axis(counts), Axis(name, scale="log10"), lines)


def _axis(name: str, lines: tuple[Line, ...]) -> Axis:
    values = [value for line in lines for value in line.x]
    return Axis(name, scale="log10" if max(values) >= 4 * min(values) else "linear")


def _line(way: _Way, x: tuple[float, ...], y: tuple[float, ...], across: str, up: str) -> Line:
    tips = tuple(
        "\n".join(dict.fromkeys((f"{way.words}, N = {n}", f"{across} = {plain(a)}", f"{up} = {plain(b)}")))
        for n, a, b in zip(way.counts, x, y, strict=True)
    )
    return Line(way.words, x, y, way.role, tips=tips, processors=way.counts)


VIEW = View(
    "scaling-space",
    _TITLE,
    "The sizes that keep efficiency, time, memory or speed constant as N grows: two parameters, and over N.",
    _make,
    (
        Option("x", "Across", "text", description="a parameter; otherwise the one that grows most"),
        Option("y", "Up", "text", description="another parameter; otherwise the next one that grows"),
    ),
    group="Scalability",
    order=45,
    needs=(_NEED,),
)
