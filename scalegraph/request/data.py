"""From a study on disk to what analysis and views work on, and from views to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from scalegraph.analyze.bounds import Bound
from scalegraph.analyze.matrix import Matrix
from scalegraph.base.run import Value
from scalegraph.measurements.mapping import Mapping
from scalegraph.request import expression
from scalegraph.store import Study
from scalegraph.views import SourceText, StudyData, matrices

if TYPE_CHECKING:
    from scalegraph.views.figure import Figure


def study_data(study: Study) -> StudyData:
    """Return *study* as views see it: run table with ``memory_bytes``, records, manifest, texts, regions."""
    manifest = study.manifest
    records = study.runs()
    table = pd.DataFrame([record.row() for record in records])
    if manifest.memory and records:
        table["memory_bytes"] = [_memory(manifest.memory, record.point.parameters) for record in records]
    elif isinstance(told := study.facts("memory_bytes"), dict) and records:
        table["memory_bytes"] = [_number(told.get(record.point.key)) for record in records]
    known = manifest.model_dump(mode="json", exclude={"sources", "regions"})
    known["machine_title"] = manifest.machine_values.get("title") or manifest.machine
    known["searches"] = study.facts("searches") or []
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
    )


def _memory(formula: str, parameters: dict[str, Value]) -> float | None:
    """Return the bytes of one run; a stranger's formula that cannot be evaluated is not known, not an error."""
    numbers = {name: float(value) for name, value in parameters.items() if not isinstance(value, str)}
    try:
        return expression.parse(formula, frozenset(numbers))(numbers)
    except ValueError:
        return None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1e19 else None


def matrix(data: StudyData, bound: Bound = "efficiency", **options: Any) -> Matrix | None:
    """Return the matrix as the matrix view shows it (`views.matrices`); None when nothing can be held."""
    made = matrices.matrix(data, bound, **options)
    return None if made is None else matrices.trimmed([made])[0][0]


def export(figure: Figure, path: Path, size_cm: tuple[float, float] | None, theme: str | None) -> None:
    """Write *figure* to *path*, in the format of its ending."""
    from scalegraph.views import render

    options: dict[str, Any] = {}
    if size_cm is not None:
        options["size_cm"] = size_cm
    if theme is not None:
        options["theme"] = theme
    render.save(figure, path, **options)
