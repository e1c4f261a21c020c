"""Shared parts of views of predictions: points and their runs, the parameter on the axis, lines and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from scalegraph.base.measures import percent
from scalegraph.base.run import RunRecord
from scalegraph.base.units import assigned, counted
from scalegraph.figures.figure import Axis, Line
from scalegraph.figures.way import Need
from scalegraph.predict import measures
from scalegraph.predict.kept import KeptPoint
from scalegraph.predict.regions import values_of
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways

MOST_LINES: Final = 8  # at most this many sizes, or N, get a line each
_FEW: Final = 2  # N of one size: too few for a curve over N

NEED = Need(
    "Nothing has been predicted in this study yet.",
    ways.PREDICT,
    "Predict larger runs from small ones.",
    "Predictions need runs at two or more problem sizes with regions, or traces of two sizes.",
    met=lambda data, **_: bool(data.predictions.points),
)
OVER = Option(
    "over",
    "Over",
    "choice",
    "automatic",
    ("automatic", "size", "processors"),
    description="what the axis shows; otherwise the size, unless one size was predicted on several N",
)


@dataclass(frozen=True)
class Point:
    """A predicted point; *time_s* is None if no prediction was made, *actual_s* if it was not run."""

    kept: KeptPoint
    size: Mapping[str, int]
    actual_s: float | None
    actual_host_s: float | None = None

    @property
    def error(self) -> float | None:
        """Relative error (4.9), None if not known."""
        if self.kept.time_s is None or not self.actual_s:
            return None
        return measures.error(self.actual_s, self.kept.time_s)

    @property
    def ratio(self) -> float | None:
        """Conservative prediction ratio (4.8); uses the predicted time if the point was not run."""
        return measures.known_ratio(self.actual_s or self.kept.time_s, self.kept.samples_s, self.kept.estimate_s)

    @property
    def host_ratio(self) -> float | None:
        """The same ratio with times on this computer, None if the point was not run."""
        return measures.known_ratio(self.actual_host_s, self.kept.samples_host_s, self.kept.estimate_s)

    @property
    def inside(self) -> bool:
        """Whether the run's time lies within the interval."""
        low, high = self.kept.low_s, self.kept.high_s
        return self.actual_s is not None and low is not None and high is not None and low <= self.actual_s <= high


@dataclass(frozen=True)
class Sizes:
    """The parameters that vary, and the one on the axis."""

    names: tuple[str, ...]
    shown: str

    def text(self, values: Mapping[str, object]) -> str:
        """Return the varying parameters with their *values* as text."""
        return assigned([(name, values[name]) for name in self.names if name in values]) or "the size"


def actual(data: StudyData, point: KeptPoint) -> float | None:
    """Return the time of the run at *point* in s, None if there is none."""
    run = _run(data, point)
    return point.actual_s if run is None else run.time_s


def _run(data: StudyData, point: KeptPoint) -> RunRecord | None:
    run = data.by_key.get(point.key)
    return run if run is not None and run.ok and run.source != "predicted" else None


def _host(data: StudyData, point: KeptPoint) -> float | None:
    run = _run(data, point)
    return point.actual_host_s if run is None else measures.host_seconds([run])


def points_of(data: StudyData) -> list[Point]:
    """Return the predictions with their runs, if there are any."""

    def whole(point: KeptPoint) -> dict[str, int]:
        return {name: value for name, value in point.parameters.items() if isinstance(value, int)}

    return [Point(point, whole(point), actual(data, point), _host(data, point)) for point in data.predictions.points]


def sizes_of(points: Sequence[Point], runs: Sequence[RunRecord]) -> Sizes:
    """Return the parameters that vary over *points* and *runs*."""
    every = [*(point.size for point in points), *(values_of(run) for run in runs)]
    distinct = {name: len({values.get(name) for values in every}) for name in every[0]}
    names = tuple(name for name in sorted(distinct) if distinct[name] > 1)
    return Sizes(names, max(names, key=lambda name: distinct[name], default=""))


def runs_of(data: StudyData, points: Sequence[Point]) -> list[RunRecord]:
    """Return the successful runs: samples, and runs at predicted points."""
    used = {*data.predictions.samples, *(point.kept.key for point in points)}
    own = [run for run in data.runs if run.ok and run.source != "predicted" and not run.point.repetition]
    return [run for run in own if run.point.key in used] or own


def over_size(points: Sequence[Point], sizes: Sizes, over: str) -> bool:
    """Return whether the axis is the size; by default it is, unless one size has several N."""
    if not sizes.shown or over == "processors":
        return False
    counts = {point.kept.processors for point in points}
    several = len({point.size.get(sizes.shown) for point in points}) > 1
    return over == "size" or several or len(counts) <= _FEW


