"""A program's thread graph (semi-empirical paper, Figs. 1 to 4), with the time of every segment."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from scalegraph.base.measures import exact, percent
from scalegraph.base.units import assigned, counted, plain, si, significant
from scalegraph.figures.diagram import DiagramKey
from scalegraph.figures.figure import PREDICTED_TIME, Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.predict.counts import CannotTellError
from scalegraph.predict.graph import Step, ThreadClass
from scalegraph.predict.graph_times import Growth
from scalegraph.predict.traverse import DeadlockError
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.thread_graphs import SegmentFacts, ThreadGraph, samples, thread_graph
from scalegraph.views import common, ways
from scalegraph.views.study.prediction import layout
from scalegraph.views.study.prediction.layout import Looks
from scalegraph.views.view import View

GROUP: Final = "Prediction"
_TITLE = "Thread graph"
_NEED = Need(
    "The thread graph is derived from runs with regions, at two or more problem sizes on the same N.",
    ways.PREDICT,
    "Run two or more problem sizes with regions, or open a graph file (.graph.toml).",
    "It needs simulated runs, or a graph file (.graph.toml).",
    met=lambda data, **_: data.graph is not None or samples(data) is not None,
)
_CANNOT = Need("The runs do not determine the thread graph: {said}", ways.PREDICT)
_SHARES: Final = (0.01, 0.05, 0.2, 0.5)  # of the predicted time: upper ends of the colour classes
_LEAST: Final = 0.001  # smallest share shown in a name
_WORDS: Final[dict[Growth, str]] = {
    "serial": "serial: one thread runs it, the others wait",
    "in turn": "one thread at a time",
    "grows": "grows with N",
    "stays": "takes the same time on any N",
    "scales": "shared by the threads",
    "not known": "",
}
_HEADINGS: Final[dict[Growth, str]] = {
    "serial": "serial",
    "in turn": "in turn",
    "grows": "grows",
    "stays": "stays",
    "scales": "shared",
    "not known": "–",
}


def _make(data: StudyData, at: object = "", processors: int | None = None) -> Figure | Need:
    try:
        found = thread_graph(data, str(at or ""), processors)
    except (CannotTellError, DeadlockError) as error:
        return _CANNOT.of(said=error)
    where = assigned([("N", found.processors), *sorted((name, plain(v)) for name, v in found.values.items())])
    drawn = layout.diagram(
        found.graph,
        lambda path, step, one: _looks(data, found, path, step, one),
        {one.name: _title_of(found, one) for one in found.graph.classes},
        _key(),
        f"{_TITLE}, {where}",
    )
    subject = data.graph.title if data.graph is not None and data.graph.title else common.study_title(data)
    return Figure(
        f"{_TITLE}: {subject}, {where}", _sentence(found, where), (drawn, _table(found)), notes=_notes(data, found)
    )


def _class_of(share: float) -> int:
    return sum(share >= end for end in _SHARES)


def _role(share: float) -> str:
    return f"count:{_class_of(share)}/{len(_SHARES) + 1}"


def _key() -> tuple[DiagramKey, ...]:
    ends = [plain(100 * end) for end in _SHARES]
    texts = [
        f"below {ends[0]} %",
        *(f"{low} to {high} %" for low, high in pairwise(ends)),
        f"{ends[-1]} % of predicted time or more",
    ]
    entries = [DiagramKey(text, f"count:{i}/{len(texts)}") for i, text in enumerate(texts)]
    return (*entries, DiagramKey("does not scale", "mark"))


def _title_of(found: ThreadGraph, one: ThreadClass) -> str:
    count = found.times.sizes.get(one.name, 1)
    return f"{one.name} thread" if one.name == "main" else f"{one.name} × {count}" if count > 1 else one.name


def _looks(data: StudyData, found: ThreadGraph, path: str, step: Step, one: ThreadClass) -> Looks:
    if step.kind == "segment":
        return _segment(found, found.of_path[path])
    region = data.region_at(step.place)
    key = str(region) if region is not None else ""
    count = found.times.sizes.get(one.name, 1)
    lines = [f"line: {step.place}"] if step.place else []
    kind = {"cluster": "fork", "critical": "acquire"}.get(step.kind, step.kind)
    for text, known in (("cost of the event", found.times.cost), ("waiting there", found.times.waited)):
        if time := known.get((kind, step.name)):
            lines.append(f"{text}: {exact(time, 's')} a thread, all passes")
    if step.formulas:
        lines += [
            f"{name}: {getattr(step, name)}"
            for name in ("iterations", "share", "to", "bytes", "when")
            if getattr(step, name)
        ]
    name = {
        "loop": f"{step.name} × {step.iterations}",
        "critical": f"{_named('critical', step.name)}: one at a time",
        "branch": f"{step.name}: in {step.share} of the passes",
        "barrier": _named("barrier", step.name),
        "fork": f"start of {step.name}",
        "cluster": f"start and end of {step.name}",
    }.get(step.kind, _named(step.kind, step.name))
    front = step.kind == "critical" and count > 1
    return Looks(name, "\n".join(lines), key, front=front and _takes_time(found, path), weight=0.02)


def _named(kind: str, name: str) -> str:
    """Return *name* after its *kind*, unless it begins with that: regions are called ``critical main:15``."""
    return name if name == kind or name.startswith(f"{kind} ") else f"{kind} {name}".rstrip()


def _takes_time(found: ThreadGraph, path: str) -> bool:
    """Return whether any segment inside the section at *path* has a visible share of the time."""
    return any(fact.placed.path.startswith(f"{path}.") and fact.share >= _SHARES[0] for fact in found.facts)


def _segment(found: ThreadGraph, fact: SegmentFacts) -> Looks:
    step = fact.placed.step
    share = ""
    if fact.time_s:
        share = f"  {percent(fact.share)}" if fact.share >= _LEAST else f"  < {percent(_LEAST)}"
    return Looks(
        f"{step.name}{share}",
        "\n".join(_said(found, fact)),
        str(fact.known.region) if fact.known.region is not None else "",
        _role(fact.share),
        2.0 + 5.0 * min(1.0, fact.share) ** 0.5,
        front=fact.holds_back and fact.share >= _SHARES[0],
        weight=fact.share,
    )


def _said(found: ThreadGraph, fact: SegmentFacts) -> list[str]:
    step = fact.placed.step
    lines = [f"time: {exact(fact.time_s or 0.0, 's')} a thread, {percent(fact.share)} of the predicted time"]
    if _WORDS[fact.growth]:
        since = f" (from N = {found.compared})" if found.compared and fact.growth in ("grows", "scales") else ""
        lines.append(f"{_WORDS[fact.growth]}{since}")
    if fact.known.count:
        lines.append(f"count F: {fact.known.count} cycles" if found.derived else f"time in s: {fact.known.count}")
    if fact.known.coefficients:
        lines.append(f"coefficients c_g: {fact.known.coefficients}")
    if step.place:
        lines.append(f"line: {step.place}")
    return lines


def _table(found: ThreadGraph) -> Table:
    columns = (
        Column("segment"),
        Column("thread"),
        Column("time", "s", "time"),
        Column("share", PREDICTED_TIME, "memory_stall"),
        Column("with N"),
        Column("count F", "cycles" if found.derived else "s"),
        Column("coefficients c_g"),
        Column("line"),
    )
    ordered = sorted(found.facts, key=lambda fact: (not (fact.holds_back and fact.share >= _SHARES[0]), -fact.share))
    return Table(
        columns,
        tuple(
            Row(
                (
                    fact.placed.step.name,
                    fact.placed.thread_class,
                    fact.time_s,
                    100 * fact.share,
                    _HEADINGS[fact.growth],
                    fact.known.count or None,
                    fact.known.coefficients or None,
                    fact.placed.step.place or None,
                ),
                key=str(fact.known.region) if fact.known.region is not None else "",
                tip="\n".join(_said(found, fact)),
            )
            for fact in ordered
        ),
    )


def _sentence(found: ThreadGraph, where: str) -> str:
    text = f"With {where} the graph takes {si(found.times.time_s, 's')}."
    largest = max(found.facts, key=lambda fact: fact.share, default=None)
    if largest is None or not largest.share:
        return text
    text += f" The largest segment is {largest.placed.step.name}, {percent(largest.share)} of that."
    held = [fact for fact in found.facts if fact.holds_back and fact.share >= _SHARES[0]]
    if not held:
        return f"{text} No segment of 1 % or more is known not to scale."
    share = sum(fact.share for fact in held)
    worst = max(held, key=lambda fact: fact.share)
    return (
        f"{text} {counted(len(held), 'segment')} with {percent(share)} of the time"
        f" {'does' if len(held) == 1 else 'do'} not scale"
        + (f": {worst.placed.step.name}." if len(held) == 1 else f", {worst.placed.step.name} first.")
    )


def _notes(data: StudyData, found: ThreadGraph) -> tuple[str, ...]:
    events = counted(found.times.events, "event")
    notes = [f"Line: thread. Dot: event. Oval: communication. Arc: loop. {events} are processed."]
    if found.compared:
        notes.append(f"What does not scale is determined from N = {found.compared} to N = {found.processors}.")
    if not found.derived:
        if found.values:
            said = assigned([(name, significant(value)) for name, value in sorted(found.values.items())])
            notes.append(f"Parameters: {said}. Choose others, and N, under 'Size'.")
        return tuple(notes)
    known = samples(data)
    runs = len([run for run in known.runs if run.point.processors == found.processors]) if known is not None else 0
    notes.append(f"Derived from {counted(runs, 'run')} on N = {found.processors}; one thread represents its team.")
    if found.processors not in data.event_costs:
        notes.append("Costs of events are not known for these runs: barriers and locks count as waiting.")
    return (*notes, *common.failure_notes(data))


VIEW = View(
    "thread-graph",
    _TITLE,
    "Threads, with segments coloured by time, and the events that join them; what does not scale is in front.",
    _make,
    (
        Option(
            "at",
            "Size",
            "text",
            description="parameters as name=value, comma separated; N=count may be among them."
            " Otherwise the largest size that was predicted or run",
        ),
        common.PROCESSORS,
    ),
    group=GROUP,
    order=10,
    needs=(_NEED, _CANNOT),
    without=True,
)
