"""The scalability matrices of a study, for the matrix views and the header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import pandas as pd

from scalegraph.analyze import bounds, consistency, matrix_prediction, published
from scalegraph.analyze.bounds import Bound
from scalegraph.analyze.matrix import Matrix, Metric, average, common_efficiencies, scalability
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import plain, si
from scalegraph.figures.figure import Handle
from scalegraph.subjects import matrix_ways
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData

EFFICIENCY = Option(
    "efficiency",
    "Efficiency held",
    "float",
    description="E between 0 and 1; by default that of the request, or a round one that most processor counts reach",
    minimum=0.001,
    maximum=0.999,
)
TIME = Option(
    "time", "Time held", "float", unit="s", description="elapsed time; by default that of the request", minimum=1e-12
)
MEMORY = Option(
    "memory",
    "Memory held",
    "float",
    unit="B",
    description="bytes per processor; by default as requested, or the machine's memory",
    minimum=1e-3,
)
SPEED = Option(
    "speed",
    "Speed held",
    "float",
    unit="op/s",
    description="operations per second and processor; by default half the asymptotic one-processor speed",
    minimum=1e-9,
)
ENERGY = Option(
    "energy",
    "Energy held",
    "float",
    unit="J",
    description="energy to solution; by default one that the runs meet",
    minimum=1e-12,
)
METRIC = Option(
    "metric",
    "Metric",
    "choice",
    "latency",
    ("latency", "isospeed", "isoefficiency"),
    description=(
        "ratio of average latencies; growth of the work at equal unit speed, N' W/(N W'); or the same at equal bound"
    ),
)
WAY = Option(
    "way",
    "Cells",
    "choice",
    "runs",
    ("runs", "measured", "computed", "predicted", "best", *matrix_ways.AT_SPEED),
    description="runs, with interpolation; runs only; interpolation only; predicted by models; or the best available;"
    " at equal speed also by a line of the times over log2 N, or by Theorem 1 or 2 of isospeed",
    words=(
        "runs, with interpolation",
        "runs only",
        "interpolation only",
        "predicted by models",
        "best available",
        "times over log2 N",
        "Theorem 1",
        "Theorem 2",
    ),
)
LATENCY = Option(
    "latency",
    "Latency by",
    "choice",
    "accounting",
    ("accounting", "method1"),
    description="from the accounts of every cycle, or from times alone",
)

# options shared by all views of one matrix, besides the bound
ASKED = (METRIC, EFFICIENCY, TIME, MEMORY, SPEED, ENERGY, LATENCY, WAY, *matrix_ways.OPTIONS)
BOUND = Option(
    "bound",
    "Bound",
    "choice",
    "efficiency",
    ("efficiency", "time", "memory", "energy"),
    description="what is held constant",
)


def matrix(
    data: StudyData,
    bound: Bound,
    *,
    metric: Metric = "latency",
    target: float | None = None,
    latency: str = "accounting",
    tolerance: float | None = None,
    way: str = "runs",
    processors: Sequence[int] | None = None,
    **given: Any,
) -> Matrix | None:
    """Return the matrix of *data* with *bound* held; ``None`` if the runs give no target at all.

    Defaults for target and tolerance: those of the request; for a memory bound the memory of a processor of the
    machine; otherwise `bounds.usual_target`, and 1 %. *tolerance* is relative to the target (to 1 for a target of 0):
    within it a run meets the bound. *way*: ``runs`` uses runs and interpolates between them, ``measured`` and
    ``computed`` do only one of these, ``predicted`` uses models of the times (`analyze.predicted`), ``best`` the models
    only where the runs give nothing; ``log2``, ``theorem1`` and ``theorem2`` predict psi, with the options *given*
    (`matrix_ways`). *processors* may name counts without runs, which can only be predicted. A printed matrix is
    returned as it is, whatever is requested.
    """
    known = printed(data)
    if known is not None:
        return known
    goal = held_at(data, bound, target, tolerance)
    if goal is None:
        return None
    target, near = goal
    kind: Literal["accounting", "method1"] = "method1" if latency == "method1" else "accounting"
    made = scalability(
        data.one_program,
        metric=metric,
        bound=bound,
        target=target,
        processors=processors,
        tolerance=near,
        latency=kind,
        failures=failures(data),
        searches=_searches(data, bound, target),
        way="measured" if way == "measured" else "computed" if way == "computed" else "runs",
    )
    if made is not None:
        notes = (*made.notes, data.other_programs) if data.other_programs else made.notes
        made = replace(made, saturated=_saturated(data, bound, target), notes=notes)
    if made is not None and way in matrix_ways.AT_SPEED:
        return matrix_ways.at_speed(data, made, way, given)
    if made is None or way not in ("predicted", "best"):
        return made
    return matrix_prediction.completed(
        made, data.one_program, latency=kind, replace_all=way == "predicted", modelled=partial(_modelled, data)
    )


def _modelled(
    data: StudyData, scaling: pd.DataFrame, counts: Sequence[int], latency: Literal["accounting", "method1"]
) -> matrix_prediction.Modelled:
    """Return the models of a study, fitted once, so that moving the bound needs no new fit."""
    key = f"matrix models {latency} {list(counts)}"
    return data.once(key, lambda: matrix_prediction.models_of(scaling, counts, latency))


def asked(
    data: StudyData,
    options: Mapping[str, Any],
    bound: object = "efficiency",
    processors: Sequence[int] | None = None,
) -> Matrix | None:
    """Return the matrix that a view's *options* (`ASKED`) request: isospeed holds the speed, other metrics *bound*.

    *bound* is for views that have no option for it, because they hold several.
    """
    known: tuple[Bound, ...] = ("time", "efficiency", "memory", "speed", "energy")
    metric, held = metric_of(options.get("metric")), options.get("bound", bound)
    name: Bound = "speed" if metric == "isospeed" else next((one for one in known if one == held), "efficiency")
    return matrix(
        data,
        name,
        metric=metric,
        target=options.get(name),
        latency=str(options.get("latency", LATENCY.default)),
        way=str(options.get("way", WAY.default)),
        processors=processors,
        **{option.name: options.get(option.name) for option in matrix_ways.OPTIONS},
    )


def metric_of(option: object) -> Metric:
    """Return the metric that an option names; the latency metric by default."""
    known: tuple[Metric, ...] = ("isospeed", "isoefficiency")
    return next((metric for metric in known if metric == option), "latency")


def counts(text: object) -> tuple[int, ...] | None:
    """Parse processor counts such as ``2, 4, 8``; return None if empty. Raises `InputError` for anything else."""
    if not text:
        return None
    words = [word.strip() for word in str(text).split(",")]
    for word in words:
        if not word.isdecimal() or not 1 <= int(word) <= 1 << 30:
            raise InputError(Fault(f"'{word}': a number of processors was expected", key="processors"))
    return tuple(sorted({int(word) for word in words}))


def averaged(
    data: StudyData, efficiencies: Sequence[float] | None = None, *, metric: Metric = "latency", **options: Any
) -> tuple[Matrix, tuple[Matrix, ...]] | None:
    """Return the mean over *efficiencies* (latency-metric.txt eq. 3.8) and the matrices that it averages.

    Default efficiencies: those that the runs meet on the largest number of counts (`common_efficiencies`); ``None`` for
    fewer than two, as one value has no average. *options* as of `matrix`.
    """
    if data.one_program.empty or printed(data) is not None:
        return None
    wanted = tuple(efficiencies or ()) or data.once("common", lambda: common_efficiencies(data.one_program))
    found = [matrix(data, "efficiency", metric=metric, target=target, **options) for target in wanted]
    single = tuple(made for made in found if made is not None)
    if len({one.target for one in single}) < 2:
        return None
    # counts at which no efficiency is met belong to another series of the study
    kept = [n for n in single[0].processors if any(n in one.anchors and one.anchors[n].known for one in single)]
    single = tuple(one.only(kept) for one in single)
    return average(single), single


def printed(data: StudyData) -> Matrix | None:
    """Return the matrix in the study's measurement set, with its contradictions as notes; else None."""
    if data.imported is None:
        return None
    made = published.matrix_of(data.imported[0])
    if made is None:
        return None
    given = {pair: value for pair, value in made.values.items() if made.ways[pair] == "imported"}
    wrong = consistency.sentence(consistency.contradictions(replace(made, values=given)))
    return replace(made, notes=(*data.imported[0].notes, *((wrong,) if wrong else ())))


