"""Serialisation of measurement sets: columns as Parquet, the rest as JSON; validated when read."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd
import pyarrow as pa
from pyarrow import parquet
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from scalegraph.measurements.mapping import Mapping
from scalegraph.measurements.model import CallPath, MeasurementSet, Metric, Skipped, check

if TYPE_CHECKING:
    from collections.abc import Sequence

# description (JSON), then as Parquet: points, call paths, values
Packed: TypeAlias = tuple[str, bytes, bytes, bytes]

_MOST_ROWS = 500_000_000  # a small file must not fill the memory
_METRICS = TypeAdapter(tuple[Metric, ...])
_SKIPPED = TypeAdapter(tuple[Skipped, ...])
_TEXTS = TypeAdapter(tuple[str, ...])


def pack(measured: MeasurementSet, mapping: Mapping | None) -> Packed:
    """Return the set as a row of the table ``measurements``, without its number."""
    description = {
        "parameters": measured.parameters,
        "metrics": [asdict(metric) for metric in measured.metrics],
        "format": measured.format,
        "files": measured.files,
        "title": measured.title,
        "notes": measured.notes,
        "remarks": measured.remarks,
        "skipped": [asdict(skipped) for skipped in measured.skipped],
        "mapping": None if mapping is None else mapping.model_dump(mode="json"),
    }
    paths = measured.call_paths
    tree = pd.DataFrame(
        {
            "name": pd.Series([path.name for path in paths], dtype="str"),
            "parent": pd.Series([-1 if path.parent is None else path.parent for path in paths], dtype="int32"),
            "file": pd.Series([path.file for path in paths], dtype="str"),
            "line": pd.Series([path.line for path in paths], dtype="int64"),
        }
    )
    return json.dumps(description), _written(measured.points), _written(tree), _written(measured.values)


def unpack(packed: Packed) -> tuple[MeasurementSet, Mapping | None]:
    """Return the set and its mapping. Raises `ValueError` with a sentence for anything else."""
    description, points, tree, values = packed
    try:
        reported: dict[str, Any] = from_json(description)
        if not isinstance(reported, dict):
            raise ValueError("a table of values was expected")  # noqa: TRY004
        nodes = _read(tree, "call paths")
        measured = MeasurementSet(
            parameters=_TEXTS.validate_python(reported.get("parameters")),
            points=_read(points, "points"),
            call_paths=_paths(nodes),
            metrics=_METRICS.validate_python(reported.get("metrics")),
            values=_read(values, "values"),
            format=str(reported.get("format", "")),
            files=_TEXTS.validate_python(reported.get("files", ())),
            title=str(reported.get("title", "")),
            notes=_TEXTS.validate_python(reported.get("notes", ())),
            remarks=_TEXTS.validate_python(reported.get("remarks", ())),
            skipped=_SKIPPED.validate_python(reported.get("skipped", ())),
        )
        mapping = None if reported.get("mapping") is None else Mapping.model_validate(reported["mapping"])
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from None
    check(measured)
    return measured, mapping


def _written(table: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    if len(table.columns) == 0:  # Parquet does not store the number of rows of a table without columns
        table = table.assign(__rows__=0)
    parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), out, compression="zstd")
    return out.getvalue()


def _read(data: bytes, what: str) -> pd.DataFrame:
    try:
        file = parquet.ParquetFile(pa.BufferReader(data))
        if file.metadata.num_rows > _MOST_ROWS:
            raise ValueError(f"its {what} are more than any set's")
        table = file.read()
        table.validate(full=True)
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError, MemoryError, KeyError, TypeError) as error:
        words = " ".join(str(error).split())[:200]
        raise ValueError(f"its {what} cannot be read: {words}") from None
    return frame.drop(columns="__rows__", errors="ignore")


def _paths(nodes: pd.DataFrame) -> tuple[CallPath, ...]:
    if list(nodes.columns) != ["name", "parent", "file", "line"]:
        raise ValueError("its call paths have other columns than name, parent, file and line")
    columns: Sequence[list[Any]] = [nodes[name].tolist() for name in nodes.columns]
    if not all(isinstance(number, int) for column in (columns[1], columns[3]) for number in column):
        raise ValueError("its call paths have parents or lines that are not numbers")
    return tuple(
        CallPath(str(name), None if parent == -1 else parent, str(file), line)
        for name, parent, file, line in zip(*columns, strict=True)
    )
