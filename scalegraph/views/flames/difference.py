"""Difference of two flame graphs: two processor counts of a study, or two studies."""

from __future__ import annotations

from dataclasses import replace

from scalegraph.analyze import calltree
from scalegraph.analyze.calltree import Joined
from scalegraph.base.errors import Fault, InputError
from scalegraph.figures.figure import Figure
from scalegraph.figures.way import Need
from scalegraph.subjects import series as series_
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs, ways
from scalegraph.views.flames import building, study_trees
from scalegraph.views.flames.building import Grown
from scalegraph.views.study.compare import studies as compare
from scalegraph.views.view import View

NEITHER = Need("Neither {first} nor {second} has any {value}.")
_UNLIKE = Need("The values cannot be compared: {first}, {second}. Choose another frame value.")
_FEW = Need(
    "A difference needs runs on two processor counts.",
    ways.ADD_COUNTS,
    "Add a count, or compare with a second study.",
    "Compare with a second study.",
)
_NAME, _TITLE = "flame-difference", "Flame graph, difference"
_SECOND = Option(
    "processors",
    "Processors",
    "int",
    minimum=1,
    description="N of the second of two runs, which sets the frames; otherwise the most",
)
_REFERENCE = Option(
    "reference",
    "Compared with N",
    "int",
    minimum=1,
    description="N of the first of two runs of this study; otherwise the fewest processors",
)


def _make(
    data: StudyData,
    metric: object = None,
    change: object = "absolute",
    processors: object = None,
    reference: object = None,
    size: object = None,
    frames: object = "second",
    *,
    icicle: bool = False,
) -> Figure | Need:
    both = _pair(data, metric, processors, reference, size)
    if isinstance(both, Need):
        return both
    first, second, names = both
    if first.value.unit != second.value.unit:
        return _UNLIKE.of(first=f"{first.value.title} of {names[0]}", second=f"{second.value.title} of {names[1]}")
    made = figure(_NAME, _TITLE, first, second, names, str(change), str(frames), icicle=icicle)
    return made if isinstance(made, Need) else replace(made, ways=study_trees.to_trace(data, second))


def _pair(
    data: StudyData, metric: object, processors: object, reference: object, size: object
) -> tuple[Grown, Grown, tuple[str, str]] | Need:
    """Return both trees and their names, or the need that is not met."""
    if data.others and reference is None:
        return _two_studies(data, metric, processors, size)
    counts = _counts(data, size)
    if len(counts) < 2:
        return study_trees.NEED if not counts else _FEW
    n = counts[-1] if processors is None else int(str(processors))
    lowest = counts[0] if n != counts[0] else counts[1]
    base = lowest if reference is None else int(str(reference))
    if base == n:
        raise InputError(
            Fault(f"both runs would be those on {n}; choose two counts of {_listed(counts)}", key="reference")
        )
    lacking = [count for count in (base, n) if count not in counts]
    if lacking:
        key = "reference" if base in lacking else "processors"
        raise InputError(Fault(f"no run on {lacking[0]}; run were {_listed(counts)}", key=key))
    first, second = study_trees.grown(data, metric, base, size), study_trees.grown(data, metric, n, size)
    return study_trees.NEED if first is None or second is None else (first, second, (f"N = {base}", f"N = {n}"))


def _two_studies(
    data: StudyData, metric: object, processors: object, size: object
) -> tuple[Grown, Grown, tuple[str, str]] | Need:
    """Return the trees of the other study and of *data*, on the highest common processor count."""
    other = data.others[0]
    common_counts = sorted({*_counts(data, size)} & {*_counts(other, None)})
    count = common_counts[-1] if processors is None and common_counts else processors
    second = study_trees.grown(data, metric, count, size)
    first = study_trees.grown(other, metric, count)
    if first is None or second is None:
        return study_trees.NEED
    one, two = compare.names((other, data))
    if first.words != second.words:
        one, two = f"{one} ({first.words})", f"{two} ({second.words})"
    return first, second, (one, two)


def _listed(counts: list[int]) -> str:
    return ", ".join(map(str, counts))


def _counts(data: StudyData, size: object) -> list[int]:
    """Return the processor counts with a tree, in ascending order."""
    if data.imported is not None and len(data.imported[0].call_paths) > 1:
        measured, meaning = data.imported
        if meaning.processors not in measured.points.columns:
            return []
        return sorted({int(n) for n in measured.points[meaning.processors]})
    series = series_.chosen_series(data, size)
    rows = series.rows if series is not None else data.scaling
    return sorted({int(n) for n in rows["processors"]}) if not rows.empty else []


def figure(
    view: str,
    title: str,
    first: Grown,
    second: Grown,
    names: tuple[str, str],
    change: str,
    width: str,
    *,
    icicle: bool,
    keys_of_first: bool = False,
) -> Figure | Need:
    """Return the difference of two trees as a figure; frames select the second's nodes, else the first's."""
    joined = calltree.joined(first.tree, second.tree, keys_of_first=keys_of_first)
    if not len(joined.tree):
        return NEITHER.of(first=names[0], second=names[1], value=second.value.label)
    relative = change == "relative"
    flame, notes = building.difference(joined, first, second, names, relative=relative, width=width, icicle=icicle)
    whose = {"second": names[1], "first": names[0], "both": "the mean of both"}[width]
    what = "the share of the whole" if relative else f"the {second.value.label}"
    matched = "Frames match if their call paths have the same names"
    matched += "; siblings of the same name match in order." if first.lexical else "."
    return Figure(
        f"{title}: {names[0]} to {names[1]}",
        _sentence(joined, first, second, names, relative=relative),
        (flame,),
        notes=(
            f"Widths: {second.value.label} of {whose}.",
            f"Colours: change of {what}; vermilion is more in {names[1]}, blue less.",
            matched,
            *dict.fromkeys((*first.notes, *second.notes)),
            *notes,
        ),
        view=view,
    )


def _sentence(joined: Joined, first: Grown, second: Grown, names: tuple[str, str], *, relative: bool) -> str:
    tree, unit = joined.tree, "%" if relative else second.value.unit
    after, before = (100 / whole if relative and whole > 0 else 1.0 for whole in (second.whole, first.whole))
    own = tree.own * after - joined.before * before
    text = (
        f"From {names[0]} to {names[1]} the {second.value.label} goes from"
        f" {building.number(float(joined.before.sum()), second.value.unit)} to"
        f" {building.number(tree.whole, second.value.unit)}"
    )
    top = int(abs(own).argmax())
    if own[top]:
        of = " of the whole" if relative else ""
        text += f"; {tree.names[top]} itself changes most: {building.signed(float(own[top]), unit)}{of}"
    return text + "."


VIEW = View(
    _NAME,
    _TITLE,
    "The flame graph of one run, coloured by the change from another: two processor counts, or two studies.",
    _make,
    (study_trees.METRIC, building.CHANGE, _SECOND, _REFERENCE, common.SIZE, building.WIDTHS, building.ICICLE),
    group="Compare",
    order=205,
    needs=(*needs.RUNS_OR_SET, study_trees.NEED, _FEW, _UNLIKE, NEITHER),
    without=True,
    several=True,
)