def symbol(made: Matrix) -> str:
    """Return the symbol of a value in formulas: ``psi(N, N')`` or ``scale(N, N')``."""
    return "psi(N, N')" if made.metric == "isospeed" else "scale(N, N')"


def speed_handle(speed: float, unit: str, limits: tuple[float, float] | None, axis: Literal["y", "value"]) -> Handle:
    """Return the draggable line that sets the speed held."""
    return Handle(SPEED.name, axis, speed, f"{si(speed, unit)} held", limits)


def efficiency_handle(efficiency: float, axis: Literal["y", "value"]) -> Handle:
    """Return the draggable line that sets the efficiency held."""
    low, high = EFFICIENCY.minimum or 0.0, EFFICIENCY.maximum or 1.0
    return Handle(EFFICIENCY.name, axis, efficiency, f"E = {plain(efficiency)} held", (low, high))


def held_at(
    data: StudyData, bound: Bound, target: float | None = None, tolerance: float | None = None
) -> tuple[float, float] | None:
    """Return the value at which *bound* is held, and the tolerance for `bounds.anchors`; see `matrix`."""
    wanted, share = data.bound(bound)
    if target is None:
        usual = data.capacity_bytes if bound == "memory" else None
        if usual is None:
            usual = data.once(f"usual {bound}", lambda: bounds.usual_target(data.one_program, bound))
        target, relative = (wanted, share) if wanted is not None else (usual, None)
    else:
        relative = share if wanted == target else None
    if target is None:
        return None
    near = tolerance if tolerance is not None else (relative or 0.01)
    return target, near * target if bound == "efficiency" else near


