"""Regions as the instrumentation finds them in a source, without the models of runs: a build starts many compilers."""

from __future__ import annotations

from typing import NamedTuple

LIBRARY = "library call"
"""The kind of region for a source statement that calls a function defined in a header where work is done."""


class SourceRegion(NamedTuple):
    """A region of one source, by the names that `scalegraph.base.run.Region` has."""

    id: int
    kind: str
    name: str
    file: str = ""
    line: int = 0
    end_line: int = 0
    parent: int | None = None
    schedule: str = ""
    iterations: int | None = None
