"""The arrangement that opens first, chosen by the study's data so that no view is empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from scalegraph.gui.dock.arrangements import Layout, Split, Tabs

if TYPE_CHECKING:
    from scalegraph.subjects.study import StudyData

OVERVIEW: Final = "Overview"
_SCHEDULES: Final = Split(
    "beside",
    (
        Split("below", (Tabs(("schedules", "schedule-parameters")), Tabs(("schedule-losses", "schedule-loops")))),
        Split("below", (Tabs(("schedule-advice", "runs")), Tabs(("chunk-history", "loop-load", "iteration-times")))),
    ),
)
_PREDICTIONS: Final = Split("beside", (Tabs(("predicted", "source", "runs")), Tabs(("thread-graph", "time"))))


def overview_of(data: StudyData) -> Layout | None:
    """Return the overview for one problem size, ``None`` if the study has or will get a matrix.

    A study that compares loop schedules gets one that shows them.
    """
    from scalegraph.subjects import matrices, schedule_runs, weak_runs
    from scalegraph.views import ways

    if data.graph is not None:
        return Split(
            "beside", (Tabs(("thread-graph",), 3), Tabs(("source",), 2)) if data.sources else (Tabs(("thread-graph",)),)
        )
    if data.predictions.points:
        return _PREDICTIONS
    if data.imported is not None and data.main_series is None and weak_runs.series(data) is not None:
        return _tiles((("weak-scaling", "runs"), ()), (("verdicts",), ("laws",)))
    request = data.manifest.get("request") or {}
    if request.get("predict"):
        return _PREDICTIONS
    if schedule_runs.schedule_runs(data) is not None or (request.get("schedules") or {}).get("compare"):
        return _SCHEDULES
    if ways.asks_for_sizes(data) or not ways.of_one_size(data):
        return None
    if data.imported is not None and matrices.printed(data) is not None:
        return None
    counts = {int(n) for n in data.table["processors"]} | _asked(request)
    lasting = ("time", "runs") if len(counts) > 1 else ("runs",)
    several = len(counts) > 1 and (1 in counts or data.imported is not None)  # measurements do not need N = 1
    against_one = ("speedup",) if several else ()
    if data.imported is None and len(counts) == 1:  # shares over N need several N
        return _tiles((lasting, ("hottest",)), (("processors", "source"), ("profile",)))
    if data.imported is None:
        return _tiles((lasting, ("hottest", "profile")), (("breakdown", "overheads", "source"), against_one))
    weak = data.meaning is not None and data.meaning.scaling == "weak"
    places = ("hottest", "region-models") if len(data.imported[0].call_paths) > 1 else ("laws",)
    return _tiles((lasting, ("verdicts",)), (("weak-scaling",) if weak else against_one, places))


def _asked(request: Mapping[str, Any]) -> set[int]:
    """Return the processor counts that exist once the request is done."""
    if not request.get("program"):
        return set()
    return {int(n) for n in request.get("processors") or ()} | ({1} if request.get("reference", True) else set())


def _tiles(above: Sequence[tuple[str, ...]], below: Sequence[tuple[str, ...]]) -> Layout:
    """Return tiles in columns, *above* over *below*; an empty tile leaves its room to the other."""
    columns = []
    for top, bottom in zip(above, below, strict=True):
        parts = tuple(Tabs(views) for views in (top, bottom) if views)
        columns.append(parts[0] if len(parts) == 1 else Split("below", parts))
    return Split("beside", tuple(columns))
