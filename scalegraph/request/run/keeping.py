"""What a study keeps of predictions: rows marked as predicted, and their basis."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.units import counted, si
from scalegraph.predict import kept, limits
from scalegraph.predict.regions import clock_of
from scalegraph.store import Study

if TYPE_CHECKING:
    from scalegraph.request.run.predicting import Point, Predictions


def keep(found: Predictions, path: Path) -> int:
    """Add the predicted points to the study at *path*, marked as predicted, unless it has a run there; return how many.

    The study also keeps their basis: see `predict.kept`. Raises `StoreError`.
    """
    with Study.open(path, write=True) as study:
        there = {run.point.key for run in study.runs() if run.source != "predicted"}
        made = [record for point in found.points if (record := _record(found, point)) is not None]
        fresh = [record for record in made if record.point.key not in there]
        study.add_runs(fresh)
        study.set_facts(kept.FACT, kept.read(study.facts(kept.FACT)).with_more(_kept(found)).model_dump(mode="json"))
    return len(fresh)


def _kept(found: Predictions) -> kept.Kept:
    """Return the facts on predictions that a study keeps besides their rows."""

    def key(run: RunRecord) -> str:
        return RunPoint(processors=run.point.processors, parameters={**found.others, **run.point.parameters}).key

    costs = found.predictor.costs if found.predictor is not None else {}
    return kept.Kept(
        points=tuple(_kept_point(found, point) for point in found.points),
        samples=tuple(key(run) for run in found.samples),
        costs={n: asdict(cost) for n, cost in costs.items()},
    )


def _kept_point(found: Predictions, point: Point) -> kept.KeptPoint:
    made = point.predicted
    parts: list[tuple[str, float]] = []
    if made is not None:
        parts = [(one.name, one.time_s) for one in made.regions]
        parts += [(limits.EVENTS, made.events_s), (limits.WAITING, made.waiting_s)]
    return kept.KeptPoint(
        processors=point.processors,
        parameters={**found.others, **point.values},
        time_s=made.time_s if made is not None else None,
        low_s=made.low_s if made is not None else None,
        high_s=made.high_s if made is not None else None,
        one_s=point.one_s,
        actual_s=point.actual_s,
        actual_host_s=point.actual_host_s,
        samples_s=point.samples_s,
        samples_host_s=point.samples_host_s,
        estimate_s=point.estimate_s,
        sampled=made.sampled if made is not None else False,
        refused=point.refused,
        parts=tuple(sorted(parts, key=lambda part: -part[1])),
    )


def _record(found: Predictions, point: Point) -> RunRecord | None:
    """Return a predicted point as a record of a study: its time, without counts."""
    if point.predicted is None:
        return None
    clock_hz = clock_of(found.samples[0])
    interval = f"between {si(point.predicted.low_s, 's')} and {si(point.predicted.high_s, 's')}"
    return RunRecord(
        source="predicted",
        program=found.program,
        machine=found.machine,
        point=RunPoint(processors=point.processors, parameters={**found.others, **point.values}),
        time_s=point.predicted.time_s,
        time_cycles=round(point.predicted.time_s * clock_hz) if clock_hz else None,
        clock_hz=clock_hz or None,  # imported data has no clock
        warnings=(
            f"predicted from {counted(len(found.samples), 'sample run')}: {interval}",
            *([point.predicted.warning] if point.predicted.warning else []),
        ),
    )
