"""TOML files validated against a pydantic model: all faults at once, each with file, line and suggestion."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from scalegraph.base.asked import declared
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.files import reason

if TYPE_CHECKING:
    from tree_sitter import Node

ModelT = TypeVar("ModelT", bound=BaseModel)
KeyPath = tuple[str | int, ...]
Positions = dict[KeyPath, tuple[int, int]]

_SIZE_LIMIT = 16 * 2**20  # none of our files comes near; a larger one is a mistake
_LONGEST = 60  # characters of a wrong value quoted in the message


def read_text(path: Path) -> str:
    """Read a user's UTF-8 text file; raise `InputError` saying what is wrong with it."""
    try:
        if path.is_dir():
            raise InputError(Fault("is a directory; a file was expected", file=str(path)))
        if path.stat().st_size > _SIZE_LIMIT:
            raise InputError(Fault("is larger than 16 MiB; a small text file was expected", file=str(path)))
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(Fault(f"is not UTF-8 text (byte {error.start})", file=str(path))) from error
    except FileNotFoundError as error:
        raise InputError(Fault("no such file", file=str(path))) from error
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {reason(error)}", file=str(path))) from error


def parse(text: str, file: str) -> tuple[dict[str, Any], Positions]:
    """Parse TOML *text*; return its data and the (line, column) of every key path, both from 1.

    Raises `InputError` with the position of the syntax error.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, _, place = str(error).partition(" (at ")
        line, column = _place(place, text)
        raise InputError(Fault(f"is not valid TOML: {message}", file=file, line=line, column=column)) from error
    return data, positions(text)


def _place(place: str, text: str) -> tuple[int, int]:
    numbers = [int(word) for word in place.replace(",", " ").replace(")", " ").split() if word.isdigit()]
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    return max(1, text.count("\n") + (not text.endswith("\n"))), 1


def positions(text: str) -> Positions:
    """Return the position of every key and table of valid TOML *text*; array elements by index."""
    import tree_sitter_toml
    from tree_sitter import Language, Parser

    walk = _Positions()
    root = Parser(Language(tree_sitter_toml.language())).parse(text.encode()).root_node
    walk.pairs(root, ())
    for node in root.children:
        if node.type in ("table", "table_array_element"):
            walk.table(node)
    return walk.found


class _Positions:
    """Visitor of a TOML syntax tree that records the position of every key path."""

    def __init__(self) -> None:
        self.found: Positions = {}
        self._arrays: dict[KeyPath, int] = {}

    def _note(self, path: KeyPath, node: Node) -> None:
        self.found.setdefault(path, (node.start_point[0] + 1, node.start_point[1] + 1))

    def pairs(self, node: Node, prefix: KeyPath) -> None:
        for child in node.children:
            if child.type == "pair":
                path = prefix + tuple(_key(child.children[0]))
                self._note(path, child)
                self._value(child.children[-1], path)

    def _value(self, node: Node, path: KeyPath) -> None:
        if node.type == "inline_table":
            self.pairs(node, path)
        elif node.type == "array":
            for index, item in enumerate(child for child in node.named_children if child.type != "comment"):
                self._note((*path, index), item)
                self._value(item, (*path, index))

    def table(self, node: Node) -> None:
        key = next(child for child in node.children if child.type in ("bare_key", "dotted_key", "quoted_key"))
        names = list(_key(key))
        path: KeyPath = ()
        for depth, name in enumerate(names, start=1):
            path = (*path, name)
            if depth == len(names) and node.type == "table_array_element":
                self._arrays[path] = self._arrays.get(path, -1) + 1
                self._note(path, key)
            if path in self._arrays:
                path = (*path, self._arrays[path])
        self._note(path, key)
        self.pairs(node, path)


def _key(node: Node) -> Iterator[str]:
    if node.type == "dotted_key":
        for child in node.named_children:
            yield from _key(child)
    elif node.type == "quoted_key":
        yield tomllib.loads(f"k = {(node.text or b'').decode()}")["k"]
    else:
        yield (node.text or b"").decode()


# Error types that pydantic uses for a number out of range.
_RANGES = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal"})


def load_model(model: type[ModelT], text: str, file: str) -> ModelT:
    """Parse and validate TOML *text* as *model*.

    Raises `InputError` with every fault: syntax, unknown keys (with a suggestion), values out of range.
    """
    data, places = parse(text, file)
    return validate(model, data, file, places)


def validate(model: type[ModelT], data: Mapping[str, Any], file: str, places: Positions | None = None) -> ModelT:
    """Validate *data* as *model*; raise `InputError` with every fault, positioned by *places*."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise InputError(faults_of(error, model, file, places or {}, data)) from error


