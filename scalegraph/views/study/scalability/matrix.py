"""The scalability matrix: numbers, heat map, up to three values per cell, reasons (scale-graph.txt Fig. 14)."""

from __future__ import annotations

from typing import Any

from scalegraph.analyze import wording
from scalegraph.analyze.bounds import WAY_WORDS, Anchor, Bound
from scalegraph.analyze.matrix import Matrix, bound_words, over_estimation
from scalegraph.base.units import si, significant
from scalegraph.figures.figure import Cell, Figure, Grid, Origin
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs, ways
from scalegraph.views.view import View

_TEXT = "A scalability matrix needs runs of several sizes on one processor and on several N."
_NEED = Need(_TEXT, ways.ADD_SIZES)
_ASKED_FOR = Need(f"{_TEXT} The request of this study asks for them; they appear as they end.")
_MEASURED = Need(f"{_TEXT} {{what}}")
_TITLE = "Scalability matrix"
_ORDER: tuple[Bound, ...] = ("time", "efficiency", "memory")  # as in Fig. 14
_CHOSEN: tuple[Bound, ...] = ("energy",)  # shown only if chosen


def _make(
    data: StudyData, bound: object = "all", metric: object = "latency", processors: object = None, **asked: Any
) -> Figure | Need:
    wanted: list[Bound]
    wanted = (
        ["speed"]
        if metric == "isospeed"
        else ([name for name in (*_ORDER, *_CHOSEN) if bound == name or (bound == "all" and name in _ORDER)])
    )
    given = matrices.printed(data)
    if given is not None:
        wanted = [given.bound]
    found: list[Matrix] = []
    for name in wanted:
        made = matrices.asked(data, {"metric": metric, **asked}, name, matrices.counts(processors))
        if made is not None and (made.values or name == "efficiency" or len(wanted) == 1):
            found.append(made)
    if not found or not any(made.processors for made in found) or (ways.of_one_size(data) and not _compares(found)):
        return _missing(data)
    found, dropped = matrices.trimmed(found)
    main = next((made for made in found if made.bound == "efficiency"), found[0])
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(main, found),
        (_grid(found, found.index(main), common.origin(data.scaling)),),
        notes=(
            *(data.imported[0].notes if data.imported and given is None else ()),
            *_notes(found, main, [name for name in wanted if name not in {made.bound for made in found}]),
            *_left_out(dropped),
            *((*common.latency_note(metric), common.work_note(data)) if given is None else ()),
        ),
        meta={"metric": str(metric), "bounds": ",".join(made.bound for made in found)},
    )


def _compares(found: list[Matrix]) -> bool:
    """Return whether any value compares two processor counts."""
    return any(made.value(n, n2) is not None for made in found for n, n2 in made.values if n != n2)


def _missing(data: StudyData) -> Need:
    """Return the need that is not met, with a button that plans the runs if the program can be run."""
    if data.imported is not None:
        return _MEASURED.of(what=ways.what_to_measure(data))
    return _ASKED_FOR if ways.asks_for_sizes(data) else _NEED


def _grid(found: list[Matrix], colour_by: int, origin: Origin) -> Grid:
    counts = tuple(sorted({n for made in found for n in made.processors}))
    names = tuple(str(n) for n in counts)
    return Grid(
        "N",
        "N'",
        names,
        names,
        tuple(tuple(_cell(found, n, n2, origin) if n <= n2 else None for n2 in counts) for n in counts),
        tuple(f"{made.bound} {wording.target_words(made)}" for made in found),
        colour_by,
        row_processors=counts,
        column_processors=counts,
    )


def _cell(found: list[Matrix], n: int, n2: int, origin: Origin) -> Cell:
    values = tuple(made.value(n, n2) for made in found)
    reasons = [
        made.reasons.get((n, n2), f"no run on {n if n not in made.processors else n2} processors")
        for made, value in zip(found, values, strict=True)
        if value is None
    ]
    lines = [f"from N = {n} to N' = {n2}"]
    for made, value in zip(found, values, strict=True):
        if value is None:
            continue
        way = made.ways.get((n, n2), "")
        ends = made.intervals.get((n, n2))
        span = _span(ends, way) if ends else ""
        held = bound_words(made.bound, wording.target_words(made))
        lines.append(f"{held}: {common.exact(value)} ({WAY_WORDS.get(way, way)}{span})")
        lines.extend(_formula(made, n, n2))
    reason = "; ".join(dict.fromkeys(reasons))
    return Cell(
        values, reason, "\n".join([*lines, *reasons]), _origin({made.ways.get((n, n2), "") for made in found}, origin)
    )


