"""How busy the links of an interconnect were over the time of a run."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

_Count: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]


class LinkLoads(BaseModel):
    """Columns of equal length, one entry per link for the busiest links; in cycles and bytes.

    *kind* and *shape*: the interconnect and its parameters; *nodes*: of the run. *spans*: busy time of each link in
    consecutive spans of *width* cycles from the start of the run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: str
    shape: dict[str, _Count] = Field(default_factory=dict)
    nodes: int = 0
    width: _Count = 1
    name: tuple[str, ...] = ()
    bytes: tuple[_Count, ...] = ()
    transactions: tuple[_Count, ...] = ()
    busy: tuple[_Count, ...] = ()
    waiting: tuple[_Count, ...] = ()
    spans: tuple[tuple[_Count, ...], ...] = ()

    @model_validator(mode="after")
    def _of_one_length(self) -> LinkLoads:
        columns = (self.bytes, self.transactions, self.busy, self.waiting, self.spans)
        if any(len(column) != len(self.name) for column in columns):
            raise ValueError("the loads of links have columns of different lengths")
        return self
