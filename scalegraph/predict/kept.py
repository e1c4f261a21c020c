"""Predictions as saved in a study: points with intervals, the runs they came from, and the costs of events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scalegraph.base.run import RunPoint
from scalegraph.predict.derive import EventCosts

FACT: Final = "predictions"  # of the study


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="null", defer_build=True)


class KeptPoint(_Part):
    """A predicted point: times in s; *actual_s* if it was run, too.

    *samples_s* and *estimate_s*: the simulated time of its samples, and the host time of the estimate (4.8);
    *actual_host_s* and *samples_host_s*: the host time of the run and of its samples. *refused*: why there is no time.
    *parts*: name and time in s of the components, largest first.
    """

    processors: int
    parameters: dict[str, int | float | str] = Field(default_factory=dict)
    time_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    one_s: float | None = None
    actual_s: float | None = None
    actual_host_s: float | None = None
    samples_s: float = 0.0
    samples_host_s: float = 0.0
    estimate_s: float = 0.0
    sampled: bool = True
    refused: str = ""
    parts: tuple[tuple[str, float], ...] = ()

    @property
    def key(self) -> str:
        """The key of a run at this point in the study."""
        return RunPoint(processors=self.processors, parameters=self.parameters).key


class Kept(_Part):
    """Everything predicted in a study. *samples*: keys of the runs used; *costs*: of events by N, in cycles."""

    points: tuple[KeptPoint, ...] = ()
    samples: tuple[str, ...] = ()
    costs: dict[int, dict[str, float]] = Field(default_factory=dict)

    @property
    def events(self) -> Mapping[int, EventCosts]:
        """The costs of events on each N."""
        names = {one.name for one in fields(EventCosts)}
        return {
            n: EventCosts(**{name: cost for name, cost in known.items() if name in names})
            for n, known in self.costs.items()
        }

    def with_more(self, other: Kept) -> Kept:
        """Return both combined; for common points those of *other*."""
        newer = {point.key for point in other.points}
        points = (*(point for point in self.points if point.key not in newer), *other.points)
        return Kept(
            points=points,
            samples=tuple(dict.fromkeys((*self.samples, *other.samples))),
            costs={**self.costs, **other.costs},
        )


def read(fact: object) -> Kept:
    """Return the predictions saved in a study; empty if unreadable."""
    if not isinstance(fact, dict):
        return Kept()
    try:
        return Kept.model_validate(fact)
    except ValidationError:
        return Kept()
