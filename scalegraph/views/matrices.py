"""The scalability matrices of a study, as the matrix views and the header need them."""

from __future__ import annotations

from collections.abc import Sequence

from scalegraph.analyze import bounds
from scalegraph.analyze.bounds import Bound
from scalegraph.analyze.matrix import Matrix, Metric, scalability
from scalegraph.views.data import StudyData
from scalegraph.views.view import Option

EFFICIENCY = Option(
    "efficiency",
    "Efficiency held",
    "float",
    description="E between 0 and 1; otherwise that of the request, or a round one that most processor counts reach",
    minimum=0.001,
    maximum=0.999,
)
TIME = Option(
    "time", "Time held", "float", unit="s", description="T_para; otherwise that of the request", minimum=1e-12
)
MEMORY = Option(
    "memory", "Memory held", "float", unit="B", description="bytes per processor; otherwise as requested", minimum=1e-3
)
SPEED = Option(
    "speed",
    "Speed held",
    "float",
    unit="op/s",
    description="operations per second and processor; otherwise half the asymptotic one-processor speed",
    minimum=1e-9,
)
METRIC = Option(
    "metric",
    "Metric",
    "choice",
    "latency",
    ("latency", "isospeed"),
    description="ratio of average latencies (eq. 4), or psi = N' W/(N W') (isospeed)",
)
LATENCY = Option(
    "latency",
    "Latency by",
    "choice",
    "accounting",
    ("accounting", "method1"),
    description="accounting (ML + IT + PT)/N, or method 1: T_para - T_seq/N",
)


def matrix(
    data: StudyData,
    bound: Bound,
    *,
    metric: Metric = "latency",
    target: float | None = None,
    latency: str = "accounting",
    tolerance: float | None = None,
) -> Matrix | None:
    """Return the matrix of *data* with *bound* held; ``None`` when the runs give no target at all.

    Target and tolerance not given are those of the request, then `bounds.usual_target` and 1 %. *tolerance* is
    relative to the target (to 1 for nothing): within it a run counts as measured.
    """
    goal = held_at(data, bound, target, tolerance)
    if goal is None:
        return None
    target, near = goal
    return scalability(
        data.scaling,
        metric=metric,
        bound=bound,
        target=target,
        tolerance=near,
        latency="method1" if latency == "method1" else "accounting",
        failures=failures(data),
        searches=_searches(data, bound, target),
    )


def held_at(
    data: StudyData, bound: Bound, target: float | None = None, tolerance: float | None = None
) -> tuple[float, float] | None:
    """Return what *bound* is held at and the tolerance as `bounds.anchors` takes it; see `matrix`."""
    wanted, share = data.bound(bound)
    if target is None:
        target, relative = (wanted, share) if wanted is not None else (bounds.usual_target(data.scaling, bound), None)
    else:
        relative = share if wanted == target else None
    if target is None:
        return None
    near = tolerance if tolerance is not None else (relative or 0.01)
    return target, near * target if bound == "efficiency" else near


def _searches(data: StudyData, bound: Bound, target: float) -> dict[int, str]:
    """Return the sentences of searches for this bound that did not meet it, by N (`manifest` key ``searches``)."""
    return {
        int(search["processors"]): str(search["sentence"]).replace("; ", ", ")
        for search in data.manifest.get("searches") or ()
        if search.get("bound") == bound and not search.get("met") and search.get("value") == target
    }


def trimmed(found: Sequence[Matrix]) -> tuple[list[Matrix], tuple[int, ...]]:
    """Return the matrices without the counts that were never meant for them, and those counts.

    A count where fewer than two sizes were run and none meets any bound belongs to another series of the study (a
    fixed size, say): its cells would all be empty.
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
    """Return for each N on which some run failed the reason of the last one."""
    return {
        run.point.processors: f"a run failed: {(run.message or run.status).replace('; ', ', ')}" for run in data.failed
    }
