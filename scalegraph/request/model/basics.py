"""Building blocks of a request's parts: strict models, and the types of names, texts and counts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]
Text = Annotated[str, Field(max_length=4096)]
Processors = Annotated[int, Field(ge=1, le=65536)]


class Strict(BaseModel):
    """Base of the request's parts: frozen, unknown keys refused, no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=False, defer_build=True)
