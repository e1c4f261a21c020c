"""Program text beside its instrumentation, with the cost of every line."""

from __future__ import annotations

import re
from pathlib import PurePath

from scalegraph.analyze import verdict
from scalegraph.analyze.profile import line_costs
from scalegraph.base.errors import InputError, near
from scalegraph.base.run import Region
from scalegraph.base.units import significant
from scalegraph.views import common
from scalegraph.views.data import SourceText, StudyData
from scalegraph.views.figure import Column, Figure, Source, SourceLine
from scalegraph.views.view import Option, View

_TITLE = "Source and cost"
_LINE = re.compile(r"\s*#\s*line\s+(\d+)")
_COLUMNS = (
    Column("share", "%", "muted"),
    Column("busy", "s", "busy"),
    Column("memory stall", "s", "memory_stall"),
    Column("idle", "s", "idle"),
    Column("primitives", "s", "primitive"),
    Column("miss rate", "%"),
)


def _make(data: StudyData, file: object = None, processors: object = None, size: object = None) -> Figure:
    if not data.sources:
        need = "This study keeps no program text: studies made from a request or by simulation do."
        return Figure("source", _TITLE, empty=need)
    source = _chosen(data, file)
    run = common.chosen_run(data, size, processors)
    costs = line_costs(run) if run is not None and run.lines else None
    values: dict[int, tuple[float | None, ...]] = {}
    sentence = "No run has costs by line yet; the text and what is inserted into it are shown."
    if costs is not None and run is not None:
        mine = costs[[_same(str(name), source.file) for name in costs["file"]]]
        for row in mine.to_dict("records"):
            spent = [float(row[f"{group}_s"]) for group in ("busy", "memory_stall", "idle", "primitive")]
            miss = float(row["miss_rate"]) * 100
            values[int(row["line"])] = (
                float(row["share"]) * 100,
                *(value if value > 0 else None for value in spent),
                miss if miss == miss else None,
            )
        sentence = f"No line of {source.file} costs anything in this run."
        if len(mine):
            top = mine.iloc[0]
            sentence = (
                f"On {verdict.span((run.point.processors,))} line {int(top['line'])} is the dearest,"
                f" with {significant(100 * float(top['share']))} % of processor time."
            )
    lines = _lines(source, values, data.regions)
    return Figure(
        "source",
        f"{_TITLE}: {source.file}",
        sentence,
        (Source(source.file, _COLUMNS, lines),),
        notes=(f"Costs: {run.point.label()}, summed over processors.",)
        if costs is not None and run is not None
        else (),
        meta={"file": source.file},
    )


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
    """Return instrumented text by the line of the original it stands for, following ``#line`` directives."""
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


def _lines(
    source: SourceText, values: dict[int, tuple[float | None, ...]], regions: tuple[Region, ...]
) -> tuple[SourceLine, ...]:
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
    "Where it is lost",
    "The program's text, the probes inserted into it, and what every line costs.",
    _make,
    (
        Option("file", "File", "text", description="source file; otherwise the first"),
        common.PROCESSORS,
        common.SIZE,
    ),
    order=90,
)
