"""Results of benchmark runners: one call path per benchmark, parameters from the runner or from its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector, Coordinate
from scalegraph.measurements.mapping import SECONDS
from scalegraph.measurements.reader import Progress
from scalegraph.measurements.readers._files import Checked, read_document


@dataclass
class Measured:
    """One benchmark at one point: *values* by metric, repetitions as lists; *units* where known."""

    name: str
    place: str
    parameters: dict[str, Coordinate]
    values: dict[str, list[float]]
    units: dict[str, str] = field(default_factory=dict)


def read_entries(path: Path, cancel: CancelToken, progress: Progress) -> tuple[list[dict[str, Any]], Checked]:
    """Return the objects in the list ``benchmarks`` of the JSON document *path*, and the object that checks them."""
    whole, check = read_document(path, cancel, progress)
    entries = check.sequence(check.member(whole, "benchmarks", ""), "benchmarks")
    return [check.mapping(entry, f"benchmarks[{index}]") for index, entry in enumerate(entries)], check


def collect_benchmarks(measured: Sequence[Measured], check: Checked, how: str) -> Collector:
    """Return the set of the benchmarks that share the most common parameters; others are left out and counted.

    *how*: how parameters get into the file. Raises `InputError` if there are none.
    """
    if not measured:
        raise InputError(Fault("holds no result of a benchmark; expected at least one", file=check.file))
    sets = Counter(tuple(sorted(each.parameters)) for each in measured if each.parameters)
    if not sets:
        raise InputError(Fault(f"its results have no parameters; expected some, by {how}", file=check.file))
    chosen = sets.most_common(1)[0][0]
    names = next(list(each.parameters) for each in measured if tuple(sorted(each.parameters)) == chosen)
    found = Collector(check.file, names)
    seconds = len({unit for each in measured for unit in each.units.values() if unit.lower() in SECONDS}) > 1
    for each in measured:
        if tuple(sorted(each.parameters)) != chosen:
            theirs = ", ".join(each.parameters) or "none"
            reason = f"its parameters are {theirs}; those of most are {', '.join(names)}"
            found.skip(f"benchmark {each.name}", 1, reason, f"{check.file}: {each.place}")
            continue
        point = found.point(tuple(each.parameters[name] for name in names))
        path = found.child(None, each.name)
        for metric, values in each.values.items():
            unit = each.units.get(metric, "")
            factor = SECONDS.get(unit.lower(), 1.0) if seconds else 1.0
            column = found.metric(metric, "s" if seconds and unit.lower() in SECONDS else unit, extent="inclusive")
            found.add(point, path, column, [value * factor for value in values])
    return found


def as_coordinate(value: object) -> Coordinate:
    """Return a parameter as a number if it is one or looks like one, otherwise as text."""
    if isinstance(value, bool) or value is None or isinstance(value, (dict, list)):
        return str(value)
    try:
        number = float(str(value))
    except ValueError:
        return str(value)
    return number if number - number == 0 and "_" not in str(value) else str(value)
