"""Caliper's split JSON (``cali-query -q 'format json(split)'``, the hatchet-region-profile): one file is one point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._caliper import (
    HIDDEN,
    PLACES,
    RANK,
    CaliperMetric,
    CaliperProfile,
    as_setting,
)
from scalegraph.measurements.readers._calipers import collect_calipers
from scalegraph.measurements.readers._files import Checked, read_document

SECTIONS = ("data", "columns", "column_metadata", "nodes")
PATHS = ("path", "source.function#callpath.address")  # columns that hold call paths, the preferred one first
STEP = 2000


def _recognises(_path: Path, head: bytes) -> bool:
    text = head.decode("utf-8-sig", "replace").lstrip()
    return text.startswith("{") and ('"column_metadata"' in text or text[1:].lstrip().startswith('"data"'))


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    return _together([path], cancel, progress)


def _together(paths: Sequence[Path], cancel: CancelToken, progress: Progress) -> MeasurementSet:
    """Return the set of *paths*, a run each; metadata that differ between any two are parameters."""
    profiles = []
    for number, path in enumerate(paths, 1):
        profiles.append(_profile(path, cancel))
        progress(number / len(paths))
    return collect_calipers(profiles, str(paths[0]), paths[0].stem)


def _profile(path: Path, cancel: CancelToken) -> CaliperProfile:
    whole, check = read_document(path, cancel, lambda _share: None)
    columns = [check.text(each, "columns") for each in check.sequence(check.member(whole, "columns", ""), "columns")]
    described = check.sequence(check.member(whole, "column_metadata", ""), "column_metadata")
    if len(described) != len(columns):
        check.refuse("column_metadata", f"has {len(described)} entries; expected {len(columns)}, one for each column")
    profile = CaliperProfile(str(path))
    for name, entry in zip(columns, described, strict=True):
        about = check.mapping(entry, "column_metadata")
        if about.get("is_value") and not PLACES.match(name):
            unit, alias = (str(about.get(f"attribute.{key}", "")) for key in ("unit", "alias"))
            profile.metrics[name] = CaliperMetric(unit, alias if alias != name else "")
    rows = check.sequence(check.member(whole, "data", ""), "data")
    _rows(rows, columns, _paths(whole, columns, check), profile, check, cancel)
    for name, value in whole.items():
        if name not in SECTIONS and not HIDDEN.match(name) and isinstance(value, (str, int)):
            profile.settings[name] = as_setting(str(value))
    if not profile.values:
        check.refuse("data", "holds no value at a call path; expected some")
    return profile


def _paths(whole: dict[str, Any], columns: list[str], check: Checked) -> list[tuple[str, ...]]:
    """Return the call path of every node."""
    nodes = check.sequence(check.member(whole, "nodes", ""), "nodes")
    if not any(name in columns for name in PATHS):
        check.refuse("columns", f"holds no call paths; expected a column '{PATHS[0]}'")
    paths: list[tuple[str, ...]] = []
    for index, entry in enumerate(nodes):
        place = f"nodes[{index}]"
        entry = check.mapping(entry, place)
        label = check.text(check.member(entry, "label", place), f"{place}.label")
        parent = entry.get("parent")
        if parent is None:
            paths.append((label,))
        elif isinstance(parent, bool) or not isinstance(parent, int) or not 0 <= parent < index:
            check.expected(f"{place}.parent", "the number of a node before it", parent)
        else:
            paths.append((*paths[parent], label))
    return paths


def _rows(
    rows: list[Any],
    columns: list[str],
    paths: list[tuple[str, ...]],
    profile: CaliperProfile,
    check: Checked,
    cancel: CancelToken,
) -> None:
    where = columns.index(next(name for name in PATHS if name in columns))
    numbers = [(index, name) for index, name in enumerate(columns) if name in profile.metrics]
    taken = {where, *(index for index, _ in numbers)}
    others = [name for index, name in enumerate(columns) if index not in taken and not PLACES.match(name)]
    rank = columns.index(RANK) if RANK in columns else None
    for number, row in enumerate(rows):
        if number % STEP == 0:
            cancel.check()
        place = f"data[{number}]"
        row = check.sequence(row, place)
        if len(row) != len(columns):
            check.refuse(place, f"has {len(row)} cells; expected {len(columns)}, one for each column")
        node = row[where]
        if node is not None and (isinstance(node, bool) or not isinstance(node, int) or not 0 <= node < len(paths)):
            check.expected(f"{place}, {columns[where]}", "the number of a node", node)
        process = 0 if rank is None or row[rank] is None else int(check.finite(row[rank], f"{place}, {RANK}"))
        for index, name in numbers:
            if row[index] is not None:
                value = check.number(row[index], f"{place}, {name}")
                profile.add(() if node is None else paths[node], name, process, value)
    for name in others:
        profile.left_out[f"column '{name}' says where, and is not part of the call path"] = len(rows), check.file


READER = Reader(
    "caliper-json",
    "Caliper JSON (split)",
    (".json",),
    recognises=_recognises,
    read=_read,
    order=40,
    looks="data, columns, column_metadata, nodes",
    together=_together,
)
