"""Machines whose core is that of another file: ``[processor] core = "xeon-8480"``.

The core is what one processor has to itself: how it executes, its private caches, branch prediction, translation and
prefetching. The machine's own file says the rest; a value that it repeats overrides the core's. The result is a machine
like any other, so readers of machines and studies never need the other file again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scalegraph.base import toml
from scalegraph.machine.model import Machine

CORE: Final = "processor.core"
_NOT_OF_A_CORE: Final = ("count", "clock_mhz", "turbo_cores", "turbo_clock")  # of `processor`
_SECTIONS: Final = ("branches", "translation", "prefetch")


def with_core(
    data: dict[str, Any], origin: dict[str, str], places: toml.Positions, other: Machine
) -> tuple[dict[str, Any], toml.Positions]:
    """Return the values of a machine's file, *data*, with the core of *other*, and their positions in the file.

    *origin* is completed. Values of the core have the position of the reference.
    """
    values = other.model_dump(mode="json", exclude_none=True)
    private = [level for level in values["cache"] if level["shared_by"] == 1]
    names = [level["name"] for level in private]
    processor = {name: value for name, value in values["processor"].items() if name not in _NOT_OF_A_CORE}
    core: dict[str, Any] = {
        "processor": processor,
        "cache": private,
        **{name: values[name] for name in _SECTIONS if name in values},
    }
    mine = {**data, "processor": {name: value for name, value in data["processor"].items() if name != "core"}}
    levels: list[Any] = list(private)
    number_of: dict[object, int] = {}  # the number of a level in the file -> in the machine
    own = mine.get("cache", [])
    for number, level in enumerate(own if isinstance(own, list) else []):
        of_core = isinstance(level, dict) and level.get("name") in names
        here = names.index(level["name"]) if of_core else len(levels)
        merged = {**private[here], **level} if of_core else level
        if of_core and here not in number_of.values():
            levels[here] = merged
        else:  # also one that has a name for the second time: the machine's checks say so
            here = len(levels)
            levels.append(merged)
        number_of[number] = here
    mine["cache"] = levels if isinstance(own, list) else own
    _complete(mine, core)

    def renumbered(path: toml.KeyPath) -> toml.KeyPath:
        there = path[:1] == ("cache",) and len(path) > 1 and path[1] in number_of
        return ("cache", number_of[path[1]], *path[2:]) if there else path

    said = {".".join(map(str, renumbered(_path(key)))): text for key, text in origin.items() if key != CORE}
    taken = {key: text for key, text in other.origin.items() if _has(core, _path(key)) and key not in said}
    origin.clear()
    origin.update(taken | said)
    at = places.get(_path(CORE), (1, 1))
    return mine, {_path(key): at for key in taken} | {renumbered(path): place for path, place in places.items()}


def _complete(values: dict[str, Any], core: Mapping[str, Any]) -> None:
    """Add to *values* the values of *core* that are missing there."""
    for name, value in core.items():
        if isinstance(value, dict) and isinstance(values.get(name), dict):
            _complete(values[name], value)
        else:
            values.setdefault(name, value)


def _has(values: Any, path: toml.KeyPath) -> bool:
    for part in path:
        if isinstance(values, dict) and part in values:
            values = values[str(part)]
        elif isinstance(values, list) and isinstance(part, int) and part < len(values):
            values = values[part]
        else:
            return False
    return True


def _path(key: str) -> toml.KeyPath:
    return tuple(int(part) if part.isdigit() else part for part in key.split("."))
