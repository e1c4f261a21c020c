"""Machine files: shipped ones by name, others by path, with values overridden for one request."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import tree_sitter_toml
from pydantic import ValidationError
from tree_sitter import Language, Node, Parser

from scalegraph.base import toml
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.resources import resource_dir
from scalegraph.machine import cores
from scalegraph.machine.checks import Inconsistent
from scalegraph.machine.fields import fill
from scalegraph.machine.model import Machine
from scalegraph.machine.nodes import COUNT, MACHINE, Composition

# A comment after a value that begins with one of these gives the value's origin.
ORIGINS = ("paper", "vendor", "system", "measured", "estimate", "choice")
OVERRIDE = "override"


@dataclass(frozen=True)
class MachineSummary:
    """An entry in a list of machines. *origin* is ``"shipped"`` or ``"file"``.

    *process_max*: processors available to one process, those of a node.
    """

    name: str
    title: str
    path: Path
    processors_max: int
    origin: str
    process_max: int


def available() -> list[MachineSummary]:
    """Return the shipped machines, sorted by name."""
    return [_summary(path) for path in sorted(resource_dir("machines").glob("*.toml"), key=lambda path: path.stem)]


def _summary(path: Path) -> MachineSummary:
    machine = load(str(path))
    most = machine.max_processors
    return MachineSummary(machine.name, machine.title, path, most, "shipped", machine.node_processors)


def load(name_or_path: str | Path, overrides: Mapping[str, str] | None = None) -> Machine:
    """Return the shipped machine with that name, or the machine in the file at that path.

    *overrides* maps dotted keys to values as written in a machine file (``{"network.hop_cycles": "5"}``); a cache level
    may be named (``cache.l2.size_kib``) or counted from 0 (``cache.1.size_kib``). Raises `InputError` with every fault
    of the file and of the overrides.
    """
    path = _find(str(name_or_path), Path())
    return read(toml.read_text(path), str(path), overrides)


def shipped_names() -> tuple[str, ...]:
    """Return the names of the shipped machines."""
    return tuple(_shipped())


def _shipped() -> dict[str, Path]:
    return {path.stem: path for path in sorted(resource_dir("machines").glob("*.toml"))}


def _find(name: str, beside: Path) -> Path:
    """Return the file of machine *name*; a relative path is relative to the directory *beside*."""
    shipped = _shipped()
    if name in shipped:
        return shipped[name]
    if "/" in name or name.endswith(".toml") or (beside / name).exists():
        return beside / name
    known = ", ".join(sorted(shipped))
    raise InputError(
        f"unknown machine '{name}'{near(name, shipped)}; expected one of {known}, or the path of a machine file"
    )


def read(text: str, file: str, overrides: Mapping[str, str] | None = None) -> Machine:
    """Return the machine described by TOML *text*; *file* is its name in error messages. Otherwise like `load`."""
    given = tuple((overrides or {}).items())
    node, core = _reference(text, MACHINE), _reference(text, cores.CORE)
    if core is not None:
        if node is not None:
            fault = "the machine of the nodes says what their core is; leave it out"
            raise InputError(_fault(fault, file, toml.parse(text, file)[1], cores.CORE))
        return _read(text, file, given, core=_other(core, text, file, cores.CORE))
    if node is None:
        return _read(text, file, given)
    instead = dict(given).get(MACHINE)
    name = node if instead is None else _value(instead)
    return _read(text, file, given, _other(name, text, file, MACHINE, is_override=instead is not None))


@lru_cache(maxsize=128)
def _reference(text: str, key: str) -> Any:
    """Return what the machine file *text* has at *key*, such as ``nodes.machine``; None if there is nothing."""
    section, _, name = key.partition(".")
    try:
        values = tomllib.loads(text).get(section)
    except tomllib.TOMLDecodeError:
        return None
    return values.get(name) if isinstance(values, dict) else None


def _other(name: Any, text: str, file: str, key: str, *, is_override: bool = False) -> tuple[str, str]:
    """Return text and path of machine *name*, to which the *key* of the machine *text* in *file* refers."""

    def refused(message: str) -> InputError:
        if is_override:
            return InputError(Fault(message, key=key))
        return InputError(_fault(message, file, toml.parse(text, file)[1], key))

    if not isinstance(name, str) or not name:
        raise refused(f"expected the name of a machine, or the path of its file; got {name!r}")
    try:
        path = _find(name, Path(file).parent)
    except InputError as error:
        raise refused(error.faults[0].message) from error
    if not path.is_file():
        raise refused(f"no such file: {path}")
    found = toml.read_text(path)
    if found == text or path.absolute() == Path(file).absolute():
        expected = "a machine of one node" if key == MACHINE else "another machine"
        raise refused(f"the machine names itself; expected {expected}")
    if key == cores.CORE:
        if _reference(found, cores.CORE) is not None or _reference(found, MACHINE) is not None:
            raise refused(f"machine '{name}' takes its own core from another file; name that machine instead")
    elif _reference(found, MACHINE) is not None or read(found, str(path)).interconnect is not None:
        raise refused(f"machine '{name}' has nodes itself; expected a machine of one node")
    return found, str(path)


@lru_cache(maxsize=128)  # more than the number of shipped machines: a list of machines reads all of them
def _read(
    text: str,
    file: str,
    overrides: tuple[tuple[str, str], ...],
    node: tuple[str, str] | None = None,
    core: tuple[str, str] | None = None,
) -> Machine:
    """Return the machine of *text*; *node* or *core* is the machine that it takes its nodes or its core from."""
    data, places = toml.parse(text, file)
    unwanted = _unwanted(data, file, places)
    data["origin"] = _origins(text, places, set(_scalars(data)))
    if core is not None:
        data, places = cores.with_core(data, data["origin"], places, read(*core))
    composed, of_nodes = None, _Overrides({}, {})
    if node is not None:
        of_nodes = _Overrides(data, {key: value for key, value in overrides if key in (MACHINE, COUNT)})
        overrides = tuple((key, value) for key, value in overrides if key not in (MACHINE, COUNT))
        composed = Composition(data, data["origin"], places, file, read(*node))
        unwanted += [*of_nodes.faults, *(of_nodes.place(fault) for fault in composed.faults)]
        data, places = {**composed.values, "origin": composed.origin}, composed.places
    fill(Machine, data, data["origin"])
    changed = _Overrides(data, dict(overrides))
    try:
        machine = Machine.model_validate(data)
    except ValidationError as error:
        faults = [changed.place(fault) for fault in _faults(error, file, places, data)]
        if composed is not None:
            faults = [fault if not fault.file else of_nodes.place(composed.place(fault)) for fault in faults]
        raise InputError([*changed.faults, *unwanted, *faults]) from error
    if changed.faults or unwanted:
        raise InputError([*changed.faults, *unwanted])
    return machine


def _unwanted(data: dict[str, Any], file: str, places: toml.Positions) -> list[Fault]:
    found = []
    if "origin" in data:
        text = "unknown key 'origin'; the comment behind a value says its origin"
        found.append(_fault(text, file, places, "origin"))
    nodes = data.get("nodes")
    if isinstance(nodes, dict) and "count" in nodes and "machine" not in nodes:
        text = f"goes with {MACHINE}, the machine that each node is, which is missing"
        found.append(_fault(text, file, places, COUNT))
        del nodes["count"]
    return found


def _fault(message: str, file: str, places: toml.Positions, key: str) -> Fault:
    line, column = places.get(tuple(key.split(".")), (None, None))
    return Fault(message, file, line, column, key)


def _faults(error: ValidationError, file: str, places: toml.Positions, data: Mapping[str, Any]) -> Iterator[Fault]:
    for item in error.errors():
        cause = item.get("ctx", {}).get("error")
        if isinstance(cause, Inconsistent):
            for path, message in cause.found:
                line, column = _place(path, places)
                yield Fault(message, file, line, column, ".".join(map(str, path)))
            return  # a machine is checked as a whole only if each value is valid
    yield from toml.faults_of(error, Machine, file, places, data)


def _place(path: tuple[str | int, ...], places: toml.Positions) -> tuple[int | None, int | None]:
    return next((places[path[:n]] for n in range(len(path), 0, -1) if path[:n] in places), (None, None))


def _origins(text: str, places: toml.Positions, known: set[str]) -> dict[str, str]:
    """Return the origin comments of *text* by the dotted key (of those in *known*) of the value before them."""
    root = Parser(Language(tree_sitter_toml.language())).parse(text.encode()).root_node
    comments = {}
    for node in _comments(root):
        said = (node.text or b"").decode().lstrip("#").strip()
        if said.partition(":")[0].strip() in ORIGINS:
            comments[node.start_point[0] + 1] = " ".join(said.split())
    by_line: dict[int, str] = {}
    for path, (line, _) in places.items():
        key = ".".join(map(str, path))
        if key in known:
            by_line[line] = key  # of several keys on a line the last is nearest to the comment
    return {by_line[line]: said for line, said in comments.items() if line in by_line}


def _comments(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.type == "comment":
            yield child
        else:
            yield from _comments(child)


class _Overrides:
    """Values overridden by dotted keys, set in the parsed data before validation."""

    def __init__(self, data: dict[str, Any], overrides: Mapping[str, str]) -> None:
        self.faults: list[Fault] = []
        self._given: dict[str, str] = {}  # real dotted key -> key as the user wrote it
        for key, text in overrides.items():
            self._apply(data, key, text)

    def _apply(self, data: dict[str, Any], key: str, text: str) -> None:
        *parents, last = key.split(".")
        here: Any = data
        path: list[str] = []
        for part in parents:
            here, real = _step(here, part)
            if here is None:
                break
            path.append(real)
        if not isinstance(here, dict) or not last or path[:1] == ["origin"] or key == "origin":
            real_keys = sorted(_scalars(data))
            self.faults.append(Fault(f"the machine has no key '{key}'{near(key, real_keys)}", key=key))
            return
        if _is_table(here.get(last)):
            inside = [known for known in _scalars(data) if known.startswith(f"{key}.")]
            like = f", like '{inside[0]}'" if inside else ""
            self.faults.append(Fault(f"'{key}' is a section; one of its values was expected{like}", key=key))
            return
        if last not in here:
            known = [*_scalars(data)]
            self.faults.append(Fault(f"unknown key '{last}'{near('.'.join([*path, last]), known)}", key=key))
            return
        here[last] = _value(text)
        real_key = ".".join([*path, last])
        self._given[real_key] = key
        data["origin"][real_key] = OVERRIDE

    def place(self, fault: Fault) -> Fault:
        """Return *fault*, attributed to the override if that set the value."""
        key = self._given.get(fault.key)
        return fault if key is None else replace(fault, file="", line=None, column=None, key=key)


def _step(here: Any, part: str) -> tuple[Any, str]:
    if isinstance(here, dict):
        return here.get(part), part
    if isinstance(here, list):
        for number, item in enumerate(here):
            if part == str(number) or (isinstance(item, dict) and item.get("name") == part):
                return item, str(number)
    return None, part


def _scalars(data: Any, prefix: str = "") -> Iterator[str]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        if not prefix and key == "origin":
            continue
        if _is_table(value):
            yield from _scalars(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _is_table(value: Any) -> bool:
    """Return whether *value* contains values with their own keys; a list of numbers is one value."""
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))


def _value(text: str) -> Any:
    """Return *text* as a TOML value, or as a bare word."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text.strip()
    return parsed["value"] if len(parsed) == 1 else text
