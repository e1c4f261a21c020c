"""Checks requests from files and from the window: finds all faults at once, each at its place in the input."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scalegraph.base import toml
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.toml import KeyPath, Positions
from scalegraph.request.imports.kinds import refuse_another
from scalegraph.request.model import programs
from scalegraph.request.model.origin import Origin
from scalegraph.request.model.request import Request
from scalegraph.request.model.resolve import resolve


def check(request: Request) -> list[Fault]:
    """Return every fault of *request*, its *key* the path of the field (``bound.0.value``); empty if it can run."""
    return resolve(request)[1]


def load_request(path: Path | str) -> Request:
    """Read, complete and check the request file *path*.

    Defaults come from the default request of its program. Relative names in it are relative to its own directory.
    Raises `InputError` with every fault and its line.
    """
    path = Path(path)
    if path.suffix != ".toml":
        refuse_another(path, "request")
    data, places = toml.parse(toml.read_text(path), str(path))
    data = _with_defaults(data, path)
    errors: list[Fault] = []
    request: Request | None
    try:
        request = toml.validate(Request, data, str(path), places)
    except InputError as error:
        errors = list(error.faults)
        request = _without(data, errors)
    if request is not None:
        directory = (path.parent / request.program.directory).absolute()
        program = request.program.model_copy(update={"directory": str(directory)})
        request = request.model_copy(update={"program": program})
        said = tuple(fault.key for fault in errors)
        more = [fault for fault in check(request) if not fault.key or not fault.key.startswith(said)]
        errors += [_placed(fault, str(path), places) for fault in more if fault.severity == "error"]
    if errors or request is None:
        raise InputError(sorted(errors, key=lambda fault: (fault.file, fault.line or 0, fault.column or 0)))
    return request.with_origin(Origin("file", str(path)))


# Replaces a faulty element of a list, so that the others keep their positions.
_HARMLESS: dict[str, Any] = {"processors": 1, "bound": {"kind": "problem_size"}}


def _without(data: dict[str, Any], faults: list[Fault]) -> Request | None:
    """Return the request of *data* without its faulty parts, to check the rest; None if nothing is left."""
    rest = copy.deepcopy(data)
    for fault in faults:
        path = _path(fault.key)
        if len(path) > 1 and path[0] in _HARMLESS and isinstance(path[1], int):
            rest[str(path[0])][path[1]] = _HARMLESS[str(path[0])]
            continue
        here: Any = rest
        for part in path[:-1]:
            here = here.get(part) if isinstance(here, dict) else None
        if isinstance(here, dict) and path:
            here.pop(path[-1], None)
    try:
        return Request.model_validate(rest)
    except ValidationError:
        return None


def _path(key: str) -> KeyPath:
    return tuple(int(part) if part.isdigit() else part for part in key.split(".")) if key else ()


def _with_defaults(data: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return *data* completed by the default request of the program it names."""
    choice = data.get("program")
    if not isinstance(choice, dict):
        return data
    name = choice.get("name")
    if not isinstance(name, str) or not name:
        return data
    if name not in programs.names() and (name.endswith(".toml") or "/" in name):
        name = str(path.parent / str(choice.get("directory", "")) / name)
    try:
        default = programs.load(name).program.request
    except (InputError, OSError):
        return data  # reported by `check`, with its place
    known = default.model_dump(exclude_unset=True)
    known.pop("parameters", None)  # merged value by value later
    if "predict" in data:
        known.pop("bound", None)  # samples are stated sizes, not searched ones
    return {**known, **data}


def _placed(fault: Fault, file: str, places: Positions) -> Fault:
    if fault.file or not fault.key:
        return replace(fault, file=fault.file or file)
    path = _path(fault.key)
    # [bound] written as one table has no index
    for candidate in (path, tuple(part for part in path if not isinstance(part, int))):
        for length in range(len(candidate), 0, -1):
            if candidate[:length] in places and (length > 1 or len(candidate) == 1):
                line, column = places[candidate[:length]]
                return replace(fault, file=file, line=line, column=column)
    line, column = places.get(path[:1], (1, 1))
    return replace(fault, file=file, line=line, column=column)
