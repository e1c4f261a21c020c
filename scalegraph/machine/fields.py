"""How the values of a machine are declared: type, range, unit and a sentence, once, as data."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field

# The origin of a value that a machine file leaves out.
DEFAULT = "choice: default"


class Section(BaseModel):
    """Base of every part of a machine: unknown keys are refused, nothing is converted, nothing changes later."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


def quantity(description: str, unit: str, least: float, most: float, **more: Any) -> Any:
    """Declare a number of a machine file: what it is, its unit and its range, both ends included."""
    return Field(description=description, ge=least, le=most, json_schema_extra={"unit": unit}, **more)


def choice(description: str, **more: Any) -> Any:
    """Declare a name or text of a machine file."""
    return Field(description=description, json_schema_extra={"unit": ""}, **more)


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
            made = field.get_default(call_default_factory=True)
            data[name] = {} if isinstance(made, BaseModel) else made
            if not isinstance(made, BaseModel):
                origin[f"{prefix}{name}"] = DEFAULT
        inside = data.get(name)
        for number, item in enumerate(inside) if isinstance(inside, list) else [(None, inside)]:
            if isinstance(item, dict) and (deeper := _model_of(field.annotation, item)) is not None:
                fill(deeper, item, origin, f"{prefix}{name}." + ("" if number is None else f"{number}."))


def _model_of(annotation: Any, item: dict[str, Any]) -> type[BaseModel] | None:
    """Return the model that *annotation* asks for; of several, the one of the kind that *item* says it is."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    models = [found for part in get_args(annotation) if (found := _model_of(part, item)) is not None]
    kinds = [model for model in models if item.get("kind") in get_args(_kind(model))]
    return kinds[0] if kinds else models[0] if len(models) == 1 else None


def _kind(model: type[BaseModel]) -> Any:
    field = model.model_fields.get("kind")
    return None if field is None else field.annotation
