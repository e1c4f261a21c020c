"""The remaining time of a request, estimated from its finished part."""

from __future__ import annotations

from collections.abc import Sequence


class Remaining:
    """Estimate of the remaining host seconds; advance estimates are corrected by the actual times."""

    def __init__(self, estimates: Sequence[tuple[str, float | None]], workers: int) -> None:
        self._left = dict(estimates)
        self._workers = workers
        self._expected = 0.0  # of finished runs that had an estimate
        self._taken_of_expected = 0.0
        self._taken = 0.0
        self._ended = 0

    def ended(self, key: str, host_s: float | None) -> None:
        """Record that run *key* ended after *host_s* (``None``: unknown, not averaged)."""
        estimate = self._left.pop(key, None)
        if host_s is None:
            return
        self._ended += 1
        self._taken += host_s
        if estimate:
            self._expected += estimate
            self._taken_of_expected += host_s

    def seconds(self) -> float | None:
        """Return the remaining seconds, ``None`` while unknown."""
        if not self._left:
            return 0.0
        ratio = self._taken_of_expected / self._expected if self._expected else 1.0
        average = self._taken / self._ended if self._ended else None
        total = 0.0
        for estimate in self._left.values():
            one = estimate * ratio if estimate is not None else average
            if one is None:
                return None
            total += one
        return total / min(self._workers, len(self._left))
