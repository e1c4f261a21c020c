"""Declarations of a machine's values: type, range, unit and a sentence, once, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field

# The origin of a value that a machine file leaves out.
DEFAULT = "choice: default"


class Section(BaseModel):
    """Base of every part of a machine: unknown keys are refused, nothing is converted, nothing changes later."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


@dataclass(frozen=True)
class On:
    """What a value is converted with: the section it is in, the processors' clock and the coherence line."""

    section: Any
    clock_hz: float
    line_bytes: int


class Given(NamedTuple):
    """What the runtime gets of a value: *key* in its configuration, *convert* to a number of *least* to *most*.

    An empty *key* stands for the field's name.

    From these `scalegraph.runtime.machine_source` makes the C fields, their ranges and names. *real*: a number with a
    fraction, else a whole one. *enum*: for a name the C type and the prefix of its members.
    """

    key: str
    convert: Callable[[Any, On], Any]
    least: float = 0
    most: float = 1
    real: bool = False
    enum: tuple[str, str] = ("", "")


def same(value: Any, _on: On) -> Any:
    """Return *value*."""
    return value


def named(key: str, kind: str, prefix: str) -> tuple[Given, ...]:
    """Return what the runtime gets of a name: the name, which is a member of the C type ``enum sg_KIND`` there."""
    return (Given(key, same, enum=(f"sg_{kind}", prefix)),)


def milli(value: float, _on: On) -> int:
    """Return *value* in thousandths."""
    return round(value * 1000)


def cycles(value: float, on: On) -> int:
    """Return *value*, nanoseconds, in cycles."""
    return round(value * 1e-9 * on.clock_hz)


def millicycles(value: float, on: On) -> int:
    """Return *value*, nanoseconds, in thousandths of a cycle."""
    return round(1000 * value * 1e-9 * on.clock_hz)


def busy_millicycles(size: int, gb_s: float, on: On) -> int:
    """Return how long *size* bytes take at a bandwidth, in thousandths of a cycle."""
    return round(1000 * size / (gb_s * 1e9) * on.clock_hz)


def quantity(
    description: str, unit: str, least: float, most: float, *, runtime: tuple[Given, ...] | None = None, **more: Any
) -> Any:
    """Declare a number of a machine file: what it is, its unit and its range, both ends included.

    *runtime*: what the runtime gets of it; without it the number itself, under its own name.
    """
    info = Field(description=description, ge=least, le=most, json_schema_extra={"unit": unit}, **more)
    info.metadata.append(_Runtime(runtime))
    return info


def choice(description: str, *, runtime: tuple[Given, ...] | None = (), **more: Any) -> Any:
    """Declare a name, text or switch of a machine file; the runtime gets what *runtime* says, None: as of a number."""
    info = Field(description=description, json_schema_extra={"unit": ""}, **more)
    info.metadata.append(_Runtime(runtime))
    return info


class _Runtime(NamedTuple):
    given: tuple[Given, ...] | None


def declared(model: type[BaseModel]) -> Iterator[tuple[str, Given]]:
    """Yield (field, what the runtime gets of it) for every value of *model* that the runtime gets."""
    for name, info in model.model_fields.items():
        for item in info.metadata:
            if isinstance(item, _Runtime):
                given = item.given if item.given is not None else (_plain(name, info),)
                yield from ((name, one if one.key else one._replace(key=name)) for one in given)


def _plain(name: str, info: Any) -> Given:
    if info.annotation is bool:
        return Given(name, lambda value, _on: int(value), 0, 1)
    if get_origin(info.annotation) is Literal:  # by its number among the names
        names = get_args(info.annotation)
        return Given(name, lambda value, _on: names.index(value), 0, len(names) - 1)
    least, most = (next(getattr(item, end) for item in info.metadata if hasattr(item, end)) for end in ("ge", "le"))
    return Given(name, same, least, most)


def given(section: BaseModel, clock_hz: float, line_bytes: int) -> dict[str, Any]:
    """Return what the runtime gets of *section*, by key."""
    on = On(section, clock_hz, line_bytes)
    return {one.key: one.convert(getattr(section, name), on) for name, one in declared(type(section))}


def unit_of(model: type[BaseModel], name: str) -> str:
    """Return the unit that field *name* of *model* is declared with."""
    extra = model.model_fields[name].json_schema_extra
    return str(extra.get("unit", "")) if isinstance(extra, dict) else ""


def fill(model: type[BaseModel], data: dict[str, Any], origin: dict[str, str], prefix: str = "") -> None:
    """Write into *data*, parsed from a file, every value that *model* has a default for and the file leaves out.

    *origin* gets a remark for each. Whatever is wrong in *data* stays as it is, to be found when it is checked.
    """
    for name, field in model.model_fields.items():
        if name not in data and not field.is_required() and name != "origin":
            factory = field.default_factory
            if isinstance(factory, type) and issubclass(factory, BaseModel):
                data[name] = {}  # not made only to be filled
            elif (made := field.get_default(call_default_factory=True)) is None:
                continue  # a table that a machine may do without
            else:
                data[name] = made
                origin[f"{prefix}{name}"] = DEFAULT
        inside = data.get(name)
        for number, item in enumerate(inside) if isinstance(inside, list) else [(None, inside)]:
            if isinstance(item, dict) and (deeper := _model_of(field.annotation, item)) is not None:
                fill(deeper, item, origin, f"{prefix}{name}." + ("" if number is None else f"{number}."))


def _model_of(annotation: Any, item: dict[str, Any]) -> type[BaseModel] | None:
    """Return the model that *annotation* requests; of several, the one of the kind that *item* says it is."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    models = [found for part in get_args(annotation) if (found := _model_of(part, item)) is not None]
    kinds = [model for model in models if item.get("kind") in get_args(_kind(model))]
    return kinds[0] if kinds else models[0] if len(models) == 1 else None


def _kind(model: type[BaseModel]) -> Any:
    field = model.model_fields.get("kind")
    return None if field is None else field.annotation
