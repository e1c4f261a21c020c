"""Needs of views: a check, and the message and button shown if a study or trace does not meet it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd

from scalegraph.analyze.table import numbers
from scalegraph.figures.way import Met, Need
from scalegraph.subjects import matrices
from scalegraph.subjects.series import chosen_series
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from scalegraph.views import common, ways

_MEASURE: Final = "These runs are measurements: measure what is missing, and import all of it together."
_SIZES: Final = "These runs are measurements: measure several sizes on each count, and import all of it together."
NOT_RECORDED: Final = "Measurements do not record them: run the program in ScaleGraph."


def counts(text: str, met: Met | None = None, *, record: str = _MEASURE) -> Need:
    """Return a need, described by *text*, of runs on more processor counts; *record* is for measurements."""
    return Need(text, ways.ADD_COUNTS, record=record, met=met)


def sizes(text: str, *held: str, met: Met | None = None, record: str = _SIZES) -> Need:
    """Return a need, described by *text*, of runs of more sizes; *held* are the kinds of bounds kept constant."""
    return Need(text, ways.add_sizes(*held), record=record, met=met)


def simulated(text: str, met: Met | None = None) -> Need:
    """Return a need, described by *text*, of simulated runs of the study's request."""
    return Need(text, ways.START, met=met)


def run_with(kept: str) -> Met:
    """Return a check whether the chosen run's record has the field *kept*."""

    def met(data: StudyData, size: object = None, processors: object = None, **_: object) -> bool:
        run = common.chosen_run(data, size, processors)
        return run is not None and bool(getattr(run, kept))

    return met


def run_that_collected(what: str) -> Met:
    """Return a check whether the chosen run collected *what*: ``classes``, .."""

    def met(data: StudyData, size: object = None, processors: object = None, **_: object) -> bool:
        run = common.chosen_run(data, size, processors)
        return run is not None and what in run.collected

    return met


def series(check: Callable[[pd.DataFrame], bool] | None = None) -> Met:
    """Return a check for a problem run on several processor counts whose rows pass *check*, if given."""

    def met(data: StudyData, size: object = None, **_: object) -> bool:
        found = chosen_series(data, size)
        return found is not None and (check is None or bool(check(found.rows)))

    return met


def known(column: str) -> Callable[[pd.DataFrame], bool]:
    """Return a check whether any row has a finite value in *column*."""
    return lambda rows: bool(np.isfinite(numbers(rows, column)).any())


def trace_with(kind: str) -> Met:
    """Return a check whether a trace has events of *kind*: ``calls``, ``counters``, .."""
    return lambda data, **_: bool(data.trace.count(kind))


def _runs(*, instead: Met = lambda _data, **_: False) -> tuple[Need, ...]:
    """Return the needs of runs; a study that passes *instead* meets them as well."""
    return (
        Need(
            "These measurements yield no runs: set which parameter counts processors and which metric is"
            " the elapsed time.",
            met=lambda data, **_: not data.table.empty or data.imported is None or instead(data),
        ),
        Need(
            "This study has no runs yet. Start its request, or add runs to it.",
            ways.START,
            met=lambda data, **_: not data.table.empty or instead(data),
        ),
    )


def _has_events(data: TraceData, **_: object) -> bool:
    return bool(data.trace.counts())


def _has_lanes(data: TraceData, **_: object) -> bool:
    return bool(data.trace.definitions.locations)


RUNS: Final = _runs()
RUNS_OR_SET: Final = _runs(instead=lambda data: data.imported is not None)
RUNS_OR_MATRIX: Final = _runs(instead=lambda data: matrices.printed(data) is not None)
EVENTS: Final = (
    Need("This trace holds no events.", ways.traced("regions"), met=_has_events),
    Need("This trace names no locations, so there are no lanes.", met=_has_lanes),
)
OTHER_STUDY: Final = Need(
    "This compares two or more studies, but only one is open.",
    ways.OPEN_STUDY,
    always=True,
    met=lambda data, **_: bool(data.others),
)
OTHER_TRACE: Final = Need(
    "This compares two or more traces, but only one is open.",
    ways.OPEN_TRACE,
    always=True,
    met=lambda data, **_: bool(data.others),
)
SECOND_TRACE: Final = replace(OTHER_TRACE, text="This compares two traces, but only one is open.")
