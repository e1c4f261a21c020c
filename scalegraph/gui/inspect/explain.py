"""Texts of the inspector: every value of the selection with its formula, operands and origin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scalegraph.base.measures import exact, percent
from scalegraph.base.rows import records
from scalegraph.base.units import plain, si, significant, thousands

if TYPE_CHECKING:
    from scalegraph.gui.state.selection_state import Selection
    from scalegraph.subjects.study import StudyData


_MOST_METRICS = 12  # shown per call path


@dataclass(frozen=True)
class Fact:
    """A named value; *formula* shows its computation with the numbers inserted."""

    name: str
    value: str
    formula: str = ""


@dataclass(frozen=True)
class Part:
    """A group of facts, and the origin of their numbers."""

    title: str
    facts: tuple[Fact, ...]
    origin: str = ""


def explain(data: StudyData, selection: Selection) -> tuple[Part, ...]:
    """Return the facts about *selection*; about the study if nothing is selected."""
    parts: list[Part] = []
    if selection.cell is not None:
        parts += _cell(data, *selection.cell)
    elif selection.processors is not None:
        parts += _processors(data, selection.processors)
    if selection.call_path is not None:
        parts += _call_path(data, selection)
    if selection.region is not None:
        parts += _region(data, selection.region, selection.processors)
    return tuple(parts or _study(data))


def _study(data: StudyData) -> list[Part]:
    manifest = data.manifest
    facts = [Fact("runs", str(len(data.table)))]
    failed = len(data.failed)
    if failed:
        facts.append(Fact("failed", str(failed)))
    for key, words in (("created", "made"), ("tool", "by")):
        if manifest.get(key):
            facts.append(Fact(words, str(manifest[key]).replace("T", " ")[:16]))
    parts = [Part("Study", tuple(facts), "Select an N, a cell or a region to see its numbers.")]
    return parts + (_imported(data) if data.imported is not None else [])


def _imported(data: StudyData) -> list[Part]:
    """Return the facts about a measurement set: content, meaning of its names, skipped items."""
    assert data.imported is not None
    measured, meaning = data.imported
    facts = [
        Fact("values", thousands(len(measured.values))),
        Fact("points", str(len(measured.points)), ", ".join(measured.parameters)),
        Fact("call paths", str(len(measured.call_paths))),
        Fact("metrics", str(len(measured.metrics)), ", ".join(metric.name for metric in measured.metrics[:8])),
    ]
    said = [("processors", meaning.processors), ("elapsed time", meaning.time), ("unit", meaning.unit)]
    said += [("whole program", meaning.total), ("scaling", meaning.scaling)]
    origin = f"Read as {measured.format}" + (f" from {', '.join(measured.files[:3])}" if measured.files else "")
    parts = [
        Part("Measurement set", tuple(facts), origin),
        Part("Import mapping", tuple(Fact(name, text) for name, text in said if text), "Ctrl+M edits it."),
    ]
    if measured.skipped:
        left = tuple(
            Fact(item.what, str(item.count), f"{item.reason}  {item.place}".strip()) for item in measured.skipped
        )
        parts.append(Part("Left out", left))
    if measured.notes or measured.remarks:
        parts.append(Part("Notes", (), "\n".join((*measured.notes, *measured.remarks))))
    return parts


def _rows(data: StudyData, processors: int) -> list[dict[Any, Any]]:
    if data.table.empty:
        return []
    main = data.main_series
    problem = None if main is None else int(main.rows["problem"].iloc[0])
    found = records(data.scaling[data.scaling["processors"] == processors])
    # the size shown in pictures first, then by size, largest first
    return sorted(found, key=lambda row: (row["problem"] != problem, -(_number(row, "work_ops"))))


def _processors(data: StudyData, processors: int) -> list[Part]:
    parts = []
    rows = _rows(data, processors)
    for row in rows[:3]:
        label = str(row.get("label", "")).strip()
        parts.append(Part(f"N = {processors}" + (f", {label}" if label else ""), _run_facts(row), _origin(row)))
    if len(rows) > 3:
        parts.append(Part(f"{len(rows) - 3} more sizes were run on {processors}", (), "See the table of runs."))
    if not rows:
        failed = [run for run in data.failed if run.point.processors == processors]
        facts = tuple(Fact(run.point.label(), run.message or run.status) for run in failed)
        parts.append(Part(f"N = {processors}", facts, "No run on this N succeeded."))
    return parts


def _run_facts(row: Mapping[Any, Any]) -> tuple[Fact, ...]:
    count, time, one = int(row["processors"]), _number(row, "time_s"), _number(row, "t_seq_s")
    stall, idle, primitive = (_number(row, key) for key in ("ml_s", "it_s", "pt_s"))
    latency = _number(row, "latency_s")
    facts = [Fact("elapsed time T", si(time, "s", 4))]
    if math.isfinite(one) and count > 1:
        facts += [
            Fact("speedup", _digits(one / time), f"T1 / T = {si(one, 's', 4)} / {si(time, 's', 4)}"),
            Fact(
                "efficiency E",
                _digits(one / (count * time)),
                f"T1 / (N T) = {si(one, 's', 4)} / ({count} × {si(time, 's', 4)})",
            ),
        ]
    if math.isfinite(latency) and count > 1:
        put_in = " + ".join(si(value, "s", 4) for value in (stall, idle, primitive))
        facts.append(Fact("average latency L", si(latency, "s", 4), f"(ML + IT + PT) / N = ({put_in}) / {count}"))
    whole = count * time
    for key, words in (
        ("busy_s", "busy"),
        ("memory_stall_s", "memory stall"),
        ("idle_s", "idle"),
        ("primitive_s", "parallel primitives"),
    ):
        value = _number(row, key)
        if math.isfinite(value):
            facts.append(
                Fact(
                    words,
                    f"{percent(value / whole, 1)} of processor time",
                    f"{si(value, 's', 4)} / (N T = {si(whole, 's', 4)})",
                )
            )
    misses, references = _number(row, "misses"), _number(row, "references")
    if references > 0:
        rate = f"{exact(100 * misses / references, '%')} of references"
        facts.append(Fact("miss rate", rate, f"{si(misses)} misses / {si(references)} references"))
    return tuple(facts)


def _cell(data: StudyData, low: int, high: int) -> list[Part]:
    from scalegraph.analyze import bounds, matrix

    parts = []
    kinds: tuple[bounds.Bound, ...] = ("efficiency", "time", "memory")
    for bound in kinds:
        target = data.bound(bound)[0]
        target = bounds.usual_target(data.one_program, bound) if target is None else target
        if target is None:
            continue
        made = matrix.scalability(data.one_program, bound=bound, target=target, processors=sorted({low, high}))
        if made is not None:
            parts.append(_cell_part(made, low, high))
    if not parts:
        return [Part(f"Cell {low} → {high}", (), "No bound could be held with the runs of this study.")]
    return parts


def _cell_part(made: Any, low: int, high: int) -> Part:
    from scalegraph.analyze.matrix import bound_words
    from scalegraph.analyze.wording import target_words

    title = f"Scalability {low} → {high}, {bound_words(made.bound, target_words(made))}"
    value = made.value(low, high)
    if value is None:
        return Part(title, (), made.reasons.get((low, high), "not known"))
    first, last = made.anchors[low], made.anchors[high]
    facts = [
        Fact(
            "scale",
            _digits(value),
            f"L({low}) / L({high}) = {si(first.latency_s, 's', 4)} / {si(last.latency_s, 's', 4)}",
        )
    ]
    facts += [
        Fact(f"work at {anchor.processors}", f"{si(anchor.work, '', 4)} operations")
        for anchor in (first, last)
        if anchor.work is not None
    ]
    way = {"measured": "Both ends are runs of this study.", "computed": "At least one end lies between two runs."}
    return Part(title, tuple(facts), way.get(made.ways.get((low, high), ""), ""))


def _region(data: StudyData, region: int, processors: int | None) -> list[Part]:
    from scalegraph.gui.state.loss import shown_first
    from scalegraph.views.common import CATEGORY_WORDS

    known = next((item for item in data.regions if item.id == region), None)
    if known is None:
        return []
    facts = [Fact("kind", known.kind)]
    if known.file:
        facts.append(Fact("place", f"{known.file.rsplit('/', 1)[-1]}:{known.line}–{known.end_line or known.line}"))
    runs = [run for run in data.runs if run.ok and any(cost.region == region for cost in run.regions)]
    runs = [run for run in runs if run.point.processors == processors] or runs
    origin = ""
    if runs:
        run = shown_first(data, runs)
        cost = next(cost for cost in run.regions if cost.region == region)
        whole = run.processor_cycles
        for category, cycles in sorted(cost.categories.items(), key=lambda item: -item[1])[:8]:
            if cycles:
                value = si(cycles / run.clock_hz, "s", 4) if run.clock_hz else f"{si(cycles, '', 4)} cycles"
                facts.append(
                    Fact(
                        CATEGORY_WORDS.get(category, category),
                        value,
                        f"{si(cycles)} of {si(whole)} cycles: {percent(cycles / whole, 1)} of processor time",
                    )
                )
        origin = f"{run.source.capitalize()}: {run.point.label()}. Without the regions inside it."
    return [Part(f"Region {known.name}", tuple(facts), origin)]


def _call_path(data: StudyData, selection: Selection) -> list[Part]:
    """Return every metric of a call path at the call tree's point."""
    from scalegraph.gui.study.call_values import call_values

    measured = data.measured
    if measured is None or selection.call_path not in measured.paths:
        return []
    path = measured.paths.index(selection.call_path)
    facts, point = [], ""
    for metric in measured.metrics[:_MOST_METRICS]:
        found = call_values(measured, metric.name, selection.processors, data.meaning)
        if found is not None and math.isfinite(float(found.values[path])):
            facts.append(Fact(metric.name, found.text(path), f"{found.share_text(path)} of the whole"))
            point = point or found.point
    name = measured.call_paths[path].name
    return [Part(f"Call path {name}", tuple(facts), f"{selection.call_path.replace('->', ' → ')}\n{point}")]


def _number(row: Mapping[Any, Any], key: str) -> float:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) else math.nan


def _digits(value: float) -> str:
    return significant(value, 4) if math.isfinite(value) else "–"


def _origin(row: Mapping[Any, Any]) -> str:
    source = str(row.get("source", "")).capitalize()
    repetitions = int(row.get("repetitions", 1) or 1)
    more = f", median of {repetitions} repetitions" if repetitions > 1 else ""
    return f"{source} on {row.get('machine', '')}{more}. T1 is {_reference(row)}."


def _reference(row: Mapping[Any, Any]) -> str:
    """Return a description of T1."""
    from scalegraph.analyze.reference import SERIAL  # imports numpy, which must not delay the window

    count = _number(row, "reference")
    if count == SERIAL:
        return "the time of the serial program"
    if count > 1:
        return f"N times the time of the same problem on N = {plain(count)}, the fewest there are"
    return "the run of the same problem on one processor"
