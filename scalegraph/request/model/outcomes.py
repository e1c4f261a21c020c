"""How searches of a size ended, as a study keeps it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from scalegraph.base.run import Value

_MOST = 2**53  # of whole numbers: they become columns of a table


class Outcome(BaseModel):
    """How the search of a size ended, as `searches.Searches.outcomes` wrote it; what is not named here is text."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False, defer_build=True)
    __pydantic_extra__: dict[str, str | float | bool | None]

    bound: str = ""
    value: float | None = None
    processors: int = Field(ge=1, le=_MOST)
    met: bool = False
    parameters: dict[str, Value] | None = None
    sentence: str = ""


_OUTCOMES = TypeAdapter(tuple[Outcome, ...])


def check(outcomes: Any) -> None:
    """Raise pydantic's ``ValidationError`` unless *outcomes* are some."""
    _OUTCOMES.validate_python(outcomes)
