"""The difference in elapsed time between two runs on any machines and processor counts, by cause."""

from __future__ import annotations

from dataclasses import dataclass

from scalegraph.analyze.targets import COMPARED
from scalegraph.base.run import RunRecord


@dataclass(frozen=True)
class Share:
    """One cause's share of the elapsed time in two runs: its processor time over N, in seconds."""

    words: str
    first_s: float
    second_s: float

    @property
    def difference_s(self) -> float:
        """How much longer the second run takes.

        Unit: s. Source: ScaleGraph.
        """
        return self.second_s - self.first_s


def by_cause(first: RunRecord, second: RunRecord) -> list[Share]:
    """Return the elapsed times of two runs by cause, largest difference first; empty if a run has no account.

    Values are the processor time of a cause over N; the rest is "not accounted for", so each column adds up to the
    elapsed time.

    Shape: one for each cause that either has. Unit: s. Source: ScaleGraph.
    """
    parts = [_parts(run) for run in (first, second)]
    if not all(parts):
        return []
    shares = [
        Share(words, parts[0].get(words, 0.0), parts[1].get(words, 0.0))
        for words in dict.fromkeys([*parts[0], *parts[1]])
    ]
    return sorted(shares, key=lambda share: -abs(share.difference_s))


def _parts(run: RunRecord) -> dict[str, float]:
    """Return seconds of elapsed time by cause; empty without an account."""
    if not run.categories or not run.clock_hz or run.time_s is None:
        return {}
    each = run.point.processors * run.clock_hz
    found = {}
    for _name, words, categories, _role in COMPARED:
        if cycles := sum(run.categories.get(category, 0) for category in categories):
            found[words] = cycles / each
    rest = run.time_s - sum(found.values())
    if abs(rest) > 1e-6 * run.time_s:
        found["not accounted for"] = rest
    return found
