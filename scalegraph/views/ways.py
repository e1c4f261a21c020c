"""Ways on from a view: what the window offers as a button, by the name it knows it by."""

from __future__ import annotations

from typing import Final

from scalegraph.views.data import StudyData
from scalegraph.views.figure import Way

ADD_SIZES: Final = Way(
    "add-sizes",
    "Add sizes to get a scalability matrix",
    "Plans runs of further problem sizes that hold an efficiency; nothing runs before you press Run",
)


MEASURE_SIZES: Final = Way(
    "measure-sizes",
    "What to measure for a scalability matrix",
    "Says which runs of your own program are missing",
)


def of_one_size(data: StudyData) -> bool:
    """Return whether all runs of *data* have one problem size: there is no scalability matrix then."""
    return not data.table.empty and int(data.scaling["problem"].nunique()) == 1


def asks_for_sizes(data: StudyData) -> bool:
    """Return whether the request of *data* asks for other sizes: they come as its runs end."""
    request = data.manifest.get("request") or {}
    kinds = {bound.get("kind", "problem_size") for bound in request.get("bound") or ()}
    return bool(kinds - {"problem_size"})


def to_sizes(data: StudyData) -> tuple[Way, ...]:
    """Return the button that plans runs of further sizes, where ScaleGraph can run the program of *data*."""
    request = data.manifest.get("request") or {}
    can = bool(request.get("program")) and data.imported is None
    return (ADD_SIZES,) if can and not asks_for_sizes(data) else ()


def to_measurements(data: StudyData) -> tuple[Way, ...]:
    """Return the button that says which measurements of other sizes *data*, which are measurements, lack."""
    return (MEASURE_SIZES,) if data.imported is not None and of_one_size(data) else ()


def middling_efficiency(data: StudyData) -> float | None:
    """Return the efficiency on a middling number of processors of the richest series; ``None`` if not known."""
    series = data.main_series
    if series is None or "efficiency" not in series.rows.columns:
        return None
    values = [float(value) for value in series.rows["efficiency"] if value == value]
    return values[len(values) // 2] if len(values) > 1 else None


def what_to_measure(data: StudyData) -> str:
    """Return what a scalability matrix of measurements needs, with the processor counts that *data* has."""
    counts = sorted({int(n) for n in data.table["processors"]} | {1}) if not data.table.empty else [1, 2, 4, 8]
    listed = ", ".join(map(str, counts[:-1]))
    return (
        f"For a scalability matrix, measure two or more problem sizes, each on {listed} and {counts[-1]} processors,"
        " with the size as a parameter, and import all of it together."
    )
