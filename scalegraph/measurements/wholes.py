"""The call path that stands for the whole program, and whether values of a path include those below it."""

from __future__ import annotations

from collections.abc import Mapping as Table
from collections.abc import Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

import numpy as np

from scalegraph.measurements import names, rates
from scalegraph.measurements.mapping import Question
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.runs import ALL

_WHOLE = ("program", "main", "total", "application", "whole program", "overall", "all", "root")


def with_extent(
    measured: MeasurementSet, metric: int, said: Table[str, Any], questions: list[Question], notes: list[str]
) -> MeasurementSet:
    """Return the set with the extent of unknown metrics set as stated, or as inferred from the times in the tree."""
    extent = said.get("extent", "")
    if not extent and measured.metrics[metric].extent == "unknown":
        extent = _extent(measured, metric, questions, notes)
    if not extent:
        return measured
    made = tuple(replace(item, extent=extent) if item.extent == "unknown" else item for item in measured.metrics)
    return replace(measured, metrics=made)


def _extent(measured: MeasurementSet, metric: int, questions: list[Question], notes: list[str]) -> str:
    """Return ``exclusive`` if a path takes less time than one below it, ``inclusive`` if none does."""
    parents = {path.parent for path in measured.call_paths if path.parent is not None}
    if not parents:
        return ""
    grid = measured.grid(metric)
    own, known = measured.without_inside(grid), np.isfinite(grid)
    compared = [parent for parent in parents if known[parent].any()]
    if any((own[parent] < -0.001 * np.abs(grid[parent])).any() for parent in compared):
        notes.append("times of call paths leave out what is below them, as some are less than that; --values says else")
        return "exclusive"
    if compared and all(known[root].any() for root in measured.roots() if root in parents):
        notes.append("times of call paths were taken to hold those below them, as none is less; --values says else")
        return "inclusive"
    message = "times of call paths may hold those of the paths below them, or leave them out"
    questions.append(
        Question("extent", message, "--values inclusive or --values exclusive", ("exclusive", "inclusive"))
    )
    return ""


def total(measured: MeasurementSet, metric: int, said: Table[str, Any], questions: list[Question]) -> str:
    """Return the call path that stands for the whole program in *metric*, as stated or by its times and name."""
    if (word := said.get("total")) is not None:
        return "" if word == "none" else str(word)
    mine = measured.values[measured.values["metric"] == metric]
    used = np.unique(mine["call_path"].to_numpy())
    holders = {int(index) for index in used}
    for index in sorted(holders, reverse=True):
        parent = measured.call_paths[index].parent
        while parent is not None:
            holders.add(parent)
            parent = measured.call_paths[parent].parent
    roots = [index for index in measured.roots() if index in holders]
    if not roots:  # the metric has no value
        return ""
    if len(roots) == 1 and (roots[0] in used or measured.metrics[metric].extent == "exclusive"):
        return measured.paths[roots[0]]
    if len(roots) == 1:  # nothing at the root itself, and values may contain each other
        tops = [int(index) for index in used if measured.call_paths[int(index)].parent == roots[0]]
        if len(tops) == 1:
            return measured.paths[tops[0]]
    called = [index for index in roots if names.plain(measured.paths[index]) in _WHOLE]
    if len(called) == 1:
        return measured.paths[called[0]]
    listed = tuple(measured.paths[index] for index in roots[:20])
    message = f"no call path is plainly the whole program ({', '.join(listed[:4])}{', ..' if len(listed) > 4 else ''})"
    likely, because = _likely_total(measured, metric, roots)
    choices = tuple(dict.fromkeys((likely or listed[0], *listed, ALL)))
    one = likely if likely not in ("", ALL) else listed[0]
    switch = f"--total {quote(one)}, or --total '{ALL}' for all together"
    questions.append(Question("total", message, switch, choices, because))
    return ""


def _likely_total(measured: MeasurementSet, metric: int, roots: Sequence[int]) -> tuple[str, str]:
    """Return the root that takes as long as all others together, or all of them, and why; empty for a rate."""
    if measured.metrics[metric].kind != "time" or measured.metrics[metric].name == rates.TIME:
        return "", ""
    grid = measured.grid(metric)[list(roots)]
    known = np.where(np.isnan(grid).all(axis=2), 0.0, np.nanmax(np.nan_to_num(grid), axis=2))
    for place, index in enumerate(roots):
        if (known[place] >= 0.9 * (known.sum(axis=0) - known[place])).all():
            return measured.paths[index], "takes as long as all others together"
    return ALL, "is likelier, as none takes as long as all others together"
