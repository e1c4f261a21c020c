"""The traces of simulated runs: from the records that the C runtime writes to a trace file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.run import Region
from scalegraph.runtime.results import Result
from scalegraph.traces.model import Note


@dataclass(frozen=True)
class Written:
    """What `write_trace` has written: rows by kind, the traced time in cycles, what is not as in a whole trace."""

    rows: dict[str, int] = field(default_factory=dict)
    begin: int = 0
    end: int = 0
    notes: tuple[Note, ...] = ()


def write_trace(
    raw: Path,
    out: Path,
    *,
    regions: Sequence[Region],
    result: Result | None = None,
    machine: str = "",
    program: str = "",
    properties: Mapping[str, str] | None = None,
    cancel: CancelToken | None = None,
    progress: Callable[[float], None] = lambda _share: None,
) -> Written:
    """Convert the records *raw*, which a run left at ``trace.file``, to the trace *out* (``.sgtrace``).

    *regions*: those of the program, by their numbers. *result*: of the same run; its accounts become the property
    ``accounting`` of a trace of the whole run, and none is written without it or of a part of a run. *machine*,
    *program*: names; *properties* are added to the trace's. *progress* is told the share that is done, 0 to 1.
    Works in bounded memory; *raw* is left alone. A run that was stopped has a trace up to there, and a note says so.

    Raises `WorkError` when *raw* is no such file, is cut short before its first record or of another version, or when
    *out* cannot be written; `Cancelled` as *cancel* says, *out* is not made then.
    """
    raise NotImplementedError
