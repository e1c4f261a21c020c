"""Processor policies of algorithm G: how fast threads run that are active at the same time, and who is first.

A policy is any object with the three members of `Policy`; `traverse` knows none by name.
Source: semi-empirical paper, 2.1.2.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Protocol


class Policy(Protocol):
    """What algorithm G needs of a processor policy."""

    @property
    def shares(self) -> bool:
        """Whether the speed of a thread depends on how many are active, so that all events go in order of time."""

    def rate(self, active: int) -> float:
        """Return the speed of each of *active* threads, at most 1."""

    def rank(self) -> float:
        """Return the rank of an event among those that are ready at the same time; the smallest is processed first."""


@dataclass(frozen=True)
class Dedicated:
    """Every thread has a processor of its own; of events at the same time the one that was ready first is first."""

    shares: bool = False

    def rate(self, active: int) -> float:  # noqa: ARG002 - the policy does not depend on it
        """Return full speed."""
        return 1.0

    def rank(self) -> float:
        """Return the same for all."""
        return 0.0


@dataclass(frozen=True)
class TimeSharing:
    """All active threads share the *processors* with equal priority: m threads run at the speed N/m where m > N."""

    processors: int
    shares: bool = True

    def rate(self, active: int) -> float:
        """Return the speed of each of *active* threads."""
        return min(1.0, self.processors / active) if active else 1.0

    def rank(self) -> float:
        """Return the same for all."""
        return 0.0


@dataclass(frozen=True)
class AnyOrder:
    """Another *policy*, but of events at the same time each is as likely to be first; *seed* repeats the choices."""

    policy: Policy
    seed: int = 0
    _random: random.Random = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_random", random.Random(self.seed))

    @property
    def shares(self) -> bool:
        """Whether the other policy shares processors."""
        return self.policy.shares

    def rate(self, active: int) -> float:
        """Return the speed that the other policy has."""
        return self.policy.rate(active)

    def rank(self) -> float:
        """Return a random rank."""
        return self._random.random()


def chosen(threads: int, processors: int) -> Policy:
    """Return the paper's policy: dedicated processors, or time sharing where there are more threads than processors."""
    return TimeSharing(processors) if threads > processors else Dedicated()
