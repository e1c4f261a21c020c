"""Studies on disk as data for analysis and views, and views as files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from scalegraph.analyze.bounds import Bound
from scalegraph.analyze.matrix import Matrix
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.points import setting_id
from scalegraph.base.run import RunRecord
from scalegraph.measurements.mapping import Mapping
from scalegraph.predict import graph, kept
from scalegraph.request.imports.graphs import FACT
from scalegraph.request.model.kept import chosen_schedules, readable_request, searches_of
from scalegraph.request.model.memory import memory_bytes
from scalegraph.store import Study
from scalegraph.subjects import matrices
from scalegraph.subjects.study import SourceText, StudyData
from scalegraph.views import registry

if TYPE_CHECKING:
    from scalegraph.figures.figure import Figure


def study_data(study: Study) -> StudyData:
    """Return *study* in the form that views use: run table with `tables` facts, records, manifest, texts, regions.

    If it has several choices of machine, split and so on, this is the one that *study* shows, together with the others.
    """
    members = study.members()
    if len(members) == 1:
        return _one(study)
    parts = {setting_id(one): _one(study.member(one)) for one in members}
    searched = study.facts("space search")
    if isinstance(searched, dict) and isinstance(said := searched.get("sentence"), str):
        shown = parts[setting_id(study.choice)]
        parts[setting_id(study.choice)] = replace(shown, manifest={**shown.manifest, "searched": said[:2000]})
    return replace(parts[setting_id(study.choice)], choices=tuple(parts.values()))


def _one(study: Study) -> StudyData:
    """Return one choice of *study* in the form that views use."""
    manifest = study.manifest
    records = study.runs()
    table = pd.DataFrame([record.row() for record in records])
    if manifest.memory and records:
        table["memory_bytes"] = [memory_bytes(manifest.memory, record.point.parameters) for record in records]
    elif isinstance(reported := study.facts("memory_bytes"), dict) and records:
        table["memory_bytes"] = [_number(reported.get(record.point.key)) for record in records]
    if isinstance(reported := study.facts("serial_s"), dict) and records:
        table["serial_s"] = [_number(reported.get(record.point.key)) for record in records]
    known = manifest.model_dump(mode="json", exclude={"sources", "regions"})
    known["machine_title"] = manifest.machine_values.get("title") or manifest.machine
    known["setting"] = dict(study.choice)
    known["asked"] = study.facts("asked")
    known["automatic"] = {key: found.schedule for key, found in chosen_schedules(study).items()}
    known["searches"] = searches_of(study)
    known["request"] = readable_request(known.get("request") or {})
    measured = study.measurements()
    return StudyData(
        table,
        tuple(records),
        known,
        tuple(SourceText(source.name, source.text, source.instrumented) for source in manifest.sources),
        manifest.regions,
        tuple(study.variants()),
        None if measured is None else (measured, study.mapping() or Mapping()),
        study.name,
        graph=graph.parse(text, study.name) if isinstance(text := study.facts(FACT), str) else None,
        predictions=kept.read(study.facts(kept.FACT)),
        elsewhere=_elsewhere(study),
        work=study.work,
    )


def _elsewhere(study: Study) -> tuple[RunRecord, ...]:
    """Return the actual runs of the targets that `Study.runs` leaves out."""
    return tuple(record for name in study.targets()[1:] for record in study.runs(target=name))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1e19 else None


def matrix(data: StudyData, bound: Bound = "efficiency", **options: Any) -> Matrix | None:
    """Return the matrix of the matrix view (`subjects.matrices`); None if nothing can be held.

    A note says if it comes from estimated runs.
    """
    made = matrices.matrix(data, bound, **options)
    if made is None:
        return None
    trimmed = matrices.trimmed([made])[0][0]
    return replace(trimmed, notes=(data.estimated(), *trimmed.notes)) if data.estimated() else trimmed


def bound_of(metric: str, bound: str) -> str:
    """Return the bound for *metric* and *bound*: isospeed holds the speed, not the efficiency."""
    return "speed" if (metric, bound) == ("isospeed", "efficiency") else bound


def why_no_matrix(data: StudyData, bound: str) -> str:
    """Return why a study has no `matrix`, and what to do about it."""
    if not data.runs:
        words = registry()["matrix"].build(data).empty if data.imported is not None else ""
        return f"{words[:1].lower()}{words[1:].rstrip('.')}" if words else "the study has no run yet"
    if bound == "speed":
        return "no run on one processor has both a time and its operations (work_ops), so no speed is known"
    speed = matrix(data, "speed", metric="isospeed")
    if speed is not None and any(n < n2 for n, n2 in speed.values):
        return f"no {bound} is met on several processor counts, but a unit speed is: use --metric isospeed"
    if data.runs[0].source == "imported" and bound == "memory" and data.table.get("memory_bytes") is None:
        return (
            "no run records its memory use, so memory cannot be held constant; "
            "`scalegraph import --as memory_bytes=METRIC` names it"
        )
    if data.runs[0].source == "imported":
        return (
            f"no {bound} is met on several processor counts; a matrix needs several problem sizes on each of them, "
            f"also on one processor, or another value of --{bound}"
        )
    return (
        f"no {bound} is met on several processor counts; "
        f"run a request with kind = '{bound}' under [[bound]], or name one with --{bound}"
    )


def check_several(name: str) -> None:
    """Raise `InputError` if the view *name* does not compare studies."""
    several = [view.name for view in registry().values() if view.several]
    if name not in several:
        raise InputError(
            Fault(f"'{name}' is not a view of several studies; expected {' or '.join(several)}", key="--view")
        )


def export(
    figure: Figure,
    path: Path,
    size_cm: tuple[float, float] | None,
    theme: str | None,
    *,
    for_spreadsheets: bool = False,
) -> None:
    """Write *figure* to *path*, in the format given by its ending."""
    from scalegraph.figures import render

    options: dict[str, Any] = {"for_spreadsheets": for_spreadsheets}
    if size_cm is not None:
        options["size_cm"] = size_cm
    if theme is not None:
        options["theme"] = theme
    render.save(figure, path, **options)