def lines_of(
    data: StudyData, points: Sequence[Point], runs: Sequence[RunRecord], sizes: Sizes, *, by_size: bool
) -> tuple[Line, ...]:
    """Return, for each N or each size, a dashed line of predictions and a line of runs."""
    made: list[Line] = []
    groups: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        name = f"N = {point.kept.processors}" if by_size else sizes.text(point.size)
        role = common.count_role(data, point.kept.processors) if by_size else ""
        groups.setdefault((name, role), []).append(point)
    for index, ((name, role), own) in enumerate(list(groups.items())[:MOST_LINES]):
        colour = role or f"series:{index}"
        first = own[0]
        there = [
            run
            for run in runs
            if (
                run.point.processors == first.kept.processors
                if by_size
                else sizes.text(values_of(run)) == sizes.text(first.size)
            )
        ]
        found = [point for point in own if point.kept.time_s is not None]
        if there:
            made.append(_of_runs(there, f"{name}, run", colour, sizes.shown if by_size else ""))
        if found:
            made.append(line_of(found, f"{name}, predicted", colour, sizes, by_size=by_size))
    return tuple(made)


def _of_runs(runs: Sequence[RunRecord], name: str, role: str, parameter: str) -> Line:
    def place(run: RunRecord) -> float:
        return float(values_of(run)[parameter]) if parameter else float(run.point.processors)

    ordered = sorted((run for run in runs if not parameter or parameter in values_of(run)), key=place)
    return Line(
        name,
        tuple(map(place, ordered)),
        tuple(run.time_s or 0.0 for run in ordered),
        role,
        common.origin_of(*(run.source for run in ordered)),
        tips=tuple(f"run: {common.exact(run.time_s or 0.0, 's')}\n{run.point.label()}" for run in ordered),
        processors=tuple(run.point.processors for run in ordered),
    )


def line_of(points: Sequence[Point], name: str, role: str, sizes: Sizes, *, by_size: bool) -> Line:
    """Return *points* as a dashed line with a band for their intervals."""

    def place(point: Point) -> float:
        return float(point.size.get(sizes.shown, 0)) if by_size else float(point.kept.processors)

    ordered = sorted(points, key=place)
    times = [point.kept.time_s or 0.0 for point in ordered]
    return Line(
        name,
        tuple(map(place, ordered)),
        tuple(times),
        role,
        "predicted",
        tuple(point.kept.low_s or time for point, time in zip(ordered, times, strict=True)),
        tuple(point.kept.high_s or time for point, time in zip(ordered, times, strict=True)),
        style="dashed",
        tips=tuple(tip(point, sizes) for point in ordered),
        processors=tuple(point.kept.processors for point in ordered),
        band=True,
    )


def tip(point: Point, sizes: Sizes) -> str:
    """Return a point's tooltip with exact numbers."""
    kept = point.kept
    lines = [f"predicted: {common.exact(kept.time_s or 0.0, 's')}"]
    if kept.low_s is not None and kept.high_s is not None:
        lines.append(f"interval: {common.exact(kept.low_s, 's')} to {common.exact(kept.high_s, 's')}")
    if point.actual_s:
        lines.append(f"run: {common.exact(point.actual_s, 's')}, error {percent(point.error or 0.0)}")
    return "\n".join([*lines, f"N = {kept.processors}, {sizes.text(point.size)}"])


def axis(lines: Sequence[Line], sizes: Sizes, *, by_size: bool) -> Axis:
    """Return the axis of sizes, or of processor counts."""
    if by_size:
        there = tuple(sorted({x for line in lines for x in line.x}))
        return Axis(sizes.shown, scale="log10", ticks=there if len(there) <= MOST_LINES else ())
    return common.processors_axis([int(n) for line in lines for n in line.x])


def sentence(points: Sequence[Point], data: StudyData, sizes: Sizes) -> str:
    """Return a sentence on the predictions, with their errors if known."""
    samples = counted(len(data.predictions.samples), "sample run")
    known = [point for point in points if point.error is not None]
    errors = [abs(point.error or 0.0) for point in known]
    if len(known) == 1:
        return (
            f"1 predicted point from {samples} was run too: the error is {percent(errors[0])};"
            f" the run lies {'in' if known[0].inside else 'outside'} the interval."
        )
    if errors:
        inside = sum(point.inside for point in known)
        return (
            f"{counted(len(known), 'predicted point')} from {samples} were run too:"
            f" the error is {percent(median(errors))} in the middle and {percent(max(errors))} at most;"
            f" {inside} of {len(known)} lie in their interval."
        )
    found = [point for point in points if point.kept.time_s is not None]
    if not found:
        return f"None of the {counted(len(points), 'point')} could be predicted from {samples}; the table says why."
    largest = max(found, key=lambda point: (point.kept.time_s or 0.0) * point.kept.processors)
    kept = largest.kept
    time, low, high = (kept.time_s or 0.0, kept.low_s or 0.0, kept.high_s or 0.0)
    return (
        f"{sizes.text(largest.size)} on {kept.processors} processors is predicted to take {common.seconds(time)},"
        f" between {common.seconds(low)} and {common.seconds(high)}; {samples} took"
        f" {common.seconds(kept.samples_s)} of simulated time."
    )
