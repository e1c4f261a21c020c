"""Processor policies of algorithm G: the speed of concurrently active threads, and the order of simultaneous events.

A policy is any object with the three members of `Policy`; `traverse` knows none by name. Source: semi-empirical paper,
2.1.2.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Protocol


class Policy(Protocol):
    """What algorithm G needs from a processor policy."""

    @property
    def shares(self) -> bool:
        """Whether a thread's speed depends on how many are active, so that all events are processed in time order."""

    def rate(self, active: int) -> float:
        """Return the speed of each of *active* threads, at most 1."""

    def rank(self) -> float:
        """Return the rank of an event among simultaneous ones; the smallest is processed first."""


@dataclass(frozen=True)
class Dedicated:
    """Every thread has its own processor; of simultaneous events the one that was ready first comes first."""

    shares: bool = False

    def rate(self, active: int) -> float:  # noqa: ARG002 - the policy does not depend on it
        """Return full speed."""
        return 1.0

    def rank(self) -> float:
        """Return the same rank for all."""
        return 0.0


@dataclass(frozen=True)
class TimeSharing:
    """All active threads share the *processors* equally: m threads run at the speed N/m if m > N."""

    processors: int
    shares: bool = True

    def rate(self, active: int) -> float:
        """Return the speed of each of *active* threads."""
        return min(1.0, self.processors / active) if active else 1.0

    def rank(self) -> float:
        """Return the same rank for all."""
        return 0.0


@dataclass(frozen=True)
class AnyOrder:
    """Wraps another *policy* with a random order of simultaneous events; *seed* makes it repeatable."""

    policy: Policy
    seed: int = 0
    _random: random.Random = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_random", random.Random(self.seed))

    @property
    def shares(self) -> bool:
        """Whether the wrapped policy shares processors."""
        return self.policy.shares

    def rate(self, active: int) -> float:
        """Return the speed by the wrapped policy."""
        return self.policy.rate(active)

    def rank(self) -> float:
        """Return a random rank."""
        return self._random.random()


def chosen(threads: int, processors: int) -> Policy:
    """Return the paper's policy: dedicated processors, or time sharing if there are more threads than processors."""
    return TimeSharing(processors) if threads > processors else Dedicated()