def _searches(data: StudyData, bound: Bound, target: float) -> dict[int, str]:
    """Return sentences on searches for this bound that did not meet it, by N (`manifest` key ``searches``)."""
    return {
        int(search["processors"]): str(search["sentence"]).replace("; ", ", ")
        for search in data.manifest.get("searches") or ()
        if search.get("bound") == bound and not search.get("met") and search.get("value") == target
    }


def _saturated(data: StudyData, bound: Bound, target: float) -> dict[int, float]:
    """Return, by N, the value at which a search for this bound ended because larger problems no longer raised it."""
    return {
        int(search["processors"]): float(search["got"])
        for search in data.manifest.get("searches") or ()
        if search.get("bound") == bound and search.get("why") == "flat" and search.get("value") == target
    }


def trimmed(found: Sequence[Matrix]) -> tuple[list[Matrix], tuple[int, ...]]:
    """Return the matrices without counts that belong to other series, and those counts.

    A count with fewer than two sizes, none of which meets any bound, belongs to another series of the study (a fixed
    size, say): all its cells would be empty.
    """
    counts = sorted({n for made in found for n in made.processors})
    idle = [
        n
        for n in counts
        if not any(n in made.anchors and (made.anchors[n].known or made.anchors[n].runs_tried > 1) for made in found)
    ]
    kept = [n for n in counts if n not in idle]
    if len(kept) < 2:
        return list(found), ()
    return [made.only(kept) for made in found], tuple(idle)


def failures(data: StudyData) -> dict[int, str]:
    """Return the reason of the last failed run, for each N with one."""
    return {
        run.point.processors: f"a run failed: {(run.message or run.status).replace('; ', ', ')}" for run in data.failed
    }
