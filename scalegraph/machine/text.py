"""A machine as text: its file, with the origin of each value as a comment, and rows for a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from scalegraph.machine.fields import unit_of

if TYPE_CHECKING:
    from scalegraph.machine.model import Machine

NOT_STATED = "not stated"
_LABELS = ("name", "title", "summary")  # sections without origins


@dataclass(frozen=True)
class FieldRow:
    """A value of a machine: dotted *key*, *value* and *unit*, its description and origin."""

    key: str
    value: str | int | float | bool
    unit: str
    description: str
    origin: str


def _leaves(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any, type[BaseModel], str]]:
    """Yield (dotted key, value, declaring model, field name) for every value, in file order."""
    nested: list[tuple[str, BaseModel]] = []
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            nested.append((f"{prefix}{name}.", value))
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            nested += [(f"{prefix}{name}.{number}.", item) for number, item in enumerate(value)]
        elif value is not None and not isinstance(value, dict):
            yield f"{prefix}{name}", value, type(model), name
    for deeper, part in nested:
        yield from _leaves(part, deeper)


def keys(model: BaseModel) -> Iterator[str]:
    """Yield the dotted key of every value of *model*."""
    return (key for key, _, _, _ in _leaves(model))


def describe(machine: Machine) -> list[FieldRow]:
    """Return one row for each value of *machine*, in file order."""
    return [
        FieldRow(
            key,
            _literal(value) if isinstance(value, tuple) else value,
            unit_of(owner, name),
            owner.model_fields[name].description or "",
            machine.origin.get(key, "" if name in _LABELS else NOT_STATED),
        )
        for key, value, owner, name in _leaves(machine)
    ]


def write(model: BaseModel, origin: Mapping[str, str]) -> str:
    """Return *model* as TOML, with the *origin* of each value as a comment after it."""
    lines: list[str] = []
    table = ""
    for key, value, _, name in _leaves(model):
        here = key.removesuffix(name).rstrip(".")
        if here != table:
            table = here
            lines += ["", _header(here)]
        line = f"{name} = {_literal(value)}"
        if key in origin:
            line = f"{line:<32}  # {origin[key]}"
        lines.append(line)
    return "\n".join(lines).lstrip("\n") + "\n"


def _header(table: str) -> str:
    first, _, rest = table.partition(".")
    return f"[[{first}]]" if rest.isdigit() else f"[{table}]"


def _literal(value: str | float | bool | tuple[float, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, str):
        import tomlkit  # imported only for writing

        return tomlkit.item(value).as_string()
    return str(value).lower() if isinstance(value, bool) else repr(value)
