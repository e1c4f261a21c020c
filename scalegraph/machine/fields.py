"""Declarations of a machine's values: type, range, unit and description, stated once as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field

# The origin of a value omitted from a machine file.
DEFAULT = "choice: default"


class Section(BaseModel):
    """Base of every part of a machine: unknown keys are rejected, nothing is converted, instances are immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


@dataclass(frozen=True)
class On:
    """The context for converting a value: its section, the processor clock and the coherence line."""

    section: Any
    clock_hz: float
    line_bytes: int


class Given(NamedTuple):
    """How a value is passed to the runtime: *key* in its configuration, *convert* to a number from *least* to *most*.

    An empty *key* means the field's name. `scalegraph.runtime.machine_source` generates the C fields, their ranges and
    names from these. *real*: a floating-point number rather than an integer. *enum*: for a name, the C type and the
    prefix of its members.
    """

    key: str
    convert: Callable[[Any, On], Any]
    least: float = 0
    most: float = 1
    real: bool = False
    enum: tuple[str, str] = ("", "")


def same(value: Any, _on: On) -> Any:
    """Return *value* unchanged."""
    return value


def named(key: str, kind: str, prefix: str) -> tuple[Given, ...]:
    """Return how a name is passed to the runtime: as a member of the C type ``enum sg_KIND``."""
    return (Given(key, same, enum=(f"sg_{kind}", prefix)),)


def milli(value: float, _on: On) -> int:
    """Return *value* in thousandths."""
    return round(value * 1000)


def cycles(value: float, on: On) -> int:
    """Convert *value* from nanoseconds to cycles."""
    return round(value * 1e-9 * on.clock_hz)


def millicycles(value: float, on: On) -> int:
    """Convert *value* from nanoseconds to thousandths of a cycle."""
    return round(1000 * value * 1e-9 * on.clock_hz)


def busy_millicycles(size: int, gb_s: float, on: On) -> int:
    """Return the time for *size* bytes at a bandwidth, in thousandths of a cycle."""
    return round(1000 * size / (gb_s * 1e9) * on.clock_hz)


def quantity(
    description: str, unit: str, least: float, most: float, *, runtime: tuple[Given, ...] | None = None, **more: Any
) -> Any:
    """Declare a number in a machine file: its description, unit and range (both ends included).

    *runtime*: what is passed to the runtime; by default the number itself, under its own name.
    """
    info = Field(description=description, ge=least, le=most, json_schema_extra={"unit": unit}, **more)
    info.metadata.append(_Runtime(runtime))
    return info


def choice(description: str, *, runtime: tuple[Given, ...] | None = (), **more: Any) -> Any:
    """Declare a name, text or switch in a machine file, passed as *runtime* says; None: as for a number."""
    info = Field(description=description, json_schema_extra={"unit": ""}, **more)
    info.metadata.append(_Runtime(runtime))
    return info


class _Runtime(NamedTuple):
    given: tuple[Given, ...] | None


def declared(model: type[BaseModel]) -> Iterator[tuple[str, Given]]:
    """Yield (field, what is passed to the runtime) for every value of *model* that is passed."""
    for name, info in model.model_fields.items():
        for item in info.metadata:
            if isinstance(item, _Runtime):
                given = item.given if item.given is not None else (_plain(name, info),)
                yield from ((name, one if one.key else one._replace(key=name)) for one in given)


def _plain(name: str, info: Any) -> Given:
    if info.annotation is bool:
        return Given(name, lambda value, _on: int(value), 0, 1)
    if get_origin(info.annotation) is Literal:  # by its index among the names
        names = get_args(info.annotation)
        return Given(name, lambda value, _on: names.index(value), 0, len(names) - 1)
    least, most = (next(getattr(item, end) for item in info.metadata if hasattr(item, end)) for end in ("ge", "le"))
    return Given(name, same, least, most)


def given(section: BaseModel, clock_hz: float, line_bytes: int) -> dict[str, Any]:
    """Return what is passed to the runtime from *section*, by key."""
    on = On(section, clock_hz, line_bytes)
    return {one.key: one.convert(getattr(section, name), on) for name, one in declared(type(section))}


def unit_of(model: type[BaseModel], name: str) -> str:
    """Return the declared unit of field *name* of *model*."""
    extra = model.model_fields[name].json_schema_extra
    return str(extra.get("unit", "")) if isinstance(extra, dict) else ""


def fill(model: type[BaseModel], data: dict[str, Any], origin: dict[str, str], prefix: str = "") -> None:
    """Set in *data*, parsed from a file, every value that has a default in *model* and is omitted in the file.

    *origin* gets a remark for each. Errors in *data* are left for the later check.
    """
    for name, field in model.model_fields.items():
        if name not in data and not field.is_required() and name != "origin":
            factory = field.default_factory
            if isinstance(factory, type) and issubclass(factory, BaseModel):
                data[name] = {}  # no table is created just to be filled
            elif (made := field.get_default(call_default_factory=True)) is None:
                continue  # an optional table
            else:
                data[name] = made
                origin[f"{prefix}{name}"] = DEFAULT
        inside = data.get(name)
        for number, item in enumerate(inside) if isinstance(inside, list) else [(None, inside)]:
            if isinstance(item, dict) and (deeper := _model_of(field.annotation, item)) is not None:
                fill(deeper, item, origin, f"{prefix}{name}." + ("" if number is None else f"{number}."))


def _model_of(annotation: Any, item: dict[str, Any]) -> type[BaseModel] | None:
    """Return the model type in *annotation*; of several, the one with the kind given in *item*."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    models = [found for part in get_args(annotation) if (found := _model_of(part, item)) is not None]
    kinds = [model for model in models if item.get("kind") in get_args(_kind(model))]
    return kinds[0] if kinds else models[0] if len(models) == 1 else None


def _kind(model: type[BaseModel]) -> Any:
    field = model.model_fields.get("kind")
    return None if field is None else field.annotation
