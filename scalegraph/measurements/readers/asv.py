"""Results of airspeed velocity (asv), a JSON file per commit: benchmarks over parameters, whose names are elsewhere."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._benchmarks import Measured, as_coordinate, collect_benchmarks
from scalegraph.measurements.readers._files import Checked, read_document

HOW = "a list of parameters, params, in the class of the benchmark"
_MOST = 100_000  # combinations of parameters of one benchmark


def _recognises(_path: Path, head: bytes) -> bool:
    text = head.decode("utf-8-sig", "replace").lstrip()
    return text.startswith("{") and '"commit_hash"' in text and ('"env_name"' in text or '"result_columns"' in text)


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    whole, check = read_document(path, cancel, progress)
    measured: list[Measured] = []
    failed = 0
    columns = check.sequence(whole.get("result_columns") or ["result", "params"], "result_columns")
    for name, entry in check.mapping(check.member(whole, "results", ""), "results").items():
        place = f"results.{name}"
        if isinstance(entry, list):
            entry = dict(zip(map(str, columns), entry, strict=False))
        elif not isinstance(entry, dict):
            entry = {"result": [entry]}
        for each in _combinations(name, entry, place, check):
            if each is None:
                failed += 1
            else:
                measured.append(each)
    found = collect_benchmarks(measured, check, HOW)
    if failed:
        found.skip("results", failed, "the benchmark failed or was skipped there", str(path))
    note = "asv keeps the names of parameters in benchmarks.json: here they are called by their places"
    return found.finish("asv", path.stem, notes=(note,))


def _combinations(name: str, entry: dict[str, Any], place: str, check: Checked) -> Iterator[Measured | None]:
    """Yield the measured values at every combination of parameters, None where there are none."""
    values = entry.get("result")
    lists = [
        check.sequence(one, f"{place}.params[{index}]")
        for index, one in enumerate(check.sequence(entry.get("params") or [], f"{place}.params"))
    ]
    count = math.prod(map(len, lists))
    if values is None:
        values = [None] * min(count, _MOST)
    values = check.sequence(values, f"{place}.result")
    if len(values) != count or count > _MOST:
        check.refuse(f"{place}.result", f"has {len(values)} values; expected {count}, one for each combination")
    kind = name.rpartition(".")[2].partition("_")[0]
    metric, unit = {"time": ("time", "s"), "mem": ("memory", "bytes"), "peakmem": ("peak memory", "bytes")}.get(
        kind, ("value", "")
    )
    for combination, value in zip(itertools.product(*lists), values, strict=True):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            yield None
            continue
        parameters = {f"param{index}": as_coordinate(str(one).strip("'\"")) for index, one in enumerate(combination, 1)}
        yield Measured(name, place, parameters, {metric: [check.number(value, place)]}, {metric: unit} if unit else {})


READER = Reader(
    "asv",
    "airspeed velocity's results",
    (".json",),
    recognises=_recognises,
    read=_read,
    order=5,
    looks="results/MACHINE/COMMIT-ENV.json, with params",
)
