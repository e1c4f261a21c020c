"""The costs of worksharing loops under their schedules, and the resulting chunks."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

_Count: TypeAlias = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_Column: TypeAlias = tuple[_Count, ...]

CENTRAL = -1


class Chunks(BaseModel):
    """Columns of equal length, one entry per chunk: iterations first, first + step, .. (*count* of them).

    *execution* of the loop, *member* of the team that took it on *processor*, *owner*: member whose share it was, or
    `CENTRAL`; *control*: chunk-size control k used (0: none); *state* of that member's load, -1 light, 0 normal, 1
    heavy; *begin*, *end*: clock in cycles; *stall*: memory stall cycles in between.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    execution: _Column = ()
    processor: _Column = ()
    member: _Column = ()
    owner: _Column = ()
    state: _Column = ()
    first: _Column = ()
    count: _Column = ()
    step: _Column = ()
    control: _Column = ()
    begin: _Column = ()
    end: _Column = ()
    stall: _Column = ()

    @model_validator(mode="after")
    def _of_one_length(self) -> Chunks:
        if any(len(getattr(self, name)) != len(self.execution) for name in type(self).model_fields):
            raise ValueError("chunks of a loop have columns of different lengths")
        return self


class LoopCost(BaseModel):
    """A worksharing loop whose iterations the runtime assigned, under one schedule.

    *iterations* and *members*: the maximum over executions; *elapsed*: cycles from the arrival of the first member
    until the last one found no more work, summed over executions. Columns by *processor*: *entered* (executions),
    *chunks* and *taken* (iterations) by origin (``own`` share, ``other`` member's, ``central`` queue), and cycles:
    *body* in iterations, of which *stall* memory stalls; *asking* obtaining chunks, of which *lock* waiting for queue
    locks; *ending* from finding no more work until the last member did. *lines* used by its iterations, summed over
    executions, and *fresh*: those not used in the previous execution; empty unless classes are collected. *history*:
    the first chunks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    file: str = ""
    line: int = 0
    schedule: str = ""
    iterations: _Count = 0
    executions: _Count = 0
    members: _Count = 0
    elapsed: _Count = 0
    processor: _Column = ()
    entered: _Column = ()
    chunks: dict[str, _Column] = Field(default_factory=dict)
    taken: dict[str, _Column] = Field(default_factory=dict)
    body: _Column = ()
    stall: _Column = ()
    asking: _Column = ()
    lock: _Column = ()
    ending: _Column = ()
    lines: _Column = ()
    fresh: _Column = ()
    history: Chunks = Field(default_factory=Chunks)

    @model_validator(mode="after")
    def _of_one_length(self) -> LoopCost:
        lines = (self.lines, self.fresh) if self.lines or self.fresh else ()
        columns = (self.entered, self.body, self.stall, self.asking, self.lock, self.ending, *lines)
        if any(len(one) != len(self.processor) for one in (*columns, *self.chunks.values(), *self.taken.values())):
            raise ValueError("the accounts of a loop have columns of different lengths")
        return self

    @property
    def place(self) -> str:
        """Location of the loop as text: ``solve.c:88``."""
        return f"{PurePath(self.file).name}:{self.line}" if self.file else "a loop without a source line"

    @property
    def chunk_count(self) -> int:
        """Number of chunks over all processors and origins."""
        return sum(map(sum, self.chunks.values()))
