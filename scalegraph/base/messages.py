"""The cost of messages in a run: by rank, communicator and partner."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

_Count: TypeAlias = Annotated[int, Field(ge=-(2**63), lt=2**63)]

NO_COMMUNICATOR = -1
NO_PARTNER, OTHER_PARTNERS = -1, -2


class Communicator(BaseModel):
    """A communicator: its number, *name* (empty if none), its largest number of ranks, and the call that created it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    number: int
    name: str = ""
    size: int = 0
    file: str = ""
    line: int = 0

    @property
    def words(self) -> str:
        """Name for display: as set by the program, or where it was created."""
        place = f"made at {PurePath(self.file).name}:{self.line}" if self.file else ""
        return self.name or place or f"communicator {self.number}"


class MessageCosts(BaseModel):
    """Columns of equal length, one entry per rank, communicator and partner with any messages.

    *communicator*: the number of a `Communicator`, or `NO_COMMUNICATOR`; *partner*: a global rank, `NO_PARTNER` (no
    particular one: operations of a reduction, a wait for one of several) or `OTHER_PARTNERS` (sum over very many).
    *messages*, *bytes*: received. *cycles*: by category; over all entries they add up to the categories of the run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    communicators: tuple[Communicator, ...] = ()
    rank: tuple[_Count, ...] = ()
    communicator: tuple[_Count, ...] = ()
    partner: tuple[_Count, ...] = ()
    messages: tuple[_Count, ...] = ()
    bytes: tuple[_Count, ...] = ()
    cycles: dict[str, tuple[_Count, ...]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _of_one_length(self) -> MessageCosts:
        columns = (self.communicator, self.partner, self.messages, self.bytes, *self.cycles.values())
        if any(len(column) != len(self.rank) for column in columns):
            raise ValueError("the accounts of messages have columns of different lengths")
        return self
