"""ReFrame's run report (``--report-file``): performance variables of passed test cases, by their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.collecting import Coordinate
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.names import counts_processors
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._benchmarks import Measured, as_coordinate, collect_benchmarks
from scalegraph.measurements.readers._files import Checked, read_document
from scalegraph.measurements.settings import Settings, varied

HOW = "parameters of the test (name %tasks=4) or its num_tasks"
_PARAMETER = re.compile(r"\s%([\w.]+)=(\S+)")
_PASSED = ("pass", "success")
PROGRAM = "program"  # call path of tests with several names
_WHERE = {"system": "system", "partition": "partition", "environment": "environ"}


def _recognises(_path: Path, head: bytes) -> bool:
    text = head.decode("utf-8-sig", "replace").lstrip()
    return text.startswith("{") and '"session_info"' in text and '"data_version"' in text


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    return _together([path], cancel, progress)


def _together(paths: Sequence[Path], cancel: CancelToken, progress: Progress) -> MeasurementSet:
    """Return the set of *paths*; if they have several tests or systems, these are parameters."""
    measured: list[tuple[Measured, Settings]] = []
    failed = 0
    for number, path in enumerate(paths, 1):
        whole, check = read_document(path, cancel, lambda _share: None)
        for place, case in _cases(whole, check):
            if case.get("result") not in _PASSED:
                failed += 1
                continue
            made = _measured(case, place, check)
            if made.values:
                said: Settings = {key: str(case[name]) for key, name in _WHERE.items() if case.get(name)}
                measured.append((made, {"test": made.name, **said}))
        progress(number / len(paths))
    where = [said for _, said in measured]
    names = varied(where, (), [made.place for made, _ in measured])[0] if measured else []
    for made, said in measured:
        made.parameters.update({name: said[name] for name in names if name not in made.parameters})
        if "test" in names:
            made.name = PROGRAM
    found = collect_benchmarks([made for made, _ in measured], Checked(str(paths[0])), HOW)
    if failed:
        found.skip("test cases", failed, "did not pass", str(paths[0]))
    return found.finish("reframe", paths[0].stem, files=[str(path) for path in paths])


def _cases(whole: dict[str, Any], check: Checked) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every test case of every run with its place in the document."""
    for number, run in enumerate(check.sequence(check.member(whole, "runs", ""), "runs")):
        where = f"runs[{number}].testcases"
        cases = check.sequence(
            check.member(check.mapping(run, f"runs[{number}]"), "testcases", f"runs[{number}]"), where
        )
        for index, case in enumerate(cases):
            yield f"{where}[{index}]", check.mapping(case, f"{where}[{index}]")


def _measured(case: dict[str, Any], place: str, check: Checked) -> Measured:
    title = check.text(case.get("display_name") or check.member(case, "name", place), f"{place}.name")
    parameters: dict[str, Coordinate] = {name: as_coordinate(value) for name, value in _PARAMETER.findall(title)}
    counted = any(map(counts_processors, parameters))
    if not counted and isinstance(tasks := case.get("num_tasks"), int) and tasks > 0:
        parameters["num_tasks"] = tasks
    made = Measured(title.partition(" %")[0], place, parameters, {})
    for name, value, unit in _variables(case, place, check):
        if value is not None:
            made.values[name] = [check.number(value, f"{place}.{name}")]
            made.units[name] = unit
    return made


def _variables(case: dict[str, Any], place: str, check: Checked) -> Iterator[tuple[str, object, str]]:
    """Yield name, value and unit of every performance variable: a list, or since 4.7 an object by system."""
    for index, entry in enumerate(check.sequence(case.get("perfvars") or [], f"{place}.perfvars")):
        where = f"{place}.perfvars[{index}]"
        one = check.mapping(entry, where)
        yield check.text(check.member(one, "name", where), where), one.get("value"), str(one.get("unit") or "")
    for key, entry in check.mapping(case.get("perfvalues") or {}, f"{place}.perfvalues").items():
        parts = check.sequence(entry, f"{place}.perfvalues['{key}']")
        yield key.rpartition(":")[2], parts[0] if parts else None, str(parts[4] or "") if len(parts) > 4 else ""


READER = Reader(
    "reframe",
    "ReFrame run report",
    (".json",),
    recognises=_recognises,
    read=_read,
    order=40,
    looks="--report-file, test cases with performance variables",
    together=_together,
)
