"""Flame graph of a run: regions or call paths as frames as wide as their cost."""

from __future__ import annotations

from scalegraph.figures.figure import Figure
from scalegraph.figures.way import Need
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.flames import building, study_trees
from scalegraph.views.flames.building import Grown
from scalegraph.views.view import View

_NOTHING = Need("No region or call path of {words} has any {value}. Choose another frame value.")
_NAME, _TITLE = "flame", "Flame graph"


def _make(
    data: StudyData,
    metric: object = None,
    processors: object = None,
    size: object = None,
    colour: object = "group",
    *,
    icicle: bool = False,
) -> Figure | Need:
    grown = study_trees.grown(data, metric, processors, size, colour)
    if grown is None:
        return study_trees.NEED
    if not len(grown.tree):
        return _NOTHING.of(words=grown.words, value=grown.value.label)
    made, notes = building.flame(grown, icicle=icicle)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, {grown.words}",
        sentence(grown),
        (made,),
        notes=(
            f"Widths are {grown.value.label}, summed over processors; shares are of {grown.base}."
            if grown.lexical
            else f"Widths are {grown.value.title}; shares are of {grown.base}.",
            *grown.notes,
            *notes,
        ),
        ways=study_trees.to_trace(data, grown),
    )


def sentence(grown: Grown) -> str:
    """Return a sentence on the most expensive frames, exclusive and inclusive."""
    tree = grown.tree
    top = int(tree.own.argmax())
    text = (
        f"{tree.names[top]} costs most by itself: {building.share(float(tree.own[top]), grown.whole)} of {grown.base}"
    )
    inner = [index for index, parent in enumerate(tree.parents) if parent >= 0]
    wide = max(inner, key=lambda index: float(tree.total[index]), default=top)
    if tree.names[wide] != tree.names[top]:
        text += f"; {tree.names[wide]} inclusive {building.share(float(tree.total[wide]), grown.whole)}"
    return text + "."


VIEW = View(
    _NAME,
    _TITLE,
    "Regions or call paths of a run as stacked frames, as wide as the time they cost.",
    _make,
    (study_trees.METRIC, common.PROCESSORS, common.SIZE, study_trees.COLOUR, building.ICICLE),
    needs=(*needs.RUNS_OR_SET, study_trees.NEED, _NOTHING),
    without=True,
)
