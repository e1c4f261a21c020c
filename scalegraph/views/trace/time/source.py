"""Source code with the time in the chosen interval of regions that begin on each line."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import PurePath

from scalegraph.base.errors import InputError, near
from scalegraph.base.measures import percent
from scalegraph.base.units import si
from scalegraph.figures.figure import LOCATIONS_TIME, Column, Figure, Source, SourceLine
from scalegraph.figures.way import Need
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option, OptionValue
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window, window
from scalegraph.views import ways
from scalegraph.views.view import View

_TITLE = "Source lines"
_BINS = 4096
_COLUMNS = (Column("share", LOCATIONS_TIME, "muted"), Column("time", "s", "time"))


def _files(data: TraceData) -> list[str]:
    # a region without a line has no location: Score-P gives "MPI" as the file of MPI calls
    return sorted({region.file for region in data.trace.definitions.regions if region.file and region.line > 0})


_NEED = Need("The regions of this trace name no places in the source.", met=lambda data, **_: bool(_files(data)))
_NO_TEXT = Need("The source {file} was not found beside the trace.{places}", ways.FIND_SOURCES, always=True)


def _make(data: TraceData, file: object = None, **options: OptionValue) -> Figure | Need:
    files = _files(data)
    chosen = window(data, **trace_window.common_values(options))
    times = _times(chosen)
    name = _chosen(data, file, files, times)
    text = data.text(name)
    if text is None:
        places = ", ".join(f"line {line}" for line in sorted(line for of, line in times if of == name)[:12])
        return _NO_TEXT.of(file=PurePath(name).name, places=f" Regions begin at {places}." if places else "")
    whole = chosen.seconds * max(1, len(chosen.locations))
    regions = _regions(data, name)
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        seconds = times.get((name, number))
        values = () if not seconds or not whole else (100 * seconds / whole, seconds)
        lines.append(SourceLine(number, line.expandtabs(4), "", values, regions.get(number)))
    return Figure(
        f"{_TITLE}: {name}",
        _sentence(chosen, name, times, whole),
        (Source(name, _COLUMNS, tuple(lines)),),
        notes=("A line shows the exclusive time of the regions that begin there.",),
        meta={"file": name},
    )


def _times(chosen: Window) -> dict[tuple[str, int], float]:
    """Return exclusive seconds by (file, line) of a region's beginning, summed over locations."""
    data = chosen.data
    layer = data.timeline.layers.get("region")
    if layer is None or chosen.end <= chosen.begin:
        return {}
    edges, values = data.timeline.totals("region", chosen.begin, chosen.end, _BINS, chosen.locations)
    times: dict[tuple[str, int], float] = defaultdict(float)
    overlap = [max(0, min(last, chosen.end) - max(first, chosen.begin)) for first, last in pairwise(edges.tolist())]
    sums = values @ overlap / data.trace.meta.ticks_per_second
    regions = data.trace.definitions.regions
    for code, seconds in zip(layer.codes, sums.tolist(), strict=True):
        if 0 <= code.number < len(regions) and regions[code.number].line > 0 and seconds > 0:
            if chosen.regions is not None and code.number not in chosen.regions:
                continue
            region = regions[code.number]
            if region.file:
                times[region.file, region.line] += seconds
    return times


def _chosen(data: TraceData, file: object, files: list[str], times: dict[tuple[str, int], float]) -> str:
    """Return the requested file, else the one with the most time whose text was found."""
    if file:
        wanted = str(file)
        for name in files:
            if wanted == name or PurePath(wanted).name == PurePath(name).name:
                return name
        raise InputError(f"file: no region is in '{wanted}'{near(wanted, files)}; known: {', '.join(files)}")
    spent: dict[str, float] = defaultdict(float)
    for (name, _line), seconds in times.items():
        spent[name] += seconds
    return max(files, key=lambda name: (name in data.sources or name in data.texts, spent[name]))


def _regions(data: TraceData, name: str) -> dict[int, int]:
    """Return, by line, the region that begins there (the first defined, if several)."""
    found: dict[int, int] = {}
    for number, region in enumerate(data.trace.definitions.regions):
        if region.file == name and region.line:
            found.setdefault(region.line, number)
    return found


def _sentence(chosen: Window, name: str, times: dict[tuple[str, int], float], whole: float) -> str:
    mine = {line: seconds for (file, line), seconds in times.items() if file == name}
    if not mine or not whole:
        return f"No region of {name} was entered in {chosen.words}."
    line = max(mine, key=lambda number: mine[number])
    return f"Line {line} takes most: {si(mine[line], 's')}, {percent(mine[line] / whole)} of {chosen.words}."


VIEW = View(
    "trace-source",
    _TITLE,
    "The program's source, with the time of the regions that begin on each line.",
    _make,
    (
        *trace_window.COMMON,
        Option("file", "File", "text", description="source file; otherwise that of the selected region"),
    ),
    group="Where the time goes",
    order=90,
    needs=(_NEED, _NO_TEXT),
    without=True,
    subject="trace",
)
