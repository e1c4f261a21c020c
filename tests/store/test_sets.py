"""Measurement sets in a study, migration of studies in the previous format, and sentences about damage."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.base.errors import StoreError
from scalegraph.measurements.mapping import Mapping
from scalegraph.measurements.model import CallPath, MeasurementSet, Metric, Skipped, check
from scalegraph.store import FORMAT, Manifest, Study

OLD = Path(__file__).with_name("format2.sgstudy")  # written by the code of format 2


def a_set(rows: int = 4) -> MeasurementSet:
    points = pd.DataFrame({"p": [1, 2], "input": ["small", "large"]})
    values = pd.DataFrame(
        {
            "point": np.arange(rows, dtype=np.int32) % 2,
            "call_path": np.zeros(rows, np.int32),
            "metric": np.zeros(rows, np.int32),
            "repetition": np.arange(rows, dtype=np.int32) // 2,
            "value": np.linspace(1, 2, rows),
        }
    )
    return MeasurementSet(
        ("p", "input"),
        points,
        (CallPath("main", None, "m.c", 3), CallPath("solve", 0)),
        (Metric("time", "ms", "time", "inclusive", "elapsed"),),
        values,
        format="table",
        files=("a.csv",),
        title="a",
        notes=("note",),
        skipped=(Skipped("rows", 2, "empty", "a.csv:7"),),
    )


MAPPING = Mapping(processors="p", time="time", unit="ms", total="main")


def same(one: MeasurementSet, two: MeasurementSet) -> None:
    pd.testing.assert_frame_equal(one.points, two.points)
    pd.testing.assert_frame_equal(one.values, two.values)
    for name in ("parameters", "call_paths", "metrics", "format", "files", "title", "notes", "skipped"):
        assert getattr(one, name) == getattr(two, name)


def test_a_set_and_its_mapping_come_back(tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    with Study.create(path, Manifest.new(title="t")) as study:
        assert study.measurements() is None
        assert study.mapping() is None
        study.set_measurements(a_set(), MAPPING)
    with Study.open(path, write=True) as study:
        kept = study.measurements()
        assert kept is not None
        same(kept, a_set())
        check(kept)
        assert study.mapping() == MAPPING
        study.set_measurements(kept, MAPPING.model_copy(update={"summed": True}))
    with Study.open(path) as study:
        mapping = study.mapping()
        assert mapping is not None
        assert mapping.summed


def test_a_set_without_parameters_keeps_its_point() -> None:
    values = a_set(2).values.assign(point=np.zeros(2, np.int32))
    bare = MeasurementSet((), pd.DataFrame(index=[0]), (CallPath("main"),), (Metric("time"),), values)
    with Study.memory(Manifest.new()) as study:
        study.set_measurements(bare)
        study._set = None
        kept = study.measurements()
    assert kept is not None
    assert len(kept.points) == 1


def test_a_study_of_format_2_opens_and_takes_a_set(tmp_path: Path) -> None:
    with sqlite3.connect(OLD) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (2,)
    raw.close()
    with Study.open(OLD) as study:  # a viewer's copy is migrated in memory
        assert study.measurements() is None
        assert [run.point.processors for run in study.runs()] == [1, 4]
    path = tmp_path / "old.sgstudy"
    shutil.copy(OLD, path)
    with Study.open(path, write=True) as study:
        study.set_measurements(a_set(), MAPPING)
    with Study.open(path) as study:
        assert study.mapping() == MAPPING
        assert study.runs(output=True)[0].stdout == "hello\n"
    with sqlite3.connect(path) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (FORMAT,)
    raw.close()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("description = '{'", "its measurements: "),
        ("description = '[]'", "a table of values"),
        ("description = json_set(description, '$.parameters', json('[\"q\"]'))", "other columns than its parameters"),
        ("description = json_set(description, '$.metrics', json('[]'))", "name a metric that is not there"),
        ("description = json_set(description, '$.mapping.unit', 3)", "unit"),
        ("points = x'00'", "its points cannot be read"),
        ("vals = points", "other columns than point"),
        ("call_paths = points", "other columns than name"),
        ("vals = substr(vals, 1, 100)", "its values cannot be read"),
    ],
)
def test_a_hostile_set_is_a_sentence(tmp_path: Path, change: str, expected: str) -> None:
    path = tmp_path / "a.sgstudy"
    with Study.create(path, Manifest.new(title="t")) as study:
        study.set_measurements(a_set(), MAPPING)
    with sqlite3.connect(path) as raw:
        raw.execute(f"UPDATE measurements SET {change}")
    raw.close()
    with Study.open(path) as study, pytest.raises(StoreError, match=expected):
        study.measurements()


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(0, 2**31), st.binary(min_size=1, max_size=16), st.sampled_from(["points", "call_paths", "vals"]))
def test_columns_with_bytes_overwritten_never_crash(place: int, rubbish: bytes, column: str) -> None:
    with Study.memory(Manifest.new(title="t")) as study:
        study.set_measurements(a_set(100), MAPPING)
        data = bytearray(study._connection.execute(f"SELECT {column} FROM measurements").fetchone()[0])
        place %= len(data)
        data[place : place + len(rubbish)] = rubbish
        study._connection.execute(f"UPDATE measurements SET {column} = ?", (bytes(data),))
        study._set = None
        with contextlib.suppress(StoreError):
            study.measurements()


def test_the_description_is_json_that_others_can_read() -> None:
    with Study.memory(Manifest.new(title="t")) as study:
        study.set_measurements(a_set(), MAPPING)
        told = json.loads(study._connection.execute("SELECT description FROM measurements").fetchone()[0])
    assert told["skipped"] == [{"what": "rows", "count": 2, "reason": "empty", "place": "a.csv:7"}]
    assert told["mapping"]["processors"] == "p"
