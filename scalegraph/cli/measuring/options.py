"""What follows from the chosen target: counts, place, and the runs to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from scalegraph.base.run import SIMULATED, RunRecord
from scalegraph.link.targets import named
from scalegraph.machine import Machine
from scalegraph.store import Study

_ANY: Final = 2**16  # upper limit for ranges of counts


def most_processors(target: str, machine: Machine, settings: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Return the maximum processor count of a run and what sets it: the machine, for a simulated target.

    *settings* of the target: with some, such as hosts, its runs may have any number of processors.
    """
    most = None if target == SIMULATED else named(target).processors()
    if most is None:
        return machine.max_processors, f"machine '{machine.name}'"
    if settings and not named(target).refusal(most + 1, settings):
        most = _ANY
    return most, f"target '{target}'"


def place_of(study: Study, target: str) -> tuple[str, str]:
    """Return name and title of the machine used for the runs of *target* in *study*."""
    place = None if target == SIMULATED else named(target).place()
    if place is not None:
        return place.name, place.title
    name, title = study.manifest.machine, study.manifest.machine_values.get("title", "")
    return name, title or name


def shown_runs(records: Sequence[RunRecord]) -> list[RunRecord]:
    """Return one run per point: the first simulated one, or the measured one with the median time."""
    if not any(record.source == "measured" and record.point.repetition for record in records):
        return [record for record in records if not record.point.repetition]
    # imported here as its dependencies are slow to load
    from scalegraph.analyze.targets import repeated, representative

    return [representative(group) or group[0] for group in repeated(records).values()]


def own_counts() -> str:
    """Return the default counts to measure: doubling, up to the processors of this computer."""
    return f"1..{max(named('host').processors() or 1, 1)}"
