"""Source code beside its instrumentation, with the cost per line."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TypeAlias

from scalegraph.analyze import wording
from scalegraph.analyze.profile import line_costs
from scalegraph.base.errors import InputError, near
from scalegraph.base.measures import percent
from scalegraph.base.run import LineCost, Region, RunRecord
from scalegraph.base.units import si, significant
from scalegraph.figures.figure import MISSES, PROCESSOR_TIME, REFERENCES, Column, Figure, Source, SourceLine
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import SourceText, StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.memory import cause_words
from scalegraph.views.view import View

Values: TypeAlias = tuple[float | None, ...]

_NEED = needs.simulated("This study has no source. Runs of a request store it.", lambda data, **_: bool(data.sources))
_TITLE = "Source and cost"
_NOTHING = 5e-4  # a smaller share is shown as 0.0 %
_LINE = re.compile(r"\s*#\s*line\s+(\d+)")
_TIMES = (
    Column("share", PROCESSOR_TIME, "muted"),
    Column("busy", "s", "busy"),
    Column("memory stall", "s", "memory_stall"),
    Column("idle", "s", "idle"),
    Column("primitives", "s", "primitive"),
    Column("miss rate", REFERENCES),
)
# For runs that record what waiting is for.
_BLAMED_TIMES = (
    Column("cost", PROCESSOR_TIME, "mark"),
    *_TIMES[1:-1],
    Column("causes waiting", "s", "idle:2"),
    _TIMES[-1],
)
_EVENTS = (
    Column("share", MISSES, "muted"),
    Column("misses"),
    Column("miss rate", REFERENCES),
    Column("remote"),
    Column("invalidations"),
)


def _make(
    data: StudyData, file: object = None, processors: object = None, size: object = None, show: object = "time"
) -> Figure:
    source = _chosen(data, file)
    run = common.chosen_run(data, size, processors)
    columns: tuple[Column, ...] = _TIMES
    values: dict[int, Values] = {}
    sentence = "No run has costs by line yet; shown are the source and the code inserted into it."
    known = run is not None and bool(run.lines)
    if run is not None and known:
        mine = tuple(line for line in run.lines if _same(line.file, source.file))
        if show == "misses":
            columns, values = _misses(run, mine)
            sentence = _worst(values, run, "has the most misses", columns[0].unit)
        else:
            columns = _BLAMED_TIMES if run.blame else _TIMES
            values = _times(run, source)
            sentence = _worst(values, run, "costs most", columns[0].unit)
        if not values:
            sentence = f"No line of {source.file} {'misses' if show == 'misses' else 'costs anything'} in this run."
    return Figure(
        f"{_TITLE}: {source.file}",
        sentence,
        (Source(source.file, columns, _lines(source, values, data.regions)),),
        notes=_notes(run, str(show)) if run is not None and known else (),
        meta={"file": source.file},
    )


def _notes(run: RunRecord, show: str) -> tuple[str, ...]:
    costs = (f"Costs: {run.point.label()}, summed over processors.",)
    return costs if show == "misses" else (*costs, *base_notes(run))


def base_notes(run: RunRecord) -> tuple[str, ...]:
    """Return notes on the base of the lines' shares, and on time not charged to any line."""
    costs = line_costs(run)
    rest = 1 - float(costs["share"].sum())
    if not run.clock_hz or math.isnan(rest):
        return ()
    whole = f"Processor time is {si(run.processor_cycles / run.clock_hz, 's', 4)}, waiting included"
    said = (common.COST_NOTE,) if run.blame else ()
    if abs(rest) < _NOTHING:
        return (f"{whole}.", *said)
    idle = ((run.idle_s or 0.0) - float(costs["idle_s"].sum())) * run.clock_hz / run.processor_cycles
    return (
        f"{whole}; {percent(rest, 1)} of it is charged to no line (idle time: {percent(idle, 1)}).",
        *said,
    )


