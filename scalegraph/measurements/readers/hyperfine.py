"""hyperfine's JSON (``--export-json``) of a parameter scan: every timing run is a repetition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._benchmarks import Measured, as_coordinate, collect_benchmarks
from scalegraph.measurements.readers._files import Checked, read_document

HOW = "hyperfine --parameter-scan or --parameter-list"


def _recognises(_path: Path, head: bytes) -> bool:
    text = head.decode("utf-8-sig", "replace").lstrip()
    return text.startswith("{") and '"results"' in text and '"command"' in text


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    whole, check = read_document(path, cancel, progress)
    measured: list[Measured] = []
    failed = 0
    seen: list[dict[str, object]] = []
    for index, entry in enumerate(check.sequence(check.member(whole, "results", ""), "results")):
        place = f"results[{index}]"
        entry = check.mapping(entry, place)
        parameters = check.mapping(entry.get("parameters") or {}, f"{place}.parameters")
        if parameters and parameters in seen:
            check.refuse(place, "has the parameters of a result before it; expected one command for each point")
        seen.append(parameters)
        made, lost = _result(entry, place, check)
        failed += lost
        made.parameters = {name: as_coordinate(value) for name, value in parameters.items()}
        if any(made.values.values()):
            measured.append(made)
    found = collect_benchmarks(measured, check, HOW)
    if failed:
        found.skip("runs", failed, "the command ended with an error", str(path))
    return found.finish("hyperfine", path.stem)


def _result(entry: dict[str, Any], place: str, check: Checked) -> tuple[Measured, int]:
    """Return the runs that succeeded, and how many did not."""
    check.text(check.member(entry, "command", place), f"{place}.command")
    if entry.get("times") is None:  # exported without single runs
        mean = check.number(check.member(entry, "mean", place), f"{place}.mean")
        return Measured("command", place, {}, {"time": [mean]}, {"time": "s"}), 0
    times = list(check.numbers(entry["times"], f"{place}.times"))
    codes = check.sequence(entry.get("exit_codes") or [0] * len(times), f"{place}.exit_codes")
    if len(codes) != len(times):
        check.refuse(f"{place}.exit_codes", f"has {len(codes)} entries; expected {len(times)}, one for each time")
    good = [index for index, code in enumerate(codes) if code == 0]
    values = {"time": [times[index] for index in good]}
    if entry.get("memory_usage_byte"):
        memory = check.numbers(entry["memory_usage_byte"], f"{place}.memory_usage_byte")
        values["memory_bytes"] = [memory[index] for index in good if index < len(memory)]
    for name in ("user", "system") if good else ():
        if entry.get(name) is not None:
            values[f"{name}_time"] = [check.number(entry[name], f"{place}.{name}")]
    units = {name: "bytes" if name == "memory_bytes" else "s" for name in values}
    return Measured("command", place, {}, values, units), len(codes) - len(good)


READER = Reader(
    "hyperfine",
    "hyperfine JSON",
    (".json",),
    recognises=_recognises,
    read=_read,
    order=40,
    looks="--export-json of a --parameter-scan or -list",
)