def faults_of(
    error: ValidationError, model: type[BaseModel], file: str, places: Positions, data: Mapping[str, Any] | None = None
) -> list[Fault]:
    """Convert pydantic's *error* to positioned faults in the terms of the user's file."""
    faults = []
    for item in error.errors():
        # Union tags and other names that are not in the file are removed from the path.
        path = _real_path(item["loc"], data)
        line, column = _nearest_place(path, places)
        kind = item["type"]
        name = str(path[-1]) if path else ""
        if kind == "extra_forbidden":
            message = f"unknown key '{name}'" + near(name, _known_keys(model, item["loc"][:-1]))
        elif kind == "missing":
            message = "is missing"
        elif kind in _RANGES and (said := declared(model, item["loc"])) is not None:
            message = said.refusal(item.get("input"))
        else:
            message = item["msg"].removeprefix("Value error, ")
            message = message[0].lower() + message[1:] if not message[:2].isupper() else message
            got = item.get("input")
            if kind != "value_error" and isinstance(got, int | float | str | bool):
                shown = repr(got)
                message += f"; got {shown if len(shown) <= _LONGEST else shown[:_LONGEST] + '..'}"
        faults.append(Fault(message, file=file, line=line, column=column, key=".".join(map(str, path))))
    return sorted(faults, key=lambda fault: (fault.line or 0, fault.column or 0))


def _real_path(loc: tuple[int | str, ...], data: Mapping[str, Any] | None) -> KeyPath:
    if data is None:
        return loc
    path: list[str | int] = []
    here: Any = data
    for index, part in enumerate(loc):
        inside = (isinstance(here, Mapping) and part in here) or (
            isinstance(here, list) and isinstance(part, int) and part < len(here)
        )
        if inside:
            here = here[part]
            path.append(part)
        elif index == len(loc) - 1 and not isinstance(part, int) and isinstance(here, Mapping):
            path.append(part)  # a missing key
    return tuple(path)


def _nearest_place(path: KeyPath, places: Positions) -> tuple[int | None, int | None]:
    for length in range(len(path), 0, -1):
        if path[:length] in places:
            return places[path[:length]]
    return (None, None) if path else (1, 1)


def _known_keys(model: type[BaseModel], loc: tuple[int | str, ...]) -> set[str]:
    """Return the field names accepted at *loc* of *model*."""
    schema: Any = model.model_json_schema()
    definitions = schema.get("$defs", {})

    def expand(node: Any) -> list[Any]:
        if not isinstance(node, dict):
            return []
        if "$ref" in node:
            return expand(definitions[node["$ref"].rsplit("/", 1)[1]])
        found = [node]
        for union in ("anyOf", "oneOf", "allOf"):
            for option in node.get(union, ()):
                found += expand(option)
        return found

    nodes = expand(schema)
    for part in loc:
        step: list[Any] = []
        for node in nodes:
            if isinstance(part, int) and "items" in node:
                step += expand(node["items"])
            elif part in node.get("properties", {}):
                step += expand(node["properties"][part])
            elif isinstance(node.get("additionalProperties"), dict):
                step += expand(node["additionalProperties"])
        if step:
            nodes = step
    return {name for node in nodes for name in node.get("properties", {})}
