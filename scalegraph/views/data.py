"""What a view gets: the study in memory, free of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from scalegraph.analyze import metrics
from scalegraph.base.run import Region, RunRecord


@dataclass(frozen=True)
class SourceText:
    """One source file of the program: the user's *text* and, line by line, what the preprocessor made of it."""

    file: str
    text: str
    instrumented: str = ""


@dataclass(frozen=True)
class StudyData:
    """A study as views see it.

    *table* is the run table (`RunRecord.row`; it may carry ``memory_bytes``, the program's memory for the
    parameters of the run); *runs* are the records behind it, in the same order; *manifest* is the study's manifest
    (read: ``title``, ``program``, ``machine_title``, ``bound``, ``efficiency``, ``time_s``, ``memory_bytes``);
    *sources* and *regions* describe the program text.
    """

    table: pd.DataFrame
    runs: tuple[RunRecord, ...] = ()
    manifest: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[SourceText, ...] = ()
    regions: tuple[Region, ...] = ()

    @classmethod
    def from_runs(
        cls,
        runs: Sequence[RunRecord],
        *,
        manifest: Mapping[str, Any] | None = None,
        sources: Sequence[SourceText] = (),
        regions: Sequence[Region] = (),
    ) -> StudyData:
        """Return the data of a study whose *runs* are in memory."""
        table = pd.DataFrame([run.row() for run in runs])
        return cls(table, tuple(runs), dict(manifest or {}), tuple(sources), tuple(regions))

    @cached_property
    def scaling(self) -> pd.DataFrame:
        """`metrics.scaling` of the table, computed once."""
        return metrics.scaling(self.table)

    @cached_property
    def by_key(self) -> Mapping[str, RunRecord]:
        """Run records by the key of their point."""
        return {run.point.key: run for run in self.runs}

    @property
    def failed(self) -> tuple[RunRecord, ...]:
        """Runs that did not end well."""
        return tuple(run for run in self.runs if not run.ok)
