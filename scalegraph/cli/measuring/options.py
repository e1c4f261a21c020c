"""Options of the target, and values derived from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from scalegraph.base.run import SIMULATED, RunRecord
from scalegraph.cli.asked import request_option
from scalegraph.link.targets import named
from scalegraph.machine import Machine
from scalegraph.request.model.parts import PINS
from scalegraph.store import Study

_ANY: Final = 2**16  # upper limit for ranges of counts
_Command = TypeVar("_Command", bound=Callable[..., Any])


def target_options(command: _Command) -> _Command:
    """Add the options that choose a target and how a real one is measured."""
    options = (
        request_option("target.warm_up"),
        request_option("target.pin", "pin", type=str, metavar=f"[{'|'.join(PINS)}],.."),
        request_option("target.disturbed"),
        request_option("target.most_runs"),
        request_option("target.until"),
        request_option("target.settings", "target_set", default=()),
        request_option("target.name", "target"),
    )
    for option in options:
        command = option(command)
    return command


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