def _span(ends: tuple[float, float], way: str) -> str:
    """Return a cell's interval: of a prediction by its uncertainty, of runs by the bound's tolerance."""
    what = "95 % between" if way == "predicted" else "within the tolerance of the bound between"
    return f", {what} {significant(ends[0])} and {significant(ends[1])}"


def _origin(ways: set[str], runs: Origin) -> Origin:
    """Return the weakest origin of a cell's values; *runs* is that of runs."""
    if "predicted" in ways:
        return "predicted"
    return "computed" if "computed" in ways else "imported" if "imported" in ways else runs


def _formula(made: Matrix, n: int, n2: int) -> list[str]:
    low, high = made.anchors.get(n), made.anchors.get(n2)
    if low is None or high is None or n == n2:
        return []
    work, work2 = (si(anchor.work, made.work_unit, 4) for anchor in (low, high))
    if made.metric == "latency":
        first = f"  L/L' = {si(low.latency_s, 's', 4)} / {si(high.latency_s, 's', 4)}"
    else:
        first = f"  N' W/(N W') = {n2} × {work} / ({n} × {work2})"
    return [first, f"  W = {work} ({_where(low)}), W' = {work2} ({_where(high)})"]


def _where(anchor: Anchor) -> str:
    if anchor.way == "measured":
        return f"run {anchor.labels[0]}"
    if anchor.way == "predicted":
        return anchor.labels[0]
    return f"between {' and '.join(anchor.labels)}"


def _sentence(main: Matrix, found: list[Matrix]) -> str:
    text = wording.held(main)
    pair = next(((n, n2) for n in main.processors for n2 in reversed(main.processors) if n < n2), None)
    time = next((made for made in found if made.bound == "time"), None)
    known = [n for n in main.processors if n in main.anchors and main.anchors[n].known]
    if time is not None and time is not main and len(known) >= 2:
        pair = (known[0], known[-1])
    if time is not None and time is not main and pair is not None:
        flattered, true = time.value(*pair), main.value(*pair)
        if flattered is not None and true is not None and flattered > true:
            text += f"; the time bound would give {significant(flattered)} and so overestimate it"
    return text[0].upper() + text[1:] + "."


def _notes(found: list[Matrix], main: Matrix, absent: list[Bound]) -> tuple[str, ...]:
    order = " / ".join(bound_words(made.bound, wording.target_words(made)) for made in found)
    notes = [f"Each cell: {order}. Colour: {main.bound}."] if len(found) > 1 else []
    notes.extend(dict.fromkeys(note for made in found for note in made.notes))
    for made in found:
        checked = wording.checks(made)
        if not checked:
            continue
        notes.append(f"{made.bound.capitalize()} bound: {'; '.join(checked)}.")
        said = [
            f"{WAY_WORDS[way]} at N = {', '.join(map(str, counts))}"
            for way in ("computed", "predicted")
            if (counts := [n for n, anchor in made.anchors.items() if anchor.way == way])
        ]
        if said:
            rest = "; the others are runs" if any(a.way == "measured" for a in made.anchors.values()) else ""
            notes.append(f"{made.bound.capitalize()} bound: {'; '.join(said)}{rest}.")
    time = next((made for made in found if made.bound == "time"), None)
    if time is not None and main is not time:
        excess = over_estimation(time, main)["excess"].dropna()
        if len(excess):
            most = float(excess.max())
            by = f"by {significant(most, 2)} at most" if most > 0 else "nowhere"
            notes.append(f"The time bound exceeds the efficiency-conserved value {by}.")
    return (*notes, *(f"No values for the {name} bound: {_absence(name)}." for name in absent))


def _left_out(dropped: tuple[int, ...]) -> tuple[str, ...]:
    if not dropped:
        return ()
    listed = ", ".join(map(str, dropped))
    return (f"Left out: N = {listed}, where fewer than two sizes succeeded and none meets a bound.",)


def _absence(bound: Bound) -> str:
    if bound == "memory":
        return "no memory per processor is met on several N, or the program's memory is not described"
    return f"no {bound} is met on several processor counts"


VIEW = View(
    "matrix",
    _TITLE,
    "How latency grows from every N to every larger N' with time, efficiency or memory held; 1 is perfect.",
    _make,
    (
        Option("bound", "Bound", "choice", "all", ("all", *_ORDER, *_CHOSEN), description="what is held constant"),
        *matrices.ASKED,
        Option(
            "processors", "Processors", "text", description="comma separated; those without runs are predicted only"
        ),
    ),
    needs=(*needs.RUNS_OR_MATRIX, _NEED, _ASKED_FOR, _MEASURED),
    without=True,
)
