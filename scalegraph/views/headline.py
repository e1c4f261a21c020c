"""The line above a study: what it says in one sentence."""

from __future__ import annotations

from scalegraph.analyze import series, verdict
from scalegraph.analyze.bounds import Bound
from scalegraph.views import matrices
from scalegraph.views.data import StudyData


def headline(data: StudyData) -> str:
    """Return program, machine, processors, what was held and how far it scales.

    What the request names first decides (a fixed size, or a bound); the other is said when the first says nothing.
    """
    main = series.main_series(data.scaling) if not data.scaling.empty else None
    kinds = [str(bound.get("kind")) for bound in (data.manifest.get("request") or {}).get("bound") or ()]
    known = ("problem_size", "efficiency", "time", "memory", "speed")
    first = next((kind for kind in kinds if kind in known), "problem_size")
    manifest = {**data.manifest, "title": _program(data), "machine_title": data.machine_title}
    if data.scaling.empty or (first == "problem_size" and main is not None):
        return verdict.header(data.scaling, main, manifest)
    held = None
    bounds: tuple[Bound, ...] = ("speed", "efficiency", "time", "memory")
    for bound in bounds:
        if bound in (first, "efficiency") and held is None:
            made = matrices.matrix(data, bound, metric="isospeed" if bound == "speed" else "latency")
            held = made if made is not None and len(made.values) > 1 else None
    return verdict.header(data.scaling, None if held is not None else main, manifest, held)


def _program(data: StudyData) -> str:
    if not data.scaling.empty:
        return str(data.scaling["program"].iloc[0])
    return str(data.manifest.get("program") or "")
