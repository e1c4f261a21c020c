"""Scalability averaged over a set of efficiencies (latency-metric.txt eq. 3.8)."""

from __future__ import annotations

from scalegraph.analyze.matrix import Matrix, Metric
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import plain, significant
from scalegraph.figures.figure import Cell, Figure, Grid, Origin
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.sizes(
    "An average over efficiencies needs runs of several sizes on one processor and on several N, such that two or more"
    " efficiencies are met on the same counts.",
    "efficiency",
)
_TITLE = "Average scalability"


def _make(
    data: StudyData,
    efficiencies: object = None,
    metric: object = "latency",
    latency: object = "accounting",
    way: object = "runs",
) -> Figure | Need:
    wanted = parse(str(efficiencies)) if efficiencies else None
    chosen: Metric = "isoefficiency" if metric == "isoefficiency" else "latency"
    made = matrices.averaged(data, wanted, metric=chosen, latency=str(latency), way=str(way))
    if made is None or not any(n < n2 for n, n2 in made[0].values):
        return _NEED
    mean, single = made
    (mean,), _ = matrices.trimmed([mean]) if mean.anchors else ([mean], ())
    listed = ", ".join(plain(one.target) for one in single)
    counts = mean.processors
    names = tuple(str(n) for n in counts)
    cells = tuple(tuple(_cell(mean, single, n, n2, data) if n <= n2 else None for n2 in counts) for n in counts)
    first, last = min(pair for pair in mean.values if pair[0] < pair[1])[0], max(n2 for _, n2 in mean.values)
    value = mean.value(first, last)
    known = f": from {first} to {last} processors {significant(value)}" if value is not None else ""
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"Averaged over the efficiencies {listed}{known}.",
        (
            Grid(
                "N",
                "N'",
                names,
                names,
                cells,
                (f"average over E = {listed}",),
                row_processors=counts,
                column_processors=counts,
            ),
        ),
        notes=(
            "Mean of the scalabilities with each efficiency of the set held, with equal weight.",
            *mean.notes,
            *(common.latency_note(chosen) or (common.work_note(data),)),
        ),
    )


def _cell(mean: Matrix, single: tuple[Matrix, ...], n: int, n2: int, data: StudyData) -> Cell:
    value = mean.value(n, n2)
    lines = [f"from N = {n} to N' = {n2}"]
    if value is not None:
        ends = mean.intervals.get((n, n2))
        span = f", 95 % between {significant(ends[0])} and {significant(ends[1])}" if ends else ""
        lines.append(f"average: {common.exact(value)} ({mean.ways.get((n, n2), '')}{span})")
    for one in single:
        at = one.value(n, n2)
        lines.append(f"E = {plain(one.target)}: " + (common.exact(at) if at is not None else "not known"))
    origins: dict[str, Origin] = {"predicted": "predicted", "computed": "computed"}
    origin = origins.get(mean.ways.get((n, n2), ""), common.origin(data.scaling))
    return Cell((value,), mean.reasons.get((n, n2), "") if value is None else "", "\n".join(lines), origin)


def parse(text: str) -> tuple[float, ...]:
    """Return the efficiencies in ``0.2, 0.4, 0.6``; raise `InputError` for anything else."""
    found = []
    for part in text.replace(";", ",").split(","):
        try:
            value = float(part)
        except ValueError:
            value = float("nan")
        if not 0 < value < 1:
            raise InputError(Fault(f"'{part.strip()}': an efficiency between 0 and 1 was expected", key="efficiencies"))
        if value not in found:
            found.append(value)
    if len(found) < 2:
        raise InputError(
            Fault(f"'{text}': an average is over two or more efficiencies, as in 0.25, 0.5", key="efficiencies")
        )
    return tuple(sorted(found))


VIEW = View(
    "average-scalability",
    _TITLE,
    "The scalability matrix averaged over several efficiencies, so that it does not depend on one.",
    _make,
    (
        Option(
            "efficiencies", "Efficiencies", "text", description="comma separated; otherwise round ones that are met"
        ),
        matrices.METRIC,
        matrices.LATENCY,
        matrices.WAY,
    ),
    needs=(_NEED,),
)
