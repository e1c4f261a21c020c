"""Extra-P's JSON files: the newer variant with values below call path and metric, and the older one with ids."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.collecting import Collector, Coordinate, as_number
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._files import Checked, parse_json, read_text

STEP = 5000
PARSED = 0.5  # share of the work done when the text is parsed
# In JSON lines and TaLPas "parameters" is an object, here a list.
_TABLE = re.compile(r'"((parameters|callpaths|coordinates)"\s*:\s*\[|measurements"\s*:\s*[\[{])')
OLDER = ("callpaths", "coordinates", "metrics")


def _recognises(_path: Path, head: bytes) -> bool:
    text = head.decode("utf-8-sig", "replace").lstrip()
    return text.startswith("{") and _TABLE.search(text) is not None


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    check = Checked(str(path))
    text = read_text(path, lines=False)
    cancel.check()
    whole = check.mapping(parse_json(text, str(path)), "")
    progress(PARSED)
    cancel.check()
    read = _older if any(name in whole for name in OLDER) else _newer
    return read(whole, check, cancel, progress).finish("extrap-json", path.stem, complete=True)


def _newer(whole: dict[str, Any], check: Checked, cancel: CancelToken, progress: Progress) -> Collector:
    names = check.sequence(check.member(whole, "parameters", ""), "parameters")
    found = Collector(check.file, [check.text(name, f"parameters[{index}]") for index, name in enumerate(names)])
    if not names:
        check.refuse("parameters", "is empty; expected at least one parameter")
    _skip_others(found, whole, ("parameters", "measurements"))
    paths = check.mapping(check.member(whole, "measurements", ""), "measurements")
    for number, (name, metrics) in enumerate(paths.items()):
        cancel.check()
        progress(PARSED + (1 - PARSED) * number / len(paths))
        where = f"measurements['{name}']"
        for metric, entries in check.mapping(metrics, where).items():
            _series(check.sequence(entries, f"{where}['{metric}']"), (name, metric), found, check)
    return found


def _series(entries: list[Any], series: tuple[str, str], found: Collector, check: Checked) -> None:
    where = f"measurements['{series[0]}']['{series[1]}']"
    if not entries:
        found.skip("series", 1, "no measurements in it", f"{check.file}: {where}")
        return
    path, metric = found.call_path(series[0]), found.metric(series[1])
    seen: set[int] = set()
    for index, entry in enumerate(entries):
        place = f"{where}[{index}]"
        entry = check.mapping(entry, place)
        values = check.numbers(check.member(entry, "values", place), f"{place}.values")
        coordinates = check.sequence(check.member(entry, "point", place), f"{place}.point")
        if len(coordinates) != len(found.parameters):
            check.expected(f"{place}.point", f"{len(found.parameters)} coordinates, one a parameter", coordinates)
        point = found.point(tuple(check.coordinate(value, f"{place}.point") for value in coordinates))
        if point in seen:
            check.refuse(f"{place}.point", f"{found.at(point)} appears twice; expected all its values in one place")
        seen.add(point)
        found.add(point, path, metric, values)


def _older(whole: dict[str, Any], check: Checked, cancel: CancelToken, progress: Progress) -> Collector:
    parameters = _names(whole, "parameters", check)
    if not parameters:
        check.refuse("parameters", "is empty; expected at least one parameter")
    found = Collector(check.file, list(parameters.values()))
    _skip_others(found, whole, ("parameters", "measurements", *OLDER))
    paths = {id_: found.call_path(name) for id_, name in _names(whole, "callpaths", check).items()}
    metrics = {id_: found.metric(name) for id_, name in _names(whole, "metrics", check).items()}
    points = {
        id_: _point(entry, f"coordinates[{index}]", list(parameters), found, check)
        for index, (id_, entry) in enumerate(_by_id(whole, "coordinates", check).items())
    }
    entries = check.sequence(check.member(whole, "measurements", ""), "measurements")
    for index, entry in enumerate(entries):
        if index % STEP == 0:
            cancel.check()
            progress(PARSED + (1 - PARSED) * index / len(entries))
        place = f"measurements[{index}]"
        entry = check.mapping(entry, place)
        position = [
            _refer(entry, f"{name}_id", known, place, check)
            for name, known in (("coordinate", points), ("callpath", paths), ("metric", metrics))
        ]
        value = check.number(check.member(entry, "value", place), f"{place}.value")
        found.add(position[0], position[1], position[2], (value,))
    return found


def _refer(entry: dict[str, Any], name: str, known: dict[int, int], place: str, check: Checked) -> int:
    id_ = check.member(entry, name, place)
    if not isinstance(id_, int) or id_ not in known:
        check.expected(f"{place}.{name}", "the id of an entry above", id_)
    return known[id_]


def _by_id(whole: dict[str, Any], table: str, check: Checked) -> dict[int, dict[str, Any]]:
    """Return the entries of a table by id, smallest first."""
    entries: dict[int, dict[str, Any]] = {}
    for index, entry in enumerate(check.sequence(check.member(whole, table, ""), table)):
        place = f"{table}[{index}]"
        id_ = check.member(check.mapping(entry, place), "id", place)
        if isinstance(id_, bool) or not isinstance(id_, int):
            check.expected(f"{place}.id", "a whole number", id_)
        if id_ in entries:
            check.refuse(f"{place}.id", f"{id_} appears twice; expected every id once")
        entries[id_] = entry
    return dict(sorted(entries.items()))


def _names(whole: dict[str, Any], table: str, check: Checked) -> dict[int, str]:
    names: dict[int, str] = {}
    for id_, entry in _by_id(whole, table, check).items():
        name = check.text(check.member(entry, "name", table), f"{table}, id {id_}, name")
        if name in names.values():
            check.refuse(f"{table}, id {id_}", f"name '{name}' appears twice; expected every name once")
        names[id_] = name
    return names


def _point(entry: dict[str, Any], place: str, parameters: list[int], found: Collector, check: Checked) -> int:
    place = f"{place}.parameter_value_pairs"
    values: dict[int, Coordinate] = {}
    for index, pair in enumerate(check.sequence(check.member(entry, "parameter_value_pairs", place), place)):
        pair = check.mapping(pair, f"{place}[{index}]")
        id_ = check.member(pair, "parameter_id", f"{place}[{index}]")
        if id_ not in parameters or isinstance(id_, bool) or id_ in values:
            check.expected(f"{place}[{index}].parameter_id", "the id of a parameter, each once", id_)
        value = check.coordinate(
            check.member(pair, "parameter_value", f"{place}[{index}]"), f"{place}[{index}].parameter_value"
        )
        number = as_number(value) if isinstance(value, str) else None
        values[id_] = value if number is None else number
    if len(values) != len(parameters):
        check.refuse(place, f"has {len(values)} values; expected {len(parameters)}, one a parameter")
    point = found.new_point(tuple(values[id_] for id_ in parameters))
    if point is None:
        check.refuse(place, "the same point appears twice; expected every point once")
    return point


def _skip_others(found: Collector, whole: dict[str, Any], known: tuple[str, ...]) -> None:
    for name in whole:
        if name not in known:
            found.skip("entries", 1, "not part of the format", f"{found.file}: {name}")


READER = Reader(
    "extrap-json",
    "Extra-P JSON",
    (".json",),
    recognises=_recognises,
    read=_read,
    order=30,
    looks="parameters and measurements, or tables with ids",
)