def _worst(values: Mapping[int, Values], run: RunRecord, words: str, unit: str) -> str:
    if not values:
        return ""
    line, first = max(values.items(), key=lambda item: item[1][0] or 0.0)
    return f"On {wording.span((run.point.processors,))} line {line} {words}: {significant(first[0] or 0.0)} {unit}."


def _times(run: RunRecord, source: SourceText) -> dict[int, Values]:
    """Return the values of `_TIMES`, or `_BLAMED_TIMES`, by line."""
    costs = line_costs(run)
    values: dict[int, Values] = {}
    for row in costs[[_same(str(name), source.file) for name in costs["file"]]].to_dict("records"):
        spent = [float(row[f"{group}_s"]) for group in ("busy", "memory_stall", "idle", "primitive")]
        miss = float(row["miss_rate"]) * 100
        values[int(row["line"])] = (
            float(row["charged_share" if run.blame else "share"]) * 100,
            *(value if value > 0 else None for value in spent),
            *((float(row["caused_s"]) or None,) if run.blame else ()),
            miss if miss == miss else None,
        )
    return values


def _misses(run: RunRecord, lines: Sequence[LineCost]) -> tuple[tuple[Column, ...], dict[int, Values]]:
    """Return the columns of misses, by class if collected, else by cause, and their values by line."""
    by_class = "classes" in run.collected
    words = cause_words.CLASSES if by_class else cause_words.CAUSES
    parts = [(line, line.classes if by_class else line.causes) for line in lines]
    known = [name for name in words if any(part.get(name) for _, part in parts)]
    whole = run.misses or sum(line.misses for line in run.lines)
    values: dict[int, Values] = {}
    for line, part in parts:
        if line.misses:
            values[line.line] = (
                100 * line.misses / whole,
                line.misses,
                100 * line.misses / line.references if line.references else None,
                line.remote or None,
                line.invalidations or None,
                *(part.get(name) for name in known),
            )
    return (*_EVENTS, *(Column(words[name][0], "", words[name][1]) for name in known)), values


def _chosen(data: StudyData, file: object) -> SourceText:
    if not file:
        return data.sources[0]
    for source in data.sources:
        if _same(source.file, str(file)):
            return source
    names = [source.file for source in data.sources]
    raise InputError(f"file: no source '{file}'{near(str(file), names)}; known: {', '.join(names)}")


def _same(one: str, other: str) -> bool:
    return one == other or PurePath(one).name == PurePath(other).name


def _by_line(instrumented: str) -> dict[int, str]:
    """Return the instrumented text by original line, following ``#line`` directives."""
    found: dict[int, str] = {}
    number = 1
    for text in instrumented.splitlines():
        directive = _LINE.match(text)
        if directive:
            number = int(directive[1])
            continue
        found[number] = f"{found[number]} {text.strip()}" if number in found else text
        number += 1
    return found


def _lines(source: SourceText, values: Mapping[int, Values], regions: tuple[Region, ...]) -> tuple[SourceLine, ...]:
    inserted = _by_line(source.instrumented)
    mine = [region for region in regions if region.line and _same(region.file, source.file)]
    lines = []
    for number, text in enumerate(source.text.splitlines(), start=1):
        inside = [region for region in mine if region.line <= number <= max(region.end_line, region.line)]
        innermost = max(inside, key=lambda region: (region.line, region.id), default=None)
        twin = inserted.get(number, text)
        lines.append(
            SourceLine(
                number,
                text.expandtabs(4),
                twin.expandtabs(4) if twin != text else "",
                values.get(number, ()),
                innermost.id if innermost else None,
            )
        )
    return tuple(lines)


VIEW = View(
    "source",
    _TITLE,
    "The program's source, the probes inserted into it, and the cost of every line.",
    _make,
    (
        Option("file", "File", "text", description="source file; otherwise the first", follows=True),
        common.PROCESSORS,
        common.SIZE,
        Option("show", "Show", "choice", "time", ("time", "misses"), description="times, or misses with their causes"),
    ),
    group="Lost time",
    order=90,
    needs=(_NEED,),
    without=True,
)
