"""Google Benchmark's JSON: threads and the arguments in names such as ``BM_sort/size:1024/threads:4``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.collecting import Coordinate
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._benchmarks import Measured, as_coordinate, collect_benchmarks, read_entries
from scalegraph.measurements.readers._files import Checked

# Fields of an entry other than its times and counters.
_ABOUT = {
    "name",
    "run_name",
    "run_type",
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
    "label",
    "aggregate_name",
    "aggregate_unit",
    "error_occurred",
    "error_message",
    "skipped",
    "skip_message",
}
_SETTINGS = re.compile(r"(real_time|process_time|manual_time|(iterations|repeats|min_time|min_warmup_time):.*)$")
HOW = "arguments of the benchmarks (->Arg(n), ->Range, ->Threads)"


def _recognises(_path: Path, head: bytes) -> bool:
    text = head.decode("utf-8-sig", "replace").lstrip()
    return text.startswith("{") and '"context"' in text and ('"num_cpus"' in text or '"library_build_type"' in text)


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    runs, check = read_entries(path, cancel, progress)
    measured: list[Measured] = []
    left_out: dict[str, list[str]] = {}
    only_means = not any(entry.get("run_type", "iteration") == "iteration" for entry in runs)
    for index, entry in enumerate(runs):
        place = f"benchmarks[{index}]"
        reason = _not_taken(entry, only_means=only_means)
        if reason:
            left_out.setdefault(reason, []).append(place)
        else:
            measured.append(_entry(entry, place, check))
    found = collect_benchmarks(measured, check, HOW)
    for reason, places in left_out.items():
        found.skip("results", len(places), reason, f"{path}: {places[0]}")
    return found.finish("google-benchmark", path.stem)


def _not_taken(entry: dict[str, Any], *, only_means: bool) -> str:
    if entry.get("error_occurred") or entry.get("skipped"):
        return "the benchmark ended with an error or was skipped"
    if entry.get("run_type", "iteration") == "iteration":
        return ""
    if only_means and entry.get("aggregate_name") == "mean":
        return ""
    return "aggregates of results that are taken in"


def _entry(entry: dict[str, Any], place: str, check: Checked) -> Measured:
    name = check.text(entry.get("run_name", check.member(entry, "name", place)), f"{place}.name")
    base, parameters = _parse_name(name)
    if isinstance(entry.get("threads"), int):
        parameters["threads"] = check.number(entry["threads"], f"{place}.threads")
    unit = check.text(entry.get("time_unit", "ns"), f"{place}.time_unit")
    values = {
        "time": [check.number(check.member(entry, "real_time", place), f"{place}.real_time")],
        "cpu_time": [check.number(check.member(entry, "cpu_time", place), f"{place}.cpu_time")],
    }
    for counter, value in entry.items():
        if counter not in _ABOUT and isinstance(value, (int, float)) and not isinstance(value, bool):
            values[counter] = [check.number(value, f"{place}.{counter}")]
    return Measured(base, place, parameters, values, {"time": unit, "cpu_time": unit})


def _parse_name(name: str) -> tuple[str, dict[str, Coordinate]]:
    """Return the benchmark's own name and its arguments: ``key:value`` or bare numbers, called arg1, arg2, .."""
    parts = re.split(r"/(?![^<]*>)", name)
    base = [parts[0]]
    parameters: dict[str, Coordinate] = {}
    for part in parts[1:]:
        key, colon, value = part.partition(":")
        if _SETTINGS.match(part):
            continue
        if colon and key:
            parameters[key] = as_coordinate(value)
        elif isinstance(as_coordinate(part), str):
            base.append(part)
        else:
            parameters[f"arg{len(parameters) + 1}"] = as_coordinate(part)
    return "/".join(base), parameters


READER = Reader(
    "google-benchmark",
    "Google Benchmark JSON",
    (".json",),
    recognises=_recognises,
    read=_read,
    order=40,
    looks="--benchmark_out, arguments and threads in names",
)
