"""Clusters whose nodes are machines from another file: ``[nodes] machine = "server-2x32"``, ``count = 256``.

The cluster's file adds what nodes lack: interconnect, messages, number of nodes. A value that it repeats overrides the
node's. The result is a machine like any other, so readers of machines and studies never need the other file again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from scalegraph.base import toml
from scalegraph.base.errors import Fault, near
from scalegraph.machine.model import MOST_PROCESSORS, Machine

MACHINE: Final = "nodes.machine"
COUNT: Final = "nodes.count"
# Values determined by the two keys, and where an error in them is fixed.
_FOLLOWS: Final = {"processor.count": COUNT, "nodes.processors": MACHINE}
_NOT_OF_NODES: Final = ("name", "title", "summary", "interconnect", "nodes")


class Composition:
    """A cluster's file merged with the machine of its nodes.

    *values* are those of the whole machine, *origin* gives the origin of each, *places* their positions in the
    cluster's file, and *faults* the errors in it.
    """

    def __init__(
        self, own: Mapping[str, Any], origin: Mapping[str, str], places: toml.Positions, file: str, node: Machine
    ) -> None:
        self.faults: list[Fault] = []
        self._own_places, self._file, self._name = places, file, node.name
        self.values = node.model_dump(mode="json", exclude_none=True)
        names = [level["name"] for level in self.values["cache"]]
        self._levels = _levels(own.get("cache"), names)  # level number in the cluster's file -> in the node's
        self.places = {self._renumbered(path): place for path, place in places.items()}
        from_node = self.values.pop("origin")
        for section in _NOT_OF_NODES:
            self.values.pop(section, None)
        self.values["nodes"], nodes = {"memory_mib": node.nodes.memory_mib}, dict(own["nodes"])
        count = self._count(nodes, node)
        self._merge(self.values, {**own, "nodes": nodes}, ())
        self.values["nodes"]["processors"] = node.processor.count
        if isinstance(self.values["processor"], dict):
            self.values["processor"]["count"] = node.processor.count * count
        self.origin = {key: said for key, said in from_node.items() if key.partition(".")[0] not in _NOT_OF_NODES}
        if "nodes.memory_mib" in from_node:
            self.origin["nodes.memory_mib"] = from_node["nodes.memory_mib"]
        for key, said in origin.items():
            self.origin[".".join(map(str, self._renumbered(_path(key))))] = said
        for key in (MACHINE, COUNT):
            self.origin.pop(key, None)
        self.origin["nodes.processors"] = f"{_first(origin, MACHINE)}: a node is machine '{node.name}'"
        self.origin["processor.count"] = f"{_first(origin, COUNT)}: {count} nodes of machine '{node.name}'"

    def place(self, fault: Fault) -> Fault:
        """Return *fault* at the key of the cluster's file where it is fixed."""
        key = _FOLLOWS.get(fault.key, fault.key)
        if fault.line is not None and key == fault.key:
            return fault
        line, column = self._own_places.get(_path(key if key != fault.key else MACHINE), (None, None))
        return replace(fault, key=key, line=line, column=column)

    def _renumbered(self, path: toml.KeyPath) -> toml.KeyPath:
        if path[:1] == ("cache",) and len(path) > 1 and path[1] in self._levels:
            return "cache", self._levels[int(path[1])], *path[2:]
        return path

    def _fault(self, key: str, message: str) -> None:
        line, column = self._own_places.get(_path(key), self._own_places.get(_path(MACHINE), (None, None)))
        self.faults.append(Fault(message, self._file, line, column, key))

    def _count(self, nodes: dict[str, Any], node: Machine) -> int:
        """Remove the reference from *nodes*, and return the number of nodes."""
        del nodes["machine"]
        count, each = nodes.pop("count", None), node.processor.count
        if count is None:
            self._fault(COUNT, "is missing; expected how many nodes there are")
        elif not isinstance(count, int) or isinstance(count, bool) or count < 1:
            self._fault(COUNT, f"expected a whole number of nodes, at least 1; got {count!r}")
        elif count * each > MOST_PROCESSORS:
            most = f"at most {MOST_PROCESSORS // each} nodes of machine '{self._name}' with {each} processors"
            self._fault(COUNT, f"expected {most}, as a machine has {MOST_PROCESSORS} at most; got {count}")
        else:
            return count
        return 1

    def _merge(self, values: dict[str, Any], own: Mapping[str, Any], path: tuple[str, ...]) -> None:
        """Merge the values of the cluster's file into *values*, those of its nodes."""
        for key, value in own.items():
            before, dotted = values.get(key), ".".join((*path, key))
            if dotted in _FOLLOWS:
                self._fault(dotted, f"follows from {MACHINE} and {COUNT}; leave it out")
            elif dotted == "network.kind" and value != before:
                text = f"expected '{before}', the network of machine '{self._name}'; other nodes are another machine"
                self._fault(dotted, text)
            elif dotted == "cache" and isinstance(value, list):
                self._caches(before, value)
            elif isinstance(before, dict) and isinstance(value, dict):
                self._merge(before, value, (*path, key))
            elif key != "origin":
                values[key] = value

    def _caches(self, levels: Any, own: list[Any]) -> None:
        names = [level["name"] for level in levels]
        for number, level in enumerate(own):
            if number in self._levels:
                levels[self._levels[number]].update(level)
                continue
            given = level.get("name") if isinstance(level, dict) else None
            got = "it is missing" if given is None else f"got {given!r}{near(str(given), names)}"
            text = f"expected the name of a level of machine '{self._name}' ({', '.join(names)}); {got}"
            self._fault(f"cache.{number}" if given is None else f"cache.{number}.name", text)


def _levels(own: Any, names: list[str]) -> dict[int, int]:
    levels = own if isinstance(own, list) else []
    return {
        number: names.index(level["name"])
        for number, level in enumerate(levels)
        if isinstance(level, dict) and level.get("name") in names
    }


def _first(origin: Mapping[str, str], key: str) -> str:
    return origin.get(key, "choice").partition(":")[0]


def _path(key: str) -> toml.KeyPath:
    return tuple(int(part) if part.isdigit() else part for part in key.split("."))
