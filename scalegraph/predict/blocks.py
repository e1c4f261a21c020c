"""Structure of a data-parallel program as written by the user: TOML files ``NAME.blocks.toml``.

Parallel blocks are loops distributed over all processors, one after the other; a segment has several, plus the cost of
synchronising them. Source: semi-empirical paper, 2.2.2 and 4.3.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from scalegraph.base import expression
from scalegraph.base.toml import load_model, read_text

Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
Formula: TypeAlias = Annotated[str, Field(min_length=1, max_length=400)]
Collective: TypeAlias = Literal["broadcast", "allreduce"]
SUFFIX = ".blocks.toml"


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Block(_Entry):
    """A parallel block of *size* iterations, executed *times* in each pass of its segment.

    *of*: with this many elements distributed in blocks, the last *size* of them take part; a size of ``N`` is what
    every processor does once, a size of 1 is sequential. *by* ``owner``: the processor that owns the first
    participating element executes the block while the others continue with the other blocks of the pass. *data*: bytes
    that a processor accesses per pass; beyond its cache an iteration stalls longer. Formulas use parameters, ``N`` and
    the pass ``k``.
    """

    size: Formula = "1"
    of: Formula | None = None
    times: Formula = "1"
    by: Literal["all", "owner"] = "all"
    data: Formula | None = None


class Part(_Entry):
    """Blocks whose cycles are those of *regions*: a subsegment ss, or several with their own sizes."""

    regions: tuple[Name, ...] = Field(min_length=1)
    blocks: tuple[Block, ...] = Field(alias="block", min_length=1)


class Event(_Entry):
    """An explicit collective operation of all processors on *bytes* of data, *times* per pass."""

    collective: Collective
    bytes: Formula = "8"
    times: Formula = "1"


class Segment(_Entry):
    """A segment of eq. (2.7) with *passes*; *elapsed* is its time, a formula over functions of the first process."""

    name: Name
    elapsed: Formula
    passes: Formula = "1"
    parts: tuple[Part, ...] = Field(default=(), alias="part")
    events: tuple[Event, ...] = Field(default=(), alias="event")


class Size(_Entry):
    """All operations on data of *size* elements, repeated *times*: a term of eq. (4.11)."""

    size: Formula
    times: Formula = "1"


class Blocks(_Entry):
    """A data-parallel program: its segments, or, more coarsely, the *sizes* of its data."""

    title: str = ""
    parameters: tuple[Name, ...] = Field(min_length=1)
    segments: tuple[Segment, ...] = Field(default=(), alias="segment")
    sizes: tuple[Size, ...] = Field(default=(), alias="size")

    @model_validator(mode="after")
    def _whole(self) -> Blocks:
        if bool(self.segments) == bool(self.sizes):
            raise ValueError("either segments or sizes were expected")
        own = frozenset({*self.parameters, "N"})
        for size in self.sizes:
            _check(own, size.size, size.times)
        for segment in self.segments:
            _check(own, segment.passes)
            blocks = [block for part in segment.parts for block in part.blocks]
            for block in blocks:
                _check(own | {"k"}, block.size, block.of, block.times, block.data)
            for event in segment.events:
                _check(own | {"k"}, event.bytes, event.times)
        return self


def _check(variables: frozenset[str], *formulas: str | None) -> None:
    """Raise `ValueError` for the first invalid formula over *variables*."""
    for formula in formulas:
        if formula is not None:
            expression.parse(formula, variables)


def load(path: Path) -> Blocks:
    """Read a file of blocks; raise `InputError` with every fault and its place."""
    return parse(read_text(path), str(path))


def parse(text: str, file: str = "blocks") -> Blocks:
    """Return the blocks of TOML *text*; raise `InputError` with every fault and its place in *file*."""
    return load_model(Blocks, text, file)
