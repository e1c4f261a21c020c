"""A study in memory, as used by views, independent of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import pandas as pd

from scalegraph.analyze import metrics, remarks, workload
from scalegraph.analyze.callpaths import measured_runs
from scalegraph.analyze.series import Series, main_series, one_program
from scalegraph.base.run import Region, RunRecord
from scalegraph.measurements.mapping import Mapping as Meaning
from scalegraph.measurements.model import MeasurementSet
from scalegraph.predict.derive import EventCosts
from scalegraph.predict.graph import Graph
from scalegraph.predict.kept import Kept
from scalegraph.subjects.run_costs import with_costs

Made = TypeVar("Made")


@dataclass(frozen=True)
class SourceText:
    """One source file of the program: the user's *text* and, line by line, the preprocessor's version of it."""

    file: str
    text: str
    instrumented: str = ""


@dataclass(frozen=True)
class StudyData:
    """A study as seen by views.

    *table*: the run table (`RunRecord.row`; it may include ``memory_bytes``, the program's memory for the run's
    parameters); *runs*: the records behind it, in the same order; *manifest*: the study's manifest as a dictionary
    (used: ``title``, ``program``, ``machine``, ``machine_title``, ``machine_values.title`` and ``request.bound``, a
    list of ``{kind, value, tolerance}``); *sources* and *regions*: the program text. *variants*: the what-if runs,
    which are in neither *table* nor *runs*. *imported*: the measurement set that the study was made from, with the
    meaning of its names; views use `measured`, which runs with regions have too. *name*: the study's short name (its
    file's); *others*: the studies that a view for several compares it with. *graph*: of a graph file opened as a study
    without runs; *predictions*: what was predicted from the runs. *elsewhere*: the actual runs of other targets than
    that of *runs*: the measured ones if these are simulated. *work*: definition of W (`analyze.workload`), if it is not
    the request's. *choices*: in a study of several machines, splits, schedules .., each of them, including this one;
    see `subjects.space`.
    """

    table: pd.DataFrame
    runs: tuple[RunRecord, ...] = ()
    manifest: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[SourceText, ...] = ()
    regions: tuple[Region, ...] = ()
    variants: tuple[RunRecord, ...] = ()
    imported: tuple[MeasurementSet, Meaning] | None = None
    name: str = ""
    others: tuple[StudyData, ...] = ()
    graph: Graph | None = None
    predictions: Kept = field(default_factory=Kept)
    elsewhere: tuple[RunRecord, ...] = ()
    work: str = ""
    choices: tuple[StudyData, ...] = ()
    # cached results shared by views, by their own keys
    memo: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def once(self, key: str, make: Callable[[], Made]) -> Made:
        """Return the result of *make*, computed once for this study and *key*: several views show the same fits."""
        if key not in self.memo:
            self.memo[key] = make()
        made: Made = self.memo[key]
        return made

    @classmethod
    def from_runs(
        cls,
        runs: Sequence[RunRecord],
        *,
        manifest: Mapping[str, Any] | None = None,
        sources: Sequence[SourceText] = (),
        regions: Sequence[Region] = (),
    ) -> StudyData:
        """Return the data of a study whose *runs* are in memory.

        *sources* and *regions* default to those in the manifest (keys of the same names).
        """
        known = dict(manifest or {})
        texts = tuple(sources) or tuple(
            SourceText(str(entry.get("name", "")), str(entry.get("text", "")), str(entry.get("instrumented", "")))
            for entry in known.get("sources") or ()
        )
        places = tuple(regions) or tuple(Region.model_validate(entry) for entry in known.get("regions") or ())
        actual = tuple(run for run in runs if not run.point.variant)
        others = tuple(run for run in runs if run.point.variant)
        return cls(pd.DataFrame([run.row() for run in actual]), actual, known, texts, places, others)

    @cached_property
    def scaling(self) -> pd.DataFrame:
        """`metrics.scaling` of the table with the costs of its runs (`subjects.run_costs`), computed once."""
        return metrics.scaling(with_costs(self), self.work_choice)

    @property
    def work_choice(self) -> str:
        """Definition of W: the one chosen for this study, by default its request's."""
        return self.work or str((self.manifest.get("request") or {}).get("work") or "")

    @property
    def work_words(self) -> str:
        """The definition of W, in words."""
        return workload.words(self.work_choice, metrics.work_unit(self.scaling))

    @cached_property
    def main_series(self) -> Series | None:
        """The runs that views show by default (`series.main_series` of `scaling`), found once."""
        return main_series(self.scaling)

    @cached_property
    def _one_program(self) -> tuple[pd.DataFrame, str]:
        return one_program(self.scaling, self.main_series)

    @property
    def one_program(self) -> pd.DataFrame:
        """The rows of `scaling` in which sizes may be compared: those of the program in `main_series`."""
        return self._one_program[0]

    @property
    def other_programs(self) -> str:
        """A sentence if `one_program` leaves out rows; otherwise empty."""
        return self._one_program[1]

    @cached_property
    def _measured(self) -> tuple[MeasurementSet, Meaning] | None:
        return self.imported or measured_runs(self.runs, self.regions)

    @property
    def measured(self) -> MeasurementSet | None:
        """Values by call path: the set that the study was made from, or its runs' regions; None without runs."""
        return self._measured[0] if self._measured else None

    @property
    def meaning(self) -> Meaning | None:
        """The meaning of the names in `measured`: which parameter counts processors, which metric is time, .."""
        return self._measured[1] if self._measured else None

    @cached_property
    def by_key(self) -> Mapping[str, RunRecord]:
        """Run records by the key of their point."""
        return {run.point.key: run for run in self.runs}

    def estimated(self, *, others: bool = False, choices: bool = False) -> str:
        """Return a sentence on how much of the study's runs is estimated, and their interval; empty if nothing is.

        *others*: also of the studies that it is compared with; *choices*: of all its choices.
        """
        parts = (*((choices and self.choices) or (self,)), *(self.others if others else ()))
        said = self.once(
            f"estimated {others} {choices}", lambda: remarks.estimated(run for part in parts for run in part.every_run)
        )
        return f"{said[0].upper()}{said[1:]}." if said else ""

    @property
    def every_run(self) -> tuple[RunRecord, ...]:
        """All runs: the actual ones, those of other targets, and what-if runs."""
        return (*self.runs, *self.elsewhere, *self.variants)

    @property
    def event_costs(self) -> Mapping[int, EventCosts]:
        """The costs of events by N, in cycles, if measured for a prediction."""
        return self.predictions.events

    def region_at(self, place: str) -> int | None:
        """Return the region that begins at *place* (file:line), None if none does."""
        return next((one.id for one in self.regions if one.line and f"{one.file}:{one.line}" == place), None)

    @property
    def machine_title(self) -> str:
        """Name of the machine for display, without a part in parentheses at its end."""
        values = self.manifest.get("machine_values") or {}
        title = self.manifest.get("machine_title") or values.get("title") or self.manifest.get("machine")
        if not title and not self.table.empty:
            title = self.table["machine"].iloc[0]
        return str(title or "").partition(" (")[0]

    def bound(self, kind: str) -> tuple[float | None, float | None]:
        """Return value and relative tolerance of the request's bound *kind*, ``None`` if it has none."""
        for bound in (self.manifest.get("request") or {}).get("bound") or ():
            if bound.get("kind") == kind and bound.get("value") is not None:
                return float(bound["value"]), float(bound.get("tolerance") or 0.05)
        return None, None

    @property
    def capacity_bytes(self) -> float | None:
        """Bytes of memory that each processor of the machine has for a problem; None if unknown."""
        values = self.manifest.get("machine_values") or {}
        memory, nodes = (values.get(name) or {} for name in ("memory", "nodes"))
        own, node = _whole(memory.get("capacity_kib")), _whole(nodes.get("memory_mib"))
        if own:
            return own * 2.0**10
        each = _whole(nodes.get("processors")) or _whole((values.get("processor") or {}).get("count"))
        return node * 2.0**20 / each if node and each else None

    @property
    def failed(self) -> tuple[RunRecord, ...]:
        """Failed runs."""
        return tuple(run for run in self.runs if not run.ok)


def _whole(value: object) -> int:
    """Return a whole number from a manifest, which may hold anything; 0 for anything else."""
    return value if isinstance(value, int) and value > 0 else 0
