"""pytest-benchmark's JSON (``--benchmark-json``): parameters of parametrized tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._benchmarks import Measured, as_coordinate, collect_benchmarks, read_entries
from scalegraph.measurements.readers._files import Checked

HOW = "pytest.mark.parametrize"


def _recognises(_path: Path, head: bytes) -> bool:
    text = head.decode("utf-8-sig", "replace").lstrip()
    return text.startswith("{") and '"machine_info"' in text


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    entries, check = read_entries(path, cancel, progress)
    measured = [_entry(entry, f"benchmarks[{index}]", check) for index, entry in enumerate(entries)]
    notes = []
    if not all("data" in entry.get("stats", {}) for entry in entries):
        notes.append("The file keeps no single rounds: values are means (--benchmark-save-data keeps them).")
    return collect_benchmarks(measured, check, HOW).finish("pytest-benchmark", path.stem, notes=notes)


def _entry(entry: dict[str, Any], place: str, check: Checked) -> Measured:
    name = check.text(entry.get("fullname", check.member(entry, "name", place)), f"{place}.fullname").partition("[")[0]
    parameters = check.mapping(entry.get("params") or {}, f"{place}.params")
    stats = check.mapping(check.member(entry, "stats", place), f"{place}.stats")
    if stats.get("data"):
        times = list(check.numbers(stats["data"], f"{place}.stats.data"))
    else:
        times = [check.number(check.member(stats, "mean", f"{place}.stats"), f"{place}.stats.mean")]
    coordinates = {key: as_coordinate(value) for key, value in parameters.items()}
    return Measured(name, place, coordinates, {"time": times}, {"time": "s"})


READER = Reader(
    "pytest-benchmark",
    "pytest-benchmark JSON",
    (".json",),
    recognises=_recognises,
    read=_read,
    order=40,
    looks="--benchmark-json of parametrized tests",
)
