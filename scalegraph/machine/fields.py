"""How the values of a machine are declared: type, range, unit and a sentence, once, as data."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    """Base of every part of a machine: unknown keys are refused, nothing is converted, nothing changes later."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


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
